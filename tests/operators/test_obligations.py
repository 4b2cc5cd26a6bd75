"""Every premise of every obligation fails in a call here, with one diagnostic that names the values."""

from __future__ import annotations

from typing import Any

import pytest

from rlx.grammar.nodes.ast import TensorStructInfo, VDevice
from rlx.grammar.nodes.tir import OpaqueExpr
from tests.operators.cases import (
    ILLEGAL,
    LEGAL,
    OURS,
    UNKNOWN,
    WARNED,
    Case,
    X,
    case,
    ints,
    unknown,
)
from tests.operators.context import constant, derive, k, legal, m, n, plus, tensor, times


def on(device: str, *dims: Any) -> TensorStructInfo:
    info = tensor(dims)
    return TensorStructInfo(info.shape, info.dtype, info.ndim, VDevice(device))


IMAGE, KERNEL = tensor((n, 3, 9, 9)), tensor((4, 3, 3, 3))

MORE: list[tuple[str, Case]] = [
    ("OBL-place-vdevice", case("add", on("llvm", n, 4), on("cuda", n, 4))),
    ("OBL-arange-step", case("arange", 0, 5, 0)),
    ("OBL-reshape-divides", case("reshape", tensor((3, 5)), (2, -1))),
    ("OBL-squeeze-one", case("squeeze", tensor((plus(n, 2), 4)), axis=[0])),
    ("OBL-shuffle-factor", case("nn.pixel_shuffle", tensor((n, 8, 3, 3)), upscale_factor=0)),
    ("OBL-shuffle-channels", case("nn.pixel_shuffle", tensor((n, 6, 3, 3)), upscale_factor=2)),
    ("OBL-slices-length", case("strided_slice", X, axes=[0, 1], begin=[0], end=[1])),
    ("OBL-slices-axes", case("strided_slice", X, axes=[n], begin=[0], end=[1])),
    ("OBL-slice-stride", case("strided_slice", X, axes=[0], begin=[0], end=[1], strides=[0])),
    (
        "OBL-slice-bounds",
        case("strided_slice", X, axes=[1], begin=[0], end=[5], assume_inbound=True),
    ),
    ("OBL-replace-dims", case("slice_scatter", X, tensor((n, 3)), 1, 3, 1, axis=1)),
    ("OBL-gather-dims", case("gather_elements", tensor((3, 4)), ints((3, 5)), axis=0)),
    ("OBL-bounds-index", case("take", tensor((3, 4)), constant((0, 1, 3), "int64"), axis=0)),
    ("OBL-bounds-index", case("take", tensor((3, 4)), constant((-1, 1), "int64"), axis=0)),
    (
        "OBL-bounds-index",
        case("gather_elements", tensor((3, 4)), constant(((-4, 0),), "int64"), axis=0),
    ),
    ("OBL-einsum-terms", case("einsum", (X, X), subscripts="ij->i")),
    ("OBL-einsum-terms", case("einsum", (X,), subscripts="ij->k")),
    ("OBL-einsum-rank", case("einsum", (X,), subscripts="ijk->i")),
    ("OBL-einsum-rank", case("einsum", (X,), subscripts="ij...k->i")),
    ("OBL-layout-axes", case("nn.conv2d", IMAGE, KERNEL, data_layout="NCDHW")),
    ("OBL-layout-axes", case("vision.roi_pool", IMAGE, tensor((n, 5)), 7, 1.0, layout="NHWC")),
    ("OBL-fields-index", case("vision.get_valid_counts", tensor((2, 5, 6)), id_index=6)),
    ("OBL-fields-index", case("vision.get_valid_counts", tensor((2, 5, 6)), id_index=-2)),
    ("OBL-layout-factor", case("nn.max_pool2d", tensor((2, 4, 8, 8, 1)), layout="NCHW16c")),
    ("D14-argument", case("permute_dims", tensor((4,)), axes=0)),
    ("OBL-layout-axes", case("nn.conv2d", IMAGE, KERNEL, out_layout="channels last")),
    ("OBL-window-length", case("nn.conv2d", IMAGE, KERNEL, strides=[1, 1, 1])),
    ("OBL-window-positive", case("nn.max_pool2d", IMAGE, pool_size=2, strides=0)),
    ("OBL-groups-positive", case("nn.conv2d", IMAGE, tensor((4, 3, 3, 3)), groups=0)),
    (
        "OBL-group-positive",
        case(
            "nn.group_norm", X, tensor((4,)), tensor((4,)), num_groups=0, channel_axis=1, axes=[0]
        ),
    ),
    (
        "OBL-attention-heads",
        case("nn.attention", tensor((n, m, 8, 4)), tensor((n, k, 8, 4)), tensor((n, k, 4, 4))),
    ),
    ("OBL-loss-rank", case("nn.nll_loss", tensor((n, 4)), ints((n, 4)))),
    ("OBL-grid-batch", case("image.grid_sample", tensor((2, 3, 8, 8)), tensor((3, 2, 5, 6)))),
    ("OBL-workers-positive", case("ccl.scatter_from_worker0", X, 0)),
    ("OBL-assert-bool", case("assert_op", tensor((), "int32"))),
    ("OBL-assert-bool", case("assert_op", tensor((n,), "bool"))),
    ("D14-argument", case("exp", (tensor((n,)), tensor((n,))))),
    ("D14-argument", case("exp", tensor((n,)), speed=3)),
    ("D14-argument", case("astype", X, dtype="flaot32")),
    ("D14-argument", case("softmax_axis", X, axis="last")),
    ("OBL-map-rank", case("layout_transform", X, index_map=OpaqueExpr("lambda i: (i,)"))),
    ("OBL-map-start", case("layout_transform", X, index_map=OpaqueExpr("lambda i, j: (i, j + 1)"))),
    ("D14-argument", case("layout_transform", X, index_map="transpose")),
    ("OBL-split-limit", case("split", tensor((4,)), 300_000_000)),
    ("D14-arity", case("add", X)),
    ("D14-arity", case("add", X, X, X)),
    ("D14-arity", case("sum", X, 0, axis=1)),
]
MORE = [(code, ("nn.softmax", *c[1:]) if c[0] == "softmax_axis" else c) for code, c in MORE]


@pytest.mark.parametrize(
    ("code", "call"),
    [*ILLEGAL, *OURS, *MORE],
    ids=[f"{code}:{call[0]}" for code, call in (*ILLEGAL, *OURS, *MORE)],
)
def test_one_error(code: str, call: Case) -> None:
    name, args, attrs = call
    found = derive(name, *args, **attrs)
    assert [report[:2] for report in found.reports] == [(code, "error")]
    assert found.message.startswith(f"{name}: ")


@pytest.mark.parametrize(
    ("code", "call"), [*WARNED, *UNKNOWN], ids=[f"{c}:{x[0]}" for c, x in (*WARNED, *UNKNOWN)]
)
def test_one_warning(code: str, call: Case) -> None:
    name, args, attrs = call
    assert [report[:2] for report in derive(name, *args, **attrs).reports] == [(code, "warning")]


def test_nothing_is_said_about_legal_calls() -> None:
    said = [
        (call, d.reports) for call in LEGAL if (d := derive(call[0], *call[1], **call[2])).reports
    ]
    assert said == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("lambda i, j: (j, i)", "Tensor((4, n), float32)"),
        (
            "T.index_map(lambda i, j: (i // 4, j, i % 4))",
            "Tensor(((n + 3) // 4, 4, 4), float32)",
        ),
        ("lambda i, j: (i * 4 + j,)", "Tensor((n * 4,), float32)"),
        ("lambda i, j: (-i + 2 * i, j)", "Tensor(float32, ndim=2)"),
        ("lambda *indices: indices", "Tensor(float32)"),
        ("transpose", "Tensor(float32)"),
    ],
)
def test_an_index_map_gives_the_shape(text: str, shown: str) -> None:
    assert legal("layout_transform", X, index_map=OpaqueExpr(text)) == shown


MESSAGES: list[tuple[Case, str]] = [
    (
        case("matmul", tensor((n, 768)), tensor((512, 4))),
        (
            "matmul: the reduction dimensions differ: 768 (of x1: Tensor((n, 768), float32)) and 512 "
            "(of x2: Tensor((512, 4), float32))"
        ),
    ),
    (
        case("add", X, tensor((n, 3))),
        (
            "add: the shapes (n, 4) (of x1: Tensor((n, 4), float32)) and (n, 3) (of x2: Tensor((n, 3), "
            "float32)) do not broadcast: 4 against 3"
        ),
    ),
    (
        case("add", X, tensor((n, 4), "int32")),
        (
            "add: the element types differ: float32 (of x1: Tensor((n, 4), float32)) and int32 "
            "(of x2: Tensor((n, 4), int32))"
        ),
    ),
    (
        case("reshape", tensor((n, 4)), (times(n, 2), 3)),
        (
            "reshape: the number of elements changes: n * 4 (of x: Tensor((n, 4), float32)), n * 6 in "
            "the new shape (n * 2, 3)"
        ),
    ),
    (
        case("split", tensor((5,)), 4),
        (
            "split: 3 sections of length 2 do not fit into the axis of length 5 "
            "(of x: Tensor((5,), float32))"
        ),
    ),
    (
        case("nn.softmax", X, axis=2),
        "nn.softmax: axis 2 is out of range for rank 2 (of data: Tensor((n, 4), float32))",
    ),
    (case("add", X), "add: the argument for x2 is missing"),
    (
        case("exp", tensor((n,)), speed=3),
        "exp: has no parameter named 'speed'; its parameters are x",
    ),
]


@pytest.mark.parametrize(("call", "message"), MESSAGES, ids=[c[0] for c, _ in MESSAGES])
def test_message(call: Case, message: str) -> None:
    name, args, attrs = call
    assert derive(name, *args, **attrs).message == message


def test_unknown_operands_raise_no_obligation() -> None:
    for name in ("add", "matmul", "concat", "nn.conv2d", "take", "reshape"):
        operands = (
            ((unknown(), unknown()),) if name == "concat" else (unknown(), unknown(-1, "void"))
        )
        if name == "reshape":
            operands = (unknown(), (n, 4))
        found = derive(name, *operands, *((0,) if name == "take" else ()))
        assert found.reports == [], name
        assert found.recorder.required == 0


@pytest.mark.parametrize("wanted", [(0, 5), (-1, 2)])
def test_a_length_that_nobody_knows_is_a_warning(wanted: tuple[int, int]) -> None:
    found = derive("reshape", unknown(2), wanted)
    assert [report[:2] for report in found.reports] == [("OBL-reshape-infer", "warning")]
