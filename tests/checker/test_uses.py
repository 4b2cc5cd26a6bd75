"""In how many integer expressions a shape variable stands."""

from __future__ import annotations

from rlx.checker.dynamic_checks.uses import uses_of_shape_vars
from rlx.grammar import ast, tir
from rlx.grammar.ast import ShapeStructInfo

N, M = tir.Var("n"), tir.Var("m")


def test_arguments_and_attributes_are_looked_through() -> None:
    attrs = {"pads": [N, (N + 1, 4)], "deep": {"at": (M,)}, "kind": ShapeStructInfo((N, M), 2)}
    call = ast.Call(ast.op("relax.f"), (ast.ShapeExpr((N, N * 2)),), attrs=attrs)
    assert uses_of_shape_vars(call) == {N: 5, M: 2}
