"""Arguments by position, by keyword and by default are the same call."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, ObjectStructInfo, PrimStructInfo, TupleStructInfo
from rlx.grammar.nodes.dtype import FLOAT32, INT64, dtype
from rlx.operators import lookup
from rlx.operators.argument_kinds import KINDS, NULL
from rlx.operators.operator_call import OperatorCall
from rlx.operators.parameters import REQUIRED, Ints, Tensor, Type, parameters
from rlx.operators.registry import families
from tests.operators.context import Recorder, constant, derive, legal, m, n, shape, tensor, variable

X = tensor((n, 4))

SAME: list[list[tuple[str, tuple[Any, ...], dict[str, Any]]]] = [
    [
        ("sum", (X,), {"axis": 1, "keepdims": True}),
        ("sum", (X, 1, True), {}),
        ("sum", (X, (1,)), {"keepdims": 1}),
        ("sum", (), {"x": variable(X), "axis": [-1], "keepdims": tir.IntImm(1)}),
    ],
    [
        ("reshape", (X, (n, 2, 2)), {}),
        ("reshape", (X, ast.ShapeExpr((n, tir.IntImm(2), tir.IntImm(2)))), {}),
        ("reshape", (X,), {"shape": ast.ShapeExpr((n, tir.IntImm(2), tir.IntImm(2)))}),
        ("reshape", (X,), {"shape": (n, 2, 2)}),
        ("reshape", (X, variable(shape((n, 2, 2)), "s")), {}),
        ("reshape", (X, [0, 2, -1]), {}),
    ],
    [
        ("astype", (X,), {"dtype": "float16"}),
        ("astype", (X, "float16"), {}),
        ("astype", (X, ast.DataTypeImm(dtype("float16"))), {}),
        ("astype", (X,), {"dtype": dtype("float16")}),
    ],
    [
        ("matmul", (X, tensor((4, m))), {}),
        ("matmul", (X, tensor((4, m)), None), {}),
        ("matmul", (X, tensor((4, m))), {"out_dtype": None}),
        ("matmul", (X, tensor((4, m))), {"out_dtype": "void"}),
        ("matmul", (X, tensor((4, m))), {"out_dtype": ""}),
    ],
    [
        ("memory.view", (X, (n, 4)), {}),
        ("memory.view", (X, (n, 4), None, ()), {}),
        ("memory.view", (X, (n, 4), variable(NULL, "null"), ()), {}),
        ("memory.view", (X,), {"shape": (n, 4)}),
    ],
    [
        ("concat", ((X, X),), {"axis": 0}),
        ("concat", (variable(TupleStructInfo((X, X)), "t"), 0), {}),
        ("concat", (), {"tensors": ast.Tuple((variable(X), variable(X)))}),
    ],
    [
        ("arange", (0, n, 1), {"dtype": "int64"}),
        ("arange", (n,), {}),
        ("arange", (variable(PrimStructInfo(INT64, n), "p"),), {}),
    ],
    [
        ("split", (X,), {"indices_or_sections": 2, "axis": 1}),
        ("split", (X, 2, 1), {}),
        ("split", (X, (2,), -1), {}),
    ],
    [
        ("nn.conv2d", (tensor((n, 3, 8, 8)), tensor((4, 3, 3, 3))), {"strides": 2, "padding": 1}),
        (
            "nn.conv2d",
            (tensor((n, 3, 8, 8)), tensor((4, 3, 3, 3)), (2, 2), (1, 1, 1, 1), (1, 1)),
            {"groups": 1, "out_layout": "NCHW"},
        ),
    ],
]


@pytest.mark.parametrize("calls", SAME, ids=[calls[0][0] for calls in SAME])
def test_one_call_in_many_forms(calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]]) -> None:
    found = [legal(name, *args, **attrs) for name, args, attrs in calls]
    assert set(found) == {found[0]}


def test_a_value_that_may_be_a_tensor_is_a_warning_once() -> None:
    unclear = variable(ObjectStructInfo())
    found = derive("add", unclear, X)
    assert found.reports == [("D14-argument", "warning", "add: x1: Object may not be a tensor")]
    recorder = Recorder()
    recorder.poison.add(unclear)
    assert derive("add", unclear, X, recorder=recorder).reports == []


def test_a_value_that_is_no_tensor_is_an_error() -> None:
    found = derive("exp", shape((n,)))
    assert found.reports == [("D14-argument", "error", "exp: x is Shape((n,)), expected a tensor")]
    assert str(found) == "Object"


@pytest.mark.parametrize(
    ("name", "args", "attrs"),
    [
        ("sum", (X,), {"axis": "rows"}),
        ("sum", (X,), {"axis": n}),
        ("reshape", (X, "shape"), {}),
        ("reshape", (X, X), {}),
        ("astype", (X, 3), {}),
        ("nn.conv2d", (tensor((n, 3, 8, 8)), tensor((4, 3, 3, 3))), {"data_layout": 4}),
        ("clip", (X, "low", 1), {}),
        ("nn.dropout", (X,), {"rate": "half"}),
        ("concat", (3,), {}),
        ("concat", ((X, shape((n,))),), {}),
        ("concat", (variable(TupleStructInfo((X, shape((n,)))), "t"),), {}),
    ],
)
def test_a_value_of_the_wrong_kind_is_one_error(
    name: str, args: tuple[Any, ...], attrs: dict[str, Any]
) -> None:
    found = derive(name, *args, **attrs)
    assert [report[:2] for report in found.reports] == [("D14-argument", "error")]


def test_unknown_scalars_and_shapes_are_not_errors() -> None:
    p = variable(PrimStructInfo(INT64), "p")
    assert legal("arange", p, dtype="int64") == "Tensor((p,), int64)"
    assert legal("eye", p, dtype="int8") == "Tensor((p, p), int8)"
    assert derive("strided_slice", X, (0,), (p,), (4,)).severities == ["warning"]
    assert legal("zeros", variable(shape(ndim=2), "s"), dtype="int8") == "Tensor(s, int8, ndim=2)"


def test_signatures_are_well_formed() -> None:
    for names in families().values():
        for name in names:
            operator = lookup(f"relax.{name}")
            assert operator is not None
            assert operator.name == f"relax.{name}"
            found = operator.parameters
            assert {p.kind for p in found} <= KINDS.keys(), name
            assert len({p.name for p in found}) == len(found), name
            required = [
                p.default is REQUIRED and not p.optional for p in found if p.kind != "types"
            ]
            variadic = any(p.variadic for p in found) or "inplace_indices" in {
                p.name for p in found
            }
            assert (
                variadic
                or required == sorted(required, reverse=True)
                or "tir_vars" in {p.name for p in found}
            ), name


def test_an_operator_that_is_not_declared() -> None:
    assert lookup("relax.no_such_operator") is None
    assert lookup("add") is None


def test_a_signature_is_read() -> None:
    def rule(
        site: OperatorCall, x: Tensor, axis_: int | None = -1, *rest: Expr, dtype: Type = FLOAT32
    ) -> Any:
        return rest

    x, axis, rest, kind = parameters(rule, {})
    assert (x.name, x.kind, x.default) == ("x", "tensor", REQUIRED)
    assert (axis.name, axis.kind, axis.optional, axis.default) == ("axis", "int", True, -1)
    assert rest.variadic and rest.name == "rest"
    assert (kind.kind, kind.default, kind.receiver) == ("dtype", "float32", "dtype")
    assert parameters(rule, {"axis": 2})[1].default == 2


@pytest.mark.parametrize("annotation", [int, "int", Tensor, Ints, int | None, Ints | None, Type])
def test_annotations_are_read_written_out_or_not(annotation: Any) -> None:
    def rule(site: Any, value: Any) -> Any:
        return value

    rule.__annotations__["value"] = annotation
    (found,) = parameters(rule, {})
    assert found.kind in KINDS
    assert found.optional == str(annotation).startswith(("int |", "typing.Optional"))


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize(
    "annotation",
    [bytes, bytes | None, int | str, int | str | None, None | str | int, Tensor | Ints | None],
)
def test_an_annotation_that_is_no_kind_is_refused(annotation: Any, written: bool) -> None:
    def rule(site: Any, value: Any) -> Any:
        return value

    rule.__annotations__["value"] = str(annotation) if written else annotation
    with pytest.raises(TypeError, match="expected a kind of parameter"):
        parameters(rule, {})


def test_constants_are_tensors_with_values() -> None:
    assert legal("add", X, constant(1.0, "float32")) == "Tensor((n, 4), float32)"
    assert legal("full", (n,), constant(1, "int32")) == "Tensor((n,), int32)"


def test_what_computes_an_operator_takes_a_value_for_each_parameter() -> None:
    for names in families().values():
        for name in names:
            operator = lookup(f"relax.{name}")
            assert operator is not None
            compute = operator.compute
            if compute is None:
                continue
            taken = list(inspect.signature(compute).parameters.values())
            several = any(p.kind is p.VAR_POSITIONAL for p in taken)
            needed = sum(p.default is p.empty and p.kind is not p.VAR_POSITIONAL for p in taken)
            given = len(operator.parameters)
            assert needed <= given <= (given if several else len(taken)), name
