"""Conversion between values and NumPy; only written memory is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import BOOL, INT64, DataType, dtype
from rlx.semantics import values as v
from rlx.semantics.arrays import forwards
from rlx.semantics.faults import FaultStop
from rlx.semantics.store import Store
from rlx.semantics.values import Value, fitted_scalar, values_inside

Plain = Any
"""An array, a number, a tuple of plain values (of integers: a shape), a string, a data type, or
None.
"""

FLOAT64 = dtype("float64")

_PLAIN: dict[type, Callable[[Any], Plain]] = {
    v.Tensor: lambda x: x.data,
    v.ShapeValue: lambda x: x.values,
    v.Scalar: lambda x: x.value,
    v.TupleValue: lambda x: _plain_tuple(x, {}),
    v.StringValue: lambda x: x.value,
    v.DataTypeValue: lambda x: x.value,
    v.Null: lambda x: None,
    v.Opaque: lambda x: x.value,
}


def to_plain(value: v.Value) -> Plain:
    """A value in plain form for NumPy code; functions and pieces of memory remain values."""
    convert = _PLAIN.get(type(value))
    return value if convert is None else convert(value)


def _plain_tuple(value: v.TupleValue, done: dict[int, Plain]) -> Plain:
    """A tuple of plain values; tuples that share their fields share the new ones."""
    found = done.get(id(value))
    if found is None:
        found = done[id(value)] = tuple(
            [
                _plain_tuple(field, done) if isinstance(field, v.TupleValue) else to_plain(field)
                for field in value.fields
            ]
        )
    return found


def to_value(
    result: Plain, args: Sequence[v.Value] = (), device: v.Device | None = None
) -> v.Value:
    """The result of NumPy code as a value.

    Parameters
    ----------
    args
        The arguments of the code: if it returns one of these arrays, the result is the original
        tensor.
    device
        The device of new tensors.
    """
    match result:
        case v.Value():
            return result
        case np.ndarray() | np.generic():
            for arg in values_inside(args):
                if isinstance(arg, v.Tensor) and arg.data is result:
                    return arg
            return v.Tensor(forwards(np.asarray(result)), device)
        case bool():
            return v.Scalar(result, BOOL)
        case int():
            return fitted_scalar(result, INT64)
        case float():
            return v.Scalar(result, FLOAT64)
        case str():
            return v.StringValue(result)
        case DataType():
            return v.DataTypeValue(result)
        case None:
            return v.NULL
        case tuple() | list():
            return _group(result, args, device, {})
    return v.Opaque(result)


def _group(
    items: Sequence[Plain],
    args: Sequence[v.Value],
    device: v.Device | None,
    done: dict[int, v.Value],
) -> v.Value:
    """A tuple of plain values as a value; tuples that share their fields share the new ones."""
    if id(items) not in done:
        if items and all(type(item) is int for item in items):
            return v.ShapeValue(tuple(items))
        done[id(items)] = v.TupleValue(
            tuple(
                [
                    _group(item, args, device, done)
                    if isinstance(item, tuple | list)
                    else to_value(item, args, device)
                    for item in items
                ]
            )
        )
    return done[id(items)]


def typed(plain: Plain, info: ast.StructInfo | None) -> v.Value:
    """A plain value converted by an annotation: a tuple of integers may be a shape or a tuple."""
    done: dict[tuple[int, int], v.Value] = {}  # tuples may share their fields

    def value(part: Plain, said: ast.StructInfo | None) -> v.Value:
        match said:
            case ast.ShapeStructInfo():
                return v.ShapeValue(tuple(part))
            case ast.PrimStructInfo(dtype=kind):
                return fitted_scalar(part, kind)
            case ast.TupleStructInfo(fields=infos) if isinstance(part, tuple | list):
                key = id(part), id(said)
                if key not in done:
                    pairs = zip(part, infos, strict=True)
                    done[key] = v.TupleValue(tuple([value(p, i) for p, i in pairs]))
                return done[key]
        return to_value(part)

    return value(plain, info)


def readable(store: Store, values: Sequence[Value], code: str) -> None:
    """Reject reads of unwritten elements; ``code`` is the failing premise."""
    if not store.blank:
        return
    for value in values_inside(values):
        if id(value) in store.blank:
            raise FaultStop(code, str(store.blank[id(value)]), value=value)
