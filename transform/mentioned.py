"""The shape variables that a local function captures."""

from __future__ import annotations

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.order import free_shape_vars


def mentioned_sizes(function: ast.Function) -> tuple[tir.Var, ...]:
    """The shape variables that are free in a function."""
    collect = _Mentioned()
    collect.function(function)
    return tuple(v for v in collect.mentioned if v not in collect.bound)


class _Mentioned(Rewriter):
    """The shape variables of a function, and those that it binds."""

    def __init__(self) -> None:
        super().__init__()
        self.mentioned: dict[tir.Var, None] = {}
        self.bound: set[tir.Var] = set()

    def function(self, function: ast.Function) -> ast.Function:
        self.bound.update(function.shape_vars)
        return super().function(function)

    def match_cast(self, binding: ast.MatchCast) -> tuple[ast.Binding, ...]:
        self.bound.update(binding.shape_vars)
        return super().match_cast(binding)

    def struct_info(self, info: StructInfo) -> StructInfo:
        self.mentioned.update(dict.fromkeys(free_shape_vars(info)))
        return info

    def prim_expr(self, expr: PrimExpr) -> PrimExpr:
        self.mentioned.update(dict.fromkeys(tir.free_vars(expr)))
        return expr
