"""Tensors in layouts, and windows over their spatial axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlx import te
from rlx.operators.layout import pieces
from rlx.te.scalar import Scalar
from rlx.transform.legalization.elements import (
    both,
    convert,
    filled,
    int64,
    product,
)
from rlx.transform.legalization.result import Result, decline

Sides = list[tuple[int, int]]


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

    def __call__(self, *indices: Scalar) -> Scalar:
        """An element, by its indices along the axes named."""
        return self._x(*_split(self._pieces, self._axes, indices))


def _split(
    found: Sequence[tuple[str, int | None]], axes: str, indices: Sequence[Scalar]
) -> list[Scalar]:
    """Indices of the pieces of a layout."""
    place = dict(zip(axes, indices, strict=True))
    whole = dict.fromkeys(place, 1)
    for name, factor in found:
        whole[name] *= factor or 1
    behind = dict(whole)
    at: list[Scalar] = []
    for name, factor in found:
        if factor is None:
            at.append(place[name] // int64(whole[name]) if whole[name] != 1 else place[name])
        else:
            behind[name] //= factor
            at.append(place[name] // int64(behind[name]) % int64(factor))
    return at


def arranged(out: Result, value: Callable[..., Scalar], text: str, axes: str) -> te.Tensor:
    """A tensor with axes in the given order, converted to a layout whose blocks it fills."""
    found = pieces(text)

    def element(*i: Scalar) -> Scalar:
        at: dict[str, Scalar] = {}
        for (name, factor), v in zip(found, i, strict=True):
            at[name] = v if factor is None else at[name] * int64(factor) + v
        return convert(value(*(at[axis] for axis in axes)), out.dtype)

    return filled(out, element)


def sides(given: Sequence[int], count: int) -> Sides:
    """The padding before and after along each axis."""
    if len(given) == 1:
        return [(given[0], given[0])] * count
    if len(given) == count:
        return [(k, k) for k in given]
    return list(zip(given[:count], given[count:], strict=True))


def spread(given: Sequence[int], count: int) -> tuple[int, ...]:
    """One number for each axis."""
    return tuple(given) * count if len(given) == 1 else tuple(given)


def window_axes(sizes: Sequence[Any]) -> list[te.ReduceAxis]:
    return [
        te.reduce_axis((0, size if isinstance(size, Scalar) else int64(size)), name=f"w{k}")
        for k, size in enumerate(sizes)
    ]


def within(at: Sequence[Scalar], shape: Sequence[Scalar], need: Sequence[bool]) -> Scalar:
    """Whether positions are within a tensor, as far as this must be checked."""
    found = te.const(True, "bool")
    for place, size, asked in zip(at, shape, need, strict=True):
        if asked:
            found = both(both(found, place >= int64(0)), place < size)
    return found


def lengths_of(out: Result, text: str, axes: str) -> list[Scalar]:
    """The dimensions of a result along the named axes; unknown if the layout splits axes."""
    found = pieces(text)
    if any(factor is not None for _, factor in found):
        decline(f"its result is in blocks: {text}")
    return [out.shape[[name for name, _ in found].index(axis)] for axis in axes]
