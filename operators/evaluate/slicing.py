"""Slices of tensors, and replacement of slices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rlx.operators.evaluate.arrays import Array, axis_of
from rlx.operators.evaluate.indexing import fit
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule


@rule("E-slice", "ec285aaf", "computation")
def indices(length: int, begin: int, end: int, step: int, inbound: bool = False) -> range:
    """The indices of a slice.

    Negative bounds count from the end, and bounds out of range are clamped (E-slice). If the slice
    is declared to be in bounds, they must be in range.
    """
    if step == 0:
        raise OperatorFault("E-slice-stride", "a stride is 0")
    low, high = (0, length) if step > 0 else (-1, length - 1)
    if inbound:
        floor = -1 if step < 0 else 0
        for bound in (begin, end):
            if not floor <= bound <= length:
                raise OperatorFault(
                    "E-slice-bounds", f"the bound {bound} is outside an axis of length {length}"
                )
    else:
        begin, end = (
            min(max(bound + length if bound < 0 else bound, low), high) for bound in (begin, end)
        )
    return range(begin, end, step)


def strided_slice(
    x: Array,
    axes: Sequence[int],
    begin: Sequence[int],
    end: Sequence[int],
    strides: Sequence[int] | None,
    inbound: int,
) -> Array:
    """The elements from begin to end, in steps of the stride, along the axes."""
    steps = strides or (1,) * len(axes)
    if not len(axes) == len(begin) == len(end) == len(steps):
        raise OperatorFault(
            "E-operator-arguments",
            ("begin, end, strides and axes of a slice have different lengths"),
        )
    for axis, low, high, step in zip(axes, begin, end, steps, strict=True):
        along = axis_of(int(axis), x.ndim)
        places = indices(x.shape[along], int(low), int(high), int(step), bool(inbound))
        x = np.take(x, np.array(places, np.intp), along)
    return x.copy()


def dynamic_strided_slice(x: Array, begin: Array, end: Array, strides: Array) -> Array:
    """Like ``strided_slice`` over the leading axes, with bounds given by tensors."""
    axes = range(len(begin))
    return strided_slice(x, axes, begin.tolist(), end.tolist(), strides.tolist(), 0)


def slice_scatter(x: Array, src: Array, start: int, end: int, step: int, axis: int) -> Array:
    """The tensor with a slice along an axis replaced by another tensor."""
    along = axis_of(axis, x.ndim)
    places = indices(x.shape[along], int(start), int(end), int(step))
    wanted = (*x.shape[:along], len(places), *x.shape[along + 1 :])
    fit(src, wanted)
    result = x.copy()
    np.moveaxis(result, along, 0)[np.array(places, np.intp)] = np.moveaxis(src, along, 0)
    return result
