"""Detection: non-maximum suppression, and boxes from anchors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rlx.operators.evaluate.arrays import Array, back, need_floats, number, quiet, wide
from rlx.operators.evaluate.normalization import softmax
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule


@rule("E-boxes", "f2346ed0", "computation")
def _columns(x: Array, columns: Sequence[int]) -> None:
    """The columns that hold scores, classes and corners are there."""
    if any(not 0 <= column < x.shape[2] for column in columns):
        raise OperatorFault(
            "E-boxes-columns",
            (f"columns {tuple(columns)} are not all within rows of {x.shape[2]} elements"),
        )


@rule("E-candidates", "6b00c4d7", "computation")
def _count(given: Any, most: int) -> int:
    count = int(given)
    if not 0 <= count <= most:
        raise OperatorFault(
            "E-candidates-count", (f"the number of valid boxes is {count}, expected 0 to {most}")
        )
    return count


def _overlaps(corners: Array) -> Array:
    """How much of the union of two boxes both cover, for all pairs: (n, n); corners in any
    order.
    """
    low = np.minimum(corners[:, :2], corners[:, 2:])
    high = np.maximum(corners[:, :2], corners[:, 2:])
    sides = np.minimum(high[:, None], high[None]) - np.maximum(low[:, None], low[None])
    both = np.prod(np.maximum(sides, 0), axis=-1)
    area = np.prod(high - low, axis=-1)
    union = area[:, None] + area[None] - both
    return np.where(union <= 0, 0, quiet(np.divide, both, np.where(union <= 0, 1, union)))


def _greedy(rivals: Array, most: int) -> list[int]:
    """From the best box on, those that no chosen one rules out; at most so many of them."""
    alive = np.ones(len(rivals), np.bool_)
    chosen: list[int] = []
    for at in range(len(rivals)):
        if len(chosen) == most:
            break
        if alive[at]:
            chosen.append(at)
            alive &= ~rivals[at]
    return chosen


def all_class_non_max_suppression(
    boxes: Array, scores: Array, most: Any, overlap: Any, threshold: Any, form: str
) -> tuple[Array, ...]:
    """The boxes of each class that do not overlap better ones, best first; the rest is filled with
    zeros.
    """
    if boxes.shape != (scores.shape[0], scores.shape[2], 4):
        raise OperatorFault(
            "E-boxes-columns",
            (f"boxes of shape {boxes.shape} do not fit scores of shape {scores.shape}"),
        )
    need_floats("all_class_non_max_suppression", boxes, scores)
    limit, least = max(int(number(most)), 0), number(threshold)
    found: list[tuple[int, int, int]] = []
    for batch, classes in enumerate(wide(scores)):
        near = _overlaps(wide(boxes[batch])) >= number(overlap)
        for kind, line in enumerate(classes):
            order = [k for k in np.argsort(-line, kind="stable") if line[k] > least]
            chosen = _greedy(near[np.ix_(order, order)], limit)
            found += [(batch, kind, int(order[k])) for k in chosen]
    rows = np.array(found, np.int64).reshape(-1, 3)
    if form == "onnx":
        packed = np.zeros((scores.size, 3), np.int64)
        packed[: len(rows)] = rows
        return packed, np.array([len(rows)], np.int64)
    return _by_batch(rows, scores)


def _by_batch(rows: Array, scores: Array) -> tuple[Array, ...]:
    batches, each = scores.shape[0], scores.shape[1] * scores.shape[2]
    indices, values = np.zeros((batches, each, 2), np.int64), np.zeros((batches, each), np.float32)
    counts = np.bincount(rows[:, 0], minlength=batches).astype(np.int64)
    for batch, count in enumerate(counts):
        part = rows[rows[:, 0] == batch]
        indices[batch, :count] = part[:, 1:]
        values[batch, :count] = scores[batch, part[:, 1], part[:, 2]]
    return indices, values, counts


def get_valid_counts(
    data: Array, threshold: float, id_index: int, score_index: int
) -> tuple[Array, Array, Array]:
    """The number of boxes of each batch above the threshold, these boxes at the front, and their
    indices; the rest is filled with -1.
    """
    _columns(data, [score_index, max(id_index, 0)])
    x = wide(data)
    valid = x[..., score_index] > x.dtype.type(threshold)
    if id_index >= 0:
        valid &= x[..., id_index] >= 0
    order = np.argsort(~valid, axis=1, kind="stable")
    counts = valid.sum(axis=1).astype(np.int32)
    filled = np.arange(x.shape[1]) < counts[:, None]
    moved = np.where(filled[..., None], np.take_along_axis(x, order[..., None], 1), -1)
    return counts, back(moved, data.dtype), np.where(filled, order, -1).astype(np.int32)


def non_max_suppression(
    data: Array,
    valid: Array,
    indices: Array,
    most: int,
    overlap: float,
    force: int,
    top: int,
    corner: int,
    score: int,
    kind: int,
    return_indices: int,
    to_bottom: int,
    sigma: float,
    threshold: float,
) -> Any:
    """The boxes that do not overlap better ones, or their indices and their number."""
    need_floats("non_max_suppression", data)
    _columns(data, [corner, corner + 3, score, max(kind, 0)])
    x = wide(data)
    result, chosen = np.full_like(x, -1), np.full(x.shape[:2], -1, np.int32)
    counts = np.zeros((len(x), 1), np.int32)
    for batch, rows in enumerate(x):
        count = _count(valid[batch], len(rows))
        order = np.argsort(-rows[:count, score], kind="stable")[: top if top > 0 else count]
        rows = rows[order]
        near = _overlaps(rows[:, corner : corner + 4])
        alike = np.ones_like(near, np.bool_)
        if not force and kind >= 0:
            alike = rows[:, None, kind] == rows[None, :, kind]
        limit = most if most > 0 else len(rows)
        if sigma > 0:
            kept = _softly(rows, score, near, alike, (limit, overlap, sigma, threshold))
        else:
            good = np.flatnonzero(rows[:, score] > 0)
            rivals = (near >= overlap) & alike
            kept = [int(good[k]) for k in _greedy(rivals[np.ix_(good, good)], limit)]
        counts[batch] = len(kept)
        chosen[batch, : len(kept)] = indices[batch][order[kept]]
        packed = sigma > 0 or to_bottom or return_indices
        result[batch, : len(kept)] = rows[kept]
        if not packed:
            result[batch] = -1
            result[batch, kept] = rows[kept]
    if not return_indices:
        return back(result, data.dtype)
    return (back(result, data.dtype), chosen, counts) if sigma > 0 else (chosen, counts)


def _softly(
    rows: Array, score: int, near: Array, alike: Array, options: tuple[int, float, float, float]
) -> list[int]:
    """Best boxes one after the other, each lessening the scores of those near it; `rows` has the
    new scores.
    """
    limit, overlap, sigma, threshold = options
    waiting = rows[:, score] > threshold
    chosen: list[int] = []
    while len(chosen) < limit and waiting.any():
        best = int(np.argmax(np.where(waiting, rows[:, score], -np.inf)))
        chosen.append(best)
        waiting[best] = False
        touched = waiting & alike[best]
        waiting &= ~(touched & (near[best] >= overlap))
        touched &= waiting
        rows[touched, score] *= np.exp(-0.5 / sigma * near[best, touched] ** 2)
        waiting &= rows[:, score] > threshold
    return chosen


_VARIANCES = (1.0, 1.0, 1.0, 1.0)


def multibox_transform_loc(
    scores: Array,
    offsets: Array,
    anchors: Array,
    clip: int,
    threshold: float,
    variances: Any,
    keep_background: int,
    apply_softmax: int,
) -> tuple[Array, Array]:
    """The boxes (top, left, bottom, right) given by anchors and predicted offsets, and the scores
    of their classes.
    """
    need_floats("multibox_transform_loc", scores, offsets, anchors)
    batches, _, count = scores.shape
    if offsets.shape != (batches, 4 * count) or anchors.shape != (1, count, 4):
        raise OperatorFault(
            "E-boxes-columns",
            (
                f"offsets of shape {offsets.shape} or anchors of shape {anchors.shape} do not"
                " fit the scores"
            ),
        )
    p = softmax(wide(scores), 1) if apply_softmax else wide(scores).copy()
    p = np.where(p >= p.dtype.type(threshold), p, quiet(np.multiply, p, p.dtype.type(0)))
    if not keep_background:
        p[:, :1] = 0
    a = wide(anchors)[0]
    middle, extent = (a[:, :2] + a[:, 2:]) / 2, a[:, 2:] - a[:, :2]
    step = wide(offsets).reshape(batches, count, 4) * np.array(variances or _VARIANCES, p.dtype)
    centre = step[..., :2] * extent + middle
    half = quiet(np.exp, step[..., 2:]) * extent / 2
    made = np.concatenate([(centre - half)[..., ::-1], (centre + half)[..., ::-1]], axis=-1)
    if clip:
        made = np.clip(made, 0, 1)
    return back(made, scores.dtype), back(p, scores.dtype)
