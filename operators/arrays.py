"""Shared parts of values, which NumPy computes: computation types, broadcasting, axes, layouts."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

from rlx.grammar.nodes.dtype import DataType
from rlx.operators.evaluation import OperatorFault, numpy_dtype
from rlx.operators.late import np
from rlx.operators.layout import pieces
from rlx.operators.windows import Sides
from rlx.spec.registry import rule

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]
    Kind = np.dtype[Any]
else:
    Array = Kind = Any
Function = Callable[..., Any]


def is_float(kind: Kind) -> bool:
    """Whether elements are floating-point numbers, including those of ml_dtypes."""
    return kind.kind == "f" or (kind.kind == "V" and "float" in kind.name)


def width(kind: Kind) -> int:
    """The number of bits of an element; a Boolean has one."""
    if kind.kind == "b":
        return 1
    found = re.match(r"[a-z]+(\d+)", kind.name)
    return int(found[1]) if found else 8 * kind.itemsize


def need_floats(name: str, *arrays: Array) -> None:
    """Check that elements are floating-point numbers, for operators that are only defined for
    these.

    Raises
    ------
    OperatorFault
        ``E-operator-dtype``
    """
    for array in arrays:
        if not is_float(array.dtype):
            raise undefined(name, array)


def need_numbers(name: str, *arrays: Array) -> None:
    """Check that elements are not Booleans, which have no arithmetic.

    Raises
    ------
    OperatorFault
        ``E-operator-dtype``
    """
    for array in arrays:
        if array.dtype.kind == "b":
            raise undefined(name, array)


def undefined(name: str, array: Array) -> OperatorFault:
    """The fault of an operator that is not defined for an array's elements."""
    words = f"{name} is not defined for elements of type {array.dtype}"
    return OperatorFault("E-operator-dtype", words, array)


def is_narrow_integer(kind: Kind) -> bool:
    """Whether elements are integers of less than 8 bits."""
    return kind.kind == "V" and "int" in kind.name


@cache
def _plain_floats() -> tuple[Kind, Kind]:
    return np.dtype(np.float32), np.dtype(np.float64)


def working(kind: Kind) -> Kind:
    """The computation type: floats narrower than float32 are computed as float32, narrow integers
    as int8.
    """
    if kind.kind in "biu" or kind in _plain_floats():
        return kind
    if is_float(kind):
        return np.dtype(np.float32)
    return np.dtype(np.uint8 if kind.name.startswith("uint") else np.int8)


def wide(x: Array) -> Array:
    """The array converted to the computation type; the same array if it already has this type."""
    kind = working(x.dtype)
    return x if kind == x.dtype else x.astype(kind)


def integer_range(kind: Kind) -> tuple[int, int]:
    """The smallest and the largest number of a type of integers, narrow ones included."""
    bits = width(kind)
    return (0, (1 << bits) - 1) if kind.name[0] == "u" else (-(1 << bits - 1), (1 << bits - 1) - 1)


def smallest(kind: Kind) -> Any:
    """A lower bound of all numbers of a type."""
    if kind.kind == "b":
        return False
    return -np.inf if is_float(kind) else integer_range(kind)[0]


def back(result: Any, kind: Kind) -> Array:
    """A result converted to the operator's result type; narrow integers wrap."""
    array = np.asarray(result)
    if array.dtype == kind:
        return array
    if is_narrow_integer(kind):
        return wrap_narrow(array, kind)
    with np.errstate(all="ignore"):
        return array.astype(kind)


def wrap_narrow(array: Array, kind: Kind) -> Array:
    """Integers wrapped to a type of less than 8 bits, in two's complement."""
    bits = width(kind)
    low = array.astype(np.int64) & ((1 << bits) - 1)
    if not kind.name.startswith("uint"):
        low = np.where(low >= 1 << (bits - 1), low - (1 << bits), low)
    return np.asarray(low).astype(np.int8).astype(kind)


def quiet(function: Function, *arrays: Any) -> Any:
    """A function on arrays without warnings for infinities, NaN and wrapping integers."""
    with np.errstate(all="ignore"):
        return function(*arrays)


def contracted(x: Array, y: Array, of_x: Sequence[int], of_y: Sequence[int]) -> Array:
    """The sums of products over pairs of axes; the other axes of `x` come before those of `y`.

    As np.tensordot, which multiplies by a single 0 without a look at the other side: infinity and
    NaN would be 0.
    """
    count = len(of_x)
    x = np.moveaxis(x, of_x, range(x.ndim - count, x.ndim))
    y = np.moveaxis(y, of_y, range(count))
    rows, inner, columns = x.shape[: x.ndim - count], y.shape[:count], y.shape[count:]
    products = np.matmul(x.reshape(prod(rows), prod(inner)), y.reshape(prod(inner), prod(columns)))
    return products.reshape(*rows, *columns)  # type: ignore[no-any-return]


def mean(x: Array, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean of floats over axes; NaN for no elements."""
    total = np.sum(x, axis=axis, keepdims=keepdims)
    with np.errstate(all="ignore"):  # np.mean warns of no elements
        return np.divide(total, x.size // max(np.size(total), 1), dtype=x.dtype)


def truncated(total: Array, count: Any) -> Array:
    """Integers divided by positive ones, rounded towards zero; the lowest one cannot be negated."""
    return np.asarray(total // count + ((total < 0) & (total % count != 0)))


def kind_of(dtype: DataType | None, other: Kind) -> Kind:
    """The type given by a parameter, or the default if it is omitted."""
    return other if dtype is None else numpy_dtype(dtype)


def operand(value: Any, like: Any) -> Array:
    """An operand as an array; a number becomes a vector of one element with the other operand's
    type.
    """
    if isinstance(value, np.ndarray):
        return value
    return np.array([value], dtype=like.dtype if isinstance(like, np.ndarray) else None)


@rule("E-broadcast", "computation")
def broadcast(*arrays: Array) -> tuple[int, ...]:
    """The shape that arrays broadcast to.

    Raises
    ------
    OperatorFault
        ``E-broadcast-dims``: if there is none.
    """
    try:
        return np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        shapes = " and ".join(str(a.shape) for a in arrays)
        raise OperatorFault("E-broadcast-dims", f"the shapes {shapes} do not broadcast") from None


@rule("E-axis", "computation")
def axis_of(given: int, ndim: int) -> int:
    """An axis counted from 0.

    Raises
    ------
    OperatorFault
        ``E-axis-range``: if there is no such axis.
    """
    if not -ndim <= given < ndim:
        raise OperatorFault("E-axis-range", f"axis {given} is out of range for rank {ndim}")
    return given % ndim


def axes_of(given: Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Axes counted from 0; all axes if none are named."""
    return tuple(range(ndim)) if given is None else tuple(axis_of(a, ndim) for a in given)


def number(value: Any) -> Any:
    """The number in a scalar operand: a prim value or a tensor of one element."""
    return value.reshape(-1)[0] if isinstance(value, np.ndarray) else value


@rule("E-lengths", "computation")
def sizes(shape: Sequence[int]) -> tuple[int, ...]:
    """A shape for new memory.

    Raises
    ------
    OperatorFault
        ``E-lengths-negative``: if a dimension is negative. ``E-lengths-memory``: if no memory can
        hold it.
    """
    found = tuple(int(size) for size in shape)
    if any(size < 0 for size in found):
        raise OperatorFault("E-lengths-negative", f"the shape {found} has a negative dimension")
    if prod(found) > MOST_ELEMENTS:
        raise OperatorFault("E-lengths-memory", f"a tensor of shape {found} is too large")
    return found


MOST_ELEMENTS = 1 << 32
"""The maximum number of elements of a tensor."""


# ---------------------------------------------------------------- layouts and windows


def canonical(x: Array, text: str, axes: str) -> Array:
    """A tensor in a layout, converted to unsplit axes in the given order."""
    if text == axes:
        return x
    order = [k for axis in axes for k, (name, _) in enumerate(pieces(text)) if name == axis]
    sizes = [
        prod(n for n, (name, _) in zip(x.shape, pieces(text), strict=True) if name == axis)
        for axis in axes
    ]
    return np.transpose(x, order).reshape(sizes)


def arranged(x: Array, text: str, axes: str) -> Array:
    """A tensor with axes in the given order, converted to a layout; split axes are padded with
    zeros.
    """
    if text == axes:
        return x
    split: list[int] = []
    places: dict[int, int] = {}
    padded: list[tuple[int, int]] = []
    for axis, size in zip(axes, x.shape, strict=True):
        own = [(at, factor) for at, (name, factor) in enumerate(pieces(text)) if name == axis]
        whole = prod(factor for _, factor in own if factor)
        count = -(-size // whole)
        padded.append((0, count * whole - size))
        for at, factor in sorted(own, key=lambda piece: piece[1] is not None):
            places[at] = len(split)
            split.append(factor or count)
    made = np.pad(x, padded).reshape(split)
    return np.transpose(made, [places[at] for at in range(len(places))])


def cropped(x: Array, given: Sides) -> tuple[Array, Sides]:
    """The tensor cropped by negative padding, and the remaining padding."""
    if all(side >= 0 for pair in given for side in pair):
        return x, given
    lead = x.ndim - len(given)
    cut: list[Any] = [slice(None)] * lead
    cut += [
        slice(max(-before, 0), max(n + min(after, 0), 0))
        for n, (before, after) in zip(x.shape[lead:], given, strict=True)
    ]
    rest = [(max(before, 0), max(after, 0)) for before, after in given]
    return x[tuple(cut)], rest


@rule("E-window", "computation")
def windows(
    x: Array, sizes: Sequence[int], strides: Sequence[int], dilation: Sequence[int]
) -> Array:
    """A view of every window over the last axes: the positions of windows, then the positions in a
    window.
    """
    reach = [(n - 1) * d + 1 for n, d in zip(sizes, dilation, strict=True)]
    spatial = x.shape[-len(reach) :]
    counts = [(m - n) // s + 1 for n, m, s in zip(reach, spatial, strides, strict=True)]
    if any(n < 1 for n in sizes) or any(count < 0 for count in counts):
        raise OperatorFault(
            "E-window-size",
            f"windows of size {tuple(reach)} do not fit axes of lengths {tuple(spatial)}",
        )
    axes = tuple(range(x.ndim - len(reach), x.ndim))
    if 0 in counts:
        return np.zeros((*x.shape[: -len(reach)], *counts, *sizes), x.dtype)
    found = np.lib.stride_tricks.sliding_window_view(x, tuple(reach), axis=axes)
    steps = [slice(None)] * (x.ndim - len(reach))
    steps += [slice(None, None, s) for s in strides] + [slice(None, None, d) for d in dilation]
    return found[tuple(steps)]
