"""Dead code elimination."""

from __future__ import annotations

from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import IRModule
from rlx.transform.certain import Certainty
from rlx.transform.visitors.mutator import ExprMutator
from rlx.transform.visitors.uses import unneeded


class _Without(ExprMutator):
    """Leaves out the bindings of some variables."""

    def __init__(self, gone: set[ast.Var]) -> None:
        self.gone = gone

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        if binding.var not in self.gone:
            super().visit_var_binding(binding)


def dead_code(module: IRModule, *, may_fail: bool = False) -> IRModule:
    """Remove the unused bindings of a module.

    Values that may fail at run time are kept, because failing is part of the meaning of a program.
    Values with effects are kept, too.

    Parameters
    ----------
    may_fail
        Whether pure values that may fail go, too.
    """
    normal = normalize(module)
    gone: set[ast.Var] = set()
    for function in normal.functions.values():
        if isinstance(function, ast.Function):
            certain = Certainty(function, normal)
            gone |= unneeded(
                function,
                lambda _, value, certain=certain: (
                    certain.cannot_fail(value) or (may_fail and certain.is_pure(value))
                ),
            )
    return _Without(gone)(normal) if gone else module
