"""Calls of every operator: names, arguments, keyword arguments; some legal, some not.

Arguments are struct infos (of variables), tuples of them, and plain values. TVM
derives the same struct info of ``LEGAL`` calls, another of ``DIFFERENT`` ones; it refuses ``ILLEGAL`` calls as well.
"""

from __future__ import annotations

from typing import Any

from rlx.grammar.nodes.ast import ObjectStructInfo, ShapeExpr, VDevice
from tests.operators.context import (
    constant,
    half,
    k,
    m,
    n,
    plus,
    prim,
    shape,
    tensor,
    times,
    variable,
)

Case = tuple[str, tuple[Any, ...], dict[str, Any]]


def case(name: str, *args: Any, **attrs: Any) -> Case:
    return name, args, attrs


def ints(dims: Any = None, kind: str = "int64", ndim: int = -1) -> Any:
    return tensor(dims, kind, ndim)


def unknown(ndim: int = -1, kind: str = "float32") -> Any:
    return tensor(None, kind, ndim)


FLOAT_UNARY = """acos acosh asin asinh atan atanh cos cosh erf exp log rsqrt sigmoid sin sinh sqrt tan tanh
nn.gelu nn.gelu_tanh nn.selu nn.silu nn.leakyrelu nn.softplus nn.softmax nn.log_softmax"""
ANY_UNARY = """abs bitwise_not ceil floor isfinite isinf isnan logical_not negative round sign square trunc
nn.relu tril triu nn.dropout flatten nn.batch_flatten grad.no_grad grad.start_checkpoint
grad.end_checkpoint builtin.stop_lift_params memory.ensure_zero_offset ccl.allreduce
ccl.broadcast_from_worker0 zeros_like ones_like sort argsort shape_of size"""
BINARY = """add divide floor_divide floor_mod log_add_exp maximum minimum mod multiply power subtract atan2
bitwise_and bitwise_or bitwise_xor left_shift logical_and logical_or logical_xor right_shift
equal greater greater_equal less less_equal not_equal"""
REDUCTIONS = "max mean min prod std sum variance"
DESCRIPTOR = "byte_offset dtype_bits dtype_code dtype_lanes elem_offset ndim"
STORAGE = ObjectStructInfo()
DEVICE = VDevice("llvm")
SIZE = ShapeExpr((n, prim(4)))
SHAPE_VAR = variable(shape(ndim=2), "s")


def _unary() -> list[Case]:
    operands = [
        tensor((n, 4)),
        tensor((times(n, 2), plus(m, 1)), "float16"),
        unknown(2),
        tensor((2, 3), "void"),
    ]
    cases = [case(name, x) for name in (*FLOAT_UNARY.split(), *ANY_UNARY.split()) for x in operands]
    cases += [
        case(name, tensor((n, 4), kind)) for name in ANY_UNARY.split() for kind in ("int32", "bool")
    ]
    cases += [case(name, unknown()) for name in FLOAT_UNARY.split()]
    cases += [case(name, tensor(SHAPE_VAR)) for name in ("exp", "abs", "isnan", "nn.relu")]
    cases += [
        case("clip", tensor((n, 4)), 0, 6),
        case("astype", tensor((n, 4)), dtype="int8"),
        case("astype", unknown(), dtype="float16"),
        case("wrap_param", tensor((n, 4)), dtype="float16"),
        case("tril", tensor((n, 4)), 1),
        case("ewise_fma", tensor((n, 4)), tensor((n, 4)), tensor((n, 4))),
        case("nn.prelu", tensor((n, 4)), tensor((4,))),
        case("nn.prelu", tensor((n, 4)), tensor((1,)), axis=-1),
    ]
    return cases


def _binary() -> list[Case]:
    pairs = [
        (tensor((n, 4)), tensor((n, 4))),
        (tensor((n, 4)), tensor((1, 4))),
        (tensor((n, 4)), tensor((4,))),
        (tensor((4,)), tensor((n, m, 1))),
        (tensor((n, 4)), tensor(())),
        (tensor((times(n, 2),)), tensor((times(2, n),))),
        (tensor((n, 4)), tensor((n, 4), "void")),
        (tensor((n, 4)), unknown(3)),
        (tensor((n, 4)), unknown()),
        (tensor(SHAPE_VAR), tensor(SHAPE_VAR)),
        (tensor(SHAPE_VAR), tensor((n, 4))),
        (tensor((), "int64"), tensor((n,), "int64")),
    ]
    cases = [case(name, *pair) for name in BINARY.split() for pair in pairs]
    cases += [case(name, tensor((n,), "int64"), 2) for name in ("add", "less", "multiply")]
    return cases


def _reductions() -> list[Case]:
    operands: list[Any] = [tensor((n, 4, m)), unknown(3), unknown()]
    options: list[dict[str, Any]] = [
        {},
        {"keepdims": True},
        {"axis": 1},
        {"axis": [-1]},
        {"axis": [0, 2], "keepdims": True},
        {"axis": [0, -2]},
        {"axis": []},
    ]
    cases = [case(name, x, **o) for name in REDUCTIONS.split() for x in operands for o in options]
    for name in ("argmax", "argmin"):
        cases += [case(name, x) for x in operands]
        cases += [case(name, x, axis=-1, keepdims=keep) for x in operands for keep in (True, False)]
    for name in ("cumsum", "cumprod"):
        cases += [
            case(name, tensor((n, 4))),
            case(name, tensor((n, 4)), axis=1),
            case(name, tensor((n, 4)), axis=-1, dtype="int64", exclusive=True),
            case(name, unknown(1)),
            case(name, unknown(3), axis=1),
        ]
    cases += [case("median", tensor((n, 4, m)), **o) for o in options[:6]]
    return cases


def _creation() -> list[Case]:
    s = variable(shape(ndim=3), "s")
    cases = [case(name, (n, 4), dtype="float16") for name in ("zeros", "ones")]
    cases += [case(name, s, dtype="int8") for name in ("zeros", "ones")]
    cases += [
        case(name, tensor((n, 4)), dtype="int8") for name in ("zeros_like", "ones_like", "eye_like")
    ]
    cases += [
        case("full", (n, 2), constant(1, "int32")),
        case("full", (n, 2), constant(1, "int32"), dtype="float16"),
        case("full", s, tensor(())),
        case("full_like", tensor((n, 4)), constant(1, "int32")),
        case("full_like", unknown(2), constant(1, "int32"), dtype="int8"),
        case("eye", n),
        case("eye", 3, m, 1, dtype="int32"),
        case("arange", 5),
        case("arange", n),
        case("arange", 1, n, 2, dtype="float32"),
        case("arange", 10, 0, -3),
        case("arange", 0.0, 10, 2),
        case("arange", 0, 10, 0.3),
        case("arange", n, plus(n, m)),
        case("hamming_window", 10, True, 0.5, 0.4, dtype="float32"),
    ]
    return cases


def _movement() -> list[Case]:
    s = variable(shape(ndim=3), "s")
    x, y = tensor((n, 4)), tensor((n, m, 4))
    return [
        case("reshape", x, (times(n, 4),)),
        case("reshape", x, (n, 2, 2)),
        case("reshape", x, (-1, 2)),
        case("reshape", x, (0, 2, 2)),
        case("reshape", y, (m, -1)),
        case("reshape", y, (2, -1)),
        case("reshape", y, (times(n, m), 2, 2)),
        case("reshape", tensor((2, 3, 4)), (4, 6)),
        case("reshape", tensor((2, 3, 4)), (0, -1)),
        case("reshape", x, s),
        case("reshape", x, variable(shape((2, n, 2)), "s")),
        case("reshape", unknown(2), (n, 4)),
        case("permute_dims", y),
        case("permute_dims", y, axes=[0, 2, 1]),
        case("permute_dims", y, axes=[-1, 0, 1]),
        case("permute_dims", y, axes=[0, 1, 2]),
        case("permute_dims", unknown(3), axes=[0, 2, 1]),
        case("permute_dims", unknown(3)),
        case("permute_dims", unknown()),
        case("expand_dims", x, axis=0),
        case("expand_dims", x, axis=[0, -1]),
        case("expand_dims", x, axis=[1, 2, 4]),
        case("expand_dims", unknown(2), axis=[0]),
        case("expand_dims", unknown(), axis=[0]),
        case("squeeze", tensor((1, 4, 1))),
        case("squeeze", tensor((n, 1, m))),
        case("squeeze", tensor((n, 1, 4, 1)), axis=[1]),
        case("squeeze", tensor((n, 1, 4, 1)), axis=[-1, 1]),
        case("squeeze", tensor((2, 1)), axis=[0]),
        case("squeeze", unknown(3), axis=[0]),
        case("squeeze", unknown(3)),
        case("squeeze", unknown()),
        case("concat", (x, tensor((m, 4)))),
        case("concat", (x, x), axis=-1),
        case("concat", (x,)),
        case("concat", (x, unknown(2)), axis=1),
        case("concat", (x, unknown())),
        case("concat", (x, tensor((m, 4), "void"))),
        case("concat", (tensor((n,)), tensor((m,))), axis=None),
        case("concat", (tensor((2, 3)), tensor((2, 5)), tensor((2, n))), axis=1),
        case("stack", (x, x)),
        case("stack", (x, x, x), axis=-1),
        case("stack", (x, unknown(2)), axis=1),
        case("stack", (x, unknown()), axis=1),
        case("split", tensor((n, 12)), 3, axis=1),
        case("split", tensor((n, 10)), 3, axis=-1),
        case("split", tensor((times(n, 4),)), 2),
        case("split", tensor((10,)), 1),
        case("split", unknown(), []),
        case(
            "nn.max_pool1d",
            tensor((n, 3, m)),
            pool_size=2,
            strides=4,
            padding=(-1, -2),
            ceil_mode=True,
        ),
        case("split", tensor((10, n)), [3, 7]),
        case("split", tensor((n, 4)), [1, 2], axis=1),
        case("split", tensor((n,)), [3, 5]),
        case("split", unknown(2), 3),
        case("split", unknown(2), [3]),
        case("split", unknown(), [3]),
        case("broadcast_to", tensor((n, 1)), (n, m)),
        case("broadcast_to", tensor((4,)), (2, n, 4)),
        case("broadcast_to", tensor((4,)), s),
        case("broadcast_to", unknown(), (n, 4)),
        case("collapse_sum_to", x, (4,)),
        case("collapse_sum_to", x, (n, 1)),
        case("collapse_sum_like", x, tensor((4,))),
        case("flip", x, axis=-1),
        case("tile", x, repeats=[2]),
        case("tile", x, repeats=[2, 3, 1]),
        case("tile", unknown(2), repeats=[2, 3, 1]),
        case("tile", unknown(), repeats=[2, 3, 1]),
        case("repeat", x, repeats=2),
        case("repeat", x, repeats=2, axis=-2),
        case("repeat", unknown(2), repeats=2),
        case("repeat", unknown(2), repeats=2, axis=1),
        case("reverse_sequence", x, ints((n,)), seq_axis=1, batch_axis=0),
        case("meshgrid", (tensor((n,)), tensor((m,)))),
        case("meshgrid", (tensor((n,)), unknown(1)), indexing="xy"),
        case("nn.pixel_shuffle", tensor((n, 8, 3, m)), upscale_factor=2),
        case("nn.batch_flatten", y),
        case("nn.batch_flatten", unknown(3)),
        case("flatten", tensor(())),
        case("flatten", tensor((n,))),
        case("flatten", y),
        case("flatten", unknown(3)),
        case("nn.pad", x, pad_width=(1, 1, 2, 2)),
        case("nn.pad", unknown(2), pad_width=(1, 1, 2, 2)),
        case("nn.pad", x, pad_width=(0, 0, 1, 0), pad_mode="reflect"),
    ]


def _slicing() -> list[Case]:
    x, ten = tensor((n, 4)), tensor((10, n))

    def cut(info: Any, axes: Any, begin: Any, end: Any, strides: Any = None, **o: Any) -> Case:
        return case("strided_slice", info, axes=axes, begin=begin, end=end, strides=strides, **o)

    return [
        cut(x, [1], [1], [3]),
        cut(x, [0], [1], [3]),
        cut(x, [0], [0], [n]),
        cut(x, [0], [0], [n], [2]),
        cut(x, [0], [0], [m]),
        cut(x, [0], [-3], [n]),
        cut(x, [0], [0], [-1]),
        cut(x, [0], [0], [9223372036854775807]),
        cut(x, [0, -1], [0, 0], [n, 2], [1, 2]),
        cut(ten, [0], [-3], [20]),
        cut(ten, [0], [8], [2], [-2]),
        cut(ten, [0], [2], [8], [3]),
        cut(ten, [0], [2], [8], [3], assume_inbound=True),
        cut(ten, [0], [-1], [-11], [-1]),
        cut(ten, [1], [n], [0], [-1]),
        cut(x, [0], [half(n)], [n]),
        cut(unknown(2), [0], [0], [1]),
        cut(unknown(), [0], [0], [1]),
        case("slice_scatter", x, tensor((n, 2)), 1, 3, 1, axis=1),
        case("slice_scatter", unknown(2), tensor((n, 2)), 1, 3, 1, axis=1),
    ]


def _indexing() -> list[Case]:
    x, y = tensor((n, 4)), tensor((n, 4, 5))
    return [
        case("take", x, ints((m,)), axis=0),
        case("take", x, ints((m, 3)), axis=-1),
        case("take", x, ints(()), axis=0),
        case("take", x, 0, axis=1),
        case("take", tensor((n,)), ints((m,), "int32")),
        case("take", x, ints((m,)), axis=0, mode="clip"),
        case("take", unknown(2), ints((m,)), axis=0),
        case("take", x, ints(None, ndim=2), axis=0),
        case("take", x, ints(), axis=0),
        case("gather_elements", x, ints((n, 2)), axis=1),
        case("gather_elements", tensor((10, 4)), ints((3, 2)), axis=0),
        case("gather_elements", x, ints(None, ndim=2), axis=0),
        case("gather_nd", y, ints((m, 2))),
        case("gather_nd", y, ints((m, 1))),
        case("gather_nd", y, ints((n, 2)), batch_dims=1),
        case("gather_nd", y, ints((3, m, 3))),
        case("gather_nd", unknown(), ints((m, 1))),
        case("scatter_elements", tensor((8, 4)), ints((3, 4)), tensor((3, 4))),
        case(
            "scatter_elements", x, ints((m, 4), "int32"), tensor((m, 4)), axis=-1, reduction="add"
        ),
        case("scatter_elements", unknown(2), ints((m, 4)), tensor((m, 4))),
        case("scatter_nd", x, ints((m, 1)), tensor((m, 4))),
        case("scatter_nd", x, ints((m, 2)), tensor((m,)), reduction="add"),
        case("index_tensor", y, (ints((m,)),)),
        case("index_tensor", y, (ints((m,)), ints((m,)))),
        case("index_tensor", y, (ints((2, 1)), ints((1, 3)))),
        case("index_tensor", unknown(), (ints((m,)),)),
        case("index_put", x, (ints((m,)), ints((m,))), tensor((m,))),
        case("one_hot", ints((n,)), 1, 0, depth=4),
        case("one_hot", ints((n, m)), 1, 0, depth=4, axis=0),
        case("one_hot", ints((n, m)), 1, 0, depth=4, axis=-2),
        case("one_hot", ints(None, ndim=1), 1, 0, depth=4),
        case("where", tensor((n, 4), "bool"), tensor((4,)), tensor(())),
        case("where", tensor((n, 4), "bool"), tensor((1, 4)), unknown(3)),
        case("where", tensor((n, 4), "bool"), x, x),
        case("where", tensor((n, 4), "bool"), x, unknown()),
        case("bucketize", x, tensor((5,))),
        case("bucketize", x, tensor((5,)), out_int32=True),
        case("topk", x, k=2),
        case("topk", tensor((8, n)), k=2, axis=0, ret_type="values"),
        case("topk", x, k=2, ret_type="indices", dtype="int64"),
        case("topk", x, k=-1),
        case("topk", unknown(2), k=2),
        case("sort", x, axis=0, descending=True),
        case("argsort", x, axis=0, dtype="int64"),
        case("multinomial_from_uniform", x, tensor((m, 1)), ints((m, 1)), dtype="int64"),
    ]


def _algebra() -> list[Case]:
    return [
        case("matmul", tensor((n, 4)), tensor((4, m))),
        case("matmul", tensor((n,)), tensor((n,))),
        case("matmul", tensor((n, 4)), tensor((4,))),
        case("matmul", tensor((4,)), tensor((4, n))),
        case("matmul", tensor((2, 1, n, 4)), tensor((3, 4, m))),
        case("matmul", tensor((k, n, 4)), tensor((4, m))),
        case("matmul", tensor((5, n, 4)), tensor((4,))),
        case("matmul", tensor((n, 4)), tensor((4, 5)), out_dtype="float16"),
        case("matmul", tensor((n, 4), "int8"), tensor((4, 5), "int8"), out_dtype="int32"),
        case("matmul", tensor((n, 4)), tensor((4, 5), "float16"), out_dtype="float32"),
        case("matmul", tensor((n, 4), "void"), tensor((4, 5))),
        case("matmul", unknown(2), tensor((4, 5))),
        case("matmul", unknown(), tensor((4, 5))),
        case("matmul", unknown(3), tensor((4,))),
        case("einsum", (tensor((n, 4)), tensor((4, m))), subscripts="ij,jk->ik"),
        case("einsum", (tensor((n, 4)), tensor((4, m))), subscripts="ij, jk"),
        case("einsum", (tensor((n, n)),), subscripts="ii->i"),
        case("einsum", (tensor((n, m, 4)), tensor((n, 4, 5))), subscripts="...ij,...jk->...ik"),
        case("einsum", (tensor((2, 1, n, 4)), tensor((3, 4, 5))), subscripts="...ij,...jk->...ik"),
        case("einsum", (tensor((n, m, 4)),), subscripts="i...->...i"),
        case("einsum", (tensor((n, 4)), unknown(2)), subscripts="ij,jk->ik"),
        case("outer", tensor((n,)), tensor((m,))),
        case("outer", unknown(1), tensor((m,))),
    ]


def _convolution() -> list[Case]:
    x, w = tensor((n, 3, 28, 28)), tensor((8, 3, 3, 3))
    hw = tensor((n, 3, m, k))
    return [
        case("nn.conv2d", tensor((n, 3, 9, 9)), tensor((4, 3, 3, 3)), padding=-1),
        case(
            "nn.conv2d",
            tensor((n, 3, 9, 9)),
            tensor((4, 3, 3, 3)),
            padding=[-1, 2, 0, -2],
            strides=2,
        ),
        case(
            "nn.conv1d_transpose",
            tensor((n, 3, 9)),
            tensor((3, 4, 3)),
            padding=-1,
            strides=2,
            output_padding=-1,
        ),
        case("nn.max_pool2d", tensor((n, 3, 9, 9)), pool_size=3, strides=2, padding=-1),
        case("nn.avg_pool2d", tensor((n, 3, 9, 9)), pool_size=3, strides=2, padding=[-1, 0, 1, -2]),
        case("nn.avg_pool1d", tensor((n, 3, 9)), pool_size=2, padding=-1, count_include_pad=True),
        case("nn.conv2d", x, w),
        case("nn.conv2d", x, w, strides=2, padding=1, dilation=2),
        case("nn.conv2d", hw, w, strides=[2, 1], padding=[1, 2]),
        case("nn.conv2d", hw, w, padding=[1, 2, 3, 4]),
        case("nn.conv2d", tensor((n, 4, m, m)), tensor((8, 2, 1, 1)), groups=2),
        case(
            "nn.conv2d",
            tensor((n, 28, 28, 3)),
            tensor((3, 3, 3, 8)),
            data_layout="NHWC",
            kernel_layout="HWIO",
        ),
        case(
            "nn.conv2d",
            tensor((n, 28, 28, 3)),
            tensor((3, 3, 3, 8)),
            data_layout="NHWC",
            kernel_layout="HWIO",
            out_layout="NCHW",
        ),
        case(
            "nn.conv2d",
            tensor((n, 1, 28, 28, 3)),
            tensor((2, 1, 3, 3, 3, 2)),
            data_layout="NCHW3c",
            kernel_layout="OIHW3i2o",
            out_layout="NCHW2c",
        ),
        case(
            "nn.conv2d",
            tensor((n, 3, 8, 8), "int8"),
            tensor((4, 3, 3, 3), "int8"),
            out_dtype="int32",
        ),
        case("nn.conv2d", unknown(4), w),
        case("nn.conv2d", unknown(), w),
        case("nn.conv2d", tensor((n, 3, 8, 8), "void"), w),
        case("nn.conv1d", tensor((n, 3, m)), tensor((4, 3, 3)), strides=2, padding=1),
        case(
            "nn.conv1d",
            tensor((n, 9, 3)),
            tensor((3, 3, 4)),
            data_layout="NWC",
            kernel_layout="WIO",
        ),
        case("nn.conv3d", tensor((n, 3, 8, 8, m)), tensor((4, 3, 3, 3, 3)), padding=[1, 1, 1]),
        case(
            "nn.conv1d_transpose",
            tensor((n, 3, m)),
            tensor((3, 4, 3)),
            strides=2,
            padding=1,
            output_padding=1,
        ),
        case(
            "nn.conv2d_transpose",
            tensor((n, 3, m, 8)),
            tensor((3, 4, 3, 3)),
            strides=2,
            padding=1,
            output_padding=1,
            dilation=2,
            groups=3,
        ),
        case("nn.conv3d_transpose", tensor((n, 3, m, 8, 8)), tensor((3, 4, 3, 3, 3)), strides=2),
        case("nn.conv2d_transpose", unknown(4), tensor((3, 4, 3, 3))),
    ]


def _pooling() -> list[Case]:
    x, hw = tensor((n, 3, 28, 28)), tensor((n, 3, m, k))
    cases: list[Case] = []
    for kind in ("avg", "max"):
        name = f"nn.{kind}_pool2d"
        cases += [
            case(name, x, pool_size=2, strides=2),
            case(name, x, pool_size=[3, 3], strides=2, padding=1, ceil_mode=True, dilation=2),
            case(name, hw, pool_size=2, strides=2),
            case(name, hw, pool_size=2, strides=4, padding=1, ceil_mode=True),
            case(name, hw, pool_size=1, strides=3, padding=1, ceil_mode=True),
            case(name, hw, pool_size=3, strides=2, padding=1, ceil_mode=True),
            case(name, tensor((n, 28, 28, 3)), pool_size=[2, 3], layout="NHWC", out_layout="NCHW"),
            case(name, unknown(4), pool_size=2),
            case(name, unknown(), pool_size=2),
            case(f"nn.{kind}_pool1d", tensor((n, 3, m)), pool_size=2, strides=2),
            case(f"nn.{kind}_pool3d", tensor((n, 3, m, 8, 8)), pool_size=2, strides=2),
        ]
    cases += [
        case("nn.adaptive_avg_pool2d", hw, output_size=[1, 1]),
        case("nn.adaptive_avg_pool2d", hw, output_size=7),
        case("nn.adaptive_avg_pool2d", hw),
        case("nn.adaptive_avg_pool2d", unknown(4), output_size=7),
        case("nn.adaptive_avg_pool2d", tensor((n, m, 8, 3)), output_size=7, layout="NHWC"),
        case("nn.adaptive_avg_pool1d", tensor((n, 3, m)), output_size=4),
        case("nn.adaptive_avg_pool3d", tensor((n, 3, m, 8, 8)), output_size=2),
        case(
            "grad.avg_pool2d_backward", tensor((n, 3, 14, 14)), x, pool_size=(2, 2), strides=(2, 2)
        ),
        case(
            "grad.max_pool2d_backward", tensor((n, 3, 14, 14)), x, pool_size=(2, 2), strides=(2, 2)
        ),
    ]
    return cases


def _normalization() -> list[Case]:
    x, c = tensor((n, 4, m)), tensor((4,))
    return [
        case("nn.layer_norm", tensor((n, 4)), c, c, axes=[-1]),
        case("nn.layer_norm", tensor((n, 4, m)), tensor((4, m)), tensor((4, m)), axes=[1, 2]),
        case("nn.layer_norm", unknown(2), c, c, axes=[-1]),
        case("nn.rms_norm", tensor((n, 4)), c, axes=[-1]),
        case("nn.group_norm", x, c, c, num_groups=2, channel_axis=1, axes=[2]),
        case("nn.instance_norm", x, c, c, channel_axis=1, axes=[2]),
        case("nn.batch_norm", x, c, c, c, c, axis=1),
        case("nn.batch_norm", unknown(), c, c, c, c, axis=1),
        case("nn.batch_norm", x, c, c, unknown(1), c, axis=1),
        case("nn.softmax", x, axis=1),
        case("nn.log_softmax", x, axis=-2),
        case("nn.cross_entropy_with_logits", tensor((n, 4)), tensor((n, 4))),
        case("nn.nll_loss", tensor((n, 4)), ints((n,))),
        case("nn.nll_loss", tensor((n, 4, m)), ints((n, m)), tensor((4,)), reduction="none"),
        case("nn.nll_loss", tensor((4,)), ints(()), reduction="none"),
        case("nn.nll_loss", tensor((n, 4)), ints(None, ndim=1), reduction="none"),
        case("grad.nll_loss_backward", tensor(()), tensor((n, 4)), ints((n,))),
        case("grad.take_backward", tensor((m, 4)), tensor((n, 4)), ints((m,)), axis=0),
    ]


def _attention() -> list[Case]:
    q, kv, v = tensor((n, m, 8, 16)), tensor((n, k, 8, 16)), tensor((n, k, 8, 32))
    return [
        case("nn.attention", q, kv, v),
        case("nn.attention", q, q, q, causal_mask="TopLeft", scale=0.5),
        case("nn.attention", q, tensor((n, k, 4, 16)), tensor((n, k, 4, 32))),
        case("nn.attention", q, kv, v, tensor((n, 8, m, k))),
        case("nn.attention", q, kv, v, tensor((1, 1, m, k))),
        case(
            "nn.attention_var_len",
            tensor((1, m, 8, 16)),
            tensor((1, k, 8, 16)),
            tensor((1, k, 8, 32)),
            ints((n,), "int32"),
            ints((), "int32"),
            ints((n,), "int32"),
            ints((), "int32"),
        ),
    ]


def _image() -> list[Case]:
    x = tensor((n, 3, 8, 8))
    return [
        case("image.resize2d", x, (m, 16)),
        case("image.resize2d", x, 16),
        case("image.resize2d", tensor((n, 8, 8, 3)), (m, 16), layout="NHWC", out_dtype="float16"),
        case("image.resize2d", unknown(4), (16, 16)),
        case("image.resize2d", x, variable(shape(ndim=2), "s")),
        case("image.resize3d", tensor((n, 3, 8, 8, 8)), (m, 16, 2)),
        case("image.grid_sample", x, tensor((n, 2, 5, m))),
        case("image.grid_sample", tensor((n, 3, 8, 8, 8)), tensor((n, 3, 5, 6, m)), layout="NCDHW"),
        case("image.affine_grid", tensor((n, 2, 3)), (5, m)),
        case("image.affine_grid", tensor((n, 3, 4)), (5, m, 6)),
        case("quantize", tensor((n, 4)), tensor((4,)), ints((4,), "int8")),
        case("quantize", tensor((n, 4)), tensor(()), ints((), "int8"), out_dtype="uint8"),
        case("dequantize", ints((n, 4), "int8"), tensor((4,)), ints((4,), "int8")),
        case(
            "dequantize",
            ints((n, 4), "int8"),
            tensor((n,)),
            ints((n,), "int8"),
            axis=0,
            out_dtype="float16",
        ),
    ]


def _vision() -> list[Case]:
    boxes, scores = tensor((n, m, 4)), tensor((n, k, m))
    limits = (constant(5, "int64"), constant(0.5, "float32"), constant(0.1, "float32"))
    return [
        case("vision.all_class_non_max_suppression", boxes, scores, *limits),
        case(
            "vision.all_class_non_max_suppression",
            boxes,
            scores,
            *limits,
            output_format="tensorflow",
        ),
        case("vision.get_valid_counts", tensor((n, m, 6))),
        case(
            "vision.non_max_suppression",
            tensor((n, m, 6)),
            ints((n,), "int32"),
            ints((n, m), "int32"),
        ),
        case(
            "vision.non_max_suppression",
            tensor((n, m, 6)),
            ints((n,), "int32"),
            ints((n, m), "int32"),
            return_indices=False,
        ),
        case(
            "vision.non_max_suppression",
            tensor((n, m, 6)),
            ints((n,), "int32"),
            ints((n, m), "int32"),
            soft_nms_sigma=0.5,
        ),
        case(
            "vision.multibox_transform_loc",
            tensor((n, 3, m)),
            tensor((n, times(m, 4))),
            tensor((1, m, 4)),
        ),
        case(
            "vision.roi_align",
            tensor((n, 3, 8, 8)),
            tensor((k, 5)),
            pooled_size=(7, 7),
            spatial_scale=1.0,
        ),
        case(
            "vision.roi_align",
            tensor((n, 8, 8, 3)),
            tensor((k, 5)),
            pooled_size=7,
            spatial_scale=1.0,
            layout="NHWC",
        ),
        case(
            "vision.roi_pool",
            tensor((n, 3, 8, 8)),
            tensor((k, 5)),
            pooled_size=(7, 7),
            spatial_scale=1.0,
        ),
    ]


def _memory() -> list[Case]:
    x = tensor((n, 4))
    return [
        case("shape_of", tensor((n, plus(m, 1)))),
        case("shape_of", unknown()),
        case("tensor_to_shape", ints(None, ndim=1)),
        case("shape_to_tensor", variable(shape((n, 4)), "s")),
        case("shape_to_tensor", variable(shape(ndim=3), "s")),
        case("memory.view", x, (n, 2, 2)),
        case("memory.view", x, dtype="float16"),
        case("memory.view", x, variable(shape(ndim=3), "s")),
        case("ccl.allgather", x, 2),
        case("ccl.scatter_from_worker0", tensor((times(n, 2), 4)), 2),
        case("ccl.scatter_from_worker0", x, 2, axis=1),
        case("vm.kill_object", x),
        case("memory.kill_tensor", x),
        case("print", x, format="x = {}"),
        case("assert_op", tensor((), "bool"), format="no"),
        case("null_value"),
        case("builtin.alloc_tensor", SIZE, dtype="float16", runtime_device_index=0),
        case("memory.alloc_storage", (n,), 0, "global", "uint8"),
        case("memory.alloc_tensor", STORAGE, 0, SIZE, "float32"),
        case("memory.alloc_tensor", STORAGE, 0, variable(shape(ndim=2), "s"), "float32"),
        case("memory.kill_storage", STORAGE),
        case("vm.alloc_storage", (n,), 0, "uint8"),
        case("vm.alloc_tensor", STORAGE, 0, SIZE, "float32"),
        case("vm.alloc_tensor", STORAGE, 0, variable(shape(ndim=2), "s"), "float32"),
        case("to_vdevice", x, dst_vdevice=DEVICE),
        case("hint_on_device", x, dst_vdevice=DEVICE),
        *(case(f"inspect.tensor_{name}", x) for name in DESCRIPTOR.split()),
        case("inspect.tensor_shape_i", x, 0),
        case("inspect.tensor_shape_i", unknown(), 0),
        case("inspect.tensor_stride_i", x, 1),
    ]


LEGAL: list[Case] = [
    *_unary(),
    *_binary(),
    *_reductions(),
    *_creation(),
    *_movement(),
    *_slicing(),
    *_indexing(),
    *_algebra(),
    *_convolution(),
    *_pooling(),
    *_normalization(),
    *_attention(),
    *_image(),
    *_vision(),
    *_memory(),
]

X = tensor((n, 4))

WARNED: list[tuple[str, Case]] = [
    ("OBL-agree-dtype", case("add", X, tensor((n, 4), "bool"))),
    ("OBL-agree-dtype", case("matmul", X, tensor((4, 5), "bool"))),
    (
        "OBL-slice-bounds",
        case("strided_slice", X, axes=[0], begin=[0], end=[m], assume_inbound=True),
    ),
    ("OBL-topk-count", case("topk", X, k=2, axis=0, ret_type="values")),
    ("OBL-split-sections", case("split", tensor((n,)), 4)),
    ("OBL-split-indices", case("split", tensor((10,)), [5, 3])),
    ("OBL-split-indices", case("split", tensor((n,)), [-2, 2, 6, 4, 9])),
    ("OBL-layout-factor", case("nn.max_pool2d", tensor((2, 4, 8, 8, n)), layout="NCHW16c")),
    ("OBL-matmul-reduction", case("matmul", tensor((0,)), tensor((n,)))),
    ("OBL-concat-dims", case("stack", (tensor((0, 4)), tensor((n, 4))))),
    ("OBL-reshape-count", case("reshape", X, (m, 4))),
    ("OBL-reshape-divides", case("reshape", X, (3, -1))),
    ("OBL-broadcast-dims", case("add", X, tensor((m, 4)))),
    ("OBL-broadcast-dims", case("where", tensor((n, 4), "bool"), tensor((m, 4)), tensor(()))),
    ("OBL-concat-dims", case("concat", (X, tensor((n, m))))),
    ("OBL-matmul-reduction", case("matmul", X, tensor((m, 5)))),
    ("OBL-channels-input", case("nn.conv2d", tensor((n, m, 9, 9)), tensor((4, 3, 3, 3)))),
    ("OBL-output-size", case("nn.max_pool2d", tensor((n, 3, m, 9)), pool_size=3)),
    ("OBL-squeeze-one", case("squeeze", X, axis=[0])),
    ("OBL-expand-dims", case("broadcast_to", tensor((n,)), (m,))),
    ("OBL-arange-length", case("arange", 3, n)),
    ("OBL-bounds-index", case("take", tensor((3, 4)), 5, axis=0)),
]

UNKNOWN: list[tuple[str, Case]] = [
    ("OBL-known-rank", case("nn.pad", unknown(), pad_width=(1, 1))),
    ("OBL-known-rank", case("outer", unknown(), tensor((n,)))),
    ("OBL-known-rank", case("take", unknown(), ints((n,)))),
    (
        "OBL-known-shape",
        case("nn.attention", *[tensor((n, 4, 8, 16))] * 3, unknown(4)),
    ),
    ("OBL-known-rank", case("permute_dims", unknown(), axes=[1, 0])),
    ("OBL-known-rank", case("meshgrid", (tensor((n,)), unknown()))),
    ("OBL-known-rank", case("stack", (unknown(), unknown(2)))),
    (
        "OBL-known-shape",
        case("nn.attention", unknown(), tensor((n, 1, 8, 4)), tensor((n, 1, 8, 4))),
    ),
    ("OBL-known-shape", case("ccl.scatter_from_worker0", unknown(2), 2)),
    ("OBL-known-shape", case("eye_like", unknown(2))),
    (
        "OBL-known-dtype",
        case("nn.rms_norm", tensor((n, 4), "void"), tensor((4,)), axes=[-1]),
    ),
    (
        "OBL-known-dtype",
        case("einsum", (tensor((n, 4)), tensor((4, m), "void")), subscripts="ij,jk->ik"),
    ),
    ("OBL-tuples-literal", case("scatter_nd", tensor((n, 4)), ints((m, k)), tensor((m, 4)))),
    (
        "OBL-listed-literal",
        case("dynamic_strided_slice", tensor((n, 4)), ints((k,)), ints((2,)), ints((2,))),
    ),
]
"""Calls that nobody can compile, because what decides on the kernel is unknown: a warning here, refused by TVM."""
"""Calls that may go wrong for some values: the code of the warning, and the same struct info as TVM's."""

DIFFERENT: list[tuple[Case, str, str, str]] = [
    (
        case("cumsum", unknown(3)),
        "Tensor(float32, ndim=1)",
        "Tensor(float32, ndim=3)",
        "without an axis the elements are taken in a row, whatever the rank was",
    ),
    (
        case("arange", n, 0, -1),
        "Tensor((n,), int64)",
        "Tensor(((0 - n - 2) // -1,), int64)",
        "TVM adds the step less 1, also where it is negative, and counts n + 2 numbers",
    ),
    (
        case("nonzero", X),
        "Tensor((2, nonzero), int64)",
        "Tensor(int64, ndim=2)",
        "the number of rows is the rank; the number of columns exists, so it gets a name",
    ),
    (
        case("unique", X, return_counts=True),
        "Tuple(Tensor((unique,), float32), Tensor((unique,), int64))",
        "Tuple(Tensor(float32, ndim=1), Tensor(int64, ndim=1))",
        "both results have one length, which gets a name",
    ),
    (
        case("dynamic_strided_slice", X, ints((2,)), ints((2,)), ints((2,))),
        "Tensor((slice0, slice1), float32)",
        "Tensor(float32, ndim=2)",
        "the dimensions exist, so they get names",
    ),
    (
        case("tensor_to_shape", ints((2,))),
        "Shape((dim0, dim1))",
        "Shape(ndim=2)",
        "the dimensions exist, so they get names",
    ),
    (
        case("shape_to_tensor", variable(shape(), "s")),
        "Tensor(int64, ndim=1)",
        "Tensor((-1,), int64)",
        "TVM writes the unknown rank as a length",
    ),
    (
        case("image.resize2d", tensor((n, 3, 8, 8)), variable(shape((m, k)), "s")),
        "Tensor((n, 3, m, k), float32)",
        "Tensor(float32, ndim=4)",
        "the variable's annotation says the size",
    ),
    (
        case("broadcast_to", tensor((1,)), variable(shape((n, 4)), "s")),
        "Tensor((n, 4), float32)",
        "Tensor(s, float32, ndim=2)",
        "the variable's annotation says the shape",
    ),
]
"""Calls of which the two know different things: what we say, what TVM says, and why."""

BOXES = (tensor((n, m, 6)), ints((n,), "int32"), ints((n, m), "int32"))
LOCATIONS = (tensor((n, 3, m)), tensor((n, times(m, 4))), tensor((1, m, 4)))
REGIONS = {"pooled_size": (7, 7), "spatial_scale": 1.0}
IMAGES = tensor((n, 3, 8, 8))


def _suppressed(*args: Any, **attrs: Any) -> Case:
    return case("vision.non_max_suppression", *args, **attrs)


ILLEGAL_OF_DETECTION: list[tuple[str, Case]] = [
    ("OBL-element-type", _suppressed(BOXES[0], ints((n,), "int64"), BOXES[2])),
    ("OBL-fields-index", _suppressed(tensor((n, m, 5)), *BOXES[1:])),
    ("OBL-fields-index", _suppressed(*BOXES, score_index=6)),
    ("OBL-boxes-counts", _suppressed(tensor((3, m, 6)), ints((4,), "int32"), BOXES[2])),
    ("OBL-boxes-indices", _suppressed(*BOXES[:2], ints((n, plus(m, 1)), "int32"))),
    (
        "OBL-anchors-edges",
        case("vision.multibox_transform_loc", *LOCATIONS[:2], tensor((2, m, 4))),
    ),
    (
        "OBL-anchors-offsets",
        case(
            "vision.multibox_transform_loc", tensor((n, 3, 5)), tensor((n, 19)), tensor((1, 5, 4))
        ),
    ),
    (
        "OBL-anchors-count",
        case(
            "vision.multibox_transform_loc", tensor((2, 3, 5)), tensor((2, 20)), tensor((1, 6, 4))
        ),
    ),
    ("OBL-rois-row", case("vision.roi_align", IMAGES, tensor((k, 4)), **REGIONS)),
    ("OBL-rois-row", case("vision.roi_pool", IMAGES, tensor((k, 6)), **REGIONS)),
    ("OBL-choice-word", case("vision.roi_align", IMAGES, tensor((k, 5)), mode="sum", **REGIONS)),
]

ILLEGAL: list[tuple[str, Case]] = [
    *ILLEGAL_OF_DETECTION,
    ("OBL-element-float", case("exp", tensor((n,), "float8_e4m3fn"))),
    ("OBL-element-signed", case("gather_elements", X, ints((n, 2), "uint8"), axis=1)),
    ("OBL-element-type", case("gather_nd", tensor((n, 4)), ints((m, 2), "int32"))),
    ("OBL-element-type", case("quantize", X, tensor((), "float64"), ints((), "int8"))),
    ("OBL-element-type", case("quantize", X, tensor(()), ints((), "int8"), out_dtype="int32")),
    ("OBL-choice-word", case("topk", tensor((n, 4)), k=2, ret_type="value")),
    ("OBL-choice-word", case("ccl.allreduce", X, op_type="summe")),
    (
        "OBL-choice-word",
        case("nn.nll_loss", tensor((n, 4)), ints((n,)), reduction="max"),
    ),
    ("OBL-fused-dims", case("ewise_fma", X, X, tensor((n, 5)))),
    ("OBL-rank-operand", case("ewise_fma", X, X, tensor((4,)))),
    ("OBL-rank-operand", case("index_tensor", X, ())),
    ("OBL-rank-operand", case("meshgrid", (tensor((n,)), X))),
    ("OBL-sequences-lengths", case("reverse_sequence", X, ints((plus(n, 1),)))),
    ("OBL-listed-axis", case("dynamic_strided_slice", X, ints((3,)), ints((2,)), ints((2,)))),
    ("OBL-ascending-step", case("slice_scatter", X, tensor((n, 2)), 1, 3, 0, axis=1)),
    ("OBL-ascending-order", case("slice_scatter", X, tensor((n, 2)), 3, 1, 1, axis=1)),
    ("OBL-weights-size", case("hamming_window", 0, True, 0.5, 0.4, dtype="float32")),
    ("OBL-batches-count", case("gather_nd", tensor((n, 4)), ints((m, 2)), batch_dims=2)),
    ("OBL-every-axis", case("index_put", X, (ints((m,)),), tensor((m,)))),
    (
        "OBL-draws-column",
        case("multinomial_from_uniform", X, tensor((m, 2)), ints((m, 1)), dtype="int64"),
    ),
    (
        "OBL-draws-count",
        case("multinomial_from_uniform", X, tensor((5, 1)), ints((6, 1)), dtype="int64"),
    ),
    ("OBL-quantize-length", case("quantize", tensor(()), tensor((4,)), ints((4,), "int8"))),
    ("OBL-loss-rank", case("nn.cross_entropy_with_logits", unknown(2), unknown(3))),
    ("OBL-expand-rank", case("broadcast_to", unknown(3), (n, 4))),
    ("OBL-size-length", case("image.resize2d", IMAGES, variable(shape(ndim=3), "s"))),
    ("OBL-size-length", case("image.affine_grid", tensor((n, 2, 3)), variable(shape(ndim=4), "s"))),
    ("D14-argument", case("zeros", 4, dtype="float32")),
    ("D14-argument", case("zeros", (n, 1.5), dtype="float32")),
    ("D14-argument", case("strided_slice", X, axes=0, begin=[0], end=[1])),
    ("D14-argument", case("eye", 2.5)),
    ("D14-argument", case("full", (n, 4), 1)),
    ("D14-argument", case("image.resize2d", IMAGES, (4, 4), roi="all")),
    ("OBL-element-float", case("exp", tensor((n,), "int32"))),
    ("OBL-element-float", case("nn.softmax", tensor((n,), "int32"))),
    ("OBL-element-integer", case("take", X, tensor((m,)), axis=0)),
    ("OBL-element-bool", case("where", tensor((n,), "int32"), tensor((n,)), tensor((n,)))),
    ("OBL-agree-dtype", case("add", X, tensor((n, 4), "int32"))),
    ("OBL-agree-dtype", case("matmul", X, tensor((4, 4), "float16"))),
    ("OBL-agree-dtype", case("concat", (X, tensor((n, 4), "int32")))),
    (
        "OBL-agree-dtype",
        case("nn.layer_norm", tensor((n, 4), "float16"), tensor((4,)), tensor((4,)), axes=[-1]),
    ),
    ("OBL-broadcast-dims", case("add", X, tensor((n, 3)))),
    ("OBL-axis-range", case("nn.softmax", X, axis=2)),
    ("OBL-axis-range", case("sum", X, axis=[-3])),
    ("OBL-axis-repeated", case("sum", X, axis=[0, -2])),
    ("OBL-axis-repeated", case("expand_dims", X, axis=[0, 0])),
    ("OBL-permute-axes", case("permute_dims", X, axes=[0])),
    ("OBL-reshape-infer", case("reshape", X, (-1, -1))),
    ("OBL-reshape-count", case("reshape", tensor((3, 4)), (5, 2))),
    ("OBL-concat-dims", case("concat", (X, tensor((n, 5))))),
    ("OBL-rank-operand", case("concat", (X, tensor((n,))))),
    ("OBL-rank-operand", case("concat", (X, X), axis=None)),
    ("OBL-rank-operand", case("matmul", tensor(()), X)),
    ("OBL-rank-operand", case("tril", tensor((n,)))),
    ("OBL-rank-operand", case("take", X, ints((m,)))),
    ("OBL-rank-operand", case("gather_elements", X, ints((m,)))),
    ("OBL-rank-operand", case("full", (n,), tensor((1,)))),
    ("OBL-rank-operand", case("outer", X, tensor((n,)))),
    (
        "OBL-rank-operand",
        case("nn.attention", tensor((n, 1, 8, 4)), tensor((n, 8, 4)), tensor((n, 1, 8, 4))),
    ),
    ("OBL-expand-rank", case("broadcast_to", X, (4,))),
    ("OBL-expand-dims", case("broadcast_to", X, (n, 5))),
    ("OBL-matmul-reduction", case("matmul", X, tensor((5, 3)))),
    ("OBL-einsum-dims", case("einsum", (X, tensor((5, m))), subscripts="ij,jk->ik")),
    ("OBL-channels-input", case("nn.conv2d", tensor((n, 3, 9, 9)), tensor((4, 4, 3, 3)))),
    ("OBL-groups-divide", case("nn.conv2d", tensor((n, 3, 9, 9)), tensor((5, 1, 3, 3)), groups=3)),
    (
        "OBL-groups-divide",
        case("nn.conv2d_transpose", tensor((n, 3, 9, 9)), tensor((3, 4, 3, 3)), groups=2),
    ),
    (
        "OBL-grown-padding",
        case("nn.conv2d_transpose", tensor((n, 3, 9, 9)), tensor((3, 4, 3, 3)), output_padding=1),
    ),
    (
        "OBL-padding-length",
        case("nn.conv2d", tensor((n, 3, 9, 9)), tensor((4, 3, 3, 3)), padding=[1, 2, 3]),
    ),
    ("OBL-layout-rank", case("nn.conv2d", tensor((n, 3, 9)), tensor((4, 3, 3, 3)))),
    ("OBL-layout-rank", case("nn.max_pool2d", tensor((3, 9, 9)))),
    ("OBL-scale-length", case("nn.layer_norm", X, tensor((5,)), tensor((4,)), axes=[-1])),
    ("OBL-scale-length", case("nn.rms_norm", X, tensor((5,)), axes=[-1])),
    (
        "OBL-group-divides",
        case(
            "nn.group_norm",
            tensor((n, 4, m)),
            tensor((4,)),
            tensor((4,)),
            num_groups=3,
            channel_axis=1,
            axes=[2],
        ),
    ),
    ("OBL-pad-length", case("nn.pad", X, pad_width=(1, 1))),
    (
        "OBL-attention-width",
        case("nn.attention", tensor((n, m, 8, 16)), tensor((n, k, 8, 17)), tensor((n, k, 8, 32))),
    ),
    (
        "OBL-attention-batch",
        case("nn.attention", tensor((2, m, 8, 16)), tensor((1, k, 8, 16)), tensor((1, k, 8, 32))),
    ),
    (
        "OBL-attention-length",
        case("nn.attention", tensor((n, 5, 8, 16)), tensor((n, 6, 8, 16)), tensor((n, 7, 8, 32))),
    ),
    (
        "OBL-attention-groups",
        case("nn.attention", tensor((n, m, 8, 16)), tensor((n, k, 3, 16)), tensor((n, k, 3, 32))),
    ),
    (
        "OBL-bias-dims",
        case(
            "nn.attention",
            tensor((n, m, 8, 16)),
            tensor((n, k, 8, 16)),
            tensor((n, k, 8, 16)),
            tensor((n, 2, m, k)),
        ),
    ),
    ("OBL-tuples-depth", case("gather_nd", X, ints((m, 3)))),
    ("OBL-tuples-depth", case("index_tensor", tensor((n,)), (ints((m,)), ints((m,))))),
    ("OBL-scatter-updates", case("scatter_elements", X, ints((m, 4)), tensor((m, 5)))),
    ("OBL-depth-positive", case("one_hot", ints((n,)), 1, 0, depth=-4)),
    ("OBL-loss-dims", case("nn.cross_entropy_with_logits", X, tensor((n, 5)))),
    ("OBL-quantize-length", case("quantize", X, tensor((5,)), ints((4,), "int8"))),
    ("OBL-size-length", case("image.resize2d", tensor((n, 3, 8, 8)), (1, 2, 3))),
    ("OBL-affine-matrix", case("image.affine_grid", tensor((n, 2, 3)), (5, 6, 7))),
    ("OBL-workers-divide", case("ccl.scatter_from_worker0", tensor((n, 5)), 2, axis=1)),
    ("OBL-view-size", case("memory.view", tensor((2, 4)), (2, 5))),
    ("OBL-einsum-dims", case("einsum", (tensor((3, 4)),), subscripts="ii->i")),
]
"""Calls that both refuse, with our code."""

OURS: list[tuple[str, Case]] = [
    (
        "OBL-scored-boxes",
        case(
            "vision.all_class_non_max_suppression",
            tensor((2, 7, 4)),
            tensor((3, k, 7)),
            constant(5, "int64"),
            constant(0.5, "float32"),
            constant(0.1, "float32"),
        ),
    ),
    ("OBL-element-type", case("memory.alloc_tensor", STORAGE, 0, SIZE, "void")),
    (
        "OBL-gradient-rank",
        case("grad.max_pool2d_backward", tensor((n, 3, 14)), IMAGES, pool_size=(2, 2)),
    ),
    (
        "OBL-gradient-dims",
        case("grad.max_pool2d_backward", tensor((n, 3, 9, 9)), IMAGES, pool_size=(2, 2)),
    ),
    ("OBL-gradient-dims", case("grad.take_backward", tensor((5,)), tensor((9,)), ints((6,)))),
    (
        "OBL-layout-axes",
        case("grad.avg_pool2d_backward", IMAGES, IMAGES, pool_size=(2, 2), layout="int64"),
    ),
    ("OBL-einsum-rank", case("einsum", (X, unknown()), subscripts="i,ij->ij")),
    ("OBL-split-sections", case("split", tensor((5,)), 4)),
    ("OBL-slice-order", case("strided_slice", tensor((10, 4)), axes=[0], begin=[5], end=[1])),
    ("OBL-arange-length", case("arange", 0, -5)),
    ("OBL-output-size", case("nn.max_pool2d", tensor((n, 3, 2, 2)), pool_size=5)),
    ("OBL-pad-negative", case("nn.pad", tensor((n, 4)), pad_width=(0, 0, -3, -3))),
    ("OBL-topk-count", case("topk", X, k=7, axis=1)),
    ("OBL-scale-length", case("nn.prelu", X, tensor((5,)))),
    ("OBL-grid-coordinates", case("image.grid_sample", tensor((n, 3, 8, 8)), tensor((n, 5, 6, 2)))),
    ("OBL-lengths-negative", case("zeros", (n, -4), dtype="float32")),
    ("OBL-repeat-count", case("tile", X, repeats=[-1])),
]
"""Calls that TVM lets pass and we refuse: at run time they fail, or read and write outside of a tensor."""
