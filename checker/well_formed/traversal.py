"""The expressions over a module and its functions in the order of evaluation, which calls the rules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from rlx.checker.well_formed.annotations import (
    check_annotation,
    dimension_is_bound,
    dimensions_are_int64,
    free_shape_vars,
    result_is_bound,
    scalar_in_scope,
    scalar_stands_before,
    scalars_have_values,
    signature_binds,
)
from rlx.checker.well_formed.functions import (
    call_graph,
    callee_may_recurse,
    can_be_entered,
    external_is_not_private,
    if_in_dataflow,
    local_result_is_annotated,
    on_circles,
    operator_form,
    purity_is_declared,
    recursive_result_is_annotated,
    symbol_is_name,
)
from rlx.checker.well_formed.state import (
    Next,
    WalkRule,
    WellFormedCheck,
    dataflow_variable_is_bound_inside,
    dataflow_variable_stays_inside,
    exported_type_stays_inside,
    is_bound_once,
    is_defined_globally,
    is_in_scope,
    is_no_value,
)
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.visit import circles, places
from rlx.spec.registry import rule


class SavedScope(NamedTuple):
    """The scope of expressions before the walk entered a function."""

    function: ast.Function | None
    block: ast.DataflowBlock | None
    blocks: tuple[ast.DataflowBlock, ...]
    later: dict[str, ast.Var]
    mark: int


def walk_function(state: WellFormedCheck, function: ast.Function, name: str) -> None:
    """Walk a function, global or local, in a scope of its own."""
    around = begin(state, function, name)
    walk_expression(state, function.body, None)
    end(state, around)


def begin(state: WellFormedCheck, function: ast.Function, name: str) -> SavedScope:
    """Enter a function, and apply the rules to its signature."""
    around = enter(state, function)
    purity_is_declared(state, function, name)
    _signature(state, function)
    return around


def enter(state: WellFormedCheck, function: ast.Function) -> SavedScope:
    around = SavedScope(
        state.function, state.block, state.blocks_around, state.later, len(state.added)
    )
    state.function = function
    if state.block is not None:
        state.blocks_around = (*state.blocks_around, state.block)
    state.block = None
    if around.function is None:
        _look_ahead(state, function)
    return around


def end(state: WellFormedCheck, around: SavedScope) -> None:
    """Leave a function."""
    state.leave(around.mark)
    state.function, state.block, state.blocks_around, state.later = around[:4]


def walk_binding(state: WellFormedCheck, binding: ast.Binding) -> None:
    """Apply the rules to a binding, and bring into scope what it binds."""
    state.rules[type(binding)](state, binding, None)


def walk_expression(state: WellFormedCheck, expr: ast.Expr, span: Span | None) -> None:
    """Apply the rules to an expression; ``span`` is where it is used, for those that have no place
    of their own.
    """
    rules = state.rules
    rest: Next | None = (expr, span)
    while rest is not None:
        rest = rules[type(rest[0])](state, *rest)


def _signature(state: WellFormedCheck, function: ast.Function) -> None:
    bound = set(function.shape_vars)
    coming = {param.shape_var for param in function.params if param.shape_var is not None}
    for param in function.params:
        is_bound_once(state, param)
        info = param.struct_info_annotation
        state.enter(param, None)
        if info is None:
            continue
        free = free_shape_vars(state, info)
        for var in free:
            if var not in bound and var not in state.shape_vars:
                signature_binds(state, var, param.annotation_span)
        if coming:
            coming.discard(param.shape_var)
            for var in coming.intersection(free):
                scalar_stands_before(state, var, param.annotation_span)
        check_annotation(state, info, param.annotation_span, bound, of_variable=True)
    state.enter_shapes(function.shape_vars)
    result = function.ret_struct_info
    if result is not None:
        for var in free_shape_vars(state, result):
            if var not in state.shape_vars:
                result_is_bound(state, var, function.ret_span)
        check_annotation(state, result, function.ret_span)


def _look_ahead(state: WellFormedCheck, function: ast.Function) -> None:
    """Note every variable bound anywhere in a function, by name; of several the first."""
    from rlx.grammar.nodes.visit import expressions

    found: dict[str, ast.Var] = {}
    state.later, state.unread = found, set()
    state.may_bind = state.may_export = False
    for expr in expressions(function.body):
        if type(expr) is ast.ErrorExpr:
            state.may_bind |= expr.may_bind
        if isinstance(expr, ast.SeqExpr):
            for block in expr.blocks:
                for binding in block.bindings:
                    var: ast.Var | None = getattr(binding, "var", None)
                    if var is not None:
                        found.setdefault(var.name_hint, var)
                        if type(getattr(binding, "value", None)) is ast.ErrorExpr:
                            state.unread.add(var.name_hint)


# ---------------------------------------------------------------- expressions


def _error(state: WellFormedCheck, expr: ast.ErrorExpr, span: Span | None) -> None:
    state.may_export |= expr.may_bind


def _variable(state: WellFormedCheck, var: ast.Var, span: Span | None) -> None:
    if var not in state.in_scope:
        is_in_scope(state, var, span or var.span)
    elif type(var) is ast.DataflowVar:
        dataflow_variable_stays_inside(state, var, span)


def _global(state: WellFormedCheck, var: ast.GlobalVar, span: Span | None) -> None:
    if var not in state.module.functions:
        is_defined_globally(state, var, span)


def _operator(state: WellFormedCheck, op: ast.Op, span: Span | None) -> None:
    is_no_value(state, op, span)


def _leaf(state: WellFormedCheck, expr: ast.Expr, span: Span | None) -> None:
    return None


def _prim_value(state: WellFormedCheck, value: ast.PrimValue, span: Span | None) -> None:
    prim = value.value
    if type(prim) is not tir.IntImm:
        _dimension(state, prim, value.span or span)
        scalar_has_one_lane(state, value)


@rule("WF18", "well-formed")
def scalar_has_one_lane(state: WellFormedCheck, value: ast.PrimValue) -> None:
    """A scalar is of a data type with one lane."""
    found = tir.type_of(value.value)
    if found.lanes != 1:
        state.report("WF18-lanes", f"a scalar cannot have the vector type {found}", value.span)


def _shape(state: WellFormedCheck, shape: ast.ShapeExpr, span: Span | None) -> None:
    dimensions_are_int64(state, shape.values, shape.span or span)
    for value in shape.values:
        kind = type(value)
        if kind is tir.IntImm:
            continue
        if kind is tir.Var and value in state.shape_vars and value not in state.scalars:
            continue
        _dimension(state, value, shape.span or span)


def _dimension(state: WellFormedCheck, value: tir.PrimExpr, span: Span | None) -> None:
    scalars_have_values(state, (value,), getattr(value, "span", None) or span)
    for var in tir.free_vars(value):
        if var not in state.shape_vars:
            dimension_is_bound(state, var, getattr(value, "span", None) or span)
        elif var in state.scalars:
            scalar_in_scope(state, var, span)


def _tuple(state: WellFormedCheck, expr: ast.Tuple, span: Span | None) -> None:
    spans = places(expr.field_spans, expr.fields, expr.span or span)
    for field, where in zip(expr.fields, spans, strict=True):
        walk_expression(state, field, where)


def _item(state: WellFormedCheck, expr: ast.TupleGetItem, span: Span | None) -> Next:
    return expr.tuple_value, expr.span or span


def _extern(state: WellFormedCheck, expr: ast.ExternFunc, span: Span | None) -> None:
    external_is_not_private(state, expr, span)
    if expr.struct_info is not None:
        check_annotation(state, expr.struct_info, expr.span or span)


def _call(state: WellFormedCheck, call: ast.Call, span: Span | None) -> Next | None:
    """A call; its first operand, where that is no leaf, is left to be looked at next: chains are
    deep there.
    """
    callee, in_scope = call.op, state.in_scope
    if type(callee) is ast.Op:
        if len(call.args) > 1:
            operator_form(state, call, callee)
    else:
        walk_expression(state, callee, call.span)
    if state.block is not None:
        callee_may_recurse(state, call)
    first: Next | None = None
    spans = call.arg_spans
    for at, arg in enumerate(call.args):
        if type(arg) is ast.Var and arg in in_scope:
            continue
        where = spans[at] if at < len(spans) else call.span
        if at == 0 and type(arg) in (ast.Call, ast.TupleGetItem):
            first = arg, where
        else:
            walk_expression(state, arg, where)
    if call.sinfo_args:
        declared = places(call.sinfo_spans, call.sinfo_args, call.span)
        for info, place in zip(call.sinfo_args, declared, strict=True):
            check_annotation(state, info, place)
    if call.attrs:
        for value in call.attrs.values():
            if isinstance(value, ast.Expr):
                walk_expression(state, value, call.span)
            elif isinstance(value, tir.PrimExpr):
                _dimension(state, value, call.span)
    return first


def _if(state: WellFormedCheck, expr: ast.If, span: Span | None) -> None:
    if state.block is not None:
        if_in_dataflow(state, expr, span)
    walk_expression(state, expr.cond, expr.cond_span)
    for branch in (expr.true_branch, expr.false_branch):
        walk_expression(state, branch, expr.span)


def _function(state: WellFormedCheck, function: ast.Function, span: Span | None) -> None:
    walk_function(state, function, "")


def _seq(state: WellFormedCheck, seq: ast.SeqExpr, span: Span | None) -> None:
    if seq in state.walked:
        return
    mark = len(state.added)
    for block in seq.blocks:
        outer = state.block
        if type(block) is ast.DataflowBlock:
            state.block = block
        for binding in block.bindings:
            walk_binding(state, binding)
        state.block = outer
    walk_expression(state, seq.body, seq.body_span)
    state.leave(mark)


def _binding(state: WellFormedCheck, binding: ast.VarBinding, span: Span | None) -> None:
    var, value = binding.var, binding.value
    if type(value) is ast.Function:
        state.enter(var, state.block if type(var) is ast.DataflowVar else None)
        local_result_is_annotated(state, var, value)
        state.holders.add(var)
        if value not in state.walked:
            walk_function(state, value, var.name_hint)
        state.holders.discard(var)
    else:
        state.pending.add(var)
        walk_expression(state, value, binding.value_span)
        state.pending.discard(var)
    _bind(state, var, value.sinfo_args if type(value) is ast.Call else ())


def _match_cast(state: WellFormedCheck, cast: ast.MatchCast, span: Span | None) -> None:
    walk_expression(state, cast.value, cast.value_span)
    check_annotation(state, cast.struct_info, cast.struct_info_span, cast.shape_vars)
    state.enter_shapes(cast.shape_vars)
    if cast.var is not None:
        _bind(state, cast.var, (cast.struct_info,))


def _bind(state: WellFormedCheck, var: ast.Var, declared: Sequence[ast.StructInfo]) -> None:
    """Bring a variable into scope; ``declared`` is what the value says of its type."""
    if var in state.bound:
        is_bound_once(state, var)
    else:
        state.bound[var] = None
    if type(var) is ast.DataflowVar:
        dataflow_variable_is_bound_inside(state, var)
        state.enter(var, state.block)
    else:
        state.enter(var, None)
    info = var.struct_info_annotation
    if info is not None:
        check_annotation(state, info, var.annotation_span, of_variable=True)
        declared = (info, *declared)
    if state.block is not None and declared and type(var) is not ast.DataflowVar:
        exported_type_stays_inside(state, var, declared)


RULES: Mapping[type[Node], WalkRule] = {
    ast.Var: _variable,
    ast.DataflowVar: _variable,
    ast.GlobalVar: _global,
    ast.Op: _operator,
    ast.Constant: _leaf,
    ast.StringImm: _leaf,
    ast.DataTypeImm: _leaf,
    ast.ErrorExpr: _error,
    ast.PrimValue: _prim_value,
    ast.ShapeExpr: _shape,
    ast.Tuple: _tuple,
    ast.TupleGetItem: _item,
    ast.ExternFunc: _extern,
    ast.Call: _call,
    ast.If: _if,
    ast.Function: _function,
    ast.SeqExpr: _seq,
    ast.VarBinding: _binding,
    ast.MatchCast: _match_cast,
}
"""The visit of each kind of expression and binding by today's specification."""


def well_formed(module: ast.IRModule, captured: Collection[Node] = frozenset()) -> list[Diagnostic]:
    """Every violation of well-formedness in a module, normalised or not.

    Parameters
    ----------
    captured
        Variables and shape variables whose values the surrounding Python code gives.
    """
    state = WellFormedCheck(module, RULES, captured)
    graph = call_graph(module)
    state.circles = circles(graph.calls)
    state.global_calls = lambda name: graph.calls.get(name, ())
    state.as_values, state.call_values = graph.as_values, graph.can_call_values()
    recursive, depend = on_circles(graph.calls), graph.depend_on_themselves(module)
    for name, function in module.functions.items():
        symbol_is_name(state, name, function)
        if isinstance(function, ast.Function):
            state.global_name = name
            recursive_result_is_annotated(state, name, function, name in recursive, name in depend)
            walk_function(state, function, name.name_hint)
    if not module.lost:
        can_be_entered(state)
    return state.diagnostics
