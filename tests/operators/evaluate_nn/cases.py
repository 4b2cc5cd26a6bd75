"""Calls of the operators of networks with options that the table of legal calls does not have."""

from __future__ import annotations

from itertools import product

from tests.operators.cases import Case, case, ints
from tests.operators.context import tensor

_COORDINATES = (
    "half_pixel",
    "align_corners",
    "asymmetric",
    "pytorch_half_pixel",
    "tf_half_pixel_for_nn",
)
_ROUNDINGS = ("round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def _resizes() -> list[Case]:
    x, volume = tensor((2, 3, 5, 7)), tensor((1, 2, 4, 5, 3))
    crop = {"coordinate_transformation_mode": "tf_crop_and_resize", "roi": [0.1, 0.2, 1.2, 0.8]}
    return [
        *(
            case("image.resize2d", x, size, method=method, coordinate_transformation_mode=mode)
            for size, method, mode in product(
                ((8, 3), (10, 14)), ("nearest_neighbor", "linear", "cubic"), _COORDINATES
            )
        ),
        *(
            case("image.resize2d", x, (9, 4), method="nearest_neighbor", rounding_method=rounding)
            for rounding in _ROUNDINGS
        ),
        *(
            case("image.resize2d", x, (4, 6), method=method, extrapolation_value=7.0, **crop)
            for method in ("nearest_neighbor", "linear", "cubic")
        ),
        case("image.resize2d", x, (1, 1)),
        case("image.resize2d", x, (9, 4), method="cubic", cubic_exclude=1, cubic_alpha=-0.5),
        case("image.resize2d", tensor((2, 5, 7, 3)), (8, 3), layout="NHWC"),
        case("image.resize2d", tensor((2, 1, 5, 7, 4)), (8, 3), layout="NCHW4c"),
        case("image.resize2d", tensor((2, 3, 5, 7), "float16"), (8, 3)),
        *(
            case("image.resize3d", volume, (6, 3, 5), method=method, rounding_method="floor")
            for method in ("nearest_neighbor", "linear", "cubic")
        ),
        case("image.resize3d", tensor((1, 4, 5, 3, 2)), (6, 3, 5), layout="NDHWC"),
    ]


def _samples() -> list[Case]:
    x, grid = tensor((2, 3, 5, 7)), tensor((2, 2, 4, 3))
    volume, points = tensor((1, 2, 4, 5, 3)), tensor((1, 3, 2, 3, 4))
    paddings, corners = ("zeros", "border", "reflection"), (False, True)
    return [
        *(
            case("image.grid_sample", x, grid, method=method, padding_mode=pad, align_corners=align)
            for method, pad, align in product(("nearest", "bilinear", "bicubic"), paddings, corners)
        ),
        *(
            case(
                "image.grid_sample",
                volume,
                points,
                method=method,
                layout="NCDHW",
                padding_mode=pad,
                align_corners=align,
            )
            for method, pad, align in product(("nearest", "bilinear"), paddings, corners)
        ),
        case("image.affine_grid", tensor((2, 2, 3)), (4, 5), align_corners=False),
        case("image.affine_grid", tensor((2, 3, 4)), (4, 5, 2), align_corners=False),
    ]


def _convolutions() -> list[Case]:
    x, w = tensor((2, 4, 9, 8)), tensor((6, 4, 3, 2))
    plain = {"strides": (2, 1), "padding": (1, 0, 2, 1), "dilation": (2, 3)}
    narrow = {"out_dtype": "int32"}
    return [
        case("nn.conv2d", x, w, **plain),
        case("nn.conv2d", x, tensor((6, 2, 3, 2)), groups=2, padding=1),
        case("nn.conv2d", x, tensor((8, 1, 3, 3)), groups=4),
        case(
            "nn.conv2d",
            tensor((2, 9, 8, 4)),
            tensor((3, 2, 4, 6)),
            data_layout="NHWC",
            kernel_layout="HWIO",
            **plain,
        ),
        case("nn.conv2d", ints((2, 4, 9, 8), "int8"), ints((6, 4, 3, 2), "int8"), **narrow),
        case("nn.conv1d", tensor((2, 4, 9)), tensor((6, 4, 3)), strides=2, padding=(1, 2)),
        case("nn.conv1d", tensor((2, 4, 9)), tensor((6, 2, 3)), groups=2, dilation=2),
        case("nn.conv3d", tensor((1, 2, 5, 6, 4)), tensor((3, 2, 2, 3, 2)), padding=(1, 0, 1)),
        case("nn.conv2d_transpose", x, tensor((4, 6, 3, 2)), strides=(2, 3), padding=(1, 0, 0, 1)),
        case("nn.conv2d_transpose", x, tensor((4, 3, 3, 2)), groups=2, strides=2),
        case(
            "nn.conv2d_transpose",
            x,
            tensor((4, 6, 3, 3)),
            strides=(3, 2),
            output_padding=(2, 1),
            padding=1,
        ),
        case("nn.conv1d_transpose", tensor((2, 4, 9)), tensor((4, 6, 3)), strides=2, padding=1),
        case("nn.conv3d_transpose", tensor((1, 2, 3, 4, 2)), tensor((2, 3, 2, 3, 2)), strides=2),
    ]


def _pools() -> list[Case]:
    x, options = tensor((2, 3, 9, 8)), (False, True)
    return [
        *(
            case(
                f"nn.{kind}_pool2d",
                x,
                (3, 2),
                strides=(2, 3),
                padding=(1, 0, 1, 1),
                ceil_mode=ceil,
                count_include_pad=count,
            )
            for kind, ceil, count in product(("max", "avg"), options, options)
        ),
        *(
            case(
                f"nn.avg_pool{len(sizes)}d",
                tensor((1, 2, *sizes)),
                (3,),
                strides=(2,),
                padding=1,
                ceil_mode=True,
                count_include_pad=count,
            )
            for sizes, count in product(((6,), (6, 4), (6, 5, 4)), options)
        ),
        case("nn.max_pool2d", x, (3, 2), dilation=(2, 3)),
        case("nn.max_pool2d", tensor((2, 9, 8, 3)), (3, 2), layout="NHWC"),
        case("nn.max_pool2d", ints((2, 3, 9, 8), "int8"), (3, 2), padding=1),
        case("nn.max_pool1d", tensor((2, 3, 9)), (3,), strides=2, padding=1),
        case("nn.avg_pool1d", tensor((2, 3, 9)), (3,), strides=2, padding=1),
        case("nn.max_pool3d", tensor((1, 2, 5, 6, 4)), (3, 2, 2), strides=(2, 1, 2)),
        case("nn.avg_pool3d", tensor((1, 2, 5, 6, 4)), (3, 2, 2), padding=(1, 1, 0)),
        case("nn.adaptive_avg_pool1d", tensor((2, 3, 9)), (4,)),
        case("nn.adaptive_avg_pool2d", x, (4, 3)),
        case("nn.adaptive_avg_pool2d", tensor((2, 9, 8, 3)), (4, 3), layout="NHWC"),
        case("nn.adaptive_avg_pool3d", tensor((1, 2, 5, 6, 4)), (2, 4, 3)),
        *(
            case(
                f"grad.{kind}_pool2d_backward",
                tensor((2, 3, 5, 4)),
                x,
                pool_size=(3, 2),
                strides=(2, 2),
                padding=(1, 0, 1, 0),
                count_include_pad=count,
            )
            for kind, count in (("max", False), ("avg", False), ("avg", True))
        ),
    ]


def _norms() -> list[Case]:
    x, c, f = tensor((2, 6, 5, 4)), tensor((6,)), False
    return [
        case("nn.layer_norm", x, tensor((5, 4)), tensor((5, 4)), axes=(2, 3)),
        case("nn.layer_norm", x, tensor((4,)), tensor((4,)), axes=[-1], center=f, scale=f),
        case(
            "nn.layer_norm",
            *(tensor(s, "float16") for s in ((2, 64), (64,), (64,))),
            axes=[-1],
        ),
        case("nn.rms_norm", x, tensor((5, 4)), axes=(2, 3), epsilon=0.1),
        case("nn.group_norm", x, c, c, num_groups=3, channel_axis=1, axes=[2, 3]),
        case("nn.instance_norm", x, c, c, channel_axis=1, axes=[2, 3]),
        *(
            case("nn.batch_norm", x, c, c, c, c, axis=1, momentum=0.3, training=training)
            for training in (False, True)
        ),
        case("nn.batch_norm", x, *[tensor((5,))] * 4, axis=2, center=f, training=f),
        *(case(f"nn.{name}softmax", x, axis=axis) for name in ("", "log_") for axis in (0, -1)),
        case("nn.prelu", x, c, axis=1),
        case("nn.prelu", x, tensor((1,)), axis=2),
    ]


def _others() -> list[Case]:
    x = tensor((2, 3, 4, 5))
    q, kv = tensor((2, 3, 4, 8)), tensor((2, 5, 4, 8))
    predictions, targets = tensor((4, 3, 5)), ints((4, 5), "int64")
    boxes, scores = tensor((2, 9, 5)), tensor((2, 3, 9))
    rois = {"pooled_size": (3, 4), "spatial_scale": 0.7}
    return [
        *(
            case("nn.pad", x, (0, 0, 1, 2, 0, 3, 2, 0), pad_mode=mode, pad_value=value)
            for mode, value in (
                ("constant", 2.5),
                ("reflect", 0.0),
                ("replicate", 0.0),
                ("circular", 0.0),
            )
        ),
        *(
            case("nn.attention", *qkv, causal_mask=mask)
            for mask in ("TopLeft", "BottomRight")
            for qkv in ((q, kv, kv), (kv, q, q))
        ),
        *(
            case("nn.nll_loss", predictions, targets, *weights, reduction=r, ignore_index=i)
            for weights, r, i in product(((), (tensor((3,)),)), ("none", "sum", "mean"), (-100, 1))
        ),
        *(
            case("grad.nll_loss_backward", g, predictions, targets, tensor((3,)), reduction=r)
            for g, r in (
                (tensor((4, 5)), "none"),
                (tensor(()), "sum"),
                (tensor(()), "mean"),
            )
        ),
        *(
            case("vision.roi_align", tensor((1, 3, 8, 9)), tensor((4, 5)), **rois, **options)
            for options in ({}, {"mode": "max"}, {"aligned": True, "sample_ratio": 3})
        ),
        case("vision.get_valid_counts", boxes, score_threshold=0.6, id_index=-1, score_index=0),
        *(
            case(
                "vision.non_max_suppression",
                boxes,
                ints((2,), "int32"),
                ints((2, 9), "int32"),
                coord_start=1,
                score_index=0,
                id_index=-1,
                iou_threshold=0.3,
                **options,
            )
            for options in (
                {},
                {"max_output_size": 1, "return_indices": False},
                {"return_indices": False, "invalid_to_bottom": True},
                {"top_k": 1},
                {"soft_nms_sigma": 0.3, "score_threshold": 0.2},
            )
        ),
        case(
            "vision.multibox_transform_loc",
            scores,
            tensor((2, 36)),
            tensor((1, 9, 4)),
            clip=True,
            threshold=0.3,
            variances=(0.1, 0.1, 0.2, 0.2),
            keep_background=False,
        ),
        case("quantize", x, tensor((3,)), ints((3,), "int8"), axis=1, out_dtype="int8"),
        case("matmul", tensor((2, 1, 3, 4)), tensor((5, 4, 6))),
        case("matmul", ints((3, 4), "int8"), ints((4, 6), "int8"), out_dtype="int32"),
        case("matmul", tensor((4,)), tensor((2, 4, 3))),
        case("matmul", tensor((2, 3, 4)), tensor((4,))),
        case("einsum", (tensor((2, 3, 4)), tensor((2, 4, 5))), subscripts="bij,bjk->bik"),
        case("einsum", (tensor((3, 4)),), subscripts="ij->ji"),
        case("outer", tensor((3,)), tensor((4,))),
    ]


NETWORKS: list[Case] = [
    *_resizes(),
    *_samples(),
    *_convolutions(),
    *_pools(),
    *_norms(),
    *_others(),
]
