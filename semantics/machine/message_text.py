"""Descriptions of values in messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlx.semantics import values as v

_KINDS: dict[type, str] = {
    v.Tensor: "a tensor",
    v.Storage: "a piece of memory",
    v.ShapeValue: "a shape",
    v.Scalar: "a scalar",
    v.TupleValue: "a tuple",
    v.StringValue: "a string",
    v.DataTypeValue: "a data type",
    v.Null: "null",
    v.Closure: "a closure",
    v.PrimFuncValue: "a PrimFunc",
    v.Packed: "a packed function",
    v.Opaque: "an opaque object",
}


def kind(value: object) -> str:
    """The kind of a value with its article: ``"a tensor"``."""
    return kind_of(type(value))


def kind_of(cls: type) -> str:
    """The kind of the values of a class."""
    return _KINDS.get(cls, f"a {cls.__name__}")


def show(value: Any, deep: int = 3) -> str:
    """A short description of a value; for a tensor, its shape and element type, and its content if
    it is small.
    """
    shown = _SHOWN.get(type(value))
    return repr(value) if shown is None else shown(value, deep)


def _tensor(value: v.Tensor, deep: int) -> str:
    dims = ", ".join(map(str, value.shape)) + ("," if len(value.shape) == 1 else "")
    small = f" = {value.data.tolist()}" if value.data.size <= 8 else ""
    device = f" on {value.device[0]}:{value.device[1]}" if value.device else ""
    return f"tensor ({dims}) {value.dtype}{device}{small}"


def _tuple(value: v.TupleValue, deep: int) -> str:
    if not deep:
        return "(…)"
    fields = ", ".join(show(field, deep - 1) for field in value.fields[:8])
    return f"({fields}{', …' if len(value.fields) > 8 else ''})"


_SHOWN: dict[type, Callable[[Any, int], str]] = {
    v.Tensor: _tensor,
    v.TupleValue: _tuple,
    v.Storage: lambda s, _: f"memory of {s.data.nbytes} bytes",
    v.ShapeValue: lambda s, _: f"shape [{', '.join(map(str, s.values))}]",
    v.Scalar: lambda s, _: f"{s.value} ({s.dtype})",
    v.StringValue: lambda s, _: repr(s.value),
    v.DataTypeValue: lambda s, _: str(s.value),
    v.Null: lambda s, _: "null",
    v.Closure: lambda s, _: f"closure {s.code.name}",
    v.PrimFuncValue: lambda s, _: f"PrimFunc {s.name}",
    v.Packed: lambda s, _: f"packed function {s.name}",
    v.Opaque: lambda s, _: f"object {type(s.value).__name__}",
}


def formatted(text: str, values: Sequence[v.Value]) -> str:
    """The format with ``{}`` replaced by values; without a format, the values separated by
    spaces.
    """
    shown = [printed(value) for value in values]
    pieces = text.split("{}")
    if len(pieces) == 1:
        return " ".join([*(p for p in pieces if p), *shown])
    filled = [piece + value for piece, value in zip(pieces, shown, strict=False)]
    return "".join([*filled, *pieces[len(filled) :]])


def printed(value: v.Value) -> str:
    """The printed form of a value."""
    if isinstance(value, v.Tensor):
        return np.array2string(value.data)
    return value.value if isinstance(value, v.StringValue) else show(value)
