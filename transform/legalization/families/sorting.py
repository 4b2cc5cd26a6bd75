"""Order along an axis: an element's new place is its rank, the number of elements before it."""

from __future__ import annotations

from typing import Any

from rlx.grammar.dtype import BOOL, DataType
from rlx.transform import te
from rlx.transform.legalization.elements import axis_of, back, both, equals, filled, int64, wide
from rlx.transform.legalization.result import Result
from rlx.transform.te.scalar import Scalar


def ranks(x: te.Tensor, along: int, descending: bool) -> te.Tensor:
    """How many elements stand before each along an axis; equal ones in the order of their places,
    NaN last.

    In the reverse order NaN comes first, as the order that is turned round has it last.
    """
    k = te.reduce_axis((0, x.shape[along]), name="k")

    def element(*i: Scalar) -> Any:
        other = wide(x(*(k if a == along else v for a, v in enumerate(i))))
        own = wide(x(*i))
        if own.dtype == BOOL:
            own, other = te.cast("int8", own), te.cast("int8", other)
        before = _before(own, other) if descending else _before(other, own)
        same = ~te.any(_before(own, other), _before(other, own))
        first = te.any(before, both(same, k < i[along]))
        return te.sum(te.if_then_else(first, int64(1), int64(0)), axis=k)

    return te.compute(x.shape, element, name="T_rank")  # type: ignore[no-any-return]


def _before(a: Scalar, b: Scalar) -> Scalar:
    """Whether one element comes before another in ascending order."""
    if not a.dtype.is_float:
        return a < b
    return te.any(a < b, both(~te.isnan(a), te.isnan(b)))


def places(x: te.Tensor, along: int, descending: bool) -> te.Tensor:
    """Where the elements in order stand along an axis."""
    rank = ranks(x, along, descending)
    k = te.reduce_axis((0, x.shape[along]), name="k")

    def element(*i: Scalar) -> Any:
        found = rank(*(k if a == along else v for a, v in enumerate(i)))
        return te.sum(
            te.if_then_else(equals(found, i[along]), te.cast("int64", k), int64(0)), axis=k
        )

    return te.compute(x.shape, element, name="T_places")  # type: ignore[no-any-return]


def _taken(x: te.Tensor, at: te.Tensor, along: int, indices: tuple[Scalar, ...]) -> Scalar:
    return x(*(at(*indices) if a == along else v for a, v in enumerate(indices)))


def sort(out: Result, x: te.Tensor, axis: int, descending: int) -> te.Tensor:
    """The elements in order along an axis."""
    along = axis_of(axis, x.ndim)
    at = places(x, along, bool(descending))
    return filled(out, lambda *i: _taken(x, at, along, i))


def argsort(
    out: Result, x: te.Tensor, axis: int, descending: int, dtype: DataType | None
) -> te.Tensor:
    """Where the elements in order stand along an axis."""
    at = places(x, axis_of(axis, x.ndim), bool(descending))
    return filled(out, lambda *i: back(at(*i), out.dtype))


def topk(
    out: Any,
    x: te.Tensor,
    count: int,
    axis: int,
    wanted: str,
    largest: int,
    dtype: DataType | None,
) -> Any:
    """The first so many elements in order along an axis, and their places."""
    along = axis_of(axis, x.ndim)
    at = places(x, along, bool(largest))

    def values(target: Result) -> te.Tensor:
        return filled(target, lambda *i: _taken(x, at, along, i), "T_topk_values")

    def indices(target: Result) -> te.Tensor:
        return filled(target, lambda *i: back(at(*i), target.dtype), "T_topk_indices")

    if wanted == "values":
        return values(out)
    if wanted == "indices":
        return indices(out)
    return values(out[0]), indices(out[1])
