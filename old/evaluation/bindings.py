"""The evaluation of sequences and bindings: matches of shapes, casts."""

from __future__ import annotations

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.dtype import dtype
from rlx.old.annotations import shape_of_annotation, type_of
from rlx.old.derivation_state import OlderDerivation
from rlx.old.evaluation.expressions import function
from rlx.old.evaluation.machine import (
    Evaluating,
    OlderClosure,
    OlderMachine,
    OlderRule,
    OlderScope,
    dimension,
    evaluation,
)
from rlx.old.expansion import check_annotation
from rlx.old.functions import signature
from rlx.old.order import is_subtype
from rlx.old.types import OBJECT, SHAPE, DynTensorType, FuncType, TupleType, Type
from rlx.semantics.faults import CheckStop, FaultStop
from rlx.semantics.values import Closure, ShapeValue, Tensor, TupleValue, Value
from rlx.spec.registry import rule


@rule("OE-seq", "older evaluation")
def sequence(m: OlderMachine, expr: ast.SeqExpr, scope: OlderScope) -> Evaluating:
    """10: a new scope, the bindings in order, the body."""
    return (yield in_scope(m, expr, OlderScope(scope)))


def in_scope(m: OlderMachine, expr: Expr, scope: OlderScope) -> Evaluating:
    """The bindings of a sequence and its body, in a scope that is there (OE-seq)."""
    if not isinstance(expr, ast.SeqExpr):
        return (yield evaluation(m, expr, scope))
    for block in expr.blocks:
        for binding in block.bindings:
            m.step()
            yield _BINDINGS[type(binding)](m, binding, scope)
        if isinstance(block, ast.DataflowBlock):
            for binding in block.bindings:
                if isinstance(var := getattr(binding, "var", None), ast.DataflowVar):
                    scope.values.pop(var, None)
    return (yield evaluation(m, expr.body, scope))


@rule("OE-bind", "older evaluation")
def bind(m: OlderMachine, binding: ast.VarBinding, scope: OlderScope) -> Evaluating:
    """10.2.2: the value by another name; a function may call itself by it."""
    value: Value
    if isinstance(binding.value, ast.Function):
        value = yield function(m, binding.value, scope, binding.var)
    elif isinstance(binding.value, ast.SeqExpr) and binding.var.name_hint == "tmp":
        value = yield in_scope(m, binding.value, scope)  # a check of a signature
    else:
        value = yield evaluation(m, binding.value, scope)
    scope.values[binding.var] = value
    return value


@rule("OE-match", "older evaluation")
def matched(value: Value, dims: tuple[tir.PrimExpr, ...], scope: OlderScope) -> None:
    """10.2.1: each dimension in order; a variable without a value is bound, all else compared."""
    match value:
        case Tensor():
            sizes = value.shape
        case ShapeValue(values=sizes):
            pass
        case _:
            raise CheckStop("OE-match-kind", "expected a tensor or a shape", value=value)
    if len(sizes) != len(dims):
        message = f"expected rank {len(dims)}, found rank {len(sizes)}"
        raise CheckStop("OE-match-rank", message, value=value)
    for dim, size in zip(dims, sizes, strict=True):
        if isinstance(dim, tir.Var) and scope.number(dim) is None:
            scope.shapes[dim] = size
        try:
            wanted = dimension(dim, scope)
        except FaultStop as stop:
            raise CheckStop("OE-match-defined", stop.message, value=value) from None
        if wanted != size:
            raise CheckStop(
                "OE-match-dimension", f"expected {dim} = {wanted}, found {size}", value=value
            )


def match_binding(m: OlderMachine, binding: ast.MatchCast, scope: OlderScope) -> Evaluating:
    """A match of shapes, or a cast with the check of its shape (OE-match, OE-cast)."""
    value = yield evaluation(m, binding.value, scope)
    var = binding.var or ast.Var("_")
    pattern = binding.compared_dims
    if pattern is not None:
        matched(value, pattern, scope)
        scope.values[var] = value
    else:
        scope.values[var] = value
        yield checked(m, binding.struct_info, var, scope)
    return value


def checked(m: OlderMachine, info: ast.StructInfo, var: ast.Var, scope: OlderScope) -> Evaluating:
    """`cast` to the type of an annotation, then `check_annotation` of its shape, in this scope."""
    value = scope.value(var)
    assert value is not None
    cast(m, value, type_of(info))
    match info:
        case ast.TensorStructInfo(shape=ast.Var() as holder):
            held = yield evaluation(m, holder, scope)
            assert isinstance(value, Tensor)
            compare_shapes(ShapeValue(value.shape), held)
            return value
        case ast.ShapeStructInfo(values=tuple() as values):
            matched(value, values, scope)
            return value
    return (yield in_scope(m, check_annotation(var, shape_of_annotation(info)), scope))


@rule("OE-cast", "older evaluation")
def cast(m: OlderMachine, value: Value, wanted: Type) -> Value:
    """The value, if it is one of the type."""
    found = type_of_value(value, m.known)
    if not is_subtype(found, wanted):
        raise CheckStop("OE-cast-type", f"expected {wanted}, found {found}", value=value)
    return value


def compare_shapes(found: Value, wanted: Value) -> Value:
    """`dynamically_check_shapes`: compare the shape of a value with a computed one."""
    if not (isinstance(found, ShapeValue) and isinstance(wanted, ShapeValue)):
        raise CheckStop("OE-match-kind", "expected a shape on both sides of the comparison")
    if found.values != wanted.values:
        raise CheckStop("OE-match-dimension", f"expected {wanted.values}, found {found.values}")
    return TupleValue(())


_BINDINGS: dict[type, OlderRule] = {ast.VarBinding: bind, ast.MatchCast: match_binding}


def type_of_value(value: Value, known: OlderDerivation) -> Type:
    """The most specific type of a value; of a closure that of its function."""
    match value:
        case Tensor(data=data):
            return DynTensorType(data.ndim, dtype(value.dtype))
        case ShapeValue():
            return SHAPE
        case TupleValue(fields=fields):
            return TupleType(tuple(type_of_value(field, known) for field in fields))
        case Closure(code=OlderClosure() as code):
            found = known.types.get(code.function)
            return found if isinstance(found, FuncType) else signature(code.function)
    return OBJECT
