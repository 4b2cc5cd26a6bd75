"""Every premise of every obligation fails in a call here, with one diagnostic that names the values."""

from __future__ import annotations

import pytest

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
    unknown,
)
from tests.operators.context import derive, legal, n, tensor

IMAGE, KERNEL = tensor((n, 3, 9, 9)), tensor((4, 3, 3, 3))

MORE: list[tuple[str, Case]] = [
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
    ("OBL-assert-bool", case("assert_op", tensor((), "int32"))),
    ("OBL-assert-bool", case("assert_op", tensor((n,), "bool"))),
    ("D14-argument", case("exp", (tensor((n,)), tensor((n,))))),
    ("D14-argument", case("exp", tensor((n,)), speed=3)),
    ("D14-argument", case("astype", X, dtype="flaot32")),
    ("D14-argument", case("softmax_axis", X, axis="last")),
    ("D14-argument", case("layout_transform", X, index_map="transpose")),
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


def test_a_shape_is_said_to_be_that_of_the_operand_it_comes_from() -> None:
    """Not of a scalar between."""
    found = derive("where", tensor((n, 3), "bool"), tensor(()), tensor((4,)))
    (report,) = found.reports
    words = str(report[2])
    assert "(n, 3) (of condition:" in words and "(4,) (of x2:" in words, words
