"""TIR09: private PrimFuncs have no symbol."""

from __future__ import annotations

from rlx.checker.well_formed.state import WellFormedCheck
from rlx.grammar import ast, tir
from rlx.grammar.diagnostic import Label
from rlx.grammar.node import Span
from rlx.spec.registry import rule


@rule("TIR09", "80bfced8", "well-formed")
def external_is_not_private(
    state: WellFormedCheck, expr: ast.ExternFunc, span: Span | None
) -> None:
    """An external name is not that of a private PrimFunc of the module."""
    name = expr.global_symbol
    for var, function in state.module.functions.items():
        if not isinstance(function, tir.PrimFunc) or var.name_hint != name:
            continue
        if is_private(function) and state.once((name, "private")):
            where = function.name_span
            state.report(
                "TIR09-private",
                f"no function {name!r} is visible outside: the PrimFunc of that name is private",
                expr.span or span,
                severity="warning",
                related=() if where is None else (Label(where, "private"),),
                help=f"call `cls.{name}`, or remove `private=True`",
            )


def is_private(function: tir.PrimFunc) -> bool:
    """Whether a PrimFunc has no symbol."""
    return bool(function.attrs.get("private")) and "global_symbol" not in function.attrs
