"""What the criteria ask at each kind of expression and of binding: a table for the walk of
:mod:`rlx.checker.well_formed`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rlx.checker.well_formed import traversal
from rlx.checker.well_formed.state import WalkRule
from rlx.checker.well_formed.traversal import end, enter, walk_expression
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.visit import argument_places, places
from rlx.old.shape_exprs import RuntimeDepShape
from rlx.old.well_formed import calls, variables
from rlx.old.well_formed.variables import OlderCriteria

ATTRIBUTES = (ast.PrimValue, ast.StringImm, ast.DataTypeImm)
"""What operators take as attributes, and nothing else as a value."""


def well_formed(module: ast.IRModule, captured: Collection[Node] = frozenset()) -> list[Diagnostic]:
    """Every violation of OWF01 to OWF16 in a module, and every word that only the later system has.

    Parameters
    ----------
    captured
        As for :func:`rlx.checker.well_formed.well_formed`.
    """
    state = OlderCriteria(module, RULES, captured)
    for name, function in module.functions.items():
        calls.symbol_is_name(state, name)
        if isinstance(function, ast.Function):
            state.global_name, state.names = name, set()
            calls.recursive_result(state, name, function)
            _function(state, function, None)
    if not module.bare and not module.lost:
        calls.has_entry(state)
    return state.diagnostics


def _variable(state: OlderCriteria, var: ast.Var, span: Span | None) -> None:
    if isinstance(var, ast.DataflowVar) and variables.captures(state, var, span or var.span):
        return
    variables.use_variable(state, var, span)


def _shape(state: OlderCriteria, expr: ast.ShapeExpr, span: Span | None) -> None:
    for dim in expr.values:
        variables.dimension(state, dim, span or expr.span, "OWF05-unbound")


def _scalar(state: OlderCriteria, expr: ast.PrimValue, span: Span | None) -> None:
    calls.has_older_form(state, expr, span)
    variables.dimension(state, expr.value, span or expr.span, "OWF05-unbound")


def _call(state: OlderCriteria, call: ast.Call, span: Span | None) -> None:
    span = call.span or span
    calls.in_dataflow(state, call, span)
    calls.type_arguments(state, call)
    calls.operator_is_older(state, call)
    operator = isinstance(call.op, ast.Op)
    if not isinstance(call.op, (ast.Op, ast.ExternFunc)):
        walk_expression(state, call.op, call.op_span or span)
    named = call.op_name in calls.BY_NAME
    for at, (arg, where) in enumerate(zip(call.args, argument_places(call), strict=True)):
        if not (named and at == 0 and isinstance(arg, ast.ExternFunc)):
            _argument(state, arg, where or span, operator)
    for value in call.attrs.values():
        if isinstance(value, ast.Expr):
            _argument(state, value, span, operator)
    for info, where in zip(
        call.sinfo_args, places(call.sinfo_spans, call.sinfo_args, span), strict=True
    ):
        variables.annotation(state, info, where)


def _argument(state: OlderCriteria, arg: ast.Expr, span: Span | None, operator: bool) -> None:
    """An argument; operators take attributes, and tuples of them."""
    if operator and isinstance(arg, ast.Tuple):
        for field in arg.fields:
            _argument(state, field, span, operator)
    elif not (operator and isinstance(arg, ATTRIBUTES)):
        walk_expression(state, arg, span)
    elif isinstance(arg, ast.PrimValue):
        variables.dimension(state, arg.value, span or arg.span, "OWF05-unbound")


def _if(state: OlderCriteria, expr: ast.If, span: Span | None) -> None:
    calls.in_dataflow(state, expr, expr.cond_span or expr.span or span)
    walk_expression(state, expr.cond, expr.cond_span or span)
    if state.block is None:  # else the branches are where nothing may be
        for branch in (expr.true_branch, expr.false_branch):
            mark = len(state.added)
            walk_expression(state, branch, span)
            state.leave(mark)


def _binding(state: OlderCriteria, binding: ast.VarBinding, span: Span | None) -> None:
    var, value = binding.var, binding.value
    if isinstance(value, ast.Function):
        calls.recursive_result(state, var, value)
        variables.bind_variable(state, var)
        state.holders.add(var)
        _function(state, value, binding.value_span)
        state.holders.discard(var)
    else:
        walk_expression(state, value, binding.value_span)
        variables.bind_variable(state, var)
    _annotation(state, var)


def _match(state: OlderCriteria, binding: ast.MatchCast, span: Span | None) -> None:
    """The pattern of a match of shapes, or the annotation that a cast checks."""
    walk_expression(state, binding.value, binding.value_span)
    match binding.struct_info:
        case ast.ShapeStructInfo(values=tuple() as values):
            variables.pattern(state, values, binding.struct_info_span)
        case info:
            variables.annotation(state, info, binding.struct_info_span, binds=True)
    if binding.var is not None:
        variables.bind_variable(state, binding.var)
        _annotation(state, binding.var)


def _annotation(state: OlderCriteria, var: ast.Var, binds: bool = False) -> None:
    info = var.struct_info_annotation
    if info is not None:
        variables.annotation(state, info, var.annotation_span, binds=binds)


def _function(state: OlderCriteria, function: ast.Function, span: Span | None) -> None:
    around = enter(state, function)
    for param in function.params:
        _annotation(state, param, binds=True)
        variables.bind_variable(state, param)
    variables.result_annotation(state, function)
    walk_expression(state, function.body, span)
    end(state, around)


RULES: Mapping[type[Node], WalkRule] = {
    **traversal.RULES,
    ast.Var: _variable,
    ast.DataflowVar: _variable,
    ast.GlobalVar: variables.global_is_defined,
    ast.ShapeExpr: _shape,
    ast.PrimValue: _scalar,
    ast.StringImm: calls.has_older_form,
    ast.DataTypeImm: calls.has_older_form,
    ast.Call: _call,
    ast.If: _if,
    ast.Function: _function,
    ast.Op: calls.operator_as_value,
    ast.ExternFunc: calls.extern_as_value,
    RuntimeDepShape: calls.shape_of_run_time,
    ast.VarBinding: _binding,
    ast.MatchCast: _match,
}
