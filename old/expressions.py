"""Types and shapes of expressions that follow from their parts: OT-… and OS-… of one name."""

from __future__ import annotations

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.dtype import dtype
from rlx.old.annotations import insert_cast
from rlx.old.derivation_state import OlderDerivation
from rlx.old.order import find_lub, is_subtype
from rlx.old.shape_exprs import UNKNOWN, RuntimeDepShape, can_prove_equal
from rlx.old.types import OBJECT, SHAPE, DynTensorType, TupleType, Type
from rlx.spec.registry import rule

CONDITION = DynTensorType(0, dtype("bool"))


def is_boolean(node: Expr) -> bool:
    """Whether an expression is `True` or `False`."""
    value = node.value if isinstance(node, ast.PrimValue) else None
    return isinstance(value, tir.IntImm) and value.dtype == CONDITION.dtype


@rule("OT-var", "checked type")
def variable_type(state: OlderDerivation, var: Expr) -> Type:
    """A variable has the type that Γ gives it; one that it does not know was reported already."""
    if var not in state.types:
        state.doubt(var)
        return OBJECT
    return state.types[var]


@rule("OT-constant", "checked type")
def constant_type(node: ast.Constant | ast.PrimValue) -> Type:
    """The rank and the element type of the data; `True` and `False` have rank 0."""
    if isinstance(node, ast.PrimValue):
        return CONDITION
    shape = node.data.shape
    return DynTensorType(-1 if shape is None else len(shape), node.data.dtype)


@rule("OS-constant", "shape computation")
def constant_shape(node: ast.Constant | ast.PrimValue) -> Expr:
    """The concrete shape of the data."""
    if isinstance(node, ast.PrimValue):
        return ast.ShapeExpr(())
    if node.data.shape is None:
        return UNKNOWN
    return ast.ShapeExpr(tuple(map(tir.IntImm, node.data.shape)))


@rule("OT-shape", "checked type")
def shape_type(node: ast.ShapeExpr | RuntimeDepShape) -> Type:
    """A shape literal, and RuntimeDepShape, are shapes."""
    return SHAPE


@rule("OS-shape", "shape computation")
def shape_shape(node: ast.ShapeExpr) -> Expr:
    """A shape is one and has none."""
    return UNKNOWN


@rule("OT-tuple", "checked type")
def tuple_type(state: OlderDerivation, node: ast.Tuple) -> Type:
    """The types of the fields."""
    return TupleType(tuple(map(state.type, node.fields)))


@rule("OS-tuple", "shape computation")
def tuple_shape(state: OlderDerivation, node: ast.Tuple) -> Expr:
    """The shapes of the fields."""
    return ast.Tuple(tuple(map(state.shape, node.fields)))


@rule("OT-field", "checked type")
def field_type(state: OlderDerivation, node: ast.TupleGetItem) -> Type:
    """The type of the field, counted from 0 (ledger OLDFIELD)."""
    whole = state.type(node.tuple_value)
    if state.poisoned(node.tuple_value):
        state.doubt(node)
        return OBJECT
    if not isinstance(whole, TupleType):
        message = f"only a tuple has fields, but this is {whole}"
        state.add(
            "OT-field-tuple", "error", message, node.span, help=cast_help(whole, "R.Tuple(…)")
        )
    elif not 0 <= node.index < len(whole.fields):
        message = f"the tuple has {len(whole.fields)} fields; index {node.index} is out of range"
        state.add("OT-field-index", "error", message, node.span)
    else:
        return whole.fields[node.index]
    state.doubt(node)
    return OBJECT


def cast_help(found: Type, wanted: str) -> str | None:
    """The help where an object may be of the type that is expected."""
    return f"insert a cast: R.cast(…, type_args={wanted})" if found == OBJECT else None


@rule("OS-field", "shape computation")
def field_shape(state: OlderDerivation, node: ast.TupleGetItem) -> Expr:
    """The shape of the field; of a call that gives a tuple, the field of the call."""
    shape = state.shape(node.tuple_value)
    match shape:
        case ast.Tuple(fields=fields) if 0 <= node.index < len(fields):
            return fields[node.index]
        case ast.Call() | ast.TupleGetItem():
            return ast.TupleGetItem(shape, node.index)
    return UNKNOWN


@rule("OT-if", "checked type")
def if_type(state: OlderDerivation, node: ast.If) -> Type:
    """The least upper bound of the branches; the condition is a Boolean tensor of rank 0."""
    found = state.type(node.cond)
    if found != CONDITION and not state.poisoned(node.cond):
        cast = is_subtype(CONDITION, found)
        help = insert_cast(CONDITION) if cast else None
        message = f"the condition of an if is {found}, expected {CONDITION}"
        state.add("OT-if-condition", "error", message, node.cond_span or node.span, help=help)
    branches = (node.true_branch, node.false_branch)
    state.inherit(node, branches)
    return find_lub(*map(state.type, branches))


@rule("OS-if", "shape computation")
def if_shape(state: OlderDerivation, node: ast.If) -> Expr:
    """The shape of both branches, if they are proved to have one."""
    one, other = state.shape(node.true_branch), state.shape(node.false_branch)
    return one if can_prove_equal(one, other, state.prover) else UNKNOWN
