"""Quantisation with a scale and a zero point."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.grammar.dtype import DataType
from rlx.operators.evaluate.arrays import Array, axis_of, back, is_float, kind_of, quiet, wide
from rlx.operators.evaluate.elementwise import convert
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule

_INT8, _FLOAT32 = np.dtype(np.int8), np.dtype(np.float32)


@rule("E-quantize", "c17c0ed7", "computation")
def _along(x: Array, parameter: Array, axis: int) -> Any:
    """A scale or zero point in the shape in which it broadcasts."""
    p = wide(parameter)
    if p.size == 1:
        return p.reshape(())
    along = axis_of(axis, x.ndim)
    if p.shape != (x.shape[along],):
        raise OperatorFault(
            "E-quantize-length",
            (f"a parameter of shape {p.shape} does not fit an axis of length {x.shape[along]}"),
        )
    return p.reshape([-1 if k == along else 1 for k in range(x.ndim)])


def quantize(x: Array, scale: Array, zero: Array, axis: int, kind: DataType | None) -> Array:
    """Elements rounded to the nearest step of the scale, ties to even, and clamped to the type."""
    made = kind_of(kind, _INT8)
    steps = quiet(lambda: np.round(wide(x) / _along(x, scale, axis)))
    moved = steps + np.asarray(_along(x, zero, axis)).astype(steps.dtype)
    return back(moved, made) if is_float(made) else convert(moved, made)


def dequantize(x: Array, scale: Array, zero: Array, axis: int, kind: DataType | None) -> Array:
    """Elements from steps of the scale."""
    made = kind_of(kind, _FLOAT32)
    s = np.asarray(_along(x, scale, axis))
    if is_float(x.dtype):
        off = wide(x) - np.asarray(_along(x, zero, axis)).astype(wide(x).dtype)
    else:
        off = wide(x).astype(np.int64) - np.asarray(_along(x, zero, axis)).astype(np.int64)
    return back(quiet(lambda: off.astype(s.dtype) * s), made)
