"""Which integer expressions stand below an expression, and whose variables stand in one alone."""

from __future__ import annotations

from rlx.checker.dynamic_checks.uses import prim_exprs, stand_once
from rlx.grammar import ast, tir
from rlx.grammar.ast import ShapeStructInfo

N, M = tir.Var("n"), tir.Var("m")


def test_arguments_and_attributes_are_looked_through() -> None:
    attrs = {"pads": [N, (N + 1, 4)], "deep": {"at": (M,)}, "kind": ShapeStructInfo((N, M), 2)}
    call = ast.Call(ast.op("relax.f"), (ast.ShapeExpr((N, N * 2)),), attrs=attrs)
    found = list(prim_exprs(call))
    assert [found.count(N), found.count(M)] == [3, 2]
    assert len([each for each in found if isinstance(each, tir.Add | tir.Mul)]) == 2


def test_a_variable_stands_once_or_more_often() -> None:
    once = ast.Call(ast.op("relax.f"), (ast.ShapeExpr((N, M * M)),))
    assert stand_once(once) == {N, M}
    assert stand_once(once, {N}) == {N}
    more = ast.Call(ast.op("relax.f"), (ast.ShapeExpr((N, N + M)),), attrs={"at": (N,)})
    assert stand_once(more) == {M}
