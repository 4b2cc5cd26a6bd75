"""Sorting along an axis, and draws from a distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.grammar.nodes.dtype import DataType
from rlx.operators.evaluate.arrays import Array, axis_of, back, kind_of, wide
from rlx.operators.evaluate.indexing import from_zero
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule

_INT32 = np.dtype(np.int32)
_SUM = 1e-2
"""The tolerance of a distribution's sum; float16 has three digits."""


def order(x: Array, along: int, descending: bool) -> Array:
    """The indices of the sorted elements; the sort is stable, and NaN comes last."""
    w = wide(x)
    if not descending:
        return np.argsort(w, axis=along, kind="stable")
    # Sorting the reverse and turning it round keeps equal elements in order.
    turned = np.argsort(np.flip(w, along), axis=along, kind="stable")
    return np.flip(w.shape[along] - 1 - turned, along)


def sort(x: Array, axis: int, descending: int) -> Array:
    """The elements in order along an axis."""
    along = axis_of(axis, x.ndim)
    return np.take_along_axis(x, order(x, along, bool(descending)), along)


def argsort(x: Array, axis: int, descending: int, kind: DataType | None) -> Array:
    """The indices of the sorted elements along an axis."""
    found = order(x, axis_of(axis, x.ndim), bool(descending))
    return back(found, kind_of(kind, _INT32))


def topk(x: Array, count: int, axis: int, wanted: str, largest: int, kind: DataType | None) -> Any:
    """The first k sorted elements along an axis (all, if k is not positive), and their indices."""
    along = axis_of(axis, x.ndim)
    length = x.shape[along]
    if count > length:
        raise OperatorFault("E-index-range", f"k is {count}, but the axis has length {length}")
    found = order(x, along, bool(largest))
    first = np.take(found, np.arange(count if count > 0 else length), along)
    values, where = np.take_along_axis(x, first, along), back(first, kind_of(kind, _INT32))
    return {"values": values, "indices": where}.get(wanted, (values, where))


@rule("E-draw", "0e9bd884", "computation")
def multinomial_from_uniform(
    prob: Array, sample: Array, indices: Array, kind: DataType | None
) -> Array:
    """One draw from a row's distribution for each uniform sample."""
    rows = from_zero(indices.reshape(-1), prob.shape[0], negative=False)
    chances = wide(prob)
    wrong = ~(chances >= 0).all(axis=-1) | ~np.isclose(chances.sum(axis=-1), 1, atol=_SUM)
    for row in rows:
        if wrong[row]:
            raise OperatorFault(
                "E-draw-distribution", (f"row {row} is not a probability distribution")
            )
    below = np.cumsum(chances, axis=-1)[rows]
    drawn = np.sum(below <= wide(sample).reshape(-1, 1), axis=-1)
    last = prob.shape[-1] - 1
    return back(np.minimum(drawn, last).reshape(sample.shape), kind_of(kind, np.dtype(np.int64)))
