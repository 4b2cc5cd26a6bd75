"""Rules of bindings: their additions to Γ, and the shapes of the bound variables."""

from __future__ import annotations

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.node import Span
from rlx.old.annotations import insert_cast, is_unknown, shape_of_annotation, type_of
from rlx.old.derivation_state import OlderDerivation
from rlx.old.order import find_glb, is_subtype
from rlx.old.shape_exprs import UNKNOWN, can_prove_equal
from rlx.old.shape_exprs import text as shape_text
from rlx.old.types import OBJECT, SHAPE, DynTensorType, ObjectType, ShapeType, Type
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
    if var.struct_info_annotation is None and state.poisoned(value):
        state.doubt(var)


@rule("OT-bind", "older binding")
def bound_type(state: OlderDerivation, binding: ast.VarBinding) -> Type:
    """The annotation, which the value's type is below; without one the value's type."""
    found, wanted = state.type(binding.value), binding.var.struct_info_annotation
    if wanted is None:
        return found
    annotated = type_of(wanted)
    if state.poisoned(binding.value):
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
    if not proved and not state.poisoned(binding.value) and _has_type(state, binding):
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
    if not proved and not state.poisoned(binding.value):
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
    """The number of dimensions in a pattern of `R.match_shape`."""
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
    if state.poisoned(binding.value):
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
    if find_glb(found, wanted) is None and not state.poisoned(binding.value):
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
