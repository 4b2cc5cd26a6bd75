"""Which functions have effects of their own.

The rule OT-function takes a function that calls itself as impure where it says nothing; today's
rules do not. Here a call has effects only if something that is called by and by has.
"""

from __future__ import annotations

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.visit import expressions
from rlx.old.calls import is_pure
from rlx.old.derivation_state import OlderDerivation
from rlx.old.functions import declared_purity


def effectful(state: OlderDerivation) -> set[ast.Function]:
    """The functions that say that they are impure, or that call what has effects."""
    functions = [f for f in state.module.functions.values() if isinstance(f, ast.Function)]
    for function in list(functions):
        functions += [e for e in expressions(function) if isinstance(e, ast.Function)]
    found = {f for f in functions if declared_purity(f) is False}
    silent = [f for f in dict.fromkeys(functions) if declared_purity(f) is None]
    calls = {f: [e for e in expressions(f) if isinstance(e, ast.Call)] for f in silent}
    more = True
    while more:
        new = {
            function
            for function in silent
            if function not in found and any(_has_effects(state, c, found) for c in calls[function])
        }
        more = bool(new)
        found |= new
    return found


def _has_effects(state: OlderDerivation, call: ast.Call, found: set[ast.Function]) -> bool:
    callee = state.functions.get(call.op)
    if callee is None or declared_purity(callee) is not None:
        return not is_pure(state, call)
    return callee in found
