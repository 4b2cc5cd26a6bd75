"""The arguments of a call by name, as plain values of Python where they are literals."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar import ast, tir
from rlx.grammar.dtype import DataType
from rlx.operators.binding import matched
from rlx.operators.registry import lookup

NOTHING = object()
"""What an argument is that a call does not have."""


def argument(call: ast.Call, name: str) -> object:
    """What a call of an operator gives for a parameter: argument, keyword, or default."""
    operator = lookup(call.op_name)
    if operator is None:
        return python_literal(call.attrs.get(name, NOTHING))
    for match in matched(operator.parameters, len(call.args), call.attrs):
        if match.parameter.name != name:
            continue
        if match.source == "positional":
            return python_literal(call.args[match.index])
        if match.source == "keyword":
            return python_literal(call.attrs[name])
        if match.source == "default":
            return python_literal(match.parameter.default)
    return NOTHING


def python_literal(value: object) -> object:
    """A literal as Python has it: numbers, texts, tuples; what is none stays as it is."""
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
    """Whether two plain values say the same: one integer for all axes is as many, and what is said
    of the first half of the sides of a window holds for the second.
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
