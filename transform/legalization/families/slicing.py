"""Slices of tensors, and replacement of slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlx import te
from rlx.te.scalar import Scalar, scalar
from rlx.transform.legalization.elements import axis_of, both, equals, filled, int64
from rlx.transform.legalization.result import Result, decline


def _start(begin: Any, length: Scalar, step: int, inbound: bool) -> Scalar:
    """Where a slice begins: negative bounds count from the end, bounds outside are moved to it."""
    at = te.cast("int64", scalar(begin))
    if inbound:
        return at
    if at.value is not None:
        found = at + length if at.value < 0 else at
    else:
        found = te.select(at < int64(0), at + length, at)
    low, high = (int64(0), length) if step > 0 else (int64(-1), length - 1)
    return te.minimum(te.maximum(found, low), high)


def strided_slice(
    out: Result,
    x: te.Tensor,
    axes: Sequence[Any],
    begin: Sequence[Any],
    end: Sequence[Any],
    strides: Sequence[Any] | None,
    inbound: int,
) -> te.Tensor:
    """The elements from begin to end, in steps of the stride, along the axes."""
    steps = strides or (1,) * len(axes)
    if any(isinstance(step, Scalar) for step in (*steps, *axes)):
        decline("its strides are not constants")
    starts: dict[int, tuple[Scalar, int]] = {}
    for axis, low, step in zip(axes, begin, steps, strict=True):
        along = axis_of(int(axis), x.ndim)
        starts[along] = _start(low, x.shape[along], int(step), bool(inbound)), int(step)

    def element(*i: Scalar) -> Scalar:
        at = []
        for k, v in enumerate(i):
            start, step = starts.get(k, (int64(0), 1))
            at.append(start + v * int64(step))
        return x(*at)

    return filled(out, element)


def slice_scatter(
    out: Result, x: te.Tensor, src: te.Tensor, start: Any, end: Any, step: Any, axis: int
) -> te.Tensor:
    """The tensor with a slice along an axis replaced by another tensor."""
    along = axis_of(axis, x.ndim)
    if isinstance(step, Scalar):
        decline("its stride is not a constant")
    begin = _start(start, x.shape[along], step, False)

    def element(*i: Scalar) -> Scalar:
        off = i[along] - begin
        number = off // int64(step)
        inside = both(
            both(off >= int64(0), equals(off % int64(step), int64(0))),
            number < src.shape[along],
        )
        new = src(*(number if k == along else v for k, v in enumerate(i)))
        return te.if_then_else(inside, new, x(*i))

    return filled(out, element)
