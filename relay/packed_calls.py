"""Operators without a translation as calls of packed functions of their names."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import BOOL
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.tir import IntImm
from rlx.relay.operator_call import prim


def packed_call(
    name: str,
    args: tuple[ast.Expr, ...],
    attrs: Mapping[str, object],
    result: ast.StructInfo,
    span: Span | None,
) -> ast.Call:
    """The call: operands first, then the values of the attributes in order."""
    rest = tuple(argument(value) for value in attrs.values())
    function = ast.ExternFunc(name)
    op = ast.op("relax.call_pure_packed")
    return ast.Call(op, (function, *args, *rest), (result,), span=span)


def argument(value: object) -> ast.Expr:
    """The value of an attribute as an argument."""
    match value:
        case bool():
            return ast.PrimValue(IntImm(int(value), BOOL))
        case int() | float():
            return prim(value)
        case tuple() if value and all(type(each) is int for each in value):
            return ast.ShapeExpr(tuple(IntImm(each) for each in value))
        case tuple():
            return ast.Tuple(tuple(map(argument, value)))
        case None:
            return ast.Call(ast.op("relax.null_value"), ())
    return ast.StringImm(str(value))
