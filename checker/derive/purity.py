"""Where effects are forbidden: in dataflow blocks, and in functions that promise to be pure."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.checker.derive.message_text import callee
from rlx.checker.derive.spans import own
from rlx.checker.derive.state import DerivationState, Effects
from rlx.grammar import ast

FORCE_PURE = "relax.force_pure"


def effects_of(function: ast.Function) -> Effects:
    """What the body of a function may do; nothing said means pure."""
    lowered = forced(function.attrs)
    pure = function.is_pure is not False and not lowered
    return Effects(pure, lowered)


def forced(attrs: Mapping[str, object]) -> bool:
    """Whether attributes say that effects inside a function do not count."""
    return bool(attrs.get(FORCE_PURE))


def check_effect(state: DerivationState, node: ast.Call, function: ast.Expr) -> None:
    """Report a call that may have effects where none is allowed."""
    effects = state.effects
    if effects.dataflow:
        where = "in a dataflow block"
        help = "move it out of the block"
    elif effects.pure:
        where = "in a pure function"
        help = "declare the function impure: @R.function(pure=False)"
    else:
        return
    name = _name(function)
    message = f"a call of {name} may have effects, which are not allowed {where}"
    if isinstance(function, ast.ExternFunc):
        help += ", or say that this call has none: R.call_pure_packed"
    state.add("D14-impure", "error", message, own(node) or node.span, help=help)


def _name(function: ast.Expr) -> str:
    if isinstance(function, ast.Op):
        return f"'{function.op_name.removeprefix('relax.')}'"
    return callee(function)
