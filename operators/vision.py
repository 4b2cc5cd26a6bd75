"""Detection: choosing boxes, and features of regions of interest."""

from __future__ import annotations

from rlx.grammar.ast import StructInfo, TensorStructInfo
from rlx.grammar.dtype import FLOAT32, INT32, INT64
from rlx.operators.declare import operator
from rlx.operators.dims import ONE, const, mul, product
from rlx.operators.evaluation import late
from rlx.operators.layout import layout, layout_rank
from rlx.operators.site import Site
from rlx.operators.tensors import fields, rank, ranked, tensor
from rlx.operators.windows import spread


@operator(
    "relax.vision.all_class_non_max_suppression",
    "boxes, scores, max_output_boxes_per_class, iou_threshold, score_threshold, "
    "output_format: str = 'onnx'",
    evaluate=late("boxes.all_class_non_max_suppression"),
)
def all_class_nms(
    site: Site,
    boxes: TensorStructInfo,
    scores: TensorStructInfo,
    most: object,
    overlap: object,
    threshold: object,
    form: str,
) -> StructInfo:
    """The boxes that remain for each class: rows of (batch, class, box), the first ones filled, and how many."""
    rank(site, boxes, 0, 3)
    rank(site, scores, 1, 3)
    x, s = site.dims(boxes), site.dims(scores)
    if form == "onnx":
        rows = None if x is None or s is None else product((*s[:2], x[1]))
        found = ranked(2, INT64) if rows is None else tensor((rows, const(3)), INT64, boxes.vdevice)
        return fields((found, tensor((ONE,), INT64, boxes.vdevice)))
    if x is None or s is None:
        return fields((ranked(3, INT64), ranked(2, FLOAT32), ranked(1, INT64)))
    each = mul(s[1], x[1])
    return fields(
        (
            tensor((s[0], each, const(2)), INT64, boxes.vdevice),
            tensor((s[0], each), FLOAT32, boxes.vdevice),
            tensor((s[0],), INT64, boxes.vdevice),
        )
    )


@operator(
    "relax.vision.get_valid_counts",
    "data, score_threshold: number = 0, id_index: int = 0, score_index: int = 1",
    evaluate=late("boxes.get_valid_counts"),
)
def get_valid_counts(site: Site, data: TensorStructInfo, *rest: object) -> StructInfo:
    """How many boxes of each batch are above the threshold, these boxes first, and their indices."""
    rank(site, data, 0, 3)
    dims = site.dims(data)
    if dims is None:
        return fields((ranked(1, INT32), ranked(3, data.dtype), ranked(2, INT32)))
    return fields(
        (
            tensor(dims[:1], INT32, data.vdevice),
            data,
            tensor(dims[:2], INT32, data.vdevice),
        )
    )


@operator(
    "relax.vision.non_max_suppression",
    "data, valid_count, indices, max_output_size: int = -1, iou_threshold: number = 0.5, "
    "force_suppress: int = False, top_k: int = -1, coord_start: int = 2, score_index: int = 1, "
    "id_index: int = 0, return_indices: int = True, invalid_to_bottom: int = False, "
    "soft_nms_sigma: number = 0.0, score_threshold: number = 0.0",
    evaluate=late("boxes.non_max_suppression"),
)
def non_max_suppression(
    site: Site,
    data: TensorStructInfo,
    valid: TensorStructInfo,
    indices: TensorStructInfo,
    *rest: float,
) -> StructInfo:
    """The boxes that do not overlap better ones: themselves, or their indices and how many."""
    rank(site, data, 0, 3)
    if not rest[7]:
        return data
    # Softly, the boxes come along, since their scores have changed.
    changed = (data,) if rest[9] > 0 else ()
    dims = site.dims(data)
    if dims is None:
        return fields((*changed, ranked(2, INT32), ranked(2, INT32)))
    chosen = tensor(dims[:2], INT32, data.vdevice)
    return fields((*changed, chosen, tensor((dims[0], ONE), INT32, data.vdevice)))


@operator(
    "relax.vision.multibox_transform_loc",
    "cls_pred, loc_pred, anchor, clip: int = False, threshold: number = 0.0, "
    "variances: any = None, keep_background: int = True, apply_softmax: int = True",
    evaluate=late("boxes.multibox_transform_loc"),
)
def multibox_transform_loc(
    site: Site,
    scores: TensorStructInfo,
    offsets: TensorStructInfo,
    anchor: TensorStructInfo,
    *rest: object,
) -> StructInfo:
    """Anchors moved by predicted offsets to boxes, and the scores of their classes."""
    rank(site, scores, 0, 3)
    rank(site, offsets, 1, 2)
    rank(site, anchor, 2, 3)
    dims = site.dims(scores)
    if dims is None:
        return fields((ranked(3, scores.dtype), ranked(3, scores.dtype)))
    boxes = tensor((dims[0], dims[2], const(4)), scores.dtype, scores.vdevice)
    return fields((boxes, scores))


@operator(
    "relax.vision.roi_align",
    "data, rois, pooled_size: ints, spatial_scale: number, sample_ratio: int = -1, "
    "aligned: int = False, layout: str = 'NCHW', mode: str = 'avg'",
    evaluate=late("regions.roi_align"),
)
def roi_align(
    site: Site,
    data: TensorStructInfo,
    rois: TensorStructInfo,
    pooled: tuple[int, ...],
    scale: float,
    ratio: int,
    aligned: int,
    text: str,
    mode: str,
) -> StructInfo:
    """Each region of interest at one size, interpolated."""
    return _regions(site, data, rois, pooled, text)


@operator(
    "relax.vision.roi_pool",
    "data, rois, pooled_size: ints, spatial_scale: number, layout: str = 'NCHW'",
    evaluate=late("regions.roi_pool"),
)
def roi_pool(
    site: Site,
    data: TensorStructInfo,
    rois: TensorStructInfo,
    pooled: tuple[int, ...],
    scale: float,
    text: str,
) -> StructInfo:
    """Each region of interest at one size, the maximum of each cell."""
    return _regions(site, data, rois, pooled, text)


def _regions(
    site: Site,
    data: TensorStructInfo,
    rois: TensorStructInfo,
    pooled: tuple[int, ...],
    text: str,
) -> StructInfo:
    best = ranked(layout_rank(text), data.dtype, data.vdevice)
    held = layout(site, text, "NCHW", site.rank(data), 0, best)
    rank(site, rois, 1, 2)
    size = spread(site, "pooled_size", pooled, 2)
    dims, regions = site.dims(data), site.dims(rois)
    if dims is None or regions is None:
        return best
    channels = held.canonical(dims, "NCHW")[1]
    shape = held.arrange((regions[0], channels, *map(const, size)), "NCHW")
    return tensor(shape, data.dtype, data.vdevice)
