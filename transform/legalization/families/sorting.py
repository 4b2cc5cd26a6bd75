"""Sorting along an axis, by merge sort of the indices."""

from __future__ import annotations

from typing import Any

from rlx import te
from rlx.grammar.nodes.dtype import DataType
from rlx.te.scalar import Scalar
from rlx.transform.legalization.elements import axis_of, convert, filled
from rlx.transform.legalization.merge_sort import places
from rlx.transform.legalization.result import Result


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
    """The indices of the sorted elements along an axis."""
    at = places(x, axis_of(axis, x.ndim), bool(descending))
    return filled(out, lambda *i: convert(at(*i), out.dtype))


def topk(
    out: Any,
    x: te.Tensor,
    count: int,
    axis: int,
    wanted: str,
    largest: int,
    dtype: DataType | None,
) -> Any:
    """The first k sorted elements along an axis, and their indices."""
    along = axis_of(axis, x.ndim)
    at = places(x, along, bool(largest))

    def values(target: Result) -> te.Tensor:
        return filled(target, lambda *i: _taken(x, at, along, i), "T_topk_values")

    def indices(target: Result) -> te.Tensor:
        return filled(target, lambda *i: convert(at(*i), target.dtype), "T_topk_indices")

    match wanted:
        case "values":
            return values(out)
        case "indices":
            return indices(out)
    first, second = out
    return values(first), indices(second)
