"""Detection: selection of boxes, and features of regions of interest."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, isfinite
from typing import Any

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import FLOAT32, INT32, INT64
from rlx.grammar.nodes.tir import EQ, FloorMod, PrimExpr
from rlx.operators import arrays
from rlx.operators.arrays import Array
from rlx.operators.dim_arithmetic import ONE, ZERO, const, literal, mul, product
from rlx.operators.evaluation import OperatorFault
from rlx.operators.indexing import extremes, within
from rlx.operators.late import np
from rlx.operators.layout import layout, layout_rank
from rlx.operators.normalization import softmax_value
from rlx.operators.operator_call import Dims, OperatorCall, show, show_shape
from rlx.operators.parameters import Ints, Tensor
from rlx.operators.registry import computes, operator
from rlx.operators.rule_helpers import (
    agree,
    choice,
    elements,
    fields,
    need_known,
    rank,
    ranked,
    stated,
    tensor,
)
from rlx.operators.windows import per_axis, spread
from rlx.spec.registry import need, rule

_DATA_DECIDES = "its loop bounds depend on data"


@operator(
    "relax.vision.all_class_non_max_suppression",
    kept=_DATA_DECIDES,
    calls=(
        "f(a, b, 4), f(a, c, b), const(5, 'int64'), const(0.5, 'float32'), const(0.1, 'float32'),"
        " output_format=None | 'tensorflow'"
    ),
    broken=(
        "OBL-scored-boxes: f(2, a, 4), f(3, b, a), const(5, 'int64'), const(0.5, 'float32'),"
        " const(0.1, 'float32')"
    ),
)
def all_class_nms(
    site: OperatorCall,
    boxes: Tensor,
    scores: Tensor,
    max_output_boxes_per_class: Tensor,
    iou_threshold: Tensor,
    score_threshold: Tensor,
    output_format: str = "onnx",
) -> StructInfo:
    """The remaining boxes of each class: rows of (batch, class, box), of which the first ones are
    filled, and their number.
    """
    rank(site, boxes, 0, 3)
    rank(site, scores, 1, 3)
    need_known(site, "shape", (0, boxes), (1, scores))
    choice(site, "output_format", output_format, ("onnx", "tensorflow"))
    x, s = site.dims(boxes), site.dims(scores)
    if x is not None and s is not None:
        scored(site, x, s)
    if output_format == "onnx":
        rows = None if x is None or s is None else product((x[0], s[1], x[1]))
        found = ranked(2, INT64) if rows is None else tensor((rows, const(3)), INT64, boxes.vdevice)
        return fields((found, tensor((ONE,), INT64, boxes.vdevice)))
    if x is None or s is None:
        return fields((ranked(3, INT64), ranked(2, FLOAT32), ranked(1, INT64)))
    each = mul(s[1], x[1])
    return fields(
        (
            tensor((x[0], each, const(2)), INT64, boxes.vdevice),
            tensor((x[0], each), FLOAT32, boxes.vdevice),
            tensor((x[0],), INT64, boxes.vdevice),
        )
    )


@computes("relax.vision.all_class_non_max_suppression")
def all_class_non_max_suppression_value(
    boxes: Array, scores: Array, most: Any, overlap: Any, threshold: Any, form: str
) -> tuple[Array, ...]:
    """The boxes of each class that do not overlap better ones, best first; the rest is filled with
    zeros.
    """
    if boxes.shape != (scores.shape[0], scores.shape[2], 4):
        raise OperatorFault(
            "E-boxes-columns",
            f"boxes of shape {boxes.shape} do not fit scores of shape {scores.shape}",
        )
    arrays.need_floats("all_class_non_max_suppression", boxes, scores)
    limit, least = max(int(arrays.number(most)), 0), arrays.number(threshold)
    found: list[tuple[int, int, int]] = []
    for batch, classes in enumerate(arrays.wide(scores)):
        near = _overlaps(arrays.wide(boxes[batch])) >= arrays.number(overlap)
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


@rule("OBL-scored", "obligation")
def scored(site: OperatorCall, boxes: Dims, scores: Dims) -> None:
    """Check that boxes are three-dimensional with four edges each, and that there are scores for
    each batch, class and box.
    """
    for index, a, b in (
        (1, boxes[0], scores[0]),
        (1, boxes[1], scores[2]),
        (0, const(4), boxes[2]),
    ):
        site.equal(
            "OBL-scored-boxes",
            a,
            b,
            lambda index=index, a=a, b=b: (  # type: ignore[misc]
                f"{show(b)} of {site.shown(index)} must be {show(a)}"
            ),
            index,
        )


@operator(
    "relax.vision.get_valid_counts",
    kept=_DATA_DECIDES,
    calls="f(a, b, 6), score_threshold=None | 0.5",
)
def get_valid_counts(
    site: OperatorCall,
    data: Tensor,
    score_threshold: float = 0.0,
    id_index: int = 0,
    score_index: int = 1,
) -> StructInfo:
    """The number of boxes of each batch above the threshold, these boxes first, and their
    indices.
    """
    rank(site, data, 0, 3)
    fields_of(site, data, {"score_index": (score_index, 1), **_identified(id_index)})
    dims = site.dims(data)
    if dims is None:
        return fields((ranked(1, INT32), ranked(3, data.dtype), ranked(2, INT32)))
    return fields(
        (tensor(dims[:1], INT32, data.vdevice), data, tensor(dims[:2], INT32, data.vdevice))
    )


@computes("relax.vision.get_valid_counts")
def get_valid_counts_value(
    data: Array, threshold: float, id_index: int, score_index: int
) -> tuple[Array, Array, Array]:
    """The number of boxes of each batch above the threshold, these boxes at the front, and their
    indices; the rest is filled with -1.
    """
    _columns(data, [score_index, max(id_index, 0)])
    x = arrays.wide(data)
    valid = x[..., score_index] > x.dtype.type(threshold)
    if id_index >= 0:
        valid &= x[..., id_index] >= 0
    order = np.argsort(~valid, axis=1, kind="stable")
    counts = valid.sum(axis=1).astype(np.int32)
    filled = np.arange(x.shape[1]) < counts[:, None]
    moved = np.where(filled[..., None], np.take_along_axis(x, order[..., None], 1), -1)
    return counts, arrays.back(moved, data.dtype), np.where(filled, order, -1).astype(np.int32)


def _identified(id_index: int) -> dict[str, tuple[int, int]]:
    """The position of a box's class; -1 if boxes have none."""
    return {} if id_index == -1 else {"id_index": (id_index, 1)}


@rule("OBL-fields", "obligation")
def fields_of(
    site: OperatorCall, data: TensorStructInfo, places: dict[str, tuple[int, int]]
) -> None:
    """Check that a box has the fields that attributes refer to.

    ``places`` has the index of the first number and the count of numbers for each attribute.
    """
    dims = site.dims(data)
    size = None if dims is None else literal(dims[-1])
    for name, (first, count) in places.items():
        if first < 0 or (size is not None and first + count > size):
            words = f"{name} is {first}, but a box has {'its numbers' if size is None else size}"
            site.fail("OBL-fields-index", f"{words} {site.of(0)}", 0)


@rule("OBL-boxes", "obligation")
def suppressed(
    site: OperatorCall, data: TensorStructInfo, valid: TensorStructInfo, indices: TensorStructInfo
) -> None:
    """Check that there is one count of valid boxes for each batch, and one index for each box."""
    dims = site.dims(data)
    if dims is None:
        return
    for code, index, info, wanted in (
        ("OBL-boxes-counts", 1, valid, dims[:1]),
        ("OBL-boxes-indices", 2, indices, dims[:2]),
    ):
        alike = site.together(code, index)
        for a, b in zip(wanted, site.dims(info) or (), strict=False):
            alike.equal(
                a,
                b,
                lambda index=index, wanted=wanted: (  # type: ignore[misc]
                    f"{site.shown(index)} must have the shape {show_shape(wanted)} {site.of(0)}"
                ),
            )
        if not alike.settle():
            return


@operator(
    "relax.vision.non_max_suppression",
    kept=_DATA_DECIDES,
    calls="f(a, b, 6), int32(a), int32(a, b), return_indices=None | False",
    broken="""
    OBL-fields-index: f(a, b, 5), int32(a), int32(a, b)
    OBL-fields-index: f(a, b, 6), int32(a), int32(a, b), score_index=6
    OBL-boxes-counts: f(3, b, 6), int32(4), int32(3, b)
    OBL-boxes-indices: f(a, 3, 6), int32(a), int32(a, 4)
    """,
)
def non_max_suppression(
    site: OperatorCall,
    data: Tensor,
    valid_count: Tensor,
    indices: Tensor,
    max_output_size: int = -1,
    iou_threshold: float = 0.5,
    force_suppress: int = False,
    top_k: int = -1,
    coord_start: int = 2,
    score_index: int = 1,
    id_index: int = 0,
    return_indices: int = True,
    invalid_to_bottom: int = False,
    soft_nms_sigma: float = 0.0,
    score_threshold: float = 0.0,
) -> StructInfo:
    """The boxes that do not overlap better ones, or their indices and their number."""
    rank(site, data, 0, 3)
    elements(site, valid_count, 1, "int32")
    elements(site, indices, 2, "int32")
    rank(site, valid_count, 1, 1)
    rank(site, indices, 2, 2)
    places = {"coord_start": (coord_start, 4), "score_index": (score_index, 1)}
    fields_of(site, data, places | _identified(id_index))
    suppressed(site, data, valid_count, indices)
    if not return_indices:
        return data if site.rank(data) is not None else ranked(3, data.dtype, data.vdevice)
    # Softly, the boxes come along, since their scores have changed.
    changed = (data,) if soft_nms_sigma > 0 else ()
    dims = site.dims(data)
    if dims is None:
        return fields((*changed, ranked(2, INT32), ranked(2, INT32)))
    chosen = tensor(dims[:2], INT32, data.vdevice)
    return fields((*changed, chosen, tensor((dims[0], ONE), INT32, data.vdevice)))


@rule("E-candidates", "computation")
def _count(given: Any, most: int) -> int:
    count = int(given)
    if not 0 <= count <= most:
        raise OperatorFault(
            "E-candidates-count", f"the number of valid boxes is {count}, expected 0 to {most}"
        )
    return count


@computes("relax.vision.non_max_suppression")
def non_max_suppression_value(
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
    arrays.need_floats("non_max_suppression", data)
    _columns(data, [corner, corner + 3, score, max(kind, 0)])
    x = arrays.wide(data)
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
        return arrays.back(result, data.dtype)
    return (arrays.back(result, data.dtype), chosen, counts) if sigma > 0 else (chosen, counts)


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


@operator(
    "relax.vision.multibox_transform_loc",
    calls="f(a, 3, b), f(a, b * 4), f(1, b, 4)",
    broken="""
    OBL-anchors-edges: f(a, 3, b), f(a, b * 4), f(2, b, 4)
    OBL-anchors-count: f(a, 3, 5), f(a, 20), f(1, 6, 4)
    OBL-anchors-offsets: f(a, 3, 5), f(a, 19), f(1, 5, 4)
    """,
)
def multibox_transform_loc(
    site: OperatorCall,
    cls_pred: Tensor,
    loc_pred: Tensor,
    anchor: Tensor,
    clip: int = False,
    threshold: float = 0.0,
    variances: Any = None,
    keep_background: int = True,
    apply_softmax: int = True,
) -> StructInfo:
    """The boxes given by anchors and predicted offsets, and the scores of their classes."""
    rank(site, cls_pred, 0, 3)
    rank(site, loc_pred, 1, 2)
    rank(site, anchor, 2, 3)
    agree(site, (cls_pred, loc_pred, anchor))
    match variances:
        case tuple(parts) | list(parts) | ast.Tuple(fields=parts) if len(parts) == 4:
            pass
        case None:
            pass
        case _:
            site.fail("D14-argument", "variances must be four numbers")
    dims = site.dims(cls_pred)
    anchors(site, dims, site.dims(loc_pred), site.dims(anchor))
    if dims is None:
        return fields((ranked(3, cls_pred.dtype), ranked(3, cls_pred.dtype)))
    boxes = tensor((dims[0], dims[2], const(4)), cls_pred.dtype, cls_pred.vdevice)
    return fields((boxes, cls_pred))


_VARIANCES = (1.0, 1.0, 1.0, 1.0)


@computes("relax.vision.multibox_transform_loc")
def multibox_transform_loc_value(
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
    arrays.need_floats("multibox_transform_loc", scores, offsets, anchors)
    batches, _, count = scores.shape
    if offsets.shape != (batches, 4 * count) or anchors.shape != (1, count, 4):
        raise OperatorFault(
            "E-boxes-columns",
            (
                f"offsets of shape {offsets.shape} or anchors of shape {anchors.shape} do not"
                " fit the scores"
            ),
        )
    p = softmax_value(arrays.wide(scores), 1) if apply_softmax else arrays.wide(scores).copy()
    p = np.where(p >= p.dtype.type(threshold), p, arrays.quiet(np.multiply, p, p.dtype.type(0)))
    if not keep_background:
        p[:, :1] = 0
    a = arrays.wide(anchors)[0]
    middle, extent = (a[:, :2] + a[:, 2:]) / 2, a[:, 2:] - a[:, :2]
    step = arrays.wide(offsets).reshape(batches, count, 4) * np.array(
        variances or _VARIANCES, p.dtype
    )
    centre = step[..., :2] * extent + middle
    half = arrays.quiet(np.exp, step[..., 2:]) * extent / 2
    made = np.concatenate([(centre - half)[..., ::-1], (centre + half)[..., ::-1]], axis=-1)
    if clip:
        made = np.clip(made, 0, 1)
    return arrays.back(made, scores.dtype), arrays.back(p, scores.dtype)


@rule("OBL-anchors", "obligation")
def anchors(
    site: OperatorCall, scores: Dims | None, offsets: Dims | None, anchor: Dims | None
) -> None:
    """Check that each anchor has four edges, scores, and four offsets in each batch."""
    if anchor is not None:
        for k, length, words in ((0, 1, "one set of anchors"), (2, 4, "four edges")):
            site.equal(
                "OBL-anchors-edges",
                anchor[k],
                const(length),
                lambda words=words: f"{site.shown(2)} must have {words}",  # type: ignore[misc]
                2,
            )
    if offsets is not None and scores is None:
        four = EQ(FloorMod(offsets[1], const(4)), ZERO)
        site.require(
            "OBL-anchors-offsets",
            four,
            lambda: f"{site.shown(1)} must have 4 offsets for each anchor",
            1,
        )
    pairs: list[tuple[int, PrimExpr, PrimExpr]] = []
    if scores is not None and offsets is not None:
        pairs += [(1, scores[0], offsets[0]), (1, mul(scores[2], const(4)), offsets[1])]
    if scores is not None and anchor is not None:
        pairs.append((2, scores[2], anchor[1]))
    for index, a, b in pairs:
        site.equal(
            "OBL-anchors-offsets" if index == 1 else "OBL-anchors-count",
            a,
            b,
            lambda index=index, a=a, b=b: (  # type: ignore[misc]
                f"{show(b)} of {site.shown(index)} must be {show(a)} {site.of(0)}"
            ),
            index,
        )


@operator(
    "relax.vision.roi_align",
    kept=_DATA_DECIDES,
    calls="""
    f(a, 3, 8, 8), f(c, 5), pooled_size=[7, 7] | 3, spatial_scale=1.0, sample_ratio=None | 2, mode=None | 'max'
    f(a, 8, 8, 3), f(c, 5), pooled_size=[7, 7], spatial_scale=1.0, layout='NHWC'
    """,
    broken="OBL-rois-row: f(a, 3, 8, 8), f(c, 4), pooled_size=[7, 7], spatial_scale=1.0",
)
def roi_align(
    site: OperatorCall,
    data: Tensor,
    rois: Tensor,
    pooled_size: Ints,
    spatial_scale: float,
    sample_ratio: int = -1,
    aligned: int = False,
    layout: str = "NCHW",
    mode: str = "avg",
) -> StructInfo:
    """Each region of interest resized by interpolation."""
    choice(site, "mode", mode, ("avg", "max"))
    choice(site, "layout", layout, ("NCHW", "NHWC"))
    return _regions(site, data, rois, pooled_size, layout)


MOST_SAMPLES = 1 << 16
"""The maximum number of samples of a region along an axis."""


@computes("relax.vision.roi_align")
def roi_align_value(
    data: Array,
    rois: Array,
    pooled: Sequence[int],
    scale: float,
    ratio: int,
    aligned: int,
    layout: str,
    mode: str,
) -> Array:
    """Each region resized: the mean or the maximum of interpolated samples for each cell."""
    x = arrays.wide(arrays.canonical(data, layout, "NCHW"))
    size = per_axis(pooled, 2)
    result = np.zeros((rois.shape[0], x.shape[1], *size), x.dtype)
    for at, (image, (left, top, right, bottom)) in enumerate(_regions_value(x, rois, scale)):
        rows = _samples((top, bottom), x.shape[2], size[0], ratio, aligned, x.dtype)
        columns = _samples((left, right), x.shape[3], size[1], ratio, aligned, x.dtype)
        if mode == "avg":
            rows, columns = (_means(k) for k in (rows, columns))
            result[at] = rows @ x[image] @ columns.T
        elif rows.shape[1] and columns.shape[1]:
            flat = rows.reshape(-1, x.shape[2]) @ x[image] @ columns.reshape(-1, x.shape[3]).T
            cells = flat.reshape(x.shape[1], size[0], rows.shape[1], size[1], columns.shape[1])
            result[at] = cells.max(axis=(2, 4))
    return arrays.back(arrays.arranged(result, layout, "NCHW"), data.dtype)


def _means(samples: Array) -> Array:
    return np.asarray(samples.sum(axis=1) / samples.dtype.type(max(samples.shape[1], 1)))


def _samples(
    ends: tuple[Any, Any], length: int, cells: int, ratio: int, aligned: int, kind: np.dtype[Any]
) -> Array:
    """The weights of an axis's elements in the samples of each cell: (cells, samples, length)."""
    start, end = ends
    extent = end - start if aligned else max(end - start, type(end)(1))
    step = extent / type(end)(cells)
    count = ratio if ratio > 0 else max(ceil(step), 0)
    if count > MOST_SAMPLES:
        raise OperatorFault(
            "E-region-finite",
            f"a region needs {count} samples along an axis of length {length}, which is too many",
        )
    part = (np.arange(count, dtype=kind) + kind.type(0.5)) * kind.type(step / max(count, 1))
    at = kind.type(start) + np.arange(cells, dtype=kind)[:, None] * kind.type(step) + part
    inside = (at >= -1) & (at <= length)
    at = np.clip(at, 0, length - 1)
    low = np.floor(at).astype(np.int64)
    weights = np.zeros((cells, count, length), kind)
    grid = np.indices((cells, count))
    weights[(*grid, np.minimum(low + 1, length - 1))] = at - low
    weights[(*grid, low)] += 1 - (at - low)
    return np.asarray(weights * inside[..., None])


@operator(
    "relax.vision.roi_pool",
    kept=_DATA_DECIDES,
    calls="f(a, 3, 8, 8), f(c, 5), pooled_size=[7, 7] | 3, spatial_scale=1.0",
    broken="OBL-rois-row: f(a, 3, 8, 8), f(c, 6), pooled_size=[7, 7], spatial_scale=1.0",
)
def roi_pool(
    site: OperatorCall,
    data: Tensor,
    rois: Tensor,
    pooled_size: Ints,
    spatial_scale: float,
    layout: str = "NCHW",
) -> StructInfo:
    """Each region of interest resized to the maximum of each cell."""
    if layout != "NCHW":
        site.fail("OBL-layout-axes", f"the layout is {layout!r}, expected 'NCHW'")
    return _regions(site, data, rois, pooled_size, layout)


@computes("relax.vision.roi_pool")
def roi_pool_value(
    data: Array, rois: Array, pooled: Sequence[int], scale: float, layout: str
) -> Array:
    """Each region resized: the maximum of the elements of each cell, or 0 for an empty cell."""
    x = arrays.wide(arrays.canonical(data, layout, "NCHW"))
    size = per_axis(pooled, 2)
    result = np.zeros((rois.shape[0], x.shape[1], *size), x.dtype)
    for at, (image, (left, top, right, bottom)) in enumerate(_regions_value(x, rois, scale)):
        rows = _cells((top, bottom), x.shape[2], size[0])
        columns = _cells((left, right), x.shape[3], size[1])
        for i, (a, b) in enumerate(rows):
            # Rows first: of each cell only one line of maxima is left to look through.
            line = x[image, :, a:b].max(axis=1) if a < b else None
            for j, (c, d) in enumerate(columns):
                if line is not None and c < d:
                    result[at, :, i, j] = line[:, c:d].max(axis=1)
    return arrays.back(arrays.arranged(result, layout, "NCHW"), data.dtype)


def _cells(ends: tuple[Any, Any], length: int, cells: int) -> list[tuple[int, int]]:
    """The starts and ends of a region's cells on an axis; neighbours may share an element."""
    start, end = (floor(v + v.dtype.type(0.5)) for v in ends)
    step = ends[0].dtype.type(max(end - start + 1, 1)) / ends[0].dtype.type(cells)
    bounds = [(floor(k * step) + start, ceil((k + 1) * step) + start) for k in range(cells)]
    return [(min(max(a, 0), length), min(max(b, 0), length)) for a, b in bounds]


def _regions(
    site: OperatorCall,
    data: TensorStructInfo,
    rois: TensorStructInfo,
    pooled: tuple[int, ...],
    text: str,
) -> StructInfo:
    best = ranked(layout_rank(text), data.dtype, data.vdevice)
    held = layout(site, text, "NCHW", data, 0, best)
    rank(site, rois, 1, 2)
    size = spread(site, "pooled_size", pooled, 2)
    dims, regions = site.dims(data), site.dims(rois)
    if regions is not None:
        rows(site, regions)
    if dims is not None:
        _images(site, held.canonical(dims, "NCHW")[0])
    if dims is None or regions is None:
        return best
    channels = held.canonical(dims, "NCHW")[1]
    shape = held.arrange((regions[0], channels, *map(const, size)), "NCHW")
    return tensor(shape, data.dtype, data.vdevice)


@rule("OBL-rois", "obligation")
def rows(site: OperatorCall, regions: Dims) -> None:
    """Check that a region is a row of five numbers: the image, and four edges."""
    site.equal(
        "OBL-rois-row",
        regions[1],
        const(5),
        lambda: f"{site.shown(1)} must have rows of 5 numbers: the image and four edges",
        1,
    )


def _images(site: OperatorCall, images: PrimExpr) -> None:
    """Check the regions that the text states: the image is there, and the edges are finite."""
    numbers = stated(site, site.argument(1))
    if not need("OBL-rois-finite", all(map(isfinite, numbers))):
        site.warn_of_fault("OBL-rois-finite", f"a number {site.of(1)} is not finite", 1)
    else:
        within(site, 1, extremes(numbers[::5]), images, False)


# ---------------------------------------------------------------- values


@rule("E-boxes", "computation")
def _columns(x: Array, columns: Sequence[int]) -> None:
    """The columns that hold scores, classes and corners are there."""
    if any(not 0 <= column < x.shape[2] for column in columns):
        raise OperatorFault(
            "E-boxes-columns",
            f"columns {tuple(columns)} are not all within rows of {x.shape[2]} elements",
        )


def _overlaps(corners: Array) -> Array:
    """The share of the union of two boxes that both cover, for all pairs: (n, n); corners in any
    order.
    """
    low = np.minimum(corners[:, :2], corners[:, 2:])
    high = np.maximum(corners[:, :2], corners[:, 2:])
    sides = np.minimum(high[:, None], high[None]) - np.maximum(low[:, None], low[None])
    both = np.prod(np.maximum(sides, 0), axis=-1)
    area = np.prod(high - low, axis=-1)
    union = area[:, None] + area[None] - both
    return np.where(union <= 0, 0, arrays.quiet(np.divide, both, np.where(union <= 0, 1, union)))


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


@rule("E-region", "computation")
def _regions_value(x: Array, rois: Array, scale: float) -> list[tuple[int, list[Any]]]:
    """The image of each region, and its corners there: left, top, right, bottom."""
    arrays.need_floats("a pool of regions", x, rois)
    if rois.ndim != 2 or rois.shape[1] != 5:
        raise OperatorFault("E-region-rows", f"regions of shape {rois.shape}, expected (n, 5)")
    found = []
    for row in arrays.wide(rois):
        if not np.isfinite(row).all():
            raise OperatorFault("E-region-finite", f"the region {row.tolist()} is not finite")
        with np.errstate(all="ignore"):
            corners = row[1:] * row.dtype.type(scale)
        if not np.isfinite(corners).all():
            words = f"the region {row.tolist()} is not finite when it is scaled by {scale}"
            raise OperatorFault("E-region-finite", words)
        image = int(row[0])
        if not 0 <= image < x.shape[0]:
            raise OperatorFault(
                "E-region-image",
                f"a region names image {image}, but there are {x.shape[0]} images",
            )
        found.append((image, [*corners]))
    if found and not all(x.shape[2:]):
        raise OperatorFault("E-region-rows", f"images of shape {x.shape[2:]} contain no region")
    return found
