"""Local functions: their captured variables, and their conversion to functions of the module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, GlobalVar, IRModule, StructInfo
from rlx.grammar.nodes.node import Record, replace
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.nodes.visit import bindings, expressions, free_vars
from rlx.solver.order import substitute, substitute_prim
from rlx.transform.builder.builder import BlockBuilder
from rlx.transform.mentioned import mentioned_sizes
from rlx.transform.shapes.outline import Parameters


class LocalClosure(Record):
    """A local function that is used only as a callee.

    Attributes
    ----------
    captured, sizes
        The captured variables and shape variables.
    """

    var: ast.Var
    function: ast.Function
    captured: tuple[ast.Var, ...]
    sizes: tuple[tir.Var, ...]


def closures(module: IRModule) -> dict[ast.Var, LocalClosure]:
    """The outermost local functions of a module that are bound to a variable and used only as
    callees.
    """
    found: dict[ast.Var, LocalClosure] = {}
    for function in normalize(module).functions.values():
        if isinstance(function, ast.Function):
            for closure in _of(function):
                found[closure.var] = closure
    return found


def _of(function: ast.Function) -> list[LocalClosure]:
    used = Counter(expr for expr in expressions(function) if isinstance(expr, ast.Var))
    called = Counter(expr.op for expr in expressions(function) if isinstance(expr, ast.Call))
    inside: set[ast.Expr] = set()
    found: list[LocalClosure] = []
    for binding in bindings(function):
        if not isinstance(binding, ast.VarBinding) or type(binding.value) is not ast.Function:
            continue
        var, local = binding.var, binding.value
        if local in inside or used[var] != called[var]:
            continue
        captured = tuple(v for v in free_vars(local) if v is not var)
        if any(v.shape_var is not None for v in (*captured, *local.params)):
            continue
        inside.update(e for e in expressions(local) if type(e) is ast.Function)
        found.append(LocalClosure(var, local, captured, mentioned_sizes(local)))
    taken = {closure.var for closure in found}
    return [c for c in found if taken.isdisjoint(c.captured)]


def lifted(
    builder: BlockBuilder, closure: LocalClosure, captured: Sequence[Expr]
) -> tuple[GlobalVar, Sequence[Expr]]:
    """Add a local function to the module; return its name and the additional arguments of its
    calls.
    """
    extra = Parameters(builder, captured, closure.sizes)
    gv = builder.declare(closure.var.name_hint)
    change = _Lifted(closure, gv, extra)
    local = change.function(closure.function)
    params = (*local.params, *extra.variables)
    alone = (v for v in extra.renamed.values() if v not in local.shape_vars)
    function = replace(
        local, params=params, attrs={"private": True}, shape_vars=(*local.shape_vars, *alone)
    )
    builder.define(gv, function)
    return gv, (*captured, *extra.sizes)


class _Lifted(Rewriter):
    """A local function as one of the module: what it captured are parameters, and it calls itself
    by its new name.
    """

    def __init__(self, closure: LocalClosure, gv: GlobalVar, extra: Parameters) -> None:
        super().__init__()
        self.own, self.gv, self.extra = closure.var, gv, extra
        self.renamed.update(zip(closure.captured, extra.variables, strict=False))
        self.further = tuple(extra.variables)

    def call(self, call: ast.Call) -> Expr:
        made = super().call(call)
        if call.op is self.own and isinstance(made, ast.Call):
            return replace(made, op=self.gv, args=(*made.args, *self.further))
        return made

    def struct_info(self, info: StructInfo) -> StructInfo:
        mapping: dict[Any, Any] = {**self.extra.renamed, **self.renamed}
        return substitute(info, mapping)

    def prim_expr(self, expr: PrimExpr) -> PrimExpr:
        return substitute_prim(expr, self.extra.renamed)
