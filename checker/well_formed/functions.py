"""Rules about functions, calls and the module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rlx.checker.well_formed.state import WellFormedCheck, callees_of
from rlx.grammar.diagnostic import Label
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.visit import argument_places, bindings, circles, expressions, reached
from rlx.spec.registry import need, rule


class CallGraph(NamedTuple):
    """The global functions that each global function leads to.

    Attributes
    ----------
    calls, mentions
        The global functions that each one calls, and those that it mentions at all.
    as_values
        Those that are mentioned without being called.
    call_values
        Those that call a function value.
    """

    calls: dict[ast.GlobalVar, list[ast.GlobalVar]]
    mentions: dict[ast.GlobalVar, list[ast.GlobalVar]]
    as_values: set[ast.GlobalVar]
    call_values: set[ast.GlobalVar]

    def can_call_values(self) -> set[ast.GlobalVar]:
        """The functions that can call a function value in the end."""
        callers: dict[ast.GlobalVar, list[ast.GlobalVar]] = {}
        for name, callees in self.calls.items():
            for callee in callees:
                callers.setdefault(callee, []).append(name)
        return reached(self.call_values, lambda gv: callers.get(gv, ()))

    def depend_on_themselves(self, module: ast.IRModule) -> set[ast.GlobalVar]:
        """The functions whose types follow from themselves: through calls, and through values whose
        results are not annotated.
        """
        needed: dict[ast.GlobalVar, list[ast.GlobalVar]] = {}
        for gv, mentioned in self.mentions.items():
            called, needed[gv] = set(self.calls[gv]), []
            for other in mentioned:
                f = module.functions.get(other)
                if isinstance(f, ast.Function) and (f.ret_struct_info is None or other in called):
                    needed[gv].append(other)
        return on_circles(needed)


def on_circles(graph: Mapping[ast.GlobalVar, Sequence[ast.GlobalVar]]) -> set[ast.GlobalVar]:
    """The functions that can reach themselves."""
    found = circles(graph)
    return {name for name, nexts in graph.items() if len(found[name]) > 1 or name in nexts}


def call_graph(module: ast.IRModule) -> CallGraph:
    graph = CallGraph({}, {}, set(), set())
    for name, function in module.functions.items():
        mentioned: dict[ast.GlobalVar, None] = {}
        called: dict[ast.GlobalVar, None] = {}
        if isinstance(function, ast.Function):
            inside = list(expressions(function))
            uses = Counter(expr for expr in inside if type(expr) is ast.GlobalVar)
            callees = [callee for e in inside if type(e) is ast.Call for callee in callees_of(e)]
            mentioned = dict.fromkeys(uses)
            called = dict.fromkeys(each for each in callees if type(each) is ast.GlobalVar)
            uses.subtract(e.op for e in inside if type(e) is ast.Call and e.op in mentioned)
            graph.as_values.update(+uses)
            values = {callee for callee in callees if isinstance(callee, ast.Var)}
            if values and not values <= _local(function):
                graph.call_values.add(name)
        graph.mentions[name], graph.calls[name] = list(mentioned), list(called)
    return graph


def _local(function: ast.Function) -> set[ast.Var]:
    return {
        binding.var
        for binding in bindings(function)
        if isinstance(binding, ast.VarBinding) and isinstance(binding.value, ast.Function)
    }


@rule("WF08", "well-formed")
def recursive_result_is_annotated(
    state: WellFormedCheck,
    name: ast.GlobalVar,
    function: ast.Function,
    recursive: bool,
    depends: bool = False,
) -> None:
    """A function that can call itself, or whose type depends on itself, has an annotated result."""
    annotated = function.ret_struct_info is not None
    if (recursive or depends) and not need("WF08-annotation", annotated):
        state.report(
            "WF08-annotation",
            _itself(name.name_hint, recursive),
            function.name_span or function.span,
            help="annotate it: `-> R.Tensor(…)`",
        )


def local_result_is_annotated(state: WellFormedCheck, var: ast.Var, function: ast.Function) -> None:
    """A local function that calls or mentions itself has an annotated result (WF08)."""
    state.local_functions[var] = function
    if function.ret_struct_info is not None:
        return
    inside = list(expressions(function))
    if any(expr is var for expr in inside):
        recursive = any(type(e) is ast.Call and var in callees_of(e) for e in inside)
        state.report(
            "WF08-annotation",
            _itself(var.name_hint, recursive),
            var.span,
            help="annotate it: `-> R.Tensor(…)`",
        )


def _itself(name: str, recursive: bool) -> str:
    if recursive:
        return f"{name!r} is recursive, but its result is not annotated"
    return f"the type of {name!r} follows from itself, because its result is not annotated"


@rule("WF12", "well-formed")
def can_be_entered(state: WellFormedCheck) -> None:
    """Some function has a global symbol."""
    functions = state.module.functions
    if not functions or state.module.bare:
        return
    if not need("WF12-entry", any(f.attrs.get("global_symbol") for f in functions.values())):
        first = next(iter(functions.values()))
        state.report(
            "WF12-entry",
            "no function of the module can be called from outside: all are private",
            first.name_span or first.span,
            severity="warning",
            help="remove `private=True` from the entry point",
        )


@rule("WF13", "well-formed")
def symbol_is_name(
    state: WellFormedCheck, name: ast.GlobalVar, function: ast.Function | tir.PrimFunc
) -> None:
    """The global symbol is the function's name; of a PrimFunc, that is only advice."""
    symbol = function.attrs.get("global_symbol")
    if not isinstance(symbol, str) or state.module.bare:
        return
    if not need("WF13-name", symbol == name.name_hint):
        state.report(
            "WF13-name",
            f"the function {name.name_hint!r} has the global symbol {symbol!r}",
            function.name_span or name.span,
            severity="error" if isinstance(function, ast.Function) else "warning",
            help=(
                f"give both the same name, or remove the attribute: {name.name_hint!r} is its"
                " default"
            ),
        )


@rule("WF21", "well-formed")
def purity_is_declared(state: WellFormedCheck, function: ast.Function, name: str) -> None:
    """A function with `relax.force_pure` is not declared impure."""
    forced = function.attrs.get("relax.force_pure")
    if forced and not need("WF21-pure", function.is_pure is not False):
        state.report(
            "WF21-pure",
            f"the function {name!r} has both relax.force_pure and pure=False",
            function.name_span or function.span,
            help="remove one of them",
        )


@rule("TIR09", "well-formed")
def external_is_not_private(
    state: WellFormedCheck, expr: ast.ExternFunc, span: Span | None
) -> None:
    """An external name is not that of a private PrimFunc of the module."""
    name = expr.global_symbol
    for var, function in state.module.prim_funcs.items():
        if var.name_hint != name:
            continue
        if not need("TIR09-private", not is_private(function)) and state.once((name, "private")):
            where = function.name_span
            state.report(
                "TIR09-private",
                f"the PrimFunc {name!r} is private, so it has no name outside the module",
                expr.span or span,
                severity="warning",
                related=() if where is None else (Label(where, "private"),),
                help=f"call `cls.{name}`, or remove `private=True`",
            )


def is_private(function: tir.PrimFunc) -> bool:
    """Whether a PrimFunc has no symbol."""
    return bool(function.attrs.get("private")) and "global_symbol" not in function.attrs


@rule("WF07", "well-formed")
def callee_may_recurse(state: WellFormedCheck, call: ast.Call) -> None:
    """A dataflow block does not call back the function that holds it."""
    own = state.global_name
    for target in callees_of(call):
        if isinstance(target, ast.Var):
            _call_of_value(state, call, target)
        elif not isinstance(target, ast.GlobalVar) or own is None:
            continue
        elif own in state.circles.get(target, ()):
            state.report(
                "WF07-recursion",
                f"a dataflow block of {own.name_hint!r} calls {target.name_hint!r}"
                + ("" if target is own else f", which can call {own.name_hint!r}"),
                call.span,
                label="recursion",
                help="move the call out of the dataflow block",
            )
        elif target in state.call_values and own in state.called_as_values:
            state.report(
                "WF07-possible",
                f"{target.name_hint!r} calls a function value, which may call {own.name_hint!r}:"
                f" a dataflow block of {own.name_hint!r} would then call {own.name_hint!r}",
                call.span,
                severity="warning",
            )


def _call_of_value(state: WellFormedCheck, call: ast.Call, callee: ast.Var) -> None:
    """A local function that leads to the current function is a recursion; another value may be one."""
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
    elif callee not in state.local_functions:
        own = state.global_name
        reached = own if own in state.called_as_values else _holder_as_value(state)
        if reached is not None:
            name = reached.name_hint
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
            if state.global_name in state.circles.get(at, ()):
                return state.global_name
        elif isinstance(at, ast.Var):
            if at in state.holders:
                return at
            stack.extend(state.calls(at))
    return None


def _holder_as_value(state: WellFormedCheck) -> ast.Var | None:
    """A local function around the place that is used as a value anywhere."""
    if not state.holders or state.global_name is None:
        return None
    inside = list(expressions(state.module.functions[state.global_name]))
    uses = Counter(expr for expr in inside if isinstance(expr, ast.Var))
    called = Counter(expr.op for expr in inside if type(expr) is ast.Call)
    return next((holder for holder in state.holders if uses[holder] > called[holder]), None)


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


@rule("WF23", "well-formed")
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
    from rlx.operators import lookup

    operator = lookup(name)
    assert operator is not None
    given = call.args[1]
    if not need("WF23-form", isinstance(given, ast.Tuple) or operator.normalize(call) is not None):
        state.report(
            "WF23-form",
            f"the arguments of {name.removeprefix('relax.')} are not a tuple",
            argument_places(call)[1],
            help="write them as a tuple: `(x, y)`",
        )
