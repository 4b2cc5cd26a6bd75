"""Types and shapes of calls: of operators, of packed functions, of closures."""

from __future__ import annotations

from rlx.checker.derive.calls import call as derive_call
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.old.annotations import insert_cast, shape_of_annotation, type_of
from rlx.old.derivation_state import OlderDerivation
from rlx.old.expressions import cast_help
from rlx.old.order import find_glb, is_subtype
from rlx.old.shape_exprs import UNKNOWN, is_closed
from rlx.old.substitution import UnificationError, substitute_shape
from rlx.old.types import OBJECT, FuncType, Type
from rlx.operators import lookup
from rlx.spec.registry import rule

PURE_PACKED = "relax.call_pure_packed"


def is_packed(node: ast.Call) -> bool:
    return isinstance(node.op, ast.ExternFunc) or node.op_name == PURE_PACKED


def derive(state: OlderDerivation, node: ast.Call) -> None:
    """Type and shape of a call, whose arguments were derived."""
    effect(state, node)
    if is_packed(node):
        state.set(node, packed_type(state, node), packed_shape(node))
    elif isinstance(node.op, ast.Op):
        found = inferred(state, node)
        state.set(node, operator_type(found), operator_shape(state, found))
    else:
        state.set(node, closure_type(state, node), closure_shape(state, node))


@rule("OT-effect", "checked type")
def effect(state: OlderDerivation, node: ast.Call) -> None:
    """A call in a dataflow block is of a function that is pure."""
    if is_pure(state, node):
        return
    state.impure = True
    if state.dataflow:
        message = "a dataflow block contains a call that may have side effects"
        state.add(
            "OT-effect-dataflow", "error", message, node.span, help="move it out of the block"
        )


def is_pure(state: OlderDerivation, node: ast.Call) -> bool:
    """Whether a call has no effects, as far as is declared."""
    if node.op_name == PURE_PACKED:
        return True
    if isinstance(node.op, ast.ExternFunc):
        return bool(node.attrs.get("pure"))
    if isinstance(node.op, ast.Op):
        operator = lookup(node.op.op_name)
        return operator is None or operator.pure
    found = state.type(node.op)
    return found.pure if isinstance(found, FuncType) else state.poisoned(node.op)


@rule("OT-extern", "checked type")
def packed_type(state: OlderDerivation, node: ast.Call) -> Type:
    """A packed function returns what the type argument says."""
    if len(node.sinfo_args) == 1:
        return type_of(node.sinfo_args[0])
    state.doubt(node)  # OWF10 has said so
    return OBJECT


@rule("OS-extern", "shape computation")
def packed_shape(node: ast.Call) -> Expr:
    """Nothing is known of the shape of what a packed function returns."""
    return UNKNOWN


def inferred(state: OlderDerivation, node: ast.Call) -> StructInfo:
    """The inference of an operator for a call: `FInferType` and `FInferShape` in one.

    What it finds wrong is added to the diagnostics.
    """
    for arg in (*node.args, *node.attrs.values()):
        if isinstance(arg, Expr) and arg in state.types:
            _tell(state, arg)
    return derive_call(state, node)


def _tell(state: OlderDerivation, arg: Expr) -> None:
    """Tell operators the known type and shape of an argument."""
    if isinstance(arg, ast.Tuple):
        for field in arg.fields:
            _tell(state, field)
    elif not isinstance(arg, (ast.PrimValue, ast.StringImm, ast.DataTypeImm, ast.ExternFunc)):
        state.info_of[arg] = state.view(arg)


@rule("OT-operator", "checked type")
def operator_type(found: StructInfo) -> Type:
    """`FInferType`: the type in what the operator infers."""
    return type_of(found)


@rule("OS-operator", "shape computation")
def operator_shape(state: OlderDerivation, found: StructInfo) -> Expr:
    """`FInferShape`: the shape in what the operator infers, in terms of variables in scope."""
    shape = shape_of_annotation(found)
    return shape if is_closed(shape, state.shape_vars, state.shapes) else UNKNOWN


@rule("OT-closure", "checked type")
def closure_type(state: OlderDerivation, node: ast.Call) -> Type:
    """A closure is called with as many arguments as it takes, each of the type that it takes."""
    function = state.type(node.op)
    if state.poisoned(node.op):
        state.doubt(node)
        return function.ret_type if isinstance(function, FuncType) else OBJECT
    if not isinstance(function, FuncType):
        message = f"only a function can be called, but this is {function}"
        help = cast_help(function, "R.Callable(…)")
        state.add("OT-closure-callee", "error", message, node.span, help=help)
        state.doubt(node)
        return OBJECT
    if len(function.arg_types) != len(node.args):
        message = f"the function takes {len(function.arg_types)} arguments, found {len(node.args)}"
        state.add("OT-closure-arity", "error", message, node.span)
        state.doubt(node)
        return function.ret_type
    for at, (arg, wanted) in enumerate(zip(node.args, function.arg_types, strict=True)):
        found = state.type(arg)
        if not is_subtype(found, wanted) and not state.poisoned(arg):
            span = node.arg_spans[at] if at < len(node.arg_spans) else node.span
            message = f"argument {at + 1} is {found}, expected {wanted}"
            cast = find_glb(found, wanted) is not None
            help = insert_cast(wanted) if cast else None
            state.add("OT-closure-argument", "error", message, span, help=help)
            state.doubt(node)
    return function.ret_type


@rule("OS-call", "shape computation")
def closure_shape(state: OlderDerivation, node: ast.Call) -> Expr:
    """The shape of the function's result with the arguments in the place of the parameters."""
    function = node.op if isinstance(node.op, ast.Function) else state.functions.get(node.op)
    if function is None or len(function.params) != len(node.args) or state.poisoned(node):
        return UNKNOWN
    ret_shape = shape_of_annotation(function.ret_struct_info)
    try:
        return substitute_shape(
            function.params,
            node.args,
            ret_shape,
            lambda each: _shape_of(state, function, each),
            {*state.shape_vars, *state.shapes},
            state.prover,
        )
    except UnificationError as error:
        message = f"an argument does not fit the shape of its parameter: {error}"
        state.add("OS-call-shape", "error", message, node.span)
        return UNKNOWN


def _shape_of(state: OlderDerivation, function: ast.Function, expr: Expr) -> Expr:
    """The shape of a parameter, or of an argument."""
    if isinstance(expr, ast.Var) and expr in function.params:
        return shape_of_annotation(expr.struct_info_annotation)
    return state.shape(expr)
