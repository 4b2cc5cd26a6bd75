"""Attention: for each query the mean of the values, weighted by how well it fits their keys."""

from __future__ import annotations

from typing import Any

from rlx import te
from rlx.te.scalar import Scalar, scalar
from rlx.transform.legalization.elements import (
    FLOAT64,
    LARGEST,
    both,
    broadcast,
    convert,
    filled,
    int64,
    need_floats,
    reduced,
    summed,
    wide,
)
from rlx.transform.legalization.result import Result, decline


def attention(
    out: Result,
    query: te.Tensor,
    key: te.Tensor,
    value: te.Tensor,
    bias: te.Tensor | None,
    scale: Any,
    causal: str | None,
    window: Any,
) -> te.Tensor:
    """Attention over (batch, length, heads, width); the scale is by default one over the root of
    the width.
    """
    need_floats(query.dtype, key.dtype, value.dtype)
    batch, queries, heads, width = query.shape
    keys, shared = key.shape[1], heads // key.shape[2]
    k = te.reduce_axis((0, width), name="k")

    def product(b: Scalar, h: Scalar, s: Scalar, t: Scalar) -> Any:
        return te.sum(wide(query(b, s, h, k)) * wide(key(b, t, h // shared, k)), axis=k)

    raw: te.Tensor = te.compute((batch, heads, queries, keys), product, name="T_product")

    def score(*i: Scalar) -> Scalar:
        found = raw(*i) * _factor(scale, width, raw.dtype)
        if bias is not None:
            found = found + te.cast(raw.dtype, wide(broadcast(bias, i)))
        if causal is not None:
            seen = _seen(i[2], i[3], queries, keys, causal, window)
            found = te.select(seen, found, te.const(float("-inf"), found.dtype))
        return found

    scores = te.compute(raw.shape, score, name="T_scores")
    top = reduced(scores, (3,), LARGEST, "T_top")
    raised = te.compute(
        scores.shape, lambda b, h, s, t: te.exp(scores(b, h, s, t) - top(b, h, s, 0)), name="T_exp"
    )
    total = summed(raised, (3,), "T_total")
    weights = te.compute(
        raised.shape, lambda b, h, s, t: raised(b, h, s, t) / total(b, h, s, 0), name="T_weights"
    )
    t = te.reduce_axis((0, keys), name="t")

    def mean(b: Scalar, s: Scalar, h: Scalar, w: Scalar) -> Any:
        return te.sum(weights(b, h, s, t) * wide(value(b, t, h // shared, w)), axis=t)

    made = te.compute(out.shape, mean, name="T_attention_of")
    return filled(out, lambda *i: convert(made(*i), out.dtype))


def _factor(scale: Any, width: Scalar, kind: Any) -> Scalar:
    if scale is not None:
        return te.cast(kind, scalar(scale))
    return te.cast(kind, te.const(1, FLOAT64) / te.sqrt(te.cast(FLOAT64, width)))


def _seen(s: Scalar, t: Scalar, queries: Scalar, keys: Scalar, causal: str, window: Any) -> Scalar:
    """Whether a query sees a key: one not behind its place, and of a window one of the last so
    many.
    """
    if causal not in ("TopLeft", "BottomRight"):
        decline(f"unknown mask {causal!r}")
    offset = te.abs(keys - queries) if causal == "BottomRight" else int64(0)
    distance = s + offset - t
    seen = distance >= int64(0)
    return seen if window is None else both(seen, distance < int64(int(window)))


OPERATORS = {"nn.attention_bias": attention}
"""The operators that functions of this file make or share, by name."""
