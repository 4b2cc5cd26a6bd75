"""Operators of networks: values computed by hand or by plain loops, and operands for which there is none."""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import pytest

from rlx.operators.evaluation import OperatorFault
from tests.operators.evaluate.test_values import INF, NAN, f32, i8, i64, run, same

RANDOM = np.random.default_rng(7)
LINE = f32([[[1, 2], [3, 4]]]).reshape(1, 1, 2, 2)
"""One image of one channel: 1 2 above 3 4."""
BOXES = f32(
    [0, 0.9, 0, 0, 2, 2], [0, 0.8, 0, 0, 2, 1.9], [1, 0.7, 0, 0, 2, 2], [0, 0.6, 5, 5, 6, 6]
)
"""Rows of class, score and corners; the second covers the first, the third too, but it is of another class."""


def real(*shape: int) -> Any:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def images(*rows: Any) -> Any:
    return f32(*rows)[None, None]


def i32(*values: Any) -> Any:
    return np.array(values, np.int32)


BEGUN = {"strides": 2, "padding": 1, "ceil_mode": True, "count_include_pad": True}
"""The last window reaches behind the padding."""
EDGES = f32(2 / 3, 1, 1, 1 / 2)
NEAREST = {"method": "nearest_neighbor"}
MOST = (np.array(5), np.array(0.5, np.float32), np.array(0.1, np.float32))
CASES: list[tuple[str, tuple[Any, ...], dict[str, Any], Any]] = [
    ("image.resize2d", (LINE, (1, 1)), {}, images([2.5])),
    ("image.resize2d", (LINE, (4, 2)), NEAREST, images([1, 2], [1, 2], [3, 4], [3, 4])),
    (
        "image.resize2d",
        (LINE, (2, 3)),
        {"coordinate_transformation_mode": "align_corners"},
        images([1, 1.5, 2], [3, 3.5, 4]),
    ),
    ("image.resize2d", (LINE, (0, 3)), {}, np.zeros((1, 1, 0, 3), np.float32)),
    (
        "image.resize2d",
        (LINE.astype(np.uint8), (1, 1)),
        {"out_dtype": "float32"},
        images([2.5]),
    ),
    (
        "image.grid_sample",
        (LINE, f32([[[0, -1, 3, NAN]], [[0, -1, 3, 0]]])),
        {"align_corners": True},
        images([2.5, 1, 0, NAN]),
    ),
    (
        "image.grid_sample",
        (LINE, f32([[[INF, -INF]], [[INF, 1]]])),
        {"align_corners": True, "padding_mode": "border"},
        images([4, 3]),
    ),
    (
        "image.grid_sample",
        (LINE, f32([[[2, INF]], [[-1, 0]]])),
        {"align_corners": True, "padding_mode": "reflection", "method": "nearest"},
        images([1, NAN]),
    ),
    (
        "image.affine_grid",
        (f32([[1, 0, 0], [0, 2, 1]]), (2, 1)),
        {},
        f32([[[0], [0]], [[-1], [3]]]),
    ),
    (
        "vision.get_valid_counts",
        (BOXES[None],),
        {"score_threshold": 0.7},
        (i32(2), f32([*BOXES[:2], *np.full((2, 6), -1)]), i32([0, 1, -1, -1])),
    ),
    (
        "vision.non_max_suppression",
        (BOXES[None], i32(4), i32([10, 11, 12, 13])),
        {},
        (i32([10, 12, 13, -1]), i32([3])),
    ),
    (
        "vision.non_max_suppression",
        (BOXES[None], i32(4), i32([10, 11, 12, 13])),
        {"force_suppress": True, "top_k": 3},
        (i32([10, -1, -1, -1]), i32([1])),
    ),
    (
        "vision.non_max_suppression",
        (BOXES[None], i32(2), i32([0, 1, 2, 3])),
        {"return_indices": False},
        f32([BOXES[0], *np.full((3, 6), -1)]),
    ),
    (
        "vision.all_class_non_max_suppression",
        (BOXES[None, :, 2:], f32([[0.2, 0.3, NAN, 0.4]]), *MOST),
        {"output_format": "tensorflow"},
        (i64([[0, 3], [0, 1], [0, 0], [0, 0]]), f32([0.4, 0.3, 0, 0]), i64(2)),
    ),
    (
        "vision.roi_pool",
        (LINE, f32([0, 0, 0, 1, 1], [0, 5, 5, 9, 9])),
        {"pooled_size": (1, 2), "spatial_scale": 1.0},
        f32([[[3, 4]]], [[[0, 0]]]),
    ),
    (
        "vision.roi_align",
        (LINE, f32([0, 0, 0, 1, 1])),
        {"pooled_size": 1, "spatial_scale": 1.0},
        images([2.5]),
    ),
    ("nn.max_pool2d", (LINE,), {"pool_size": (2, 2)}, images([4])),
    ("nn.max_pool1d", (f32([[1]]),), {"pool_size": 1, "padding": 1}, f32([[-INF, 1, -INF]])),
    ("nn.avg_pool2d", (LINE,), {"pool_size": (2, 2), "padding": (0, 0, 0, 1)}, images([2.5, 3])),
    *(
        (
            f"nn.avg_pool{count}d",
            (np.ones((1, 1, *(6,) * count), np.float32),),
            {**BEGUN, "pool_size": 3},
            reduce(np.multiply.outer, [EDGES] * count).reshape(1, 1, *(4,) * count),
        )
        for count in (1, 2, 3)
    ),
    (
        "grad.avg_pool2d_backward",
        (np.ones((1, 1, 1, 4), np.float32), np.ones((1, 1, 1, 6), np.float32)),
        {**BEGUN, "pool_size": (1, 3), "strides": (1, 2), "padding": (0, 1)},
        np.array([[[[2, 4, 2, 4, 2, 5]]]], np.float32) / 6,
    ),
    ("nn.softmax", (f32([0, -INF], [INF, 0]),), {}, f32([1, 0], [NAN, NAN])),
    (
        "nn.batch_norm",
        (f32([1]), f32(1), f32(0), f32(1), f32(-1)),
        {"axis": 1, "training": False},
        (f32([NAN]), f32(1), f32(-1)),
    ),
    ("nn.prelu", (f32([-2, 3]), f32(0.5, 9)), {}, f32([-1, 3])),
    (
        "nn.rms_norm",
        (f32([3, 4]), f32(1, 2)),
        {"axes": (-1,), "epsilon": 0.0},
        f32([3, 8]) / np.sqrt(f32(12.5)),
    ),
    ("quantize", (f32(0.5, 1.5, 1e9, -1e9), f32(1)[0], i8(0)[0]), {}, i8(0, 2, 127, -128)),
    ("dequantize", (i8(-128, 127), f32(0.5)[0], i8(127)[0]), {}, f32(-127.5, 0)),
    (
        "memory.view",
        (np.array([0, 0, 128, 63], np.uint8),),
        {"shape": (1,), "dtype": "float32"},
        f32(1),
    ),
    ("inspect.tensor_stride_i", (LINE, 2), {}, np.int64(2)),
    ("inspect.tensor_dtype_code", (LINE,), {}, np.uint8(2)),
    ("inspect.tensor_shape_i", (LINE, 3), {}, np.int64(2)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
def test_value(case: Any) -> None:
    name, args, attrs, expected = case
    found = run(name, *args, **attrs)
    assert same(found, expected), (found, expected)


X, W = real(1, 4, 5, 5), real(2, 4, 3, 3)
POOLED = {"pooled_size": 1, "spatial_scale": 1.0}
SEQUENCES = (real(1, 3, 2, 4),) * 3
FAULTS: list[tuple[str, str, tuple[Any, ...], dict[str, Any]]] = [
    ("E-product-reduction", "matmul", (real(2, 3), real(4, 2)), {}),
    ("E-product-reduction", "einsum", ((real(2, 3), real(4, 2)),), {"subscripts": "ij,jk"}),
    ("E-scale-length", "nn.layer_norm", (X, real(4), real(4)), {"axes": (-1,)}),
    ("E-scale-length", "nn.group_norm", (X, real(4), real(4), 3, 1, (2, 3)), {}),
    ("E-sequences-starts", "nn.attention_var_len", (*SEQUENCES, i32(0, 2), i32(3)), {}),
    ("E-sequences-starts", "nn.attention_var_len", (*SEQUENCES, i32(0, 4, 3), i32(3)), {}),
    ("E-window-size", "nn.conv2d", (X, real(2, 4, 9, 3)), {}),
    ("E-window-size", "nn.max_pool2d", (X,), {"pool_size": 0}),
    ("E-channels-groups", "nn.conv2d", (X, W), {"groups": 2}),
    ("E-channels-groups", "nn.conv2d_transpose", (X, real(3, 4, 3, 3)), {}),
    ("E-pad-width", "nn.pad", (f32(1, 2), (2, 0)), {"pad_mode": "reflect"}),
    ("E-pad-width", "nn.pad", (f32(1, 2), (-3, 0)), {}),
    ("E-index-range", "nn.nll_loss", (real(2, 3), i64(0, 3)), {}),
    ("E-index-range", "nn.nll_loss", (real(2, 3), i64(0, -1)), {}),
    ("E-index-range", "grad.nll_loss_backward", (f32(1), real(2, 3), i64(0, 9)), {}),
    ("E-resize-method", "image.resize2d", (X, (2, 2)), {"method": "lanczos"}),
    ("E-resize-method", "image.resize2d", (X, (2, 2)), {"roi": (0.0, 1.0)}),
    ("E-source-empty", "image.resize2d", (real(1, 1, 0, 2), (2, 2)), {}),
    ("E-source-empty", "image.grid_sample", (real(1, 1, 0, 2), real(1, 2, 2, 2)), {}),
    ("E-boxes-columns", "vision.get_valid_counts", (BOXES[None],), {"score_index": 6}),
    (
        "E-boxes-columns",
        "vision.all_class_non_max_suppression",
        (BOXES[None, :, 2:], real(1, 1, 3), *MOST),
        {},
    ),
    ("E-region-finite", "vision.roi_align", (LINE, f32([0, 0, 0, NAN, 1])), POOLED),
    ("E-region-finite", "vision.roi_align", (LINE, f32([0, 0, 0, 1e30, 1])), POOLED),
    ("E-region-image", "vision.roi_align", (LINE, f32([1, 0, 0, 1, 1])), POOLED),
    ("E-region-image", "vision.roi_pool", (LINE, f32([-1, 0, 0, 1, 1])), POOLED),
    ("E-view-size", "memory.view", (f32(1, 2),), {"shape": (3,)}),
    ("E-view-size", "memory.view", (f32(1, 2),), {"relative_byte_offset": 4}),
]


@pytest.mark.parametrize("case", FAULTS, ids=lambda c: f"{c[0]}-{c[1]}")
def test_no_value(case: Any) -> None:
    code, name, args, attrs = case
    with pytest.raises(OperatorFault) as found:
        run(name, *args, **attrs)
    assert found.value.code == code


def loops(x: Any, w: Any, stride: int, pad: int, dilation: int, groups: int) -> Any:
    """A convolution over two axes, one product after the other."""
    height, width = (
        (n + 2 * pad - (k - 1) * dilation - 1) // stride + 1
        for n, k in zip(x.shape[2:], w.shape[2:], strict=True)
    )
    result = np.zeros((x.shape[0], w.shape[0], height, width))
    each = w.shape[0] // groups
    for n, o, i, j, c, p, q in product(*map(range, (*result.shape, *w.shape[1:]))):
        row, column = i * stride + p * dilation - pad, j * stride + q * dilation - pad
        if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]:
            channel = o // each * w.shape[1] + c
            result[n, o, i, j] += float(x[n, channel, row, column]) * float(w[o, c, p, q])
    return result


@pytest.mark.parametrize("options", list(product((1, 2), (0, 2), (1, 2), (1, 2))))
def test_convolutions_are_sums_of_products(options: tuple[int, int, int, int]) -> None:
    stride, pad, dilation, groups = options
    x, w = real(2, 4, 6, 7), real(6, 4 // groups, 3, 2)
    plan = {"strides": stride, "padding": pad, "dilation": dilation, "groups": groups}
    found = run("nn.conv2d", x, w, **{k: (v,) if k != "groups" else v for k, v in plan.items()})
    assert np.allclose(found, loops(x, w, *options), 1e-5, 1e-5)


def test_a_transposed_convolution_is_the_adjoint() -> None:
    for stride, pad, groups in product((1, 2), (0, 1), (1, 2)):
        w, x = real(6, 4 // groups, 3, 3), real(1, 4, 7, 7)
        options = {"strides": (stride,), "padding": (pad,), "groups": groups}
        y = run("nn.conv2d", x, w, **options)
        g = real(*y.shape)
        back = run("nn.conv2d_transpose", g, w, **options)
        assert back.shape == x.shape
        assert np.isclose(np.vdot(y, g), np.vdot(x, back), 1e-3, 1e-4)


def test_layouts_only_order_axes() -> None:
    x, w = real(2, 4, 6, 7), real(8, 4, 3, 2)
    plain = run("nn.conv2d", x, w)
    packed = run(
        "nn.conv2d",
        x.reshape(2, 2, 2, 6, 7).transpose(0, 1, 3, 4, 2),
        w.transpose(2, 3, 1, 0),
        data_layout="NCHW2c",
        kernel_layout="HWIO",
        out_layout="NHWC",
    )
    assert np.allclose(packed, plain.transpose(0, 2, 3, 1), 1e-5, 1e-6)


def test_gradients_of_pools_are_adjoint_to_them() -> None:
    x, plan = real(1, 2, 6, 6), {"pool_size": (3, 2), "strides": (2, 2), "padding": (1, 0, 1, 0)}
    y = run("nn.avg_pool2d", x, **plan)
    g = real(*y.shape)
    assert np.isclose(
        np.vdot(y, g), np.vdot(x, run("grad.avg_pool2d_backward", g, x, **plan)), 1e-4
    )
    most = run("nn.max_pool2d", x, **plan)
    assert np.isclose(
        np.vdot(most, g), np.vdot(x, run("grad.max_pool2d_backward", g, x, **plan)), 1e-4
    )


def test_attention_is_softmax_of_products() -> None:
    q, k, v, bias = real(2, 3, 4, 8), real(2, 5, 2, 8), real(2, 5, 2, 6), real(2, 4, 3, 5)
    expected = np.zeros((2, 3, 4, 6))
    for n, i, h in product(range(2), range(3), range(4)):
        score = k[n, :, h // 2] @ q[n, i, h] / np.sqrt(8) + bias[n, h, i]
        weight = np.exp(score) / np.exp(score).sum()
        expected[n, i, h] = weight @ v[n, :, h // 2]
    assert np.allclose(run("nn.attention_bias", q, k, v, bias), expected, 1e-5, 1e-6)


def test_sequences_do_not_see_each_other() -> None:
    q = real(1, 7, 2, 4)
    found = run("nn.attention_var_len", q, q, q, i32(0, 2, 2, 7), i32(5))
    parts = [run("nn.attention", part, part, part) for part in (q[:, :2], q[:, 2:])]
    assert same(found, np.concatenate(parts, axis=1))


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float8_e4m3fn"])
def test_narrow_floats_accumulate_in_float32(kind: str) -> None:
    import ml_dtypes

    made = np.dtype(getattr(ml_dtypes, kind, None) or kind)
    a, b = np.ones((1, 4096), made), np.full((4096, 1), 1 / 64, made)
    assert run("matmul", a, b).astype(np.float64) == 64
    x = run("nn.softmax", np.zeros((1, 64), made))
    assert np.all(x.astype(np.float64) == 1 / 64)


@pytest.mark.parametrize("shape", [(3, 1), (1, 3), (1, 1), (0, 1), (1, 0)])
def test_the_diagonal_of_one_row_or_column_is_this(shape: tuple[int, int]) -> None:
    """An axis of length 1 has its element everywhere, also if the other one is of the same tensor."""
    x = f32(*range(1, 1 + shape[0] * shape[1])).reshape(shape)
    assert same(run("einsum", (x,), subscripts="ii->i"), x.reshape(-1))


def test_integers_wrap_and_are_exact() -> None:
    x = np.full((1, 2), 100, np.int8)
    assert same(run("matmul", x, x.T), i8([100 * 200 % 256 - 256 * (100 * 200 % 256 > 127)]))
    assert same(run("matmul", x, x.T, out_dtype="int32"), i32([20000]))
    big = np.full((1, 1, 2), 2**53 + 1, np.int64)
    weight = np.ones((1, 1, 2), np.int64)
    assert same(run("nn.conv1d", big, weight), i64([[2**54 + 2]]))


def test_resizing_to_the_same_size_changes_nothing() -> None:
    x = real(1, 2, 4, 5)
    for method in ("nearest_neighbor", "linear", "cubic"):
        assert np.allclose(run("image.resize2d", x, (4, 5), method=method), x, 1e-6, 1e-6)


def test_the_regular_grid_samples_the_image_itself() -> None:
    x = real(1, 2, 4, 5)
    for align in (True, False):
        grid = run("image.affine_grid", f32([[1, 0, 0], [0, 1, 0]]), (4, 5), align_corners=align)
        assert np.allclose(run("image.grid_sample", x, grid, align_corners=align), x, 1e-5, 1e-5)
