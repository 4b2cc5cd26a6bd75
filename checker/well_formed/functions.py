"""Rules about functions and the module: WF08, WF12, WF13, WF21, and who can call whom."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rlx.checker.well_formed.state import WellFormedCheck
from rlx.grammar import ast
from rlx.spec.registry import rule

Reachable = Mapping[ast.GlobalVar, Collection[ast.GlobalVar]]


def call_graph(
    module: ast.IRModule,
) -> tuple[dict[ast.GlobalVar, list[ast.GlobalVar]], set[ast.GlobalVar]]:
    """The global functions that each function mentions, and those that are mentioned as values."""
    from rlx.grammar.visit import walk

    graph: dict[ast.GlobalVar, list[ast.GlobalVar]] = {}
    as_values: set[ast.GlobalVar] = set()
    for name, function in module.functions.items():
        mentioned: dict[ast.GlobalVar, None] = {}
        if isinstance(function, ast.Function):
            callees = 0
            for expr in walk(function):
                if type(expr) is ast.GlobalVar:
                    mentioned[expr] = None
                    if callees:
                        callees = 0
                    else:
                        as_values.add(expr)
                elif type(expr) is ast.Call:
                    callees = 1 if type(expr.op) is ast.GlobalVar else 0
        graph[name] = list(mentioned)
    return graph, as_values


def reachable(
    graph: dict[ast.GlobalVar, list[ast.GlobalVar]],
) -> dict[ast.GlobalVar, set[ast.GlobalVar]]:
    """For each function, those it can reach in any number of calls, itself included only over a
    circle.

    Only functions that lie on or lead into circles are kept precise; the walk is one per function
    that mentions Relax functions, and modules have few of those.
    """
    found: dict[ast.GlobalVar, set[ast.GlobalVar]] = {}
    for start, first in graph.items():
        seen: set[ast.GlobalVar] = set()
        stack = list(first)
        while stack:
            at = stack.pop()
            if at not in seen:
                seen.add(at)
                stack.extend(graph.get(at, ()))
        found[start] = seen | {start}
    return found


def on_circle(graph: dict[ast.GlobalVar, list[ast.GlobalVar]], name: ast.GlobalVar) -> bool:
    """Whether a function can reach itself."""
    seen: set[ast.GlobalVar] = set()
    stack = list(graph.get(name, ()))
    while stack:
        at = stack.pop()
        if at is name:
            return True
        if at not in seen:
            seen.add(at)
            stack.extend(graph.get(at, ()))
    return False


@rule("WF08", "1ccffad5", "well-formed")
def recursive_result_is_annotated(
    state: WellFormedCheck, name: ast.GlobalVar, function: ast.Function, recursive: bool
) -> None:
    """A function that can reach itself has an annotated result."""
    if recursive and function.ret_struct_info is None:
        state.report(
            "WF08-annotation",
            f"{name.name_hint!r} is recursive, and its result is not annotated",
            function.name_span or function.span,
            help="annotate it: `-> R.Tensor(…)`",
        )


def local_result_is_annotated(state: WellFormedCheck, var: ast.Var, function: ast.Function) -> None:
    """A local function that mentions itself has an annotated result (WF08)."""
    state.local_functions[var] = function
    if function.ret_struct_info is not None:
        return
    from rlx.grammar.visit import walk

    if any(expr is var for expr in walk(function)):
        state.report(
            "WF08-annotation",
            f"{var.name_hint!r} is recursive, and its result is not annotated",
            var.span,
            help="annotate it: `-> R.Tensor(…)`",
        )


@rule("WF12", "8f05da87", "well-formed")
def can_be_entered(state: WellFormedCheck) -> None:
    """Some function has a global symbol."""
    functions = state.module.functions
    if (
        functions
        and not state.module.bare
        and not any(f.attrs.get("global_symbol") for f in functions.values())
    ):
        first = next(iter(functions.values()))
        state.report(
            "WF12-entry",
            "no function of the module can be called from outside: all are private",
            first.name_span or first.span,
            severity="warning",
            help="remove `private=True` from the entry point",
        )


@rule("WF13", "f693e16a", "well-formed")
def symbol_is_name(
    state: WellFormedCheck,
    name: ast.GlobalVar,
    attrs: Mapping[str, object],
    function: ast.Function | None,
) -> None:
    """The global symbol is the function's name."""
    symbol = attrs.get("global_symbol")
    if isinstance(symbol, str) and symbol != name.name_hint:
        state.report(
            "WF13-name",
            f"the function {name.name_hint!r} has the global symbol {symbol!r}",
            (function.name_span if function is not None else None) or name.span,
            help=f"rename one of them, or remove the attribute, which is then {name.name_hint!r}",
        )


@rule("WF21", "5841b0ce", "well-formed")
def purity_is_declared(state: WellFormedCheck, function: ast.Function, name: str) -> None:
    """A function with `relax.force_pure` is not declared impure."""
    if function.is_pure is False and function.attrs.get("relax.force_pure"):
        state.report(
            "WF21-pure",
            f"the function {name!r} has relax.force_pure and pure=False",
            function.name_span or function.span,
            help="drop one of them",
        )
