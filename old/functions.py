"""Types and shapes of sequences, functions and modules."""

from __future__ import annotations

from collections.abc import Collection

from rlx.checker.derive.expressions import literal_is_valid
from rlx.checker.well_formed.functions import call_graph, on_circles
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, GlobalVar, StructInfo
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.visit import callees_first
from rlx.grammar.stack import recursion_room
from rlx.old import calls, expressions
from rlx.old.annotations import insert_cast, is_unknown, shape_of_annotation, type_of
from rlx.old.derivation_state import OlderDerivation
from rlx.old.order import find_glb, is_subtype
from rlx.old.shape_exprs import UNKNOWN, RuntimeDepShape, can_prove_equal, is_closed
from rlx.old.shape_exprs import text as shape_text
from rlx.old.types import OBJECT, SHAPE, DynTensorType, FuncType, ObjectType, ShapeType, Type
from rlx.spec.registry import rule

BIND = ("OT-bind-cast", "OT-bind-type")
MATCH = ("OT-match-cast", "OT-match-type")


def bind(state: OlderDerivation, binding: ast.Binding) -> None:
    """Bind what a binding binds, whose value was derived."""
    match binding:
        case ast.VarBinding(var=var, value=value):
            found = bound_type(state, binding)
            state.bind_typed(var, found, bound_shape(state, binding))
            if value in state.functions:
                state.functions[var] = state.functions[value]
            _inherit(state, var, value)
        case ast.MatchCast(var=bound, value=value):
            state.bind_dimensions([binding.struct_info])
            if binding.by_shape:
                type, shape = matched_type(state, binding), matched_shape(state, binding)
            else:
                type, shape = cast_type(state, binding), cast_shape(state, binding)
            if bound is not None:
                state.bind_typed(bound, type, _as_annotated(state, binding, bound, shape))
                if binding.by_shape:
                    _inherit(state, bound, value)


def _inherit(state: OlderDerivation, var: ast.Var, value: Expr) -> None:
    if var.struct_info_annotation is None and value in state.poison:
        state.poison.add(var)


@rule("OT-bind", "older binding")
def bound_type(state: OlderDerivation, binding: ast.VarBinding) -> Type:
    """The annotation, which the value's type is below; without one the value's type."""
    found, wanted = state.type(binding.value), binding.var.struct_info_annotation
    if wanted is None:
        return found
    annotated = type_of(wanted)
    if binding.value in state.poison:
        return annotated
    span = binding.value_span or binding.span
    _compare(state, BIND, f"{binding.var.name_hint!r} is annotated", annotated, found, span)
    return annotated


def _compare(
    state: OlderDerivation,
    codes: tuple[str, str],
    said: str,
    wanted: Type,
    found: Type,
    span: Span | None,
) -> None:
    """Report a type that is not below the one expected: as a missing cast, by the first code, if
    one can succeed.
    """
    if is_subtype(found, wanted):
        return
    castable, never = codes
    if find_glb(found, wanted) is not None:
        message = f"{said} {wanted}, but the value is only known to be {found}"
        help = insert_cast(wanted)
        state.add(castable, "error", message, span, help=help)
    else:
        state.add(never, "error", f"{said} {wanted}, but the value is {found}", span)


@rule("OS-bind", "shape computation")
def bound_shape(state: OlderDerivation, binding: ast.VarBinding) -> Expr:
    """The shape annotation, which is proved to be that of the value; without one the value's."""
    found, info = state.shape(binding.value), binding.var.struct_info_annotation
    wanted = shape_of_annotation(info)
    merged, proved = _annotated(state, found, wanted)
    if not proved and binding.value not in state.poison and _has_type(state, binding):
        message = f"the shape is annotated {shape_text(wanted)}, but is {shape_text(found)}"
        if isinstance(found, ast.ShapeExpr):
            message += ", which is not provably equal"
        help = f"check it when the program runs: R.match_shape(…, {shape_text(wanted)})"
        state.add("OS-bind-proved", "error", message, binding.value_span or binding.span, help=help)
    return merged


def _as_annotated(
    state: OlderDerivation, binding: ast.MatchCast, var: ast.Var, shape: Expr
) -> Expr:
    """The shape of a matched variable, whose annotation says the same (ledger 84)."""
    wanted = shape_of_annotation(var.struct_info_annotation)
    merged, proved = _annotated(state, shape, wanted)
    if not proved and binding.value not in state.poison:
        said, found = shape_text(wanted), shape_text(shape)
        message = f"the shape is annotated {said}, but the matched shape is {found}"
        state.add("OS-bind-proved", "error", message, var.annotation_span or binding.span)
    return merged


def _has_type(state: OlderDerivation, binding: ast.VarBinding) -> bool:
    """Whether the type of a value is the one annotated, else that was reported."""
    info = binding.var.struct_info_annotation
    return info is None or is_subtype(state.type(binding.value), type_of(info))


def _annotated(state: OlderDerivation, found: Expr, wanted: Expr) -> tuple[Expr, bool]:
    """The shape that an annotation leaves, and whether all that it says is proved."""
    if is_unknown(wanted):
        return found, True
    match wanted, found:
        case ast.Tuple(fields=a), ast.Tuple(fields=b) if len(a) == len(b):
            parts = [_annotated(state, y, x) for x, y in zip(a, b, strict=True)]
            return ast.Tuple(tuple(s for s, _ in parts)), all(proved for _, proved in parts)
        case ast.Tuple(fields=a), _ if is_unknown(found):
            parts = [_annotated(state, UNKNOWN, x) for x in a]
            return wanted, all(proved for _, proved in parts)
    return wanted, can_prove_equal(found, wanted, state.prover)


def dims_of_pattern(info: StructInfo) -> int:
    """How many dimensions a pattern of `R.match_shape` has."""
    match info:
        case ast.TensorStructInfo(shape=ast.ShapeExpr(values=values)):
            return len(values)
        case ast.ShapeStructInfo(values=tuple() as values):
            return len(values)
    return -1


@rule("OT-match", "older binding")
def matched_type(state: OlderDerivation, binding: ast.MatchCast) -> Type:
    """A tensor with as many dimensions as the pattern, or a shape; of an object only that."""
    found = state.type(binding.value)
    info = None if binding.var is None else binding.var.struct_info_annotation
    wanted = None if info is None else type_of(info)
    span = binding.value_span or binding.span
    if binding.value in state.poison:
        return wanted or OBJECT
    known: Type
    match found:
        case ShapeType() | ObjectType():
            known = found
        case DynTensorType(ndim=ndim, dtype=dtype):
            count = dims_of_pattern(binding.struct_info)
            if ndim not in (-1, count):
                message = f"the pattern has {count} dimensions, but the value has rank {ndim}"
                state.add("OT-match-rank", "error", message, binding.struct_info_span or span)
            known = DynTensorType(count, dtype)
        case _:
            message = f"only a tensor or a shape can be matched with a shape, but this is {found}"
            state.add("OT-match-kind", "error", message, span)
            return wanted or OBJECT
    if wanted is not None:
        _compare(state, MATCH, "the matched value is annotated", wanted, known, span)
    return wanted or known


@rule("OS-match", "shape computation")
def matched_shape(state: OlderDerivation, binding: ast.MatchCast) -> Expr:
    """The pattern, where the value is a tensor (ledger OLDSHAPESHAPE)."""
    found = state.type(binding.value)
    match binding.struct_info:
        case ast.TensorStructInfo(shape=ast.ShapeExpr() as shape):
            pass
        case ast.ShapeStructInfo(values=tuple() as values):
            shape = ast.ShapeExpr(values)
        case _:
            return UNKNOWN
    return shape if isinstance(found, DynTensorType) else UNKNOWN


@rule("OT-cast", "older binding")
def cast_type(state: OlderDerivation, binding: ast.MatchCast) -> Type:
    """The type that the value is cast to; a cast that no value passes is warned of."""
    found, wanted = state.type(binding.value), type_of(binding.struct_info)
    span = binding.struct_info_span or binding.span
    if find_glb(found, wanted) is None and binding.value not in state.poison:
        message = f"this cast to {wanted} always fails: the value is {found}"
        state.add("OT-cast-never", "warning", message, span)
    info = None if binding.var is None else binding.var.struct_info_annotation
    if info is None:
        return wanted
    said = "the variable of the cast is annotated"
    _compare(state, BIND, said, type_of(info), wanted, span)
    return type_of(info)


@rule("OS-cast", "shape computation")
def cast_shape(state: OlderDerivation, binding: ast.MatchCast) -> Expr:
    """The shape that the cast checks; where it checks none, that of the value."""
    wanted = shape_of_annotation(binding.struct_info)
    if isinstance(type_of(binding.struct_info), type(SHAPE)):
        return UNKNOWN
    return state.shape(binding.value) if is_unknown(wanted) else wanted


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
    functions = {gv: f for gv, f in state.module.functions.items() if isinstance(f, ast.Function)}
    graph = call_graph(state.module).mentions
    recursive = on_circles(graph)
    for gv in state.module.functions:
        state.set(gv, OBJECT)
    for gv, function in functions.items():
        state.functions[gv] = function
        if gv in recursive:
            state.set(gv, signature(function))
            if function.ret_struct_info is None:  # OWF07 has said so
                state.poison.add(gv)
    for gv in callees_first({gv: graph[gv] for gv in functions}):
        state.set(gv, function_type(state, functions[gv], gv))


def signature(function: ast.Function) -> FuncType:
    """What the annotations of a function say; a result without one is an object."""
    taken = tuple(
        type_of(p.struct_info_annotation or ast.ObjectStructInfo()) for p in function.params
    )
    ret = OBJECT if function.ret_struct_info is None else type_of(function.ret_struct_info)
    return FuncType(taken, ret, declared_purity(function) is True)


def declared_purity(function: ast.Function) -> bool | None:
    """What a function says of its purity; None if nothing."""
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
    pure = _purity(state, function)
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
    if is_subtype(found, wanted) or not state.poison.isdisjoint((body, last)):
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


def _purity(state: OlderDerivation, function: ast.Function) -> bool:
    said = declared_purity(function)
    forced = function.attrs.get("force_pure") or function.attrs.get("relax.force_pure")
    if said and state.impure and not forced:
        message = "the function is declared pure, but a call in it may have side effects"
        state.add("OT-function-pure", "error", message, function.name_span or function.span)
    return not state.impure if said is None else said


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
            _value(state, binding)
            bind(state, binding)
        state.dataflow = outer
    found = visit(state, node.body)
    state.inherit(node, (node.body,))
    return found


def _value(state: OlderDerivation, binding: ast.Binding) -> None:
    match binding:
        case ast.VarBinding(var=var, value=ast.Function() as function):
            state.set(function, function_type(state, function, var), function_shape(function))
            state.functions[function] = function
        case ast.VarBinding(value=value) | ast.MatchCast(value=value):
            visit(state, value)


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
                state.poison.add(expr)
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
            state.poison.add(expr)
            state.set(expr, OBJECT)
        case _:  # OMIX-value has said so, or it is an attribute
            state.set(expr, OBJECT)
    return state.type(expr)


_ATTRIBUTES = (ast.PrimValue, ast.StringImm, ast.DataTypeImm, ast.ExternFunc, ast.Op)
"""What stands among the arguments of operators and has a meaning there alone."""
