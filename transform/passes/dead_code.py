"""Dead code elimination."""

from __future__ import annotations

from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, IRModule
from rlx.grammar.nodes.python_places import spelt
from rlx.transform.builder.states import Signatures, signatures_of
from rlx.transform.certain import Certainty
from rlx.transform.visitors.uses import Without, unneeded


def _unneeded(function: ast.Function, around: Signatures, may_fail: bool) -> set[ast.Var]:
    certain = Certainty(function, around)

    def may_go(var: ast.Var, value: Expr) -> bool:
        return certain.cannot_fail(value) or (may_fail and certain.is_pure(value))

    return unneeded(function, may_go)


@spelt
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
    around = signatures_of(normal)
    for function in normal.relax_functions.values():
        gone |= _unneeded(function, around, may_fail)
    return Without(gone).module(normal) if gone else module
