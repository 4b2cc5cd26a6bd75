"""The short form of struct info, expressions and dimensions in messages."""

from __future__ import annotations

import re
from collections.abc import Callable

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.dtype import INT64, DataType
from rlx.grammar.nodes.node import Node, tuple_text
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.print.info import TooLongError, device_text
from rlx.grammar.print.prim import Part, Text, in_shape
from rlx.grammar.stack import recursion_room

SHORT = 60
"""The number of nodes, repeated ones counted each time, up to which a dimension is written out."""
_PART = 12
_EXPLAINED = 4
"""The maximum number of names that are explained."""


def is_long(dim: PrimExpr) -> bool:
    """Whether a dimension is too long to be written out and shares parts, so that names for them
    help. At most :data:`SHORT` nodes are visited for one that is short.
    """
    stack, count = [dim], 0
    while stack:
        node = stack.pop()
        count += 1
        if count > SHORT:
            return _shares(dim)
        stack.extend(tir.children(node))
    return False


def _shares(dim: PrimExpr) -> bool:
    """Whether an operation occurs more than once in a dimension."""
    used: set[PrimExpr] = set()
    for node in tir.postorder(dim):
        for child in tir.children(node):
            if child in used and tir.children(child):
                return True
            used.add(child)
    return False


def abbreviated(dim: PrimExpr) -> str:
    """The text of a long dimension, with its names and their explanation."""
    parts = _parts(dim)
    taken = {var.name for var in tir.free_vars(dim)}
    names: dict[PrimExpr, str] = {}
    number = 0
    asked = [dim]
    for whole in asked:
        for part in _mentioned(whole, parts):
            if part not in names:
                number += 1
                while f"d{number}" in taken:
                    number += 1
                names[part] = f"d{number}"
                if len(asked) <= _EXPLAINED:
                    asked.append(part)
    first, *explained = [_text(part, names) for part in asked]
    shown = [f"{names[p]} = {text}" for p, text in zip(asked[1:], explained, strict=True)]
    if len(names) > len(shown):
        shown.append("…")
    return f"{first}, where {', '.join(shown)}" if shown else first


def _parts(dim: PrimExpr) -> set[PrimExpr]:
    """The parts that get a name: those whose text, with names inside it, has become long."""
    found: set[PrimExpr] = set()

    def length(node: PrimExpr, operands: list[int]) -> int:
        total = 1 + sum(operands)
        if total > _PART and node is not dim:
            found.add(node)
            return 1
        return total

    tir.fold(dim, length)
    return found


def _mentioned(whole: PrimExpr, parts: set[PrimExpr]) -> list[PrimExpr]:
    """The named parts in the text of a part, in the order of the text."""
    inside = tir.reached(tir.children(whole), lambda e: () if e in parts else tir.children(e))
    return [node for node in inside if node in parts]


def _text(part: PrimExpr, names: dict[PrimExpr, str]) -> str:
    return _Abbreviated(part, names).run(part)


class _Abbreviated(Text):
    """Prints one part; named parts inside it are written by their names."""

    def __init__(self, whole: PrimExpr, names: dict[PrimExpr, str]) -> None:
        super().__init__({}, INT64, str)
        self._whole = whole
        self._parts = names

    def parts(self, expr: PrimExpr, required: int) -> list[Part]:
        """The name of a named part, otherwise its text."""
        name = None if expr is self._whole else self._parts.get(expr)
        return super().parts(expr, required) if name is None else [name]


_PRIM = in_shape({})
_LONG = 200
_LONGEST = 1_000
"""The characters of an annotation after which the fields of its tuples, the parameters of its
functions and further dimensions are left out."""
SPELLED = 10_000
"""The characters of an annotation after which its short form is written."""
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


def spelled(info: StructInfo, spelling: Callable[[StructInfo], str] = str) -> str:
    """Struct info as a program spells it, or in the short form of messages if that is too long."""
    try:
        text = spelling(info)
    except TooLongError:
        return show(info)
    return text if len(text) <= SPELLED else show(info)


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
        self._room -= len(text)
        return text

    def _each(self, infos: tuple[StructInfo, ...]) -> list[str]:
        """The texts of some annotations, as far as there is room."""
        texts = []
        for info in infos:
            if self._room <= 0:
                texts.append("…")
                break
            texts.append(self.text(info))
        return texts

    def _dims(self, values: tuple[tir.PrimExpr, ...]) -> str:
        texts = []
        for value in values:
            if self._room <= 0:
                texts.append("…")
                break
            texts.append(self._said(_shortened(value)))
        return tuple_text(texts)

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
                return f"{self._said('Tuple')}({', '.join(self._each(fields))})"
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
        params = ", ".join(self._each(info.params))
        ret = "…" if self._room <= 0 else self.text(info.ret)
        return f"Callable(({params}) -> {ret}{impure})"


def _elided(text: str) -> str:
    """A text of at most about 200 characters: the middle of a longer one is left out."""
    if len(text) <= _LONG:
        return text
    return f"{text[: _LONG * 2 // 3]} … {text[-_LONG // 3 :]}"
