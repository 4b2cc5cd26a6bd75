"""Quantisation with a scale and a zero point."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.dtype import DataType
from rlx.transform import te
from rlx.transform.legalization.elements import (
    axis_of,
    convert,
    filled,
    int64,
    need_floats,
    wide,
)
from rlx.transform.legalization.result import Result
from rlx.transform.te.scalar import Scalar


def _along(p: te.Tensor, axis: int, indices: Sequence[Scalar]) -> Scalar:
    """A scale or zero point for an element."""
    if p.ndim == 0 or all(dim.value == 1 for dim in p.shape):
        return wide(p(*([int64(0)] * p.ndim)))
    return wide(p(indices[axis_of(axis, len(indices))]))


def quantize(
    out: Result, x: te.Tensor, scale: te.Tensor, zero: te.Tensor, axis: int, kind: DataType | None
) -> te.Tensor:
    """Elements rounded to the nearest step of the scale, ties to even, and clamped to the type."""
    need_floats(x.dtype)

    def element(*i: Scalar) -> Scalar:
        steps = te.round(wide(x(*i)) / _along(scale, axis, i))
        moved = steps + te.cast(steps.dtype, _along(zero, axis, i))
        return convert(moved, out.dtype)

    return filled(out, element)


def dequantize(
    out: Result, x: te.Tensor, scale: te.Tensor, zero: te.Tensor, axis: int, kind: DataType | None
) -> te.Tensor:
    """Elements from steps of the scale."""
    need_floats(scale.dtype)

    def element(*i: Scalar) -> Scalar:
        step = _along(scale, axis, i)
        value, origin = wide(x(*i)), _along(zero, axis, i)
        if x.dtype.is_float:
            off = value - te.cast(value.dtype, origin)
        else:
            off = te.cast("int64", value) - te.cast("int64", origin)
        return convert(te.cast(step.dtype, off) * step, out.dtype)

    return filled(out, element)
