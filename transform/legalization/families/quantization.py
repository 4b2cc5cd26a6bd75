"""Quantisation with a scale and a zero point."""

from __future__ import annotations

from collections.abc import Sequence

from rlx import te
from rlx.grammar.nodes.dtype import DataType
from rlx.te.scalar import Scalar
from rlx.transform.legalization.elements import (
    axis_of,
    convert,
    filled,
    int64,
    is_one,
    need_floats,
    wide,
)
from rlx.transform.legalization.result import Result


def _along(p: te.Tensor, axis: int, indices: Sequence[Scalar]) -> Scalar:
    """A scale or zero point for an element."""
    if all(map(is_one, p.shape)):
        return wide(p(*(int64(0) for _ in p.shape)))
    return wide(p(indices[axis_of(axis, len(indices))]))


def quantize(
    out: Result, x: te.Tensor, scale: te.Tensor, zero: te.Tensor, axis: int, kind: DataType | None
) -> te.Tensor:
    """Elements in steps of the scale, clamped to the type; for integers they are rounded to the
    nearest step first, ties to even.
    """
    need_floats(x.dtype)

    def element(*i: Scalar) -> Scalar:
        steps = wide(x(*i)) / _along(scale, axis, i)
        if not out.dtype.is_float:
            steps = te.round(steps)
        moved = steps + te.cast(steps.dtype, _along(zero, axis, i))
        return convert(_clamped(moved, out.dtype) if out.dtype.is_float else moved, out.dtype)

    return filled(out, element)


def _clamped(value: Scalar, kind: DataType) -> Scalar:
    """A number held between the finite numbers of a type of floats; NaN stays."""
    low, high = (te.cast(value.dtype, bound(kind)) for bound in (te.min_value, te.max_value))
    return te.select(value > high, high, te.select(value < low, low, value))


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
