"""Criteria about calls, functions and the module: OWF06 to OWF10, OWF13, OWF14, OWF16."""

from __future__ import annotations

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.visit import expressions
from rlx.old.expressions import is_boolean
from rlx.old.well_formed.variables import OlderCriteria
from rlx.spec.registry import rule

BY_NAME = frozenset(f"relax.{name}" for name in ("call_tir", "call_dps_packed", "call_pure_packed"))
"""Operators whose first argument names a function from outside."""


@rule("OWF06", "well-formed")
def in_dataflow(state: OlderCriteria, node: ast.If | ast.Call, span: Span | None) -> None:
    """A dataflow block has no If, and does not call back the function that holds it."""
    if state.block is None:
        return
    if isinstance(node, ast.If):
        help = "end the dataflow block before the if"
        state.report("OWF06-if", "a dataflow block contains an if", span, help=help)
        return
    callee, own = node.op, state.global_name
    back = isinstance(callee, ast.Var) and callee in state.holders
    if back or (own is not None and callee is own):
        message = "a dataflow block calls the function that it stands in"
        state.report("OWF06-recursion", message, span)
    elif isinstance(callee, ast.GlobalVar) and own in state.circles.get(callee, ()):
        assert own is not None
        message = f"a dataflow block calls {callee.name_hint!r}, which can call {own.name_hint!r}"
        state.report("OWF06-mutual", message, span)


@rule("OWF07", "well-formed")
def recursive_result(
    state: OlderCriteria, name: ast.Var | ast.GlobalVar, function: ast.Function
) -> None:
    """The result of a function that can call itself is annotated."""
    if function.ret_struct_info is not None:
        return
    if isinstance(name, ast.GlobalVar):
        recursive = name in state.recursive
    else:
        calls = (expr for expr in expressions(function.body) if isinstance(expr, ast.Call))
        recursive = any(call.op is name for call in calls)
    if recursive:
        message = f"{name.name_hint!r} is recursive, so its result must be annotated"
        help = "annotate it: `-> R.Tensor[…]`"
        state.report("OWF07-annotation", message, function.name_span or name.span, help=help)


@rule("OWF08", "well-formed", refuses=True)
def operator_as_value(state: OlderCriteria, node: ast.Op, span: Span | None) -> None:
    """An operator stands only where it is called."""
    name = node.op_name.replace("relax.", "R.", 1)
    state.report(
        "OWF08-value", f"the operator `{name}` cannot be used as a value", span or node.span
    )


@rule("OWF09", "well-formed", refuses=True)
def extern_as_value(state: OlderCriteria, node: ast.ExternFunc, span: Span | None) -> None:
    """A packed function stands only where it is called."""
    message = f"the packed function {node.global_symbol!r} cannot be used as a value"
    state.report("OWF09-value", message, span or node.span)


@rule("OWF10", "well-formed")
def type_arguments(state: OlderCriteria, call: ast.Call) -> None:
    """A call of a packed function has one type argument, a call of a closure none."""
    given = len(call.sinfo_args)
    pure = call.op_name == "relax.call_pure_packed"
    if isinstance(call.op, ast.ExternFunc) or pure:
        if given != 1:
            message = f"a call of a packed function has one type argument, this one has {given}"
            help = "give its result type: `type_args=R.Tensor[_, _]`"
            state.report("OWF10-one", message, call.span, help=help)
    elif given and not isinstance(call.op, ast.Op):
        message = "a call of a closure has no type arguments"
        state.report("OWF10-none", message, next(iter(call.sinfo_spans), call.span))


@rule("OWF13", "well-formed")
def has_entry(state: OlderCriteria) -> None:
    """Some function of the module can be called from outside."""
    functions = state.module.functions
    if not functions or any(f.attrs.get("global_symbol") for f in functions.values()):
        return
    first = next(iter(functions.values()))
    message = "no function of the module can be called from outside: all are private"
    state.report("OWF13-entry", message, first.name_span or first.span, severity="warning")


@rule("OWF14", "well-formed")
def symbol_is_name(state: OlderCriteria, name: ast.GlobalVar) -> None:
    """The global symbol of a function is its name."""
    function = state.module.functions[name]
    symbol = function.attrs.get("global_symbol")
    if isinstance(symbol, str) and symbol != name.name_hint:
        message = f"the function {name.name_hint!r} has the global symbol {symbol!r}"
        state.report("OWF14-name", message, function.name_span or name.span)


@rule("OWF16", "well-formed", refuses=True)
def shape_of_run_time(state: OlderCriteria, node: ast.Expr, span: Span | None) -> None:
    """RuntimeDepShape stands only in annotations."""
    message = "RuntimeDepShape is allowed only in annotations: it has no value"
    state.report("OWF16-place", message, span)


@rule("OMIX-value", "well-formed")
def has_older_form(
    state: OlderCriteria,
    node: ast.PrimValue | ast.StringImm | ast.DataTypeImm,
    span: Span | None,
) -> None:
    """Scalars, strings and data types are no values: operators take them as attributes."""
    if is_boolean(node):
        return
    kind = {ast.PrimValue: "scalar", ast.StringImm: "string"}.get(type(node), "data type")
    message = f"a {kind} is not a value in the specification of 2022"
    help = "use a tensor of rank 0: `R.const(…)`" if kind == "scalar" else None
    state.report("OMIX-value-kind", message, span or node.span, help=help)


LATER = frozenset(
    f"relax.{name}"
    for name in (
        *("call_tir_inplace", "call_tir_with_grad", "call_inplace_packed", "call_py_func"),
        *("call_builtin_with_ctx", "invoke_closure", "invoke_pure_closure", "make_closure"),
        *("to_vdevice", "hint_on_device", "assert_op", "null_value"),
    )
)
"""Operators that came with the later specification and are part of its system."""


@rule("OMIX-operator", "well-formed")
def operator_is_older(state: OlderCriteria, call: ast.Call) -> None:
    """An operator is none of those that belong to the later system."""
    name = call.op_name
    if name in LATER or name.startswith(
        ("relax.vm.", "relax.memory.", "relax.builtin.", "relax.dist.")
    ):
        shown = name.replace("relax.", "R.", 1)
        message = f"the specification of 2022 has no `{shown}`"
        state.report("OMIX-operator-name", message, call.op_span or call.span)
