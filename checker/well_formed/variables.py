"""Rules about variables: WF01, WF02, WF03, WF09, WF11."""

from __future__ import annotations

from collections.abc import Iterable

from rlx.checker.well_formed.state import WellFormedCheck, bound_here
from rlx.grammar import ast
from rlx.grammar.node import Span
from rlx.grammar.suggest import did_you_mean
from rlx.spec.registry import rule

COMPARISONS = 100_000
"""With so many names those that are unknown in a module are compared, to suggest the one that was
meant.
"""


@rule("WF01", "c70c2eb0", "well-formed")
def dataflow_variable_is_bound_inside(state: WellFormedCheck, var: ast.DataflowVar) -> None:
    """A dataflow variable is bound in a dataflow block."""
    if state.block is None:
        state.report(
            "WF01-bind",
            f"the dataflow variable {var.name_hint!r} is bound outside of a dataflow block",
            var.span,
        )


def dataflow_variable_stays_inside(
    state: WellFormedCheck, var: ast.DataflowVar, span: Span | None
) -> bool:
    """A dataflow variable is used in its own block (WF01); a function's body is WF11's."""
    home = state.in_scope[var]
    if home is not None and home is not state.block and state.once((var, "escape")):
        if home in state.blocks_around:
            captured_by_function(state, var, span)
        else:
            state.report(
                "WF01-escape",
                f"the dataflow variable {var.name_hint!r} is used outside of its dataflow block",
                span,
                related=bound_here(var),
                help=(
                    f"export it from the dataflow block: add `R.output({var.name_hint})` at its end"
                ),
            )
        return False
    return True


@rule("WF02", "2f936c00", "well-formed")
def is_bound_once(state: WellFormedCheck, var: ast.Var) -> None:
    """No variable is bound a second time."""
    if var in state.bound and state.once((var, "twice")):
        state.report("WF02-twice", f"{var.name_hint!r} is bound a second time", var.span)
    state.bound.add(var)


@rule("WF03", "33f503e8", "well-formed")
def is_in_scope(state: WellFormedCheck, var: ast.Var, span: Span | None) -> None:
    """Report a variable that is used where it is not in scope: nowhere bound, too early, or too
    late.
    """
    name = var.name_hint
    # However often it is used, it is one mistake.
    if var in state.holes or not state.once((name, state.function)):
        return
    if var in state.pending:
        _uses_itself(state, var, span)
        return
    later = state.later.get(name)
    if var in state.bound or (later is not None and later in state.bound):
        known = var if var in state.bound else later
        assert known is not None
        state.report(
            "WF03-scope",
            f"{name!r} is used outside of the scope it is bound in",
            span,
            related=bound_here(known),
            notes=("a variable that a branch or a function binds is not visible outside of it",),
        )
    elif later is None:
        state.report(
            "WF02-undefined",
            f"{name!r} is not defined",
            span,
            help=similar(state, name, names_in_scope(state)),
        )
    elif later in state.pending:
        _uses_itself(state, later, span)
    else:
        state.report(
            "WF03-before",
            f"{name!r} is used before it is bound",
            span,
            related=bound_here(later),
        )


def _uses_itself(state: WellFormedCheck, var: ast.Var, span: Span | None) -> None:
    name = var.name_hint
    state.report(
        "WF02-self",
        f"the value of {name!r} uses {name!r} itself, but is not a function",
        span,
        related=bound_here(var),
    )


def is_defined_globally(state: WellFormedCheck, var: ast.GlobalVar, span: Span | None) -> None:
    """A global variable is the name of a function of the module (WF02)."""
    if state.incomplete or var in state.holes or not state.once(var):
        return
    state.report(
        "WF02-global",
        f"the module has no function {var.name_hint!r}",
        span or var.span,
        help=similar(state, var.name_hint, ()),
    )


def names_in_scope(state: WellFormedCheck) -> list[str]:
    """The names that mean something at the place at hand: variables and shape variables."""
    signature = state.function.shape_vars if state.function is not None else ()
    dimensions = (v.name for v in (*state.shape_vars, *signature))
    return [*(v.name_hint for v in reversed(state.in_scope)), *dimensions]


def similar(state: WellFormedCheck, name: str, in_scope: Iterable[str]) -> str | None:
    """Known names that look like this one; looked for once a name, and not for ever.

    Of names of one letter none is another one misspelt: `q` is not meant to be `x`.
    """
    known = state.suggestions
    if name not in known:
        found: list[str] = []
        if state.compared < COMPARISONS:
            from rlx.grammar.suggest import closest

            names = dict.fromkeys((*in_scope, *state.module_names))
            state.compared += len(names)
            others = (other for other in names if other not in ("_", name))
            found = closest(name, [o for o in others if {*o.lower()} & {*name.lower()}])
        known[name] = did_you_mean(found)
    return known[name]


@rule("WF09", "aa2e8d3c", "well-formed", refuses=True)
def is_no_value(state: WellFormedCheck, op: ast.Op, span: Span | None) -> None:
    """An operator stands only as a callee."""
    state.report(
        "WF09-value",
        f"the operator {op.op_name!r} is used as a value",
        span,
        help="an operator can only be called; wrap it in a function",
    )


@rule("WF11", "ea56a332", "well-formed", refuses=True)
def captured_by_function(state: WellFormedCheck, var: ast.DataflowVar, span: Span | None) -> None:
    """A function in a dataflow block captures none of its dataflow variables."""
    state.report(
        "WF11-capture",
        f"a function defined in a dataflow block uses its dataflow variable {var.name_hint!r}",
        span,
        related=bound_here(var),
        help=f"export it from the dataflow block, or pass {var.name_hint!r} as an argument",
    )
