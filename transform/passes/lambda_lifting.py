"""Lambda lifting: local functions that are used only as callees become functions of the module."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, IRModule
from rlx.transform.passes.closures import LocalClosure, closures, lifted
from rlx.transform.visitors.mutator import ExprMutator


class _Lift(ExprMutator):
    """Adds each local function to the module; calls of it pass what it captured."""

    def __init__(self, found: dict[ast.Var, LocalClosure]) -> None:
        self.found = found
        self.lifted: dict[Expr, tuple[ast.GlobalVar, Sequence[Expr]]] = {}

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        closure = self.found.get(binding.var)
        if closure is None:
            super().visit_var_binding(binding)
            return
        captured = [self.visit_expr(var) for var in closure.captured]
        self.lifted[binding.var] = lifted(self.builder, closure, captured)

    def visit_call(self, call: ast.Call) -> Expr:
        made = super().visit_call(call)
        if isinstance(made, ast.Call) and call.op in self.lifted:
            gv, captured = self.lifted[call.op]
            return gv(*made.args, *captured)
        return made


def lambda_lifting(module: IRModule) -> IRModule:
    """Convert local functions that are used only as callees to private functions of the module.

    Captured values are passed as arguments. A function that is used as a value is not changed.
    """
    while found := closures(module):
        module = _Lift(found)(module)
    return module
