"""The arguments of a call by name, as plain Python values if they are literals."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import DataType
from rlx.operators.binding import matched
from rlx.operators.registry import lookup

NOTHING = object()
"""The value of an argument that a call does not have."""


def argument(call: ast.Call, name: str) -> object:
    """The value of a parameter in a call of an operator: argument, keyword, or default."""
    operator = lookup(call.op_name)
    if operator is None:
        return python_literal(call.attrs.get(name, NOTHING))
    for found in matched(operator.parameters, len(call.args), call.attrs):
        match found.parameter.name == name, found.source:
            case True, "positional":
                return python_literal(call.args[found.index])
            case True, "keyword":
                return python_literal(call.attrs[name])
            case True, "default":
                return python_literal(found.parameter.default)
    return NOTHING


def operands(call: ast.Call) -> tuple[ast.Expr, ...]:
    """The arguments of a call of an operator that are expressions, in the order of its parameters,
    whether they are given by position or by keyword.
    """
    operator = lookup(call.op_name)
    if operator is None or not call.attrs:
        return call.args
    found = list(call.args)
    for each in matched(operator.parameters, len(call.args), call.attrs):
        match each.source, call.attrs.get(each.parameter.name):
            case "keyword", ast.Expr() as given:
                found.append(given)
    return tuple(found)


def python_literal(value: object) -> object:
    """A literal as a Python number, text or tuple; other expressions are returned unchanged."""
    match value:
        case tir.IntImm(value=number) | tir.FloatImm(value=number):
            return number
        case ast.PrimValue(value=inner):
            return python_literal(inner)
        case ast.StringImm(value=text):
            return text
        case ast.DataTypeImm(value=kind):
            return str(kind)
        case DataType():
            return str(value)
        case ast.ShapeExpr(values=parts) | ast.Tuple(fields=parts):
            return tuple(map(python_literal, parts))
        case tuple() | list():
            return tuple(map(python_literal, value))
        case Mapping():
            return {key: python_literal(part) for key, part in value.items()}
    return value


def alike(found: object, wanted: object) -> bool:
    """Whether two plain values are equivalent: one integer counts for all axes, and the padding of
    the first sides counts for the second sides if these are omitted.
    """
    if found == wanted:
        return True
    a, b = _integers(found), _integers(wanted)
    if not a or not b:
        return False
    short, long = sorted((a, b), key=len)
    return short * (len(long) // len(short)) == long


def _integers(value: object) -> tuple[int, ...]:
    """A list of integers, or the list of one; empty for everything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,)
    if isinstance(value, tuple) and all(isinstance(part, int) for part in value):
        return value
    return ()
