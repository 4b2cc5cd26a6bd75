"""Expressions as the texts that :mod:`rlx.solver.text` reads."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar import tir
from rlx.grammar.dtype import BOOL
from rlx.grammar.tir import PrimExpr

_INFIX: dict[type[PrimExpr], tuple[str, int]] = {
    tir.Or: ("or", 1),
    tir.And: ("and", 2),
    tir.EQ: ("==", 4),
    tir.NE: ("!=", 4),
    tir.LT: ("<", 4),
    tir.LE: ("<=", 4),
    tir.GT: (">", 4),
    tir.GE: (">=", 4),
    tir.Add: ("+", 9),
    tir.Sub: ("-", 9),
    tir.Mul: ("*", 10),
    tir.FloorDiv: ("//", 10),
    tir.FloorMod: ("%", 10),
}
_NAMES: Mapping[type[PrimExpr], str] = {
    tir.Min: "min",
    tir.Max: "max",
    tir.TruncDiv: "tdiv",
    tir.TruncMod: "tmod",
    tir.Select: "select",
}
_NOT, _SIGN, _ATOMIC = 3, 11, 13
_LONG = 14_000
"""Numbers of more bits have more digits than Python writes."""


def show(expr: PrimExpr) -> str:
    """The text of an expression (casts as ``int32(x)``); what is no integer arithmetic as TVMScript has it."""
    written: list[str] = []
    stack: list[_Piece] = [(expr, 0)]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            written.append(piece)
            continue
        node, level = piece
        pieces, own = _shown(node)
        if own < level:
            pieces = ["(", *pieces, ")"]
        stack.extend(reversed(pieces))
    return "".join(written)


_Piece = str | tuple[PrimExpr, int]
"""A piece of text, or an operand and how strongly what stands around it binds."""


def _shown(node: PrimExpr) -> tuple[list[_Piece], int]:
    """The pieces of a node, and how strongly its operator binds."""
    symbol = _INFIX.get(type(node))
    if symbol is not None and isinstance(node, tir.Binary):
        word, level = symbol
        if isinstance(node, tir.Sub) and isinstance(node.a, tir.IntImm) and node.a.value == 0:
            return ["-", (node.b, _SIGN)], _SIGN
        strict = level + 1 if isinstance(node, tir.Comparison) else level
        return [(node.a, strict), f" {word} ", (node.b, level + 1)], level
    match node:
        case tir.Var(name=name):
            return [name], _ATOMIC
        case tir.IntImm():
            return _number(node)
        case tir.Not(a=a):
            return ["not ", (a, _NOT)], _NOT
        case tir.Cast(dtype=to):
            return _called(str(to), node), _ATOMIC
        case tir.Call(op=op):
            return _called(op, node), _ATOMIC
    called = _NAMES.get(type(node))
    return ([_foreign(node)] if called is None else _called(called, node)), _ATOMIC


def _number(node: tir.IntImm) -> tuple[list[_Piece], int]:
    """A literal; of a type that exact integers do not stand for, with its type."""
    value, kind = node.value, node.dtype
    if kind == BOOL:
        return [str(bool(value))], _ATOMIC
    digits = str(value) if value.bit_length() < _LONG else hex(value)
    if kind.code == "uint" and kind.bits >= 64:
        return [f"{kind}({digits})"], _ATOMIC
    return [digits], _ATOMIC if value >= 0 else _SIGN


def _called(name: str, node: PrimExpr) -> list[_Piece]:
    pieces: list[_Piece] = [name, "("]
    for place, child in enumerate(tir.children(node)):
        pieces += [", ", (child, 0)] if place else [(child, 0)]
    return [*pieces, ")"]


def _foreign(node: PrimExpr) -> str:
    from rlx.grammar.printer import show as printed

    return printed(node)
