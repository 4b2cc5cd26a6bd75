"""The sort functions of TVM's run time, which legalised PrimFuncs call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlx.semantics.tir.values import fault
from rlx.spec.registry import rule

Array = np.ndarray[Any, Any]


@rule("E-tir-sort", "TIR expression")
def order(data: Array, axis: int, ascending: bool) -> Array:
    """The indices that sort along an axis; the sort is stable, and NaN comes last."""
    if not -data.ndim <= axis < data.ndim:
        fault("E-tir-sort-axis", f"axis {axis} is out of range for rank {data.ndim}")
    if data.dtype.kind not in "biuf":
        data = data.astype(np.float64)
    if ascending:
        return np.argsort(data, axis=axis, kind="stable")
    last = data.shape[axis] - 1
    found: Array = last - np.flip(np.argsort(np.flip(data, axis), axis=axis, kind="stable"), axis)
    if np.issubdtype(data.dtype, np.floating):
        numbers = ~np.isnan(np.take_along_axis(data, found, axis))
        behind = np.argsort(~numbers, axis=axis, kind="stable")
        found = np.take_along_axis(found, behind, axis)
    return found


def _sort(data: Array, out: Array, axis: int, ascending: bool) -> None:
    out[...] = np.take_along_axis(data, order(data, axis, ascending), axis)


def _argsort(data: Array, out: Array, axis: int, ascending: bool) -> None:
    out[...] = order(data, axis, ascending)


def _argsort_nms(data: Array, valid: Array, out: Array, axis: int, ascending: bool) -> None:
    """Only the first few along the axis are sorted, as many as ``valid`` says; the rest stay where
    they are.
    """
    rows, counts = np.moveaxis(data, axis, -1), valid.ravel()
    results = np.moveaxis(out, axis, -1)
    for row, at in enumerate(np.ndindex(rows.shape[:-1])):
        size = rows.shape[-1]
        count = min(max(int(counts[row]), 0), size)
        found = np.arange(size)
        found[:count] = order(rows[at][:count], 0, ascending)
        results[at] = found


def _topk(data: Array, *rest: Any) -> None:
    """The first ``k`` along the axis once it is sorted; all where ``k`` is below 1."""
    *outs, k, axis, kind, ascending = rest
    found = order(data, axis, ascending)
    if k >= 1:
        found = np.take(found, np.arange(min(k, data.shape[axis])), axis)
    if kind in ("both", "values"):
        outs[0][...] = np.take_along_axis(data, found, axis)
    if kind in ("both", "indices"):
        outs[-1][...] = found


SORTS: Mapping[str, tuple[int, Callable[..., None]]] = {
    "tvm.contrib.sort.sort": (1, _sort),
    "tvm.contrib.sort.argsort": (1, _argsort),
    "tvm.contrib.sort.argsort_nms": (2, _argsort_nms),
    "tvm.contrib.sort.topk": (1, _topk),
}
"""The number of leading arrays that are read, and the function, by name. They need not be
registered.
"""
