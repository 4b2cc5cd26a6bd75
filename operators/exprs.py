"""Shared parts of definitions: results, computation types, conversions, broadcasting, axes,
layouts, reductions with an order for NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache, reduce
from operator import mul
from typing import Any, NoReturn

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT64, DataType
from rlx.grammar.nodes.dtype import dtype as named
from rlx.grammar.nodes.node import Record
from rlx.operators.late import scalars, te
from rlx.operators.layout import pieces

FLOAT64 = named("float64")
Element = Callable[..., "te.Scalar"]


class Result(Record):
    """The derived struct info of a tensor that a call returns.

    Attributes
    ----------
    shape, dtype
        Its dimensions and its element type.
    name
        The operator's last word, for the names of tensors.
    """

    shape: tuple[te.Scalar, ...]
    dtype: DataType
    name: str

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)


class Declined(Exception):
    """A call is not legalised; the message gives the reason."""


def decline(reason: str) -> NoReturn:
    """Decline a call.

    Raises
    ------
    Declined
    """
    raise Declined(reason)


# ---------------------------------------------------------------- types


def working(kind: DataType) -> DataType:
    """The computation type: floats narrower than float32 are computed as float32, narrow integers
    as int8.
    """
    if kind.is_float:
        return kind if kind.code == "float" and kind.bits >= 32 else FLOAT32
    if kind.is_integer and kind.bits < 8:
        return named(f"{kind.code}8")
    return kind


def wide(x: te.Scalar) -> te.Scalar:
    """An element converted to the computation type."""
    return te.cast(working(x.dtype), x)


def need_floats(*kinds: DataType) -> None:
    """Decline if the elements are not floats, because the operator is not defined for them."""
    for kind in kinds:
        if not kind.is_float:
            decline(f"it is not defined for elements of type {kind}")


def need_numbers(*kinds: DataType) -> None:
    """Decline if the elements are Booleans, which have no arithmetic."""
    for kind in kinds:
        if kind == BOOL:
            decline("it is not defined for Booleans")


def least(kind: DataType) -> te.Scalar:
    """A lower bound of all numbers of a type."""
    return te.const(float("-inf"), kind) if kind.is_float else te.min_value(kind)


def most(kind: DataType) -> te.Scalar:
    """An upper bound of all numbers of a type."""
    return te.const(float("inf"), kind) if kind.is_float else te.max_value(kind)


def convert(x: te.Scalar, kind: DataType) -> te.Scalar:
    """An element converted to another type (E-convert): a float out of the range of an integer type
    becomes the nearest integer, and NaN becomes 0.
    """
    if x.dtype == kind:
        return x
    if kind == BOOL:
        return x != te.const(0, x.dtype)
    if x.dtype.is_float and kind.is_integer:
        return _to_integer(x, kind)
    if kind.is_integer and kind.bits < 8:
        # Of 8 bits first: narrow integers are made from those.
        return te.cast(kind, te.cast(working(kind), x))
    return te.cast(kind, x)


def _to_integer(x: te.Scalar, kind: DataType) -> te.Scalar:
    """Held within the floats that have a value in the type before it is cast, so that the cast
    needs no condition; what is above the largest of them is the largest integer.
    """
    x = wide(x)
    digits = 53 if x.dtype == FLOAT64 else 24
    low, high = int(te.min_value(kind)), int(te.max_value(kind))
    bits = high.bit_length()
    least, most = (
        te.const(float(bound), x.dtype)
        for bound in (low, high if bits <= digits else 2**bits - 2 ** (bits - digits))
    )
    held = te.select(x < least, least, te.select(x > most, most, x))
    found = te.cast(kind, te.select(te.isnan(x), te.const(0, x.dtype), held))
    return found if bits <= digits else te.select(x > most, te.const(high, kind), found)


# ---------------------------------------------------------------- scalars


def both(a: Any, b: Any) -> te.Scalar:
    """Whether two conditions hold; the second is evaluated only if the first holds."""
    return scalars.logical(tir.And, a, b)


def larger(a: te.Scalar, b: te.Scalar) -> te.Scalar:
    """The larger of two numbers, NaN if one of them is."""
    if a.dtype == BOOL:
        return te.any(a, b)
    if not a.dtype.is_float:
        return te.maximum(a, b)
    return te.select(te.any(wide(a) > wide(b), te.isnan(wide(a))), a, b)


def smaller(a: te.Scalar, b: te.Scalar) -> te.Scalar:
    """The smaller of two numbers, NaN if one of them is."""
    if a.dtype == BOOL:
        return te.all(a, b)
    if not a.dtype.is_float:
        return te.minimum(a, b)
    return te.select(te.any(wide(a) < wide(b), te.isnan(wide(a))), a, b)


def equals(a: Any, b: Any) -> te.Scalar:
    """Whether two numbers are equal."""
    return scalars.binary(tir.EQ, a, b)


def every(conditions: Iterable[te.Scalar]) -> te.Scalar:
    """Whether all conditions hold; one is evaluated only if those before it hold."""
    return reduce(both, conditions, te.const(True, BOOL))


def nearest(at: te.Scalar, length: te.Scalar) -> te.Scalar:
    """The position of an axis that is nearest to an index."""
    return te.maximum(te.minimum(at, length - 1), int64(0))


def product(values: Sequence[te.Scalar]) -> te.Scalar:
    """The product of several dimensions; 1 of none."""
    return reduce(mul, values, int64(1))


def int64(value: int) -> te.Scalar:
    """A 64-bit integer."""
    return te.const(value, INT64)


# ---------------------------------------------------------------- shapes


def axis_of(axis: int, ndim: int) -> int:
    """An axis counted from 0."""
    return axis + ndim if axis < 0 else axis


def axes_of(axes: Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Axes counted from 0; all of them if none are named."""
    return tuple(range(ndim)) if axes is None else tuple(axis_of(a, ndim) for a in axes)


def is_one(dim: te.Scalar) -> bool:
    """Whether a dimension is certainly 1."""
    return dim.value == 1


def broadcast(
    x: Any, indices: Sequence[te.Scalar], shape: Sequence[te.Scalar] | None = None
) -> te.Scalar:
    """The element of a tensor for an index of the result that the tensor is broadcast to.

    Parameters
    ----------
    shape
        Of the result, where a dimension of the tensor that is not written as the result's may be 1.
    """
    if isinstance(x, te.Scalar):
        return x
    lead = len(indices) - x.ndim

    def place(k: int, dim: te.Scalar) -> te.Scalar:
        if is_one(dim):
            return int64(0)
        index: te.Scalar = indices[lead + k]
        if shape is None or dim.value is not None or dim.written_as(shape[lead + k]):
            return index
        chosen: te.Scalar = te.select(equals(dim, int64(1)), int64(0), index)
        return chosen

    found: te.Scalar = x(*[place(k, dim) for k, dim in enumerate(x.shape)])
    return found


def elementwise(out: Result, element: Element, *operands: Any) -> te.Tensor:
    """A tensor whose elements are computed from those of broadcast tensors, in the computation
    type.
    """
    return filled(out, lambda *i: element(*(wide(broadcast(x, i)) for x in operands)))


def filled(out: Result, value: Callable[..., te.Scalar], name: str | None = None) -> te.Tensor:
    """A tensor of the result's shape, of values that are converted to its type."""
    return te.compute(  # type: ignore[no-any-return]
        out.shape, lambda *i: convert(value(*i), out.dtype), name=name or f"T_{out.name}"
    )


def converted(out: Result, made: Callable[..., te.Scalar]) -> te.Tensor:
    """A result's elements in its type: the tensor that is computed, unless its type is another."""
    if isinstance(made, te.Tensor) and made.dtype == out.dtype:
        return made
    return filled(out, made)


# ---------------------------------------------------------------- reductions


def reduced(
    x: te.Tensor | DerivedView,
    axes: Sequence[int],
    reducer: Any,
    name: str,
    element: Callable[[te.Scalar], Any] = wide,
    dropped: Collection[int] = (),
) -> Any:
    """Elements reduced along axes. The axes are kept with length 1, but for those `dropped`."""
    over = {a: te.reduce_axis((0, x.shape[a]), name=f"k{a}") for a in axes}
    left = [a for a in range(x.ndim) if a not in dropped]
    shape = [int64(1) if a in over else x.shape[a] for a in left]

    def value(*i: te.Scalar) -> Any:
        place = {**dict(zip(left, i, strict=True)), **over}
        found = element(x(*(place[a] for a in range(x.ndim))))
        return reducer(found, axis=list(over.values())) if over else found

    return te.compute(shape, value, name=name)


def summed(
    x: te.Tensor | DerivedView,
    axes: Sequence[int],
    name: str,
    element: Any = wide,
    dropped: Collection[int] = (),
) -> te.Tensor:
    """The sums along axes; :func:`reduced` says what becomes of the axes."""
    return reduced(x, axes, te.sum, name, element, dropped)  # type: ignore[no-any-return]


@cache
def largest() -> te.Reducer:
    return te.comm_reducer(larger, lambda kind: least(named(kind)), "largest")


@cache
def smallest() -> te.Reducer:
    return te.comm_reducer(smaller, lambda kind: most(named(kind)), "smallest")


@cache
def every_one() -> te.Reducer:
    """Whether all Booleans are true."""
    return te.comm_reducer(lambda a, b: te.all(a, b), lambda kind: te.const(True, kind), "every")


@cache
def some() -> te.Reducer:
    """Whether a Boolean is true."""
    return te.comm_reducer(lambda a, b: te.any(a, b), lambda kind: te.const(False, kind), "some")


def count_of(x: te.Tensor | DerivedView, axes: Sequence[int]) -> te.Scalar:
    """The number of elements along axes."""
    return product([x.shape[a] for a in axes])


def means(
    x: te.Tensor | DerivedView, axes: Sequence[int], name: str, element: Any = wide
) -> te.Tensor:
    """The means of floats along axes, which are kept with length 1."""
    sums = summed(x, axes, f"{name}_sum", element)
    count = count_of(x, axes)
    return te.compute(  # type: ignore[no-any-return]
        sums.shape, lambda *i: sums(*i) / te.cast(sums.dtype, count), name=name
    )


# ---------------------------------------------------------------- layouts and windows


class DerivedView:
    """Elements that are computed where they are read: there is no tensor of them.

    Attributes
    ----------
    shape, dtype, ndim
        As those of a tensor.
    """

    def __init__(self, like: te.Tensor | DerivedView, element: Element) -> None:
        self.shape: Sequence[te.Scalar] = like.shape
        self.ndim: int = like.ndim
        self.dtype: DataType = working(like.dtype)
        self._element = element

    def __call__(self, *indices: te.Scalar) -> te.Scalar:
        """An element."""
        return self._element(*indices)


class WindowView:
    """A view of a tensor in another layout, with its axes unsplit and in the given order.

    Attributes
    ----------
    shape, dtype
        Its dimensions in this order, and its element type.
    """

    def __init__(self, x: te.Tensor, text: str, axes: str) -> None:
        self._x, self._axes = x, axes
        self._pieces = pieces(text)
        self.dtype = x.dtype
        self.shape = tuple(
            product([d for d, (name, _) in zip(x.shape, self._pieces, strict=True) if name == axis])
            for axis in axes
        )

    def __call__(self, *indices: te.Scalar) -> te.Scalar:
        """An element, by its indices along the axes named."""
        return self._x(*_split(self._pieces, self._axes, indices))


def _split(
    found: Sequence[tuple[str, int | None]], axes: str, indices: Sequence[te.Scalar]
) -> list[te.Scalar]:
    """Indices of the pieces of a layout."""
    place = dict(zip(axes, indices, strict=True))
    whole = dict.fromkeys(place, 1)
    for name, factor in found:
        whole[name] *= factor or 1
    behind = dict(whole)
    at: list[te.Scalar] = []
    for name, factor in found:
        if factor is None:
            at.append(place[name] // int64(whole[name]) if whole[name] != 1 else place[name])
        else:
            behind[name] //= factor
            at.append(place[name] // int64(behind[name]) % int64(factor))
    return at


def arranged(out: Result, value: Callable[..., te.Scalar], text: str, axes: str) -> te.Tensor:
    """A tensor with axes in the given order, converted to a layout whose blocks it fills."""
    found = pieces(text)
    if isinstance(value, te.Tensor) and value.dtype == out.dtype and found == pieces(axes):
        return value

    def element(*i: te.Scalar) -> te.Scalar:
        at: dict[str, te.Scalar] = {}
        for (name, factor), v in zip(found, i, strict=True):
            at[name] = v if factor is None else at[name] * int64(factor) + v
        return value(*(at[axis] for axis in axes))

    return filled(out, element)


def window_axes(sizes: Sequence[Any]) -> list[te.ReduceAxis]:
    return [
        te.reduce_axis((0, size if isinstance(size, te.Scalar) else int64(size)), name=f"w{k}")
        for k, size in enumerate(sizes)
    ]


def met(
    phase: te.Scalar, window: te.Scalar, tap: te.Scalar, step: int, spacing: int
) -> tuple[te.Scalar, te.Scalar, te.Scalar]:
    """One of the windows that have a position: its number, the place in it, and whether a window
    with this spacing has such a place at all.

    Windows are `step` apart; the position is `phase` behind the start of a `window`, the last one
    that begins before it. Each window that has the position is met by one of the taps
    ``0, 1, ... ceildiv(reach, step) - 1``, where a window reaches over `reach` positions; the place
    may be behind its last one, and the number before the first window or behind the last one.
    """
    offset = phase + tap * int64(step)
    return window - tap, offset // int64(spacing), equals(offset % int64(spacing), int64(0))


def within(at: Sequence[te.Scalar], shape: Sequence[te.Scalar], need: Sequence[bool]) -> te.Scalar:
    """Whether positions are within a tensor, as far as this must be checked."""
    found = te.const(True, "bool")
    for place, size, asked in zip(at, shape, need, strict=True):
        if asked:
            found = both(both(found, place >= int64(0)), place < size)
    return found


def padded(
    x: WindowView, around: Sequence[tuple[int, int]], fill: te.Scalar
) -> Callable[..., te.Scalar]:
    """The data with padding around its axes behind the first two, in its working type.

    What is padded is a tensor of its own, so that the loops over windows have no conditions.
    """
    need = [max(pair) > 0 for pair in around]
    if not any(need):
        return lambda *i: wide(x(*i))

    def element(*i: te.Scalar) -> te.Scalar:
        at = [p - int64(before) for p, (before, _) in zip(i[2:], around, strict=True)]
        return te.if_then_else(within(at, x.shape[2:], need), wide(x(*i[:2], *at)), fill)

    lengths = [d + int64(sum(pair)) for d, pair in zip(x.shape[2:], around, strict=True)]
    return te.compute([*x.shape[:2], *lengths], element, name="T_pad")  # type: ignore[no-any-return]


def need_whole_blocks(text: str, channels: te.Scalar, whole: te.Scalar) -> None:
    """Decline a definition whose result has more places for channels than channels."""
    blocked = any(factor is not None for _, factor in pieces(text))
    if blocked and not channels.written_as(whole):
        decline("its result is in blocks that are not filled")


def lengths_of(out: Result, text: str, axes: str) -> list[te.Scalar]:
    """The dimensions of a result along the named axes, of which only the channels may be split."""
    found = pieces(text)
    if any(factor is not None and name != "C" for name, factor in found):
        decline(f"its result is in blocks: {text}")
    return [
        product([d for d, (name, _) in zip(out.shape, found, strict=True) if name == axis])
        for axis in axes
    ]
