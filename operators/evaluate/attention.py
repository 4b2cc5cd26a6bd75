"""Attention: for each query the mean of the values, weighted by how well it fits their keys."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from rlx.operators.evaluate.arrays import Array, back, broadcast, need_floats, number, quiet, wide
from rlx.operators.evaluate.normalization import softmax
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule


@rule("E-attention", "bf94d84c", "computation")
def _heads(query: Array, key: Array, value: Array) -> int:
    """How many query heads share a key head."""
    q, k, v = query.shape, key.shape, value.shape
    if q[0] != k[0] or k[:3] != v[:3] or q[3] != k[3] or not k[2] or q[2] % k[2]:
        raise OperatorFault(
            "E-attention-dims", (f"the shapes of queries {q}, keys {k} and values {v} do not match")
        )
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
    """Attention over (batch, length, heads, width); the scale is by default one over the root of
    the width.
    """
    need_floats("attention", query, key, value)
    shared = _heads(query, key, value)
    q, k, v = (np.moveaxis(wide(x), 2, 1) for x in (query, key, value))
    if shared > 1:
        k, v = np.repeat(k, shared, axis=1), np.repeat(v, shared, axis=1)
    factor = 1 / np.sqrt(q.shape[-1]) if scale is None else float(scale)
    scores = np.matmul(q, np.swapaxes(k, -1, -2))
    scores *= q.dtype.type(factor)
    if bias is not None:
        broadcast(scores, bias)
        scores = scores + wide(bias)
    if causal is not None:
        seen = _seen(q.shape[2], k.shape[2], causal, window)
        scores = np.where(seen, scores, scores.dtype.type(-np.inf))
    weights = quiet(softmax, scores, -1)
    return back(np.moveaxis(np.matmul(weights, v), 1, 2), query.dtype)


@rule("E-mask", "44cc9e7d", "computation")
def _seen(queries: int, keys: int, causal: str, window: Any) -> Array:
    """Which keys a query sees: those not behind its place, and of a window the last so many."""
    if causal not in ("TopLeft", "BottomRight"):
        raise OperatorFault("E-mask-name", f"unknown causal_mask {causal!r}")
    offset = abs(keys - queries) if causal == "BottomRight" else 0
    distance = np.arange(queries)[:, None] + offset - np.arange(keys)[None, :]
    seen = distance >= 0
    return np.asarray(seen if window is None else seen & (distance < int(window)))


@rule("E-sequences", "c4952665", "computation")
def _bounds(starts: Array, total: int, longest: Any) -> list[tuple[int, int]]:
    """Where the sequences begin and end in an axis that holds them one after the other."""
    line = [int(k) for k in starts.reshape(-1)]
    bounds = list(pairwise(line))
    if not line or line[0] != 0 or line[-1] != total or any(a > b for a, b in bounds):
        raise OperatorFault(
            "E-sequences-starts",
            (
                f"the starts of the sequences, {line}, do not ascend from 0 to the length of the"
                f" axis, {total}"
            ),
        )
    most = max((b - a for a, b in bounds), default=0)
    if most > int(number(longest)):
        raise OperatorFault(
            "E-sequences-longest",
            (f"a sequence has length {most}, but the maximum given is {number(longest)}"),
        )
    return bounds


def attention_var_len(
    query: Array,
    key: Array,
    value: Array,
    starts: Array,
    longest: Array,
    key_starts: Array | None,
    key_longest: Array | None,
    scale: Any,
    causal: str | None,
    window: Any,
) -> Array:
    """Attention over sequences of different lengths, concatenated along axis 1."""
    queries = _bounds(starts, query.shape[1], longest)
    keys = _bounds(
        starts if key_starts is None else key_starts,
        key.shape[1],
        longest if key_longest is None else key_longest,
    )
    if len(queries) != len(keys) or query.shape[0] != 1:
        raise OperatorFault(
            "E-sequences-starts",
            (
                f"{len(queries)} sequences of queries do not match {len(keys)} sequences of keys"
                " in a batch of one"
            ),
        )
    parts = [
        attention(query[:, a:b], key[:, c:d], value[:, c:d], None, scale, causal, window)
        for (a, b), (c, d) in zip(queries, keys, strict=True)
    ]
    empty = np.zeros((1, 0, query.shape[2], value.shape[3]), query.dtype)
    return np.concatenate([empty, *parts], axis=1)


OPERATORS = {"nn.attention_bias": attention}
"""The operators that functions of this file make or share, by name."""
