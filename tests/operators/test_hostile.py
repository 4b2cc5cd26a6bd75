"""An operator answers any arguments with a struct info and at most one error."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64, dtype
from rlx.operators import lookup
from rlx.operators.registry import families
from tests.operators.context import constant, derive, m, n, plus, prim, shape, tensor, variable

NAMES = sorted(name for names in families().values() for name in names)

INFOS: list[Any] = [
    tensor(()),
    tensor((n,)),
    tensor((n, 4)),
    tensor((0, 4)),
    tensor((1, 3, 8, 8)),
    tensor((n, 3, m, plus(n, 1))),
    tensor((2, 3, 4, 5, 6)),
    tensor((n, 4), "int64"),
    tensor((), "bool"),
    tensor((4,), "void"),
    tensor(None),
    tensor(None, "float32", 3),
    shape((n, 4)),
    shape(ndim=2),
    shape(),
    ast.ObjectStructInfo(),
    ast.PrimStructInfo(INT64),
    ast.PrimStructInfo(INT64, n),
    ast.TupleStructInfo(()),
    ast.TupleStructInfo((tensor((n, 4)), tensor((n, 4)))),
    ast.TupleStructInfo((tensor((n, 4)), shape((n,)))),
    ast.FuncStructInfo((tensor((n,)),), tensor((n,))),
]
values = st.one_of(
    st.sampled_from(INFOS),
    st.sampled_from(INFOS),
    st.integers(-3, 5),
    st.sampled_from([0, -1, 2**70, None, True, 1.5, "NCHW", "float16", "void", "", n, plus(n, -1)]),
    st.lists(st.one_of(st.integers(-2, 4), st.just(n)), max_size=5).map(tuple),
    st.lists(st.sampled_from(INFOS), max_size=3).map(tuple),
    st.sampled_from(
        [
            constant(1.0, "float32"),
            constant((1, 7), "int64"),
            constant(True, "bool"),
            ast.DataTypeImm(dtype("int8")),
            ast.StringImm("x"),
            ast.GlobalVar("f"),
            ast.ExternFunc("f"),
        ]
    ),
)


def keyword(value: Any) -> Any:
    """A value as a keyword argument holds it: struct info stands for a variable of it."""
    if isinstance(value, ast.StructInfo):
        return variable(value)
    if isinstance(value, tuple) and any(isinstance(item, ast.StructInfo) for item in value):
        return ast.Tuple(tuple(map(keyword, value)))
    if isinstance(value, tuple):
        return ast.ShapeExpr(tuple(map(prim, value)))
    return value


@given(st.sampled_from(NAMES), st.data())
def test_any_arguments(name: str, data: Any) -> None:
    operator = lookup(f"relax.{name}")
    assert operator is not None
    parameters = operator.parameters
    args = data.draw(st.lists(values, max_size=len(parameters) + 1))
    names = [p.name for p in parameters[len(args) :]]
    chosen = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    attrs = {key: keyword(data.draw(values)) for key in chosen}
    types = data.draw(st.lists(st.sampled_from(INFOS), max_size=2))
    call = derive(name, *args, types=types, **attrs)
    assert isinstance(call.info, ast.StructInfo)
    assert call.severities.count("error") <= 1
    assert all(isinstance(message, str) and message for _, _, message in call.reports)


def test_huge_sums_of_dimensions() -> None:
    total: tir.PrimExpr = n
    for number in range(10_000):
        total = tir.Add(total, m if number % 2 else prim(1))
    x = tensor((total, 4))
    assert derive("add", x, x).info is x
    assert derive("concat", (x, x), axis=1).reports == []
    assert derive("reshape", x, (4, total)).reports == []
    assert derive("nn.softmax", x).info is x


def test_many_operands() -> None:
    parts = tuple(tensor((n, 1)) for _ in range(3_000))
    assert str(derive("concat", parts, axis=1)) == "Tensor((n, 3000), float32)"
    assert str(derive("split", tensor((n, 3000)), 3000, axis=1)).startswith("Tuple(")
