"""The argument types of the functions in ``rlx.op``, by the kinds of the operators' parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.dtype import INT64, DataType, limits
from rlx.grammar.nodes.overloaded import element_type, expr, prim, python_number
from rlx.grammar.nodes.python_places import described
from rlx.grammar.nodes.tir import PrimExpr


class Array(Protocol):
    """A NumPy array or scalar, which is converted to a constant."""

    @property
    def dtype(self) -> Any:
        """The element type."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""

    def tolist(self) -> Any:
        """The elements."""


Value = Expr | Array
Operand = Value | int | float
Dimension = int | PrimExpr
Scalar = int | float | PrimExpr | Expr
ShapeLike = Expr | Sequence[Dimension]
Type = str | DataType
Info = StructInfo | str

WORDS = {
    "tensor": "Value",
    "operand": "Operand",
    "tensors": "Value | Sequence[Value]",
    "one_or_tensors": "Value | Sequence[Value]",
    "shape": "ShapeLike",
    "whole_shape": "ShapeLike",
    "new_shape": "ShapeLike",
    "size": "ShapeLike | Dimension",
    "prim": "Scalar",
    "prims": "Value | Sequence[Scalar]",
    "int": "int",
    "count": "int",
    "ints": "int | Sequence[int]",
    "longs": "int | Sequence[int]",
    "list": "Sequence[int]",
    "int_or_ints": "int | Sequence[int]",
    "number": "float",
    "str": "str",
    "str_expr": "str | Value",
    "dtype": "Type",
    "dtype_expr": "Type | Value",
    "int_expr": "int | Value",
    "types": "Info | Sequence[Info]",
    "listed": "object",
    "any": "object",
    "expr": "object",
    "whole": "object",
    "tuple": "Value | Sequence[object]",
}
"""The type of each kind of parameter in the stub file."""


def _shape(given: Any) -> object:
    if isinstance(given, (list, tuple)) and not any(isinstance(part, Expr) for part in given):
        return ast.ShapeExpr(tuple([prim(part) for part in given]))
    return expr(given)


def _size(given: Any) -> object:
    return ast.PrimValue(prim(given)) if isinstance(given, int | PrimExpr) else _shape(given)


def _scalar(given: Any) -> object:
    return given if isinstance(given, Expr) else ast.PrimValue(prim(given))


def _scalars(given: Any) -> object:
    if isinstance(given, (list, tuple)):
        return ast.Tuple(tuple([_scalar(part) for part in given]))  # type: ignore[misc]
    return expr(given)


def _text(given: Any) -> object:
    return ast.StringImm(given) if isinstance(given, str) else expr(given)


def _type(given: Any) -> object:
    return given if isinstance(given, Expr) else ast.DataTypeImm(element_type(given))


_LEAST, _MOST = limits(INT64)


def attribute(given: Any) -> object:
    """The plain value of an attribute: lists become tuples, and NumPy scalars become numbers.
    Raises TypeError or ValueError if a text cannot express it.
    """
    kind = type(given)
    if kind is list or kind is tuple:
        return tuple([_part(part) for part in given])
    if given is None or kind is str or kind is bool or kind is float:
        return given
    if kind is int and _LEAST <= given <= _MOST:
        return given
    value = python_number(given)
    if isinstance(value, bool | int | float):
        if isinstance(value, int) and not _LEAST <= value <= _MOST:
            raise ValueError(f"the integer {value} has more than 64 bits")
        return value
    if isinstance(value, str | DataType | Expr | PrimExpr):
        return value
    match value:
        case tuple() | list():
            return tuple([_part(part) for part in value])
        case Mapping():
            return {str(name): _part(part) for name, part in value.items()}
    return str(element_type(value))


def _part(given: Any) -> object:
    """A value in a list of plain values: a literal, but no variable."""
    if type(given) is int and _LEAST <= given <= _MOST:
        return given
    if given is None or (isinstance(given, Expr) and not isinstance(given, _LITERALS)):
        raise TypeError(f"expected plain values in the list, found {described(given)}")
    return attribute(given)


_LITERALS = ast.PrimValue | ast.StringImm | ast.DataTypeImm | ast.Constant


ARGUMENTS: dict[str, Callable[[Any], object]] = {
    **dict.fromkeys(
        ("tensor", "operand", "tensors", "one_or_tensors", "expr", "whole", "tuple", "listed"), expr
    ),
    **dict.fromkeys(("shape", "whole_shape", "new_shape"), _shape),
    **dict.fromkeys(("prim", "int_expr"), _scalar),
    "size": _size,
    "prims": _scalars,
    "str_expr": _text,
    "dtype_expr": _type,
}
"""The conversions to arguments of a call, for the kinds that are arguments; all other kinds are
attributes.
"""

NUMBERS = frozenset(["tensor", "operand"])
"""The kinds for which a bare number is a constant with the other operand's element type."""

__all__ = ["ARGUMENTS", "NUMBERS", "WORDS", "attribute"]
