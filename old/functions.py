"""Types and shapes of sequences, functions and modules."""

from __future__ import annotations

from collections.abc import Collection

from rlx.checker.derive.expressions import literal_is_valid
from rlx.checker.well_formed.functions import call_graph, on_circles
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, GlobalVar
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.visit import callees_first
from rlx.grammar.stack import recursion_room
from rlx.old import calls, expressions
from rlx.old.annotations import insert_cast, shape_of_annotation, type_of
from rlx.old.bindings import bind
from rlx.old.derivation_state import OlderDerivation
from rlx.old.order import find_glb, is_subtype
from rlx.old.shape_exprs import UNKNOWN, RuntimeDepShape, is_closed
from rlx.old.types import OBJECT, FuncType, Type
from rlx.spec.registry import rule


def derive(module: ast.IRModule, captured: Collection[Node] = ()) -> OlderDerivation:
    """Derive the types and the shapes of everything in a module.

    Parameters
    ----------
    captured
        Variables and annotations whose meaning Python around the program gives.
    """
    with recursion_room():
        state = OlderDerivation(module, captured)
        module_types(state)
    return state


@rule("OT-module", "checked type")
def module_types(state: OlderDerivation) -> None:
    """One function after the other, callees first; those of a circle are known by annotations."""
    functions = state.module.relax_functions
    graph = call_graph(state.module).mentions
    recursive = on_circles(graph)
    for gv in state.module.functions:
        state.set(gv, OBJECT)
    for gv, function in functions.items():
        state.functions[gv] = function
        if gv in recursive:
            state.set(gv, signature(function))
            if function.ret_struct_info is None:  # OWF07 has said so
                state.doubt(gv)
    for gv in callees_first({gv: graph[gv] for gv in functions}):
        state.set(gv, function_type(state, functions[gv], gv))


def signature(function: ast.Function) -> FuncType:
    """The signature that the annotations of a function give; a result without one is an object."""
    taken = tuple(
        type_of(p.struct_info_annotation or ast.ObjectStructInfo()) for p in function.params
    )
    ret = OBJECT if function.ret_struct_info is None else type_of(function.ret_struct_info)
    return FuncType(taken, ret, declared_purity(function) is True)


def declared_purity(function: ast.Function) -> bool | None:
    """The declared purity of a function; None if it declares none."""
    if function.attrs.get("force_pure") or function.attrs.get("relax.force_pure"):
        return True
    said = function.attrs.get("pure", function.is_pure)
    return None if said is None else bool(said)


@rule("OT-function", "checked type")
def function_type(
    state: OlderDerivation, function: ast.Function, name: ast.Var | GlobalVar | None = None
) -> Type:
    """The annotations of the parameters and of the result; what is not annotated is inferred."""
    outer, dataflow, impure = state.enter(), state.dataflow, state.impure
    state.dataflow = state.impure = False
    own = signature(function)
    if isinstance(name, ast.Var):
        state.set(name, own)
        state.functions[name] = function
    for param, type in zip(function.params, own.arg_types, strict=True):
        info = param.struct_info_annotation
        state.bind_dimensions([info])
        state.bind_typed(param, type, shape_of_annotation(info))
    found = visit(state, function.body)
    ret = result_type(state, function, found)
    said = declared_purity(function)
    forced = function.attrs.get("force_pure") or function.attrs.get("relax.force_pure")
    if said and state.impure and not forced:
        message = "the function is declared pure, but a call in it may have side effects"
        state.add("OT-function-pure", "error", message, function.name_span or function.span)
    pure = not state.impure if said is None else said
    state.leave(outer)
    state.dataflow, state.impure = dataflow, impure
    return FuncType(own.arg_types, ret, pure)


def result_type(state: OlderDerivation, function: ast.Function, found: Type) -> Type:
    """The annotated type of the result, which that of the body is below (OT-function)."""
    if function.ret_struct_info is None:
        state.inherit(function, (function.body,))
        return found
    wanted = type_of(function.ret_struct_info)
    body = function.body
    last = body.body if isinstance(body, ast.SeqExpr) else body
    if is_subtype(found, wanted) or state.poisoned(body) or state.poisoned(last):
        return wanted
    span = (body.body_span if isinstance(body, ast.SeqExpr) else None) or function.span
    if find_glb(found, wanted) is not None:
        message = f"the result is annotated {wanted}, but the value is only known to be {found}"
        help = insert_cast(wanted)
        state.add("OT-function-cast", "error", message, span, help=help)
    else:
        message = f"the result is annotated {wanted}, but is {found}"
        state.add("OT-function-result", "error", message, span)
    return wanted


@rule("OS-function", "shape computation")
def function_shape(function: ast.Function) -> Expr:
    """A function has no shape."""
    return UNKNOWN


@rule("OT-seq", "checked type")
def seq_type(state: OlderDerivation, node: ast.SeqExpr) -> Type:
    """The type of the body, where all bindings are known."""
    outer = state.dataflow
    for block in node.blocks:
        state.dataflow = isinstance(block, ast.DataflowBlock)
        for binding in block.bindings:
            match binding:
                case ast.VarBinding(var=var, value=ast.Function() as function):
                    state.set(
                        function, function_type(state, function, var), function_shape(function)
                    )
                    state.functions[function] = function
                case ast.VarBinding(value=value) | ast.MatchCast(value=value):
                    visit(state, value)
            bind(state, binding)
        state.dataflow = outer
    found = visit(state, node.body)
    state.inherit(node, (node.body,))
    return found


@rule("OS-seq", "shape computation")
def seq_shape(state: OlderDerivation, node: ast.SeqExpr) -> Expr:
    """The shape of the body, if it mentions only what is in scope around the sequence."""
    shape = state.shape(node.body)
    return shape if is_closed(shape, state.shape_vars, state.shapes) else UNKNOWN


def visit(state: OlderDerivation, expr: Expr) -> Type:
    """Derive the type and the shape of an expression; its type."""
    match expr:
        case ast.Var() | ast.GlobalVar():
            return state.set(expr, expressions.variable_type(state, expr), state.shape(expr))
        case ast.Constant():
            data = expr.data
            if data.shape is None or not (data.value is None or literal_is_valid(state, expr)):
                state.doubt(expr)
            return state.set(
                expr, expressions.constant_type(expr), expressions.constant_shape(expr)
            )
        case ast.PrimValue() if expressions.is_boolean(expr):
            return state.set(
                expr, expressions.constant_type(expr), expressions.constant_shape(expr)
            )
        case ast.ShapeExpr():
            return state.set(expr, expressions.shape_type(expr), expressions.shape_shape(expr))
        case RuntimeDepShape():
            return state.set(expr, expressions.shape_type(expr))
        case ast.Function():
            state.functions[expr] = expr
            return state.set(expr, function_type(state, expr), function_shape(expr))
        case ast.SeqExpr():
            outer = state.enter()
            found = seq_type(state, expr)
            state.leave(outer)
            return state.set(expr, found, seq_shape(state, expr))
    return _compound(state, expr)


def _compound(state: OlderDerivation, expr: Expr) -> Type:
    """An expression with parts that are derived first, left to right."""
    match expr:
        case ast.Call():
            operator = isinstance(expr.op, (ast.Op, ast.ExternFunc))
            for part in expr.args if operator else (expr.op, *expr.args):
                if not isinstance(part, _ATTRIBUTES):
                    visit(state, part)
            calls.derive(state, expr)
        case ast.Tuple():
            for field in expr.fields:
                visit(state, field)
            state.inherit(expr, expr.fields)
            state.set(
                expr, expressions.tuple_type(state, expr), expressions.tuple_shape(state, expr)
            )
        case ast.TupleGetItem():
            visit(state, expr.tuple_value)
            state.set(
                expr, expressions.field_type(state, expr), expressions.field_shape(state, expr)
            )
        case ast.If():
            for part in (expr.cond, expr.true_branch, expr.false_branch):
                visit(state, part)
            state.set(expr, expressions.if_type(state, expr), expressions.if_shape(state, expr))
        case ast.ErrorExpr():
            state.doubt(expr)
            state.set(expr, OBJECT)
        case _:  # OMIX-value has said so, or it is an attribute
            state.set(expr, OBJECT)
    return state.type(expr)


_ATTRIBUTES = (ast.PrimValue, ast.StringImm, ast.DataTypeImm, ast.ExternFunc, ast.Op)
"""Expressions that have a meaning as arguments of operators alone."""
