"""The short form of struct info, expressions and dimensions in messages."""

from __future__ import annotations

import re

from rlx.grammar import ast, tir
from rlx.grammar.ast import StructInfo
from rlx.grammar.dtype import DataType
from rlx.grammar.long_dimensions import abbreviated, is_long
from rlx.grammar.node import Node, tuple_text
from rlx.grammar.printer_info import device_text
from rlx.grammar.printer_prim import in_shape
from rlx.grammar.visit import recursion_room

_PRIM = in_shape({})
_LONG = 200
_TYPED_INTEGER = re.compile(r"T\.u?int\d+\((-?\d+)\)")


def show(node: Node) -> str:
    """A node in the short form of messages: ``Tensor((n, 4), float32)``.

    Texts of more than about 200 characters are shortened in the middle.

    Parameters
    ----------
    node
        Struct info, a prim expression, a variable, an operator, a data type or any Relax
        expression.
    """
    match node:
        case StructInfo():
            with recursion_room():
                return _info(node)
        case tir.PrimExpr():
            return _shortened(node)
        case DataType():
            return str(node)
        case ast.Var(name_hint=name) | ast.GlobalVar(name_hint=name):
            return name
        case ast.VDevice():
            return device_text(node)
    from rlx.grammar.printer_pieces import print_expr

    return _elided(print_expr(node)) if isinstance(node, ast.Expr) else repr(node)


def _dim(value: tir.PrimExpr) -> str:
    """A dimension; the width of its literals does not matter to a reader."""
    text = abbreviated(value) if is_long(value) else _PRIM.text(value)
    return _TYPED_INTEGER.sub(r"\1", text)


def _dims(values: tuple[tir.PrimExpr, ...]) -> str:
    return tuple_text([_shortened(v) for v in values])


def _shortened(value: tir.PrimExpr) -> str:
    return _dim(value) if is_long(value) else _elided(_dim(value))


def _info(info: StructInfo) -> str:
    match info:
        case ast.TensorStructInfo():
            return _tensor(info)
        case ast.ShapeStructInfo(values=None, ndim=ndim):
            return "Shape" if ndim < 0 else f"Shape(ndim={ndim})"
        case ast.ShapeStructInfo(values=values):
            return f"Shape({_dims(values or ())})"
        case ast.ObjectStructInfo():
            return "Object"
        case ast.PrimStructInfo(dtype=dtype, value=value):
            return f"Prim({dtype})" if value is None else f"Prim({dtype}, {show(value)})"
        case ast.TupleStructInfo(fields=fields):
            return f"Tuple({', '.join([_info(f) for f in fields])})"
        case ast.FuncStructInfo():
            return _callable(info)
    raise TypeError(f"not struct info: {type(info).__name__}")


def _tensor(info: ast.TensorStructInfo) -> str:
    parts = []
    match info.shape:
        case ast.ShapeExpr(values=values):
            parts.append(_dims(values))
        case ast.Expr() as shape:
            parts.append(show(shape))
    if not info.dtype.is_void:
        parts.append(str(info.dtype))
    if info.ndim >= 0 and not isinstance(info.shape, ast.ShapeExpr):
        parts.append(f"ndim={info.ndim}")
    if info.vdevice is not None:
        parts.append(device_text(info.vdevice))
    return f"Tensor({', '.join(parts)})" if parts else "Tensor"


def _callable(info: ast.FuncStructInfo) -> str:
    impure = "" if info.purity else ", impure"
    if info.params is None:
        return f"Callable(... -> {_info(info.ret)}{impure})"
    params = ", ".join([_info(p) for p in info.params])
    return f"Callable(({params}) -> {_info(info.ret)}{impure})"


def _elided(text: str) -> str:
    """A text of at most about 200 characters: the middle of a longer one is left out."""
    if len(text) <= _LONG:
        return text
    return f"{text[: _LONG * 2 // 3]} … {text[-_LONG // 3 :]}"
