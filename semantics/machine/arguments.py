"""Arguments of the machine's own operators: by position, by keyword, by default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import DataType, dtype
from rlx.operators import lookup
from rlx.operators.binding import matched
from rlx.semantics.faults import FaultStop
from rlx.semantics.machine import prim_exprs
from rlx.semantics.machine.configuration import Reader
from rlx.semantics.machine.message_text import kind
from rlx.semantics.values import DataTypeValue, Scalar, ShapeValue, StringValue
from rlx.spec.registry import rule

Arguments = Mapping[str, Reader]


def named(body: Any, call: ast.Call, args: tuple[Reader, ...]) -> Arguments:
    """A reader for each parameter of a call's operator; for a variadic parameter, a reader of all
    its arguments.
    """
    assert isinstance(call.op, ast.Op)
    operator = lookup(call.op.op_name)
    found: dict[str, Reader] = {}
    parameters = operator.parameters if operator else ()
    for each in matched(parameters, len(args), call.attrs):
        name = each.parameter.name
        match each.source:
            case "rest":
                found[name] = _all(args[each.index :])
            case "keyword":
                found[name] = keyword(body, call.attrs[name])
            case "positional":
                found[name] = args[each.index]
            case "default":
                found[name] = _always(each.parameter.default)
    return found


def keyword(body: Any, value: object) -> Reader:
    """Reads a keyword argument: the value of an expression, a number, or a plain value."""
    if isinstance(value, ast.Expr):
        read: Reader = body.operand(value)
        return read
    if isinstance(value, tir.PrimExpr):
        return prim_exprs.prepare(value, body.scope)
    if isinstance(value, list | tuple) and any(
        isinstance(v, ast.Expr | tir.PrimExpr) for v in value
    ):
        return _all(tuple(keyword(body, item) for item in value))
    return _always(value)


def _always(value: object) -> Reader:
    return lambda _: value


def _all(readers: tuple[Reader, ...]) -> Reader:
    return lambda frame: tuple([read(frame) for read in readers])


def _dims(value: Any) -> Any:
    match value:
        case ShapeValue(values=sizes):
            return sizes
        case tuple() | list():
            return tuple(argument(item, "number") for item in value)


def _number(value: Any) -> Any:
    if isinstance(value, Scalar):
        value = value.value
    return value if isinstance(value, int) else None


def _element_type(value: Any) -> Any:
    match value:
        case DataTypeValue(value=found):
            return found
        case DataType():
            return value
        case StringValue(value=name) | str(name):
            return dtype(name)


def _text(value: Any) -> Any:
    if isinstance(value, StringValue):
        return value.value
    return value if isinstance(value, str) else None


_READ: dict[str, Callable[[Any], Any]] = {
    "shape": _dims,
    "number": _number,
    "dtype": _element_type,
    "string": _text,
}


@rule("E-argument", "part of a step")
def argument(value: Any, expected: str) -> Any:
    """The content of an argument, given as a value or as a keyword.

    Parameters
    ----------
    expected
        ``"shape"`` (a tuple of integers), ``"number"`` (an integer), ``"dtype"`` or ``"string"``.
    """
    found = _READ[expected](value)
    if (
        found is None
    ):  # D14 refuses arguments of another kind, and warns of those that may be of one
        raise FaultStop(f"E-argument-{expected}", f"expected a {expected}, found {kind(value)}")
    return found
