"""Conversion of Relax values to tensors and scalars of tensor expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import (
    Expr,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.nodes.python_places import type_name
from rlx.te.errors import fail, here
from rlx.te.scalar import Scalar, scalar
from rlx.te.tensor import Operation, Tensor, buffer_name

Info = Callable[[Expr], StructInfo | None]


def te_tensor(expr: Expr, struct_info: StructInfo | None = None, name: str | None = None) -> Tensor:
    """A Relax tensor as a tensor of tensor expressions.

    Parameters
    ----------
    expr
        A tensor: a variable, or with ``struct_info`` any expression.
    struct_info
        Its annotation, if the expression has none.
    name
        The name of its buffer; by default that of the variable.

    Raises
    ------
    TensorExpressionError
        If its shape or element type is unknown: cast it first.
    """
    if isinstance(expr, Tensor):
        return expr
    given = None if name is None else buffer_name(name)
    if not isinstance(expr, Expr):
        fail(f"expected a tensor of Relax, found {type_name(expr)}")
    info = struct_info if struct_info is not None else annotated(expr)
    if not isinstance(info, TensorStructInfo):
        fail(f"expected a tensor, found {_shown(expr, info)}")
    dims = dimensions(info)
    if dims is None:
        fail(
            f"the shape of {_shown(expr, info)} is not known: "
            "bind it with emit_match_cast, or R.match_cast"
        )
    if info.dtype.is_void:
        fail(
            f"the element type of {_shown(expr, info)} is not known: "
            "bind it with a cast that gives it"
        )
    word = given or _hint(expr)
    return Tensor(Operation(word, place=here()), 0, word, dims, info.dtype, expr)


def dimensions(info: TensorStructInfo) -> tuple[Scalar, ...] | None:
    """The dimensions of a tensor, if all are known."""
    if isinstance(info.shape, ast.ShapeExpr):
        return tuple(map(scalar, info.shape.values))
    if isinstance(info.shape, ast.Var):
        held = info.shape.struct_info_annotation
        if isinstance(held, ShapeStructInfo) and held.values is not None:
            return tuple(map(scalar, held.values))
    return () if info.shape is None and info.ndim == 0 else None


def annotated(expr: Expr) -> StructInfo | None:
    """The struct info that an expression itself gives."""
    match expr:
        case ast.Var(struct_info_annotation=info):
            return info
        case ast.Constant(data=data) if data.shape is not None:
            shape = ast.ShapeExpr(tuple(map(tir.IntImm, data.shape)))
            return TensorStructInfo(shape, data.dtype, len(data.shape))
        case ast.ShapeExpr(values=values):
            return ShapeStructInfo(values, len(values))
        case ast.PrimValue(value=value):
            return PrimStructInfo(tir.type_of(value), value)
        case ast.Tuple(fields=fields):
            known = [annotated(field) for field in fields]
            if any(info is None for info in known):
                return None
            return TupleStructInfo(tuple(info for info in known if info is not None))
        case ast.TupleGetItem(tuple_value=whole, index=index):
            info = annotated(whole)
            return info.fields[index] if isinstance(info, TupleStructInfo) else None
    return None


def alike(given: Any, parts: list[Any]) -> Any:
    """The parts as a tuple, list or named tuple, like the original."""
    make = getattr(type(given), "_make", type(given))
    return make(parts)


class Converter:
    """Converts the arguments of a function of tensor expressions. `info`: returns the struct info
    of an expression.

    Attributes
    ----------
    tensors
        The tensors made for Relax values, in order; one for each use of a value, as in TVM.
    scalars
        The scalars made for variables that hold one that is not known.
    """

    def __init__(self, info: Info = annotated) -> None:
        self._info = info
        self.tensors: list[Tensor] = []
        self.scalars: dict[ast.Var, tir.Var] = {}

    def __call__(self, given: Any) -> Any:
        """A value of Relax converted, in tuples, lists and mappings too; everything else as it is.
        Raises TensorExpressionError if too little is known of a value.
        """
        match given:
            case Expr():
                return self.value(given)
            case tir.PrimExpr():
                return scalar(given)
            case tuple() | list():
                return alike(given, [self(each) for each in given])
            case Mapping():
                return {key: self(each) for key, each in given.items()}
        return given

    def value(self, expr: Expr) -> Any:
        """Convert a Relax value: a tensor, a tuple, a shape or a scalar."""
        match expr:
            case ast.Tuple(fields=fields):
                return tuple(map(self.value, fields))
            case ast.StringImm(value=text):
                return text
            case ast.DataTypeImm(value=kind):
                return kind
        info = self._info(expr)
        match info:
            case TensorStructInfo():
                return self.tensor(expr, info)
            case TupleStructInfo(fields=parts):
                return tuple(self.field(expr, k, each) for k, each in enumerate(parts))
            case ShapeStructInfo(values=values) if values is not None:
                return tuple(map(scalar, values))
            case PrimStructInfo(value=value) if value is not None:
                return scalar(value)
        if isinstance(expr, ast.Var) and expr.shape_var is not None:
            return scalar(expr.shape_var)
        if isinstance(expr, ast.Var) and isinstance(info, PrimStructInfo):
            return scalar(self.scalars.setdefault(expr, tir.Var(_hint(expr), info.dtype)))
        fail(f"too little is known of {_shown(expr, info)}: bind it with a more precise cast")

    def field(self, whole: Expr, index: int, info: StructInfo) -> Any:
        """A field of a tuple that a variable holds."""
        part = ast.TupleGetItem(whole, index)
        if isinstance(info, TensorStructInfo):
            return self.tensor(part, info)
        other = Converter(lambda expr: info if expr is part else self._info(expr))
        return other.value(part)

    def tensor(self, expr: Expr, info: StructInfo) -> Tensor:
        """A tensor for a value."""
        found = te_tensor(expr, info)
        self.tensors.append(found)
        return found


def _hint(expr: Expr) -> str:
    match expr:
        case ast.Var(name_hint=name):
            return re.sub(r"\W", "_", name) if name.isidentifier() else "x"
        case ast.TupleGetItem(tuple_value=ast.Var(name_hint=name), index=index):
            return f"{name}_{index}"
        case ast.Constant():
            return "constant"
    return "x"


def _shown(expr: Expr, info: StructInfo | None) -> str:
    from rlx.grammar.print.printer import show

    what = expr.name_hint if isinstance(expr, ast.Var) else type(expr).__name__.lower()
    return what if info is None else f"{what}: {show(info)}"
