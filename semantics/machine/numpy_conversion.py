"""Conversion between values and NumPy; only written memory is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import BOOL, INT64, DataType, dtype
from rlx.semantics import values as v
from rlx.semantics.arrays import forwards
from rlx.semantics.faults import FaultStop
from rlx.semantics.store import Store
from rlx.semantics.values import TupleValue, Value, fitted_scalar

Plain = Any
"""An array, a number, a tuple of plain values (of integers: a shape), a string, a data type, or
None.
"""

FLOAT64 = dtype("float64")

_PLAIN: dict[type, Callable[[Any], Plain]] = {
    v.Tensor: lambda x: x.data,
    v.Storage: lambda x: x.data,
    v.ShapeValue: lambda x: x.values,
    v.Scalar: lambda x: x.value,
    v.TupleValue: lambda x: tuple([to_plain(field) for field in x.fields]),
    v.StringValue: lambda x: x.value,
    v.DataTypeValue: lambda x: x.value,
    v.Null: lambda x: None,
    v.Opaque: lambda x: x.value,
}


def to_plain(value: v.Value) -> Plain:
    """A value in plain form for NumPy code; functions remain values."""
    convert = _PLAIN.get(type(value))
    return value if convert is None else convert(value)


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
            return _tensor(result, args, device)
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
            if result and all(type(item) is int for item in result):
                return v.ShapeValue(tuple(result))
            return v.TupleValue(tuple(to_value(item, args, device) for item in result))
    return v.Opaque(result)


def _tensor(array: Any, args: Sequence[v.Value], device: v.Device | None) -> v.Value:
    pending = list(args)
    while pending:
        arg = pending.pop()
        if isinstance(arg, v.Tensor) and arg.data is array:
            return arg
        if isinstance(arg, v.TupleValue):
            pending.extend(arg.fields)
    return v.Tensor(forwards(np.asarray(array)), device)


def typed(plain: Plain, info: ast.StructInfo | None) -> v.Value:
    """A plain value converted by an annotation: a tuple of integers may be a shape or a tuple."""
    match info:
        case ast.ShapeStructInfo():
            return v.ShapeValue(tuple(plain))
        case ast.PrimStructInfo(dtype=kind):
            return fitted_scalar(plain, kind)
        case ast.TupleStructInfo(fields=infos) if isinstance(plain, tuple | list):
            return v.TupleValue(tuple(typed(p, i) for p, i in zip(plain, infos, strict=True)))
    return to_value(plain)


def values_inside(values: Sequence[Value]) -> Iterator[Value]:
    """The distinct values, including those nested in tuples, in order."""
    seen: set[int] = set()
    pending = list(reversed(values))
    while pending:
        value = pending.pop()
        if isinstance(value, TupleValue):
            if id(value) in seen:
                continue
            seen.add(id(value))
            pending.extend(reversed(value.fields))
        yield value


def readable(store: Store, values: Sequence[Value], code: str) -> None:
    """Reject reads of unwritten elements; ``code`` is the failing premise."""
    if not store.blank:
        return
    for value in values_inside(values):
        if id(value) in store.blank:
            raise FaultStop(code, str(store.blank[id(value)]), value=value)
