"""The short form of struct info, expressions and dimensions in messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TypeVar

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.node import Node, tuple_text
from rlx.grammar.nodes.struct_infos import all_parts, numbers
from rlx.grammar.print.info import TooLongError, device_text
from rlx.grammar.print.long_dimensions import abbreviated, is_long
from rlx.grammar.print.prim import in_shape
from rlx.grammar.stack import recursion_room

P = TypeVar("P")

_PRIM = in_shape({})
_LONG = 200
_LONGEST = 1_000
"""The characters of an annotation after which the fields of its tuples, the parameters of its
functions and further dimensions are left out."""
SPELLED = 10_000
"""The characters of an annotation after which its short form is written."""
_NODES = SPELLED // 2
"""The nodes of a dimension that certainly takes more: each takes at least two characters on average."""
_TYPED_INTEGER = re.compile(r"T\.u?int\d+\((-?\d+)\)")


def show(node: Node) -> str:
    """A node in the short form of messages: ``Tensor((n, 4), float32)``.

    Texts of more than about 200 characters are shortened in the middle; of annotations that are
    longer than about 1,000 characters, the rest is left out.

    Parameters
    ----------
    node
        Struct info, a prim expression, a variable, an operator, a data type or any Relax
        expression.
    """
    match node:
        case StructInfo():
            with recursion_room():
                return _Shortening().text(node)
        case tir.PrimExpr():
            return _shortened(node)
        case DataType():
            return str(node)
        case ast.Var(name_hint=name) | ast.GlobalVar(name_hint=name):
            return name
        case ast.VDevice():
            return device_text(node)
    from rlx.grammar.print.pieces import print_expr

    return _elided(print_expr(node)) if isinstance(node, ast.Expr) else repr(node)


def spelled(
    info: StructInfo, spelling: Callable[[StructInfo], str] = str, longest: int = SPELLED
) -> str:
    """Struct info as a program spells it, or in the short form of messages if that takes more than so
    many characters.

    Dimensions and tuples that share their parts may be exponentially long; these are not written to
    find out.
    """
    most = longest // 2  # each part and each node takes at least two characters on average
    parts = list(islice(all_parts(info), most + 1))
    if len(parts) > most or any(is_long(dim, most) for part in parts for dim in numbers(part)):
        return show(info)
    try:
        text = spelling(info)
    except TooLongError:
        return show(info)
    return text if len(text) <= longest else show(info)


def spelled_dim(value: tir.PrimExpr) -> str:
    """A dimension as a program spells it, or in short form as :func:`spelled`."""
    return show(value) if is_long(value, _NODES) else str(value)


def _dim(value: tir.PrimExpr) -> str:
    """A dimension; the width of its literals does not matter to a reader."""
    text = abbreviated(value) if is_long(value) else _PRIM.text(value)
    return _TYPED_INTEGER.sub(r"\1", text)


def _shortened(value: tir.PrimExpr) -> str:
    return _dim(value) if is_long(value) else _elided(_dim(value))


class _Shortening:
    """The text of an annotation, and the room that is left for it.

    The text of an annotation may be exponentially longer than the annotation, whose tuples may
    share their fields.
    """

    __slots__ = ("_room",)

    def __init__(self) -> None:
        self._room = _LONGEST

    def _said(self, text: str) -> str:
        """Return the text, after taking its length from the room."""
        self._room -= len(text)
        return text

    def _each(self, parts: Sequence[P], text: Callable[[P], str]) -> list[str]:
        """The texts of some parts, as far as there is room."""
        texts = []
        for part in parts:
            if self._room <= 0:
                texts.append("…")
                break
            texts.append(text(part))
        return texts

    def _dims(self, values: tuple[tir.PrimExpr, ...]) -> str:
        return tuple_text(self._each(values, lambda value: self._said(_shortened(value))))

    def text(self, info: StructInfo) -> str:
        """The text of an annotation, or of its beginning."""
        match info:
            case ast.TensorStructInfo():
                return self._tensor(info)
            case ast.ShapeStructInfo(values=None, ndim=ndim):
                return self._said("Shape" if ndim < 0 else f"Shape(ndim={ndim})")
            case ast.ShapeStructInfo(values=values):
                return f"{self._said('Shape')}({self._dims(values or ())})"
            case ast.ObjectStructInfo():
                return self._said("Object")
            case ast.PrimStructInfo(dtype=dtype, value=value):
                said = f"Prim({dtype})" if value is None else f"Prim({dtype}, {show(value)})"
                return self._said(said)
            case ast.TupleStructInfo(fields=fields):
                return f"{self._said('Tuple')}({', '.join(self._each(fields, self.text))})"
            case ast.FuncStructInfo():
                return self._callable(info)
        raise TypeError(f"not struct info: {type(info).__name__}")

    def _tensor(self, info: ast.TensorStructInfo) -> str:
        self._said("Tensor")
        parts = []
        match info.shape:
            case ast.ShapeExpr(values=values):
                parts.append(self._dims(values))
            case ast.Expr() as shape:
                parts.append(self._said(show(shape)))
        if not info.dtype.is_void:
            parts.append(self._said(str(info.dtype)))
        if info.ndim >= 0 and not isinstance(info.shape, ast.ShapeExpr):
            parts.append(f"ndim={info.ndim}")
        if info.vdevice is not None:
            parts.append(self._said(device_text(info.vdevice)))
        return f"Tensor({', '.join(parts)})" if parts else "Tensor"

    def _callable(self, info: ast.FuncStructInfo) -> str:
        self._said("Callable")
        impure = "" if info.purity else ", impure"
        if info.params is None:
            return f"Callable(... -> {self.text(info.ret)}{impure})"
        params = ", ".join(self._each(info.params, self.text))
        ret = "…" if self._room <= 0 else self.text(info.ret)
        return f"Callable(({params}) -> {ret}{impure})"


def _elided(text: str) -> str:
    """A text of at most about 200 characters: the middle of a longer one is left out."""
    if len(text) <= _LONG:
        return text
    return f"{text[: _LONG * 2 // 3]} … {text[-_LONG // 3 :]}"
