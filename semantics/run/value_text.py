"""Values and outcomes as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlx.grammar.print.printer import show
from rlx.grammar.wording import shortened
from rlx.semantics import outcome
from rlx.semantics.values import (
    Closure,
    DataTypeValue,
    FunctionName,
    Null,
    Opaque,
    Packed,
    PrimFuncValue,
    Scalar,
    ShapeValue,
    Storage,
    StringValue,
    Tensor,
    TupleValue,
    Value,
)

FIELDS = 8
"""The maximum number of tuple fields and tensor elements in a line."""

WIDTH = 160
"""The maximum length of a line about a value."""

VALUES = 2_000
"""The maximum number of values in a text of several lines: tuples may share their fields, so that
written out there are exponentially many.
"""

Name = Callable[[Value], str]


def line(value: Any, name: Name | None = None) -> str:
    """A value in one line. `name`: returns the text of a tensor, if its elements are not printed."""
    return shortened(_line(value, name or tensor_line, [WIDTH]), WIDTH)


def _line(value: Any, name: Name, room: list[int]) -> str:
    """A value in one line, as long as there is room for more characters."""
    if not isinstance(value, TupleValue):
        text = _leaf(value, name)
        room[0] -= len(text)
        return text
    shown = []
    room[0] -= 2
    for field in value.fields[:FIELDS]:
        shown.append(_line(field, name, room) if room[0] > 0 else "…")
    more = ", …" if len(value.fields) > FIELDS else "," if len(value.fields) == 1 else ""
    return f"({', '.join(shown)}{more})"


def _leaf(value: Any, name: Name) -> str:
    match value:
        case Tensor() | Storage():
            return name(value)
        case ShapeValue(values=sizes):
            return f"shape{tuple(sizes)}"
        case Scalar(value=number, dtype=kind):
            return f"{str(number).lower()} {kind}"
        case StringValue(value=text):
            return repr(text)
        case DataTypeValue(value=kind):
            return f"dtype {kind}"
        case Closure(code=code):
            return f"closure {code.name}"
        case PrimFuncValue(name=of):
            return f"PrimFunc {of}"
        case Packed(name=of):
            return f"packed function {of}"
        case FunctionName(name=of):
            return f"function {of}"
        case Null():
            return "null"
        case Opaque(value=held):
            return f"object {type(held).__name__}"
    return str(value)


def tensor_kind(value: Value) -> str:
    """The type of a tensor: ``float32(2, 3)``, with its device, if any."""
    if isinstance(value, Storage):
        return f"storage of {value.data.nbytes} bytes"
    assert isinstance(value, Tensor)
    where = "" if value.device is None else f" on {value.device[0]}:{value.device[1]}"
    return f"{value.dtype}{value.shape}{where}".replace(",)", ")")


def tensor_line(value: Value) -> str:
    """A tensor's kind and first elements."""
    if isinstance(value, Storage):
        return tensor_kind(value)
    assert isinstance(value, Tensor)
    array = value.data
    flat = array.ravel()[:FIELDS] if array.flags.c_contiguous else array.flat[:FIELDS]
    shown = " ".join(number(x) for x in flat)
    return f"{tensor_kind(value)} [{shown}{' …' if array.size > FIELDS else ''}]"


def number(element: Any) -> str:
    """An element of an array, with six digits."""
    if isinstance(element, (bool, np.bool_)):
        return "true" if element else "false"
    return f"{float(element):.6g}" if element.dtype.kind in "fV" else str(element)


def block(value: Value, indent: str = "") -> str:
    """A value over several lines, with tensors in NumPy's format; at most :data:`VALUES` values."""
    lines: list[str] = []
    _add_block(value, indent, [VALUES], lines)
    return "\n".join(lines)


def _add_block(value: Value, indent: str, room: list[int], lines: list[str]) -> None:
    room[0] -= 1
    match value:
        case Tensor(data=array):
            with np.printoptions(precision=6, threshold=200, edgeitems=3, linewidth=100):
                body = str(array)
            lines.append(f"{indent}{tensor_kind(value)}")
            lines += [f"{indent}  {text}" for text in body.split("\n")]
        case TupleValue(fields=fields) if fields:
            lines.append(f"{indent}tuple of {len(fields)}")
            for field in fields:
                if room[0] <= 0:
                    lines.append(f"{indent}  …")
                    break
                _add_block(field, f"{indent}  ", room, lines)
        case _:
            lines.append(indent + line(value))


def outcome_line(result: outcome.Outcome) -> str:
    """An outcome in one line."""
    if isinstance(result, outcome.Returned):
        return f"returned {line(result.value)}"
    assert isinstance(result, outcome.Ended)
    return f"{outcome.KINDS[type(result)]}[{result.code}]: {result.message}"


def annotation(function: Any) -> str:
    """The signature of a function, for reports."""
    return ", ".join(
        f"{p.name_hint}: {show(p.struct_info_annotation) if p.struct_info_annotation else 'Object'}"
        for p in function.params
    )
