"""Shape computations of 2022 in words."""

from __future__ import annotations

import pytest

from rlx.grammar.nodes import ast, tir
from rlx.old import RuntimeDepShape
from rlx.old.shape_exprs import text

X = ast.Var("x")
N = tir.Var("n")


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        (RuntimeDepShape(), "RuntimeDepShape()"),
        (ast.ShapeExpr(()), "()"),
        (ast.ShapeExpr((N,)), "(n,)"),
        (ast.ShapeExpr((N, tir.IntImm(4))), "(n, 4)"),
        (X, "x"),
        (ast.Tuple((X, RuntimeDepShape())), "Tuple(x, RuntimeDepShape())"),
        (ast.TupleGetItem(X, 1), "TupleGetItem(x, 1)"),
        (ast.Call(ast.op("relax.shape_of"), (X,)), "R.shape_of(x)"),
        (ast.Call(X, (X, ast.ShapeExpr((N,)))), "x(x, (n,))"),
        (ast.Call(ast.ExternFunc("f"), ()), 'R.ExternFunc("f")()'),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_words(shape: ast.Expr, words: str) -> None:
    assert text(shape) == words
