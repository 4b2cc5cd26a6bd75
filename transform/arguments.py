"""The arguments of a call: its operands in order, and its attributes by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.python_places import MisuseError, here, of_kind
from rlx.operators.binding import matched
from rlx.operators.parameters import REQUIRED
from rlx.operators.registry import Operator, lookup
from rlx.transform.builder.given import ARGUMENTS

NOTHING = object()
"""Equals no value of an argument."""


def argument(call: ast.Call, name: str, *otherwise: object) -> object:
    """The value of a parameter in a call of an operator, however it is written: as an argument, by
    keyword, or by default. Literals are plain numbers, texts and tuples.

    Parameters
    ----------
    otherwise
        The value where the call has none.

    Raises
    ------
    MisuseError
        If the call has no such value, and `otherwise` is left out.
    """
    of_kind(call, ast.Call, "a call")
    of_kind(name, str, "the name of a parameter")
    operator = lookup(call.op_name)
    if operator is None:
        return (
            python_literal(call.attrs[name]) if name in call.attrs else _none(call, name, otherwise)
        )
    values = {
        found.parameter.name: call.args[found.index]
        if found.source == "positional"
        else call.attrs[found.parameter.name]
        if found.source == "keyword"
        else found.parameter.default
        for found in matched(operator.parameters, len(call.args), call.attrs)
        if found.source in ("positional", "keyword", "default")
    }
    for of in (name, *_ITSELF.get(name, ())):
        if of in values and (value := python_literal(values[of])) is not None:
            return value
    return None if name in values else _none(call, name, otherwise)


_ITSELF = {"out_layout": ("data_layout", "layout")}
"""The parameters that one is like where it is not given, as in TVM."""


def _none(call: ast.Call, name: str, otherwise: tuple[object, ...]) -> object:
    if otherwise:
        return otherwise[0]
    operator = lookup(call.op_name)
    known = ", ".join(p.name for p in operator.parameters) if operator else ", ".join(call.attrs)
    words = f"a call of {call.op_name.removeprefix('relax.')} has no value for {name!r}"
    raise MisuseError(f"{words}; its parameters are {known}", here())


def operands(call: ast.Call, defaults: bool = False) -> tuple[ast.Expr, ...]:
    """The operands of a call in the order of the parameters, however they are written: by position,
    by keyword or, if ``defaults`` is set, by default. A tuple of sizes is the shape that it means.

    The operands of an operator are the arguments that are expressions in every spelling: tensors,
    shapes, scalars, functions. Its other parameters, such as ``axis``, are attributes. An omitted
    operand before a given one is ``R.null_value()``. All arguments of other calls are operands.
    """
    operator = lookup(call.op_name)
    if operator is None:
        return call.args
    parameters = operator.parameters
    if (
        not defaults
        and not call.attrs
        and _has_operands_only(operator)
        and ast.Tuple not in map(type, call.args)
    ):
        return call.args
    found: list[ast.Expr] = []
    given = 0
    for each in matched(parameters, len(call.args), call.attrs):
        kind = each.parameter.kind
        if each.source == "rest":
            found += call.args[each.index :]
        elif kind not in ARGUMENTS:
            continue
        elif each.source == "positional":
            found.append(_as_shape(kind, call.args[each.index]))
        elif each.source == "keyword":
            found.append(_operand(kind, call.attrs[each.parameter.name]))
        elif each.parameter.default in (None, REQUIRED):
            found.append(_NULL)
            continue
        else:
            found.append(_operand(kind, each.parameter.default))
            if not defaults:
                continue
        given = len(found)
    return tuple(found[:given])


@cache
def _has_operands_only(operator: Operator) -> bool:
    return all(p.kind in ARGUMENTS for p in operator.parameters)


def operand_names(operator: Operator) -> list[str]:
    """The names of an operator's operands; the others are attributes."""
    return [p.name for p in operator.parameters if p.kind in ARGUMENTS]


def is_null(expr: ast.Expr) -> bool:
    """Whether an expression stands for an omitted operand."""
    return isinstance(expr, ast.Call) and expr.op_name == "relax.null_value"


def _operand(kind: str, value: object) -> ast.Expr:
    if isinstance(value, ast.Expr):
        return _as_shape(kind, value)
    made = _NULL if value is None else ARGUMENTS[kind](value)
    assert isinstance(made, ast.Expr)
    return made


def _as_shape(kind: str, given: ast.Expr) -> ast.Expr:
    """An operand; for `(2, n)` in the place of a shape the shape that TVM makes of it."""
    if type(given) is not ast.Tuple or kind not in _SHAPES:
        return given
    sizes = [field.value for field in given.fields if isinstance(field, ast.PrimValue)]
    return ast.ShapeExpr(tuple(sizes), given.span) if len(sizes) == len(given.fields) else given


_SHAPES = frozenset(["shape", "whole_shape", "new_shape", "size"])
_NULL = ast.Call(ast.op("relax.null_value"), ())


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
