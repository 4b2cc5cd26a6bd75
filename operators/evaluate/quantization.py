"""Quantisation with a scale and a zero point."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from rlx.grammar.nodes.dtype import DataType
from rlx.operators.evaluate.arrays import Array, axis_of, back, is_float, kind_of, quiet, wide
from rlx.operators.evaluate.elementwise import convert
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule

_INT8, _FLOAT32 = np.dtype(np.int8), np.dtype(np.float32)


@rule("E-quantize", "912890a5", "computation")
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
    """Elements in steps of the scale, clamped to the type; for integers they are rounded to the
    nearest step first, ties to even.
    """
    made = kind_of(kind, _INT8)
    steps = quiet(lambda: wide(x) / _along(x, scale, axis))
    if not is_float(made):
        steps = np.round(steps)
    moved = steps + np.asarray(_along(x, zero, axis)).astype(steps.dtype)
    if not is_float(made):
        return convert(moved, made)
    largest = float(ml_dtypes.finfo(made).max)  # type: ignore[no-untyped-call]
    return back(np.clip(moved, -largest, largest), made)


def dequantize(x: Array, scale: Array, zero: Array, axis: int, kind: DataType | None) -> Array:
    """Elements from steps of the scale."""
    made = kind_of(kind, _FLOAT32)
    s = np.asarray(_along(x, scale, axis))
    if is_float(x.dtype):
        off = wide(x) - np.asarray(_along(x, zero, axis)).astype(wide(x).dtype)
    else:
        off = wide(x).astype(np.int64) - np.asarray(_along(x, zero, axis)).astype(np.int64)
    return back(quiet(lambda: off.astype(s.dtype) * s), made)
