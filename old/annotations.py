"""Annotations of the syntax tree as the specification of 2022 reads them: a type and a shape.

What its types and shape computations have no word for is reported as OMIX-annotation.
"""

from __future__ import annotations

from collections.abc import Callable

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.dtype import lacking
from rlx.grammar.nodes.struct_infos import children
from rlx.old.repeated import once_for_each
from rlx.old.shape_exprs import UNKNOWN, RuntimeDepShape
from rlx.old.types import OBJECT, SHAPE, DynTensorType, FuncType, ShapeType, TupleType, Type
from rlx.spec.registry import refuted, rule

Complain = Callable[[str, str], None]
"""Takes a code and a message."""


@once_for_each
def type_of(info: StructInfo) -> Type:
    """The type of an annotation, without its dimensions."""
    match info:
        case ast.TensorStructInfo(shape=shape, dtype=dtype, ndim=ndim):
            return DynTensorType(
                len(shape.values) if isinstance(shape, ast.ShapeExpr) else ndim, dtype
            )
        case ast.ShapeStructInfo():
            return SHAPE
        case ast.TupleStructInfo(fields=fields):
            return TupleType(tuple(map(type_of, fields)))
        case ast.FuncStructInfo(params=tuple() as params, ret=ret, purity=pure):
            return FuncType(tuple(map(type_of, params)), type_of(ret), pure)
    return OBJECT


@once_for_each
def shape_of_annotation(info: StructInfo | None) -> Expr:
    """The shape annotation: RuntimeDepShape where none is given.

    A variable that holds a shape is no shape computation: it is RuntimeDepShape, too.
    """
    match info:
        case ast.TensorStructInfo(shape=shape) if shape is not None and not isinstance(
            shape, ast.Var
        ):
            return shape
        case ast.TupleStructInfo(fields=fields):
            return ast.Tuple(tuple(map(shape_of_annotation, fields)))
    return UNKNOWN


@once_for_each
def struct_info(type: Type, shape: Expr) -> StructInfo:
    """The struct info that says what a type and a `shape_` say together."""
    match type, shape:
        case DynTensorType(dtype=dtype), ast.ShapeExpr(values=values):
            return ast.TensorStructInfo(shape, dtype, len(values))
        case DynTensorType(ndim=ndim, dtype=dtype), _:
            return ast.TensorStructInfo(None, dtype, ndim)
        case ShapeType(), _:
            return ast.ShapeStructInfo()
        case TupleType(fields=types), ast.Tuple(fields=shapes) if len(types) == len(shapes):
            return ast.TupleStructInfo(tuple(map(struct_info, types, shapes)))
        case TupleType(fields=types), _:
            return ast.TupleStructInfo(tuple(struct_info(t, UNKNOWN) for t in types))
        case FuncType(arg_types=taken, ret_type=ret, pure=pure), _:
            params = tuple(struct_info(each, UNKNOWN) for each in taken)
            return ast.FuncStructInfo(params, struct_info(ret, UNKNOWN), pure)
    return ast.ObjectStructInfo()


def insert_cast(wanted: Type) -> str:
    """The help where a value may be of the type that is expected."""
    from rlx.grammar.print.printer import print_node

    return f"insert a cast: R.cast(…, type_args={print_node(struct_info(wanted, UNKNOWN), '2022')})"


@rule("OMIX-annotation", "well-formed")
def has_older_words(info: StructInfo, complain: Complain) -> bool:
    """Whether an annotation says only what the older system can; complains once if it does not."""
    stack, seen = [(info, False)], set[tuple[int, bool]]()
    while stack:
        part, nested = stack.pop()
        if (id(part), nested) in seen:
            continue
        seen.add((id(part), nested))
        reason = _beyond(part, nested)
        if reason is not None:
            refuted("OMIX-annotation-word")
            complain("OMIX-annotation-word", f"the specification of 2022 has no {reason}")
            return False
        inside = nested or isinstance(part, ast.FuncStructInfo)
        stack += [(inner, inside) for inner in reversed(children(part))]
    return True


def _beyond(info: StructInfo, nested: bool) -> str | None:
    """The part of an annotation that the older system does not know; None if there is none."""
    match info:
        case ast.PrimStructInfo():
            return "scalars beside tensors: use a tensor of rank 0"
        case ast.TensorStructInfo(dtype=kind) if lacking(kind) is not None:
            return f"tensors with elements of type {kind}"
        case ast.TensorStructInfo(vdevice=device) if device is not None:
            return "virtual devices"
        case ast.ShapeStructInfo(values=tuple()):
            return "types of shapes with given dimensions: use `R.Shape`, and `R.match_shape`"
        case ast.ShapeStructInfo(ndim=ndim) if ndim >= 0:
            return "types of shapes with a given rank: use `R.Shape`"
        case ast.FuncStructInfo(params=None):
            return "types of functions without parameters' types: use `R.Object`"
        case ast.TensorStructInfo(shape=shape) if nested and shape is not None:
            return "shapes in the type of a function: leave out the dimensions"
    return None


def is_unknown(shape: Expr) -> bool:
    """Whether the text leaves a shape open."""
    return isinstance(shape, RuntimeDepShape)
