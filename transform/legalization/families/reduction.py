"""Reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add, mul
from typing import Any

from rlx import te
from rlx.grammar.nodes.dtype import BOOL, DataType
from rlx.te.scalar import Scalar
from rlx.transform.legalization.elements import (
    EVERY,
    LARGEST,
    SMALLEST,
    SOME,
    axes_of,
    axis_of,
    both,
    convert,
    count_of,
    equals,
    filled,
    int64,
    need_numbers,
    reduced,
    wide,
)
from rlx.transform.legalization.families.movement import unflat
from rlx.transform.legalization.result import Result, decline

Definition = Callable[..., Any]


def kept(out: Result, x: te.Tensor, axes: Sequence[int], indices: Sequence[Scalar]) -> list[Scalar]:
    """The indices of a result's element in a tensor whose reduced axes are kept with length 1."""
    if out.ndim == x.ndim:
        return [int64(0) if a in axes else v for a, v in enumerate(indices)]
    rest = iter(indices)
    return [int64(0) if a in axes else next(rest) for a in range(x.ndim)]


def nonempty(x: te.Tensor, axes: Sequence[int], value: Scalar) -> Scalar:
    """A value that is undefined for no elements: if an axis is empty, the run stops at a division
    by its length.
    """
    for axis in axes:
        if x.shape[axis].value == 0:
            decline("it reduces an empty axis, over which it has no value")
    count = count_of(x, axes)
    if count.value is not None:
        return value
    return te.if_then_else(equals(count // count, int64(1)), value, value)


def _reduction(name: str) -> Definition:
    def define(out: Result, x: te.Tensor, given: Sequence[int] | None, keepdims: int) -> te.Tensor:
        axes = axes_of(given, x.ndim)
        made = _REDUCED[name](x, axes)

        def element(*i: Scalar) -> Scalar:
            found = convert(made(*kept(out, x, axes, i)), out.dtype)
            return nonempty(x, axes, found) if name in _NEEDS_ONE else found

        return filled(out, element)

    return define


def _sum(x: te.Tensor, axes: Sequence[int]) -> Any:
    return reduced(x, axes, SOME if x.dtype == BOOL else te.sum, "T_sum_of")


def _prod(x: te.Tensor, axes: Sequence[int]) -> Any:
    return reduced(x, axes, EVERY if x.dtype == BOOL else te.prod, "T_prod_of")


def _extreme(reducer: Any, booleans: Any) -> Callable[[te.Tensor, Sequence[int]], Any]:
    def make(x: te.Tensor, axes: Sequence[int]) -> Any:
        return reduced(x, axes, booleans if x.dtype == BOOL else reducer, "T_extreme")

    return make


def mean_of(x: te.Tensor, axes: Sequence[int], element: Any = wide, name: str = "T_mean_of") -> Any:
    """The mean over axes, which are kept with length 1. Means of integers are rounded towards zero,
    and their sums wrap.
    """
    need_numbers(x.dtype)
    sums: te.Tensor = reduced(x, axes, te.sum, f"{name}_sum", element)
    count = count_of(x, axes)

    def value(*i: Scalar) -> Scalar:
        found = sums(*i)
        if found.dtype.is_float:
            return found / te.cast(found.dtype, count)
        return te.cast(found.dtype, te.truncdiv(te.cast("int64", found), count))

    return te.compute(sums.shape, value, name=name)


def variance_of(x: te.Tensor, axes: Sequence[int]) -> Any:
    """The mean of the squared deviations from the mean."""
    middle = mean_of(x, axes)
    off = te.compute(
        x.shape,
        lambda *i: wide(x(*i)) - middle(*(int64(0) if a in axes else v for a, v in enumerate(i))),
        name="T_off",
    )
    return mean_of(off, axes, lambda v: v * v, "T_variance_of")


def _std(x: te.Tensor, axes: Sequence[int]) -> Any:
    made = variance_of(x, axes)
    if not made.dtype.is_float:
        decline("it is not defined for integers")
    return te.compute(made.shape, lambda *i: te.sqrt(made(*i)), name="T_std_of")


_REDUCED: dict[str, Callable[[te.Tensor, Sequence[int]], Any]] = {
    "sum": _sum,
    "prod": _prod,
    "max": _extreme(LARGEST, SOME),
    "min": _extreme(SMALLEST, EVERY),
    "mean": mean_of,
    "variance": variance_of,
    "std": _std,
}
_NEEDS_ONE = frozenset(["max", "min"])
"""The reductions without a value for no elements; the others divide by the number of elements."""


# ---------------------------------------------------------------- places


def _first(better: Callable[[Scalar, Scalar], Scalar]) -> te.Reducer:
    """Of elements with their places the best; of equal ones the first, of NaN the first before all
    others.
    """

    def join(x: tuple[Scalar, Scalar], y: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        (i, a), (j, b) = x, y
        left = better(a, b)
        if a.dtype.is_float:
            left = te.any(te.isnan(a), both(left, te.all(~te.isnan(b))))
        keep = te.any(j < int64(0), both(~(i < int64(0)), left))
        return te.select(keep, i, j), te.select(keep, a, b)

    return te.comm_reducer(
        join, lambda place, kind: (te.const(-1, place), te.const(0, kind)), "first"
    )


FIRST_LARGEST = _first(lambda a, b: a >= b)
_BEST = {
    "argmax": FIRST_LARGEST,
    "argmin": _first(lambda a, b: a <= b),
}


def _place(name: str) -> Definition:
    def define(out: Result, x: te.Tensor, given: int | None, keepdims: int) -> te.Tensor:
        axes = axes_of(None if given is None else (given,), x.ndim)
        over = {a: te.reduce_axis((0, x.shape[a]), name=f"k{a}") for a in axes}
        left = [a for a in range(x.ndim) if a not in over]

        def element(*i: Scalar) -> Any:
            place = dict(zip(left, i, strict=True))
            at = [over[a] if a in over else place[a] for a in range(x.ndim)]
            number = int64(0)
            for a in axes:
                number = number * x.shape[a] + over[a]
            value = wide(x(*at))
            if value.dtype == BOOL:
                value = te.cast("int8", value)
            return _BEST[name]((number, value), axis=list(over.values()))

        if not axes:
            return filled(out, lambda *i: te.const(0, out.dtype))
        where, _ = te.compute([x.shape[a] for a in left], element, name=f"T_{name}_of")

        def found(*i: Scalar) -> Scalar:
            rest = [v for k, v in enumerate(i) if k not in axes] if out.ndim == x.ndim else i
            return nonempty(x, axes, te.cast(out.dtype, where(*rest)))

        return filled(out, found)

    return define


def median(out: Any, x: te.Tensor, given: Sequence[int] | None, keepdims: int) -> Any:
    """The lower median; along one axis, also its index."""
    from rlx.transform.legalization.merge_sort import places

    axes = axes_of(given, x.ndim)
    target, index = out if isinstance(out, tuple) else (out, None)
    count = count_of(x, axes)
    left = [a for a in range(x.ndim) if a not in axes]
    lines = te.compute(
        (*(x.shape[a] for a in left), count),
        lambda *i: x(*_spread(x, axes, left, i)),
        name="T_lines",
    )
    at = places(lines, lines.ndim - 1, False)
    middle = (count - 1) // 2

    def where(*i: Scalar) -> Scalar:
        return nonempty(x, axes, at(*i, middle))

    def rest(indices: Sequence[Scalar]) -> list[Scalar]:
        if target.ndim == x.ndim:
            return [v for a, v in enumerate(indices) if a not in axes]
        return list(indices)

    values = filled(
        target, lambda *i: nonempty(x, axes, lines(*rest(i), where(*rest(i)))), "T_median"
    )
    if index is None:
        return values
    kind = index.dtype
    return values, filled(index, lambda *i: te.cast(kind, where(*rest(i))), "T_place")


def _spread(
    x: te.Tensor, axes: Sequence[int], left: Sequence[int], indices: Sequence[Scalar]
) -> list[Scalar]:
    """The indices of an element of a line in the tensor."""
    inner = dict(zip(axes, unflat([x.shape[a] for a in axes], indices[-1]), strict=True))
    outer = dict(zip(left, indices, strict=False))
    return [inner[a] if a in inner else outer[a] for a in range(x.ndim)]


def _scan(name: str, join: Callable[[Scalar, Scalar], Scalar], neutral: int) -> Definition:
    def define(
        out: Result, x: te.Tensor, given: int | None, dtype: DataType | None, exclusive: int
    ) -> te.Tensor:
        axis = 0 if given is None else axis_of(given, x.ndim)
        kind = out.dtype

        def value(*i: Scalar) -> Scalar:
            source = x(*unflat(x.shape, i[0])) if given is None else x(*i)
            found = wide(convert(wide(source), kind))
            return te.cast("int8", found) if found.dtype == BOOL else found

        made = te.running(out.shape, value, axis, join, f"T_{name}_of")
        if not exclusive:
            return filled(out, lambda *i: convert(made(*i), kind))
        first = te.const(neutral, made.dtype)

        def before(*i: Scalar) -> Scalar:
            found = made(*(v - 1 if a == axis else v for a, v in enumerate(i)))
            return convert(te.if_then_else(i[axis] > 0, found, first), kind)

        return filled(out, before)

    return define


OPERATORS: dict[str, Definition] = {
    **{name: _reduction(name) for name in _REDUCED},
    **{name: _place(name) for name in _BEST},
    "cumsum": _scan("cumsum", add, 0),
    "cumprod": _scan("cumprod", mul, 1),
}
"""The operators that functions of this file make or share, by name."""
