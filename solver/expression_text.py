"""Expressions as texts that :mod:`rlx.solver.question_parser` parses."""

from __future__ import annotations

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT64, DataType
from rlx.grammar.nodes.prim_operators import BARE, SIGN
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.print.prim import Part, Text, integer, value_text, wrapped


def show(expr: PrimExpr) -> str:
    """The text of an expression: casts as ``int32(x)``, other parts as in TVMScript."""
    return _Question({}, INT64, lambda value: value_text(value, show)).run(expr)


class _Question(Text):
    """The style of questions: numbers have no type, calls no module."""

    prefix = ""
    select = "select"

    def parts(self, expr: PrimExpr, required: int) -> list[Part]:
        if type(expr) is tir.IntImm and expr.value < 0:
            return wrapped([self.integer(expr, BARE)], SIGN, required)
        return super().parts(expr, required)

    def integer(self, node: tir.IntImm, required: int) -> str:
        """A literal; of a type that exact integers do not stand for, with its type."""
        if node.dtype == BOOL:
            return str(bool(node.value))
        wide = node.dtype.code == "uint" and node.dtype.bits >= 64
        return f"{node.dtype}({integer(node.value)})" if wide else integer(node.value)

    def cast(self, dtype: DataType) -> str:
        return f"{dtype}("

    def required(self, operand: PrimExpr, beside: PrimExpr, level: int, infix: bool) -> int:
        return level

    def alone(self, expr: PrimExpr, level: int = BARE, bare: DataType | None = None) -> Part:
        return (expr, level)

    def is_negation(self, a: PrimExpr, b: PrimExpr) -> bool:
        return isinstance(a, tir.IntImm) and a.value == 0 and not isinstance(b, tir.IntImm)
