"""The walk over a module that puts the criteria to everything in it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Node, Span
from rlx.old.shape_exprs import RuntimeDepShape
from rlx.old.well_formed import calls, variables
from rlx.old.well_formed.state import OlderCriteria

Visit = Callable[[OlderCriteria, Any, Span | None], None]


def well_formed(module: ast.IRModule, captured: Collection[Node] = frozenset()) -> list[Diagnostic]:
    """Every violation of OWF01 to OWF16 in a module, and every word that only the later system has.

    Parameters
    ----------
    captured
        Variables and shape variables whose values the surrounding Python code gives.
    """
    state = OlderCriteria(module, captured)
    for name, function in module.functions.items():
        calls.symbol_is_name(state, name)
        if isinstance(function, ast.Function):
            state.global_name = name
            state.note_names(function)
            calls.recursive_result(state, name, function)
            _function(state, function, None)
    if not module.bare:
        calls.has_entry(state)
    return state.diagnostics


def visit(state: OlderCriteria, expr: ast.Expr, span: Span | None, argument: bool = False) -> None:
    """Put the criteria to an expression."""
    if type(expr) is ast.ErrorExpr:
        return
    calls.has_older_form(state, expr, span, argument)
    found = _VISITS.get(type(expr))
    if found is not None:
        found(state, expr, span)


def _variable(state: OlderCriteria, var: ast.Var, span: Span | None) -> None:
    if isinstance(var, ast.DataflowVar) and variables.captures(state, var, span or var.span):
        return
    variables.use_variable(state, var, span)


def _tuple(state: OlderCriteria, expr: ast.Tuple, span: Span | None) -> None:
    for at, field in enumerate(expr.fields):
        visit(state, field, expr.field_spans[at] if at < len(expr.field_spans) else span)


def _item(state: OlderCriteria, expr: ast.TupleGetItem, span: Span | None) -> None:
    visit(state, expr.tuple_value, expr.span or span)


def _shape(state: OlderCriteria, expr: ast.ShapeExpr, span: Span | None) -> None:
    for dim in expr.values:
        variables.dimension(state, dim, span or expr.span, "OWF05-unbound")


def _scalar(state: OlderCriteria, expr: ast.PrimValue, span: Span | None) -> None:
    variables.dimension(state, expr.value, span or expr.span, "OWF05-unbound")


def _call(state: OlderCriteria, call: ast.Call, span: Span | None) -> None:
    span = call.span or span
    calls.in_dataflow(state, call, span)
    calls.type_arguments(state, call)
    calls.operator_is_older(state, call)
    operator = isinstance(call.op, ast.Op)
    if not isinstance(call.op, (ast.Op, ast.ExternFunc)):
        visit(state, call.op, call.op_span or span)
    named = call.op_name in calls.BY_NAME
    for at, arg in enumerate(call.args):
        where = call.arg_spans[at] if at < len(call.arg_spans) else span
        if not (named and at == 0 and isinstance(arg, ast.ExternFunc)):
            _argument(state, arg, where, operator)
    for value in call.attrs.values():
        if isinstance(value, ast.Expr):
            visit(state, value, span, operator)
    for at, info in enumerate(call.sinfo_args):
        where = call.sinfo_spans[at] if at < len(call.sinfo_spans) else span
        variables.annotation(state, info, where)


def _argument(state: OlderCriteria, arg: ast.Expr, span: Span | None, operator: bool) -> None:
    """An argument; operators take lists of attributes as tuples."""
    if operator and isinstance(arg, ast.Tuple):
        for field in arg.fields:
            _argument(state, field, span, operator)
    else:
        visit(state, arg, span, operator)


def _if(state: OlderCriteria, expr: ast.If, span: Span | None) -> None:
    calls.in_dataflow(state, expr, expr.cond_span or expr.span or span)
    visit(state, expr.cond, expr.cond_span or span)
    if state.block is None:  # else the branches are where nothing may be
        for branch in (expr.true_branch, expr.false_branch):
            mark = state.enter()
            visit(state, branch, span)
            state.leave(mark)


def _sequence(state: OlderCriteria, expr: ast.SeqExpr, span: Span | None) -> None:
    mark, outer = state.enter(), state.block
    for block in expr.blocks:
        state.block = block if isinstance(block, ast.DataflowBlock) else None
        for binding in block.bindings:
            _binding(state, binding)
        state.block = outer
    visit(state, expr.body, expr.body_span or span)
    state.leave(mark)


def _binding(state: OlderCriteria, binding: ast.Binding) -> None:
    match binding:
        case ast.VarBinding(var=var, value=ast.Function() as function):
            calls.recursive_result(state, var, function)
            variables.bind_variable(state, var)
            state.holders.add(var)
            _function(state, function, binding.value_span)
            state.holders.discard(var)
        case ast.VarBinding(var=var, value=value):
            visit(state, value, binding.value_span)
            variables.bind_variable(state, var)
        case ast.MatchCast(var=bound, value=value, struct_info=info):
            visit(state, value, binding.value_span)
            _match(state, binding, info)
            if bound is None:
                return
            var = bound
            variables.bind_variable(state, var)
        case _:
            return
    if var.struct_info_annotation is not None:
        variables.annotation(state, var.struct_info_annotation, var.annotation_span)


def _match(state: OlderCriteria, binding: ast.MatchCast, info: ast.StructInfo) -> None:
    """The pattern of a match of shapes, or the annotation that a cast checks."""
    match info:
        case ast.ShapeStructInfo(values=tuple() as values):
            variables.pattern(state, values, binding.struct_info_span)
        case _:
            variables.annotation(state, info, binding.struct_info_span, binds=True)


def _function(state: OlderCriteria, function: ast.Function, span: Span | None) -> None:
    mark, outer, around = state.enter(), state.block, state.blocks_around
    if outer is not None:
        state.blocks_around = (*around, outer)
    state.block = None
    for param in function.params:
        if param.struct_info_annotation is not None:
            variables.annotation(
                state, param.struct_info_annotation, param.annotation_span, binds=True
            )
        variables.bind_variable(state, param)
    variables.result_annotation(state, function)
    visit(state, function.body, span)
    state.leave(mark)
    state.block, state.blocks_around = outer, around


def _run_time(state: OlderCriteria, expr: RuntimeDepShape, span: Span | None) -> None:
    calls.shape_of_run_time(state, expr, span)


_VISITS: dict[type, Visit] = {
    ast.Var: _variable,
    ast.DataflowVar: _variable,
    ast.GlobalVar: variables.global_is_defined,
    ast.Tuple: _tuple,
    ast.TupleGetItem: _item,
    ast.ShapeExpr: _shape,
    ast.PrimValue: _scalar,
    ast.Call: _call,
    ast.If: _if,
    ast.SeqExpr: _sequence,
    ast.Function: _function,
    ast.Op: calls.operator_as_value,
    ast.ExternFunc: calls.extern_as_value,
    RuntimeDepShape: _run_time,
}
