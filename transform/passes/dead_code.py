"""Dead code elimination."""

from __future__ import annotations

from rlx.checker.derive import derive
from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, IRModule
from rlx.transform.passes.certain import all_written, cannot_fail
from rlx.transform.visitors.mutator import ExprMutator
from rlx.transform.visitors.uses import unneeded


class _Without(ExprMutator):
    """Leaves out the bindings of some variables."""

    def __init__(self, gone: set[ast.Var]) -> None:
        self.gone = gone

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        if binding.var not in self.gone:
            super().visit_var_binding(binding)


def dead_code(module: IRModule) -> IRModule:
    """Remove the unused bindings of a module.

    Values that may fail at run time are kept, because failing is part of the meaning of a program.
    Values with effects are kept, too.
    """
    normal = normalize(module)
    info, written = derive(normal).info, all_written(normal)

    def may_go(var: ast.Var, value: Expr) -> bool:
        return cannot_fail(value, info, written)

    functions = [f for f in normal.functions.values() if isinstance(f, ast.Function)]
    gone = set().union(*(unneeded(function, may_go) for function in functions))
    return _Without(gone)(normal) if gone else module
