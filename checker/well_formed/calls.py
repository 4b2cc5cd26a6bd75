"""Rules about calls and control flow: WF07, WF23."""

from __future__ import annotations

from rlx.checker.well_formed.state import WellFormedCheck
from rlx.grammar import ast
from rlx.grammar.diagnostic import Label
from rlx.grammar.node import Span
from rlx.spec.registry import rule


@rule("WF07", "91dd4bf6", "well-formed")
def callee_may_recurse(state: WellFormedCheck, call: ast.Call) -> None:
    """A dataflow block does not call back the function that holds it."""
    callee, own = call.op, state.global_name
    if type(callee) is ast.Op:
        mentioned = [arg for arg in call.args if type(arg) is ast.GlobalVar]
        if callee.op_name in _INVOKE and call.args and isinstance(call.args[0], ast.Var):
            _call_of_value(state, call, call.args[0])
    elif type(callee) is ast.GlobalVar:
        mentioned = [callee]
    elif type(callee) is ast.Var or type(callee) is ast.DataflowVar:
        _call_of_value(state, call, callee)
        return
    else:
        return
    if own is None:
        return
    for target in mentioned:
        if own in state.reachable.get(target, ()):
            state.report(
                "WF07-recursion",
                f"a dataflow block of {own.name_hint!r} calls {target.name_hint!r}"
                + ("" if target is own else f", which can call {own.name_hint!r}"),
                call.span,
                label="recursion",
                help="move the call out of the dataflow block",
            )


_INVOKE = frozenset(["relax.invoke_closure", "relax.invoke_pure_closure"])
"""The operators that call the function value they are given first."""


def _call_of_value(state: WellFormedCheck, call: ast.Call, callee: ast.Var) -> None:
    """A local function that leads to the function at hand is a recursion; another value may."""
    held = _holder_reached(state, callee)
    if held is not None:
        way = "" if held is callee else f", which can call {held.name_hint!r}"
        state.report(
            "WF07-recursion",
            f"a dataflow block of {held.name_hint!r} calls {callee.name_hint!r}{way}",
            call.span,
            label="recursion",
            help="move the call out of the dataflow block",
        )
    elif callee not in state.local_functions and state.global_name in state.called_as_values():
        assert state.global_name is not None
        name = state.global_name.name_hint
        state.report(
            "WF07-possible",
            f"{callee.name_hint!r} may be a function that calls {name!r}: a dataflow block of"
            f" {name!r} would then call {name!r}",
            call.span,
            severity="warning",
        )


def _holder_reached(state: WellFormedCheck, callee: ast.Var) -> ast.Var | ast.GlobalVar | None:
    """The function holding the place that a local function is, or can call."""
    seen: set[ast.Expr] = set()
    stack: list[ast.Expr] = [callee]
    while stack:
        at = stack.pop()
        if at in seen:
            continue
        seen.add(at)
        if isinstance(at, ast.GlobalVar):
            if state.global_name in state.reachable.get(at, ()):
                return state.global_name
        elif isinstance(at, ast.Var):
            if at in state.holders:
                return at
            stack.extend(state.mentions(at))
    return None


def if_in_dataflow(state: WellFormedCheck, expr: ast.If, span: Span | None) -> None:
    """A dataflow block has no If (WF07)."""
    assert state.block is not None
    where = expr.span or span
    related: tuple[Label, ...] = ()
    if state.block.span is not None:
        start = state.block.span[0]
        related = (Label((start, start + len("with R.dataflow():")), "the dataflow block"),)
    state.report(
        "WF07-if",
        "a dataflow block contains an if",
        None if where is None else (where[0], (expr.cond_span or where)[1]),
        related=related,
        help="end the dataflow block before the if",
    )


@rule("WF23", "db16e417", "well-formed")
def operator_form(state: WellFormedCheck, call: ast.Call, callee: ast.Op) -> None:
    """A call that takes its arguments as a tuple has a tuple there, or a variable that can be taken
    apart.
    """
    name = callee.op_name
    known = state.has_form.get(name)
    if known is None:
        from rlx.operators import lookup

        operator = lookup(name)
        known = state.has_form[name] = operator is not None and operator.has_form
    if not known:
        return
    given = call.args[1]
    if isinstance(given, ast.Tuple):
        return
    from rlx.operators import lookup

    operator = lookup(name)
    assert operator is not None
    if operator.normalize(call) is None:
        state.report(
            "WF23-form",
            f"the arguments of {name.removeprefix('relax.')} are not a tuple",
            call.arg_spans[1] if len(call.arg_spans) > 1 else call.span,
            help="write them as a tuple: `(x, y)`",
        )
