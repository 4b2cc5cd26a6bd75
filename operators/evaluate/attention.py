"""Attention: for each query the mean of the values, weighted by how well it fits their keys."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.operators.evaluate.arrays import Array, back, broadcast, quiet, wide
from rlx.operators.evaluate.normalization import softmax
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule


@rule("E-attention", "7b433ee1")
def _heads(query: Array, key: Array, value: Array) -> int:
    """How many query heads share a key head."""
    q, k, v = query.shape, key.shape, value.shape
    if q[0] != k[0] or k[:3] != v[:3] or q[3] != k[3] or not k[2] or q[2] % k[2]:
        raise OperatorFault("E-attention-dims", f"queries of {q}, keys of {k} and values of {v}")
    return int(q[2] // k[2])


def attention(
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None,
    scale: Any,
    causal: str | None,
    window: Any,
) -> Array:
    """Attention over (batch, length, heads, width); the scale is by default one over the root of the width."""
    shared = _heads(query, key, value)
    q, k, v = (np.moveaxis(wide(x), 2, 1) for x in (query, key, value))
    if shared > 1:
        k, v = np.repeat(k, shared, axis=1), np.repeat(v, shared, axis=1)
    factor = 1 / np.sqrt(q.shape[-1]) if scale is None else float(scale)
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) * q.dtype.type(factor)
    if bias is not None:
        broadcast(scores, bias)
        scores = scores + wide(bias)
    seen = _seen(q.shape[2], k.shape[2], causal, window)
    weights = quiet(softmax, np.where(seen, scores, scores.dtype.type(-np.inf)), -1)
    return back(np.moveaxis(np.matmul(weights, v), 1, 2), query.dtype)


def _seen(queries: int, keys: int, causal: str | None, window: Any) -> Array:
    """Which keys a query sees: with a mask, those not behind it, and of a window the last so many."""
    if causal is None:
        return np.ones((queries, keys), np.bool_)
    offset = keys - queries if causal == "BottomRight" else 0
    distance = np.arange(queries)[:, None] + offset - np.arange(keys)[None, :]
    seen = distance >= 0
    return np.asarray(seen if window is None else seen & (distance < int(window)))
