"""Detection: selection of boxes, and features of regions of interest."""

from __future__ import annotations

from typing import Any

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import FLOAT32, INT32, INT64
from rlx.grammar.nodes.tir import EQ, FloorMod, PrimExpr
from rlx.operators.dim_arithmetic import ONE, ZERO, const, literal, mul, product
from rlx.operators.layout import layout, layout_rank
from rlx.operators.parameters import Ints, Tensor
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import agree, choice, elements, fields, known, rank, ranked, tensor
from rlx.operators.site import Dims, Site, show, show_shape
from rlx.operators.windows import spread
from rlx.spec.registry import rule


@operator(
    "relax.vision.all_class_non_max_suppression",
    calls=(
        "f(a, b, 4), f(a, c, b), const(5, 'int64'), const(0.5, 'float32'), const(0.1, 'float32'),"
        " output_format=None | 'tensorflow'"
    ),
)
def all_class_nms(
    site: Site,
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
    known(site, "shape", (0, boxes), (1, scores))
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


@rule("OBL-scored", "17b01b14", "obligation")
def scored(site: Site, boxes: Dims, scores: Dims) -> None:
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


@operator("relax.vision.get_valid_counts", calls="f(a, b, 6), score_threshold=None | 0.5")
def get_valid_counts(
    site: Site, data: Tensor, score_threshold: float = 0.0, id_index: int = 0, score_index: int = 1
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
        (
            tensor(dims[:1], INT32, data.vdevice),
            data,
            tensor(dims[:2], INT32, data.vdevice),
        )
    )


def _identified(id_index: int) -> dict[str, tuple[int, int]]:
    """Where the class of a box stands; -1 where boxes have none."""
    return {} if id_index == -1 else {"id_index": (id_index, 1)}


@rule("OBL-fields", "5adb25f9", "obligation")
def fields_of(site: Site, data: TensorStructInfo, places: dict[str, tuple[int, int]]) -> None:
    """Check that a box has the fields that attributes refer to.

    ``places`` has the index of the first number and the count of numbers for each attribute.
    """
    dims = site.dims(data)
    size = None if dims is None else literal(dims[-1])
    for name, (first, count) in places.items():
        if first < 0 or (size is not None and first + count > size):
            words = f"{name} is {first}, but a box has {'its numbers' if size is None else size}"
            site.fail("OBL-fields-index", f"{words} {site.of(0)}", 0)


@rule("OBL-boxes", "c7380286", "obligation")
def suppressed(
    site: Site, data: TensorStructInfo, valid: TensorStructInfo, indices: TensorStructInfo
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
    calls="f(a, b, 6), int32(a), int32(a, b), return_indices=None | False",
)
def non_max_suppression(
    site: Site,
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


@operator("relax.vision.multibox_transform_loc", calls="f(a, 3, b), f(a, b * 4), f(1, b, 4)")
def multibox_transform_loc(
    site: Site,
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


@rule("OBL-anchors", "76f75843", "obligation")
def anchors(site: Site, scores: Dims | None, offsets: Dims | None, anchor: Dims | None) -> None:
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
    calls="""
    f(a, 3, 8, 8), f(c, 5), pooled_size=[7, 7] | 3, spatial_scale=1.0, sample_ratio=None | 2, mode=None | 'max'
    f(a, 8, 8, 3), f(c, 5), pooled_size=[7, 7], spatial_scale=1.0, layout='NHWC'
    """,
)
def roi_align(
    site: Site,
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


@operator(
    "relax.vision.roi_pool",
    calls="f(a, 3, 8, 8), f(c, 5), pooled_size=[7, 7] | 3, spatial_scale=1.0",
)
def roi_pool(
    site: Site,
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


def _regions(
    site: Site,
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
    if dims is None or regions is None:
        return best
    channels = held.canonical(dims, "NCHW")[1]
    shape = held.arrange((regions[0], channels, *map(const, size)), "NCHW")
    return tensor(shape, data.dtype, data.vdevice)


@rule("OBL-rois", "da4adab2", "obligation")
def rows(site: Site, regions: Dims) -> None:
    """Check that a region is a row of five numbers: the image, and four edges."""
    site.equal(
        "OBL-rois-row",
        regions[1],
        const(5),
        lambda: f"{site.shown(1)} must have rows of 5 numbers: the image and four edges",
        1,
    )
