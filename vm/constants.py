"""The constants of executables and their encoding."""

from __future__ import annotations

from base64 import b64decode, b64encode
from math import prod
from typing import Any

import numpy as np

from rlx.grammar.nodes.dtype import INT64, DataType, dtype, fits
from rlx.semantics.arrays import numpy_type
from rlx.semantics.faults import Stop
from rlx.semantics.values import (
    NULL,
    DataTypeValue,
    Null,
    Scalar,
    ShapeValue,
    StringValue,
    Tensor,
    TupleValue,
    Value,
)

DEEPEST = 64
"""The maximum nesting depth of tuples."""
MOST_DIMENSIONS = 64
"""The maximum rank of a tensor, which is NumPy's."""
SHOWN = 80
"""How many characters of a wrong text a message shows."""


class ConstantError(ValueError):
    """A value that cannot be a constant, or an invalid encoding of one."""


def constant(value: Value, deep: int = 0) -> Value:
    """The value as an executable stores it; the memory of tensors is copied. Raises ConstantError
    if it is a function, an object of Python, or nested too deep.
    """
    match value:
        case Tensor(data=data):
            kind = _data_type(str(data.dtype))
            return Tensor(np.array(data, numpy_type(kind), order="C", copy=True), value.device)
        case TupleValue(fields=fields) if deep < DEEPEST:
            return TupleValue(tuple(constant(field, deep + 1) for field in fields))
        case TupleValue():
            raise ConstantError(f"tuples are nested more than {DEEPEST} levels deep")
        case Scalar() | ShapeValue() | StringValue() | DataTypeValue() | Null():
            return value
    raise ConstantError(f"an executable cannot store {type(value).__name__}")


def to_json(value: Value) -> Any:
    """A constant as lists, numbers and strings."""
    match value:
        case Tensor(data=data, device=device):
            content = b64encode(np.ascontiguousarray(data).tobytes()).decode("ascii")
            written = {"tensor": str(data.dtype), "shape": list(data.shape), "data": content}
            return written if device is None else {**written, "device": list(device)}
        case Scalar(value=number, dtype=kind):
            # As a string: floats that are no numbers have no other way into JSON.
            return {"scalar": str(kind), "value": repr(number)}
        case ShapeValue(values=values):
            return {"shape": list(values)}
        case StringValue(value=text):
            return {"string": text}
        case DataTypeValue(value=kind):
            return {"dtype": str(kind)}
        case Null():
            return {"null": True}
        case TupleValue(fields=fields):
            return {"tuple": [to_json(field) for field in fields]}
    raise ConstantError(f"an executable cannot store {type(value).__name__}")


def from_json(written: Any, deep: int = 0) -> Value:
    """The constant that :func:`to_json` wrote. Raises ConstantError if the encoding is invalid."""
    match written:
        case {"tensor": str(kind), "shape": list(shape), "data": str(data)}:
            return _tensor(kind, shape, data, written.get("device"))
        case {"scalar": str(kind), "value": str(text)}:
            return Scalar(_number(text), _data_type(kind))
        case {"shape": list(values)} if _integers(values):
            return ShapeValue(tuple(values))
        case {"string": str(text)}:
            return StringValue(text)
        case {"dtype": str(kind)}:
            return DataTypeValue(_data_type(kind))
        case {"null": True}:
            return NULL
        case {"tuple": list(fields)} if deep < DEEPEST:
            return TupleValue(tuple(from_json(field, deep + 1) for field in fields))
    if isinstance(written, dict) and "tuple" in written and deep >= DEEPEST:
        raise ConstantError(f"tuples are nested more than {DEEPEST} levels deep")
    raise ConstantError(f"expected a constant, found {found_text(written)}")


def found_text(written: Any) -> str:
    """The start of a wrong part of a file, for a message: parts may be nested deeply, and long."""
    match written:
        case list() | dict():
            kind = "a list" if isinstance(written, list) else "an object"
            return f"{kind} of {len(written)} parts"
        case str():
            return repr(written[:SHOWN])
    return str(written)[:SHOWN]


def _tensor(kind: str, shape: list[Any], data: str, device: Any) -> Tensor:
    if len(shape) > MOST_DIMENSIONS:
        raise ConstantError(
            f"a tensor has {len(shape)} dimensions; it can have at most {MOST_DIMENSIONS}"
        )
    if not _integers(shape) or min(shape, default=0) < 0:
        sizes = ", ".join(map(found_text, shape))
        raise ConstantError(f"a tensor has the shape [{sizes}]")
    try:
        content = b64decode(data, validate=True)
        wanted = numpy_type(_data_type(kind))
    except (ValueError, Stop) as error:
        raise ConstantError(f"a tensor of {kind[:SHOWN]}: {error}") from None
    # Sizes of 0 do not count: NumPy limits the product of the others, too.
    if prod(filter(None, shape)) * wanted.itemsize >= 1 << 63:
        raise ConstantError(f"a tensor of {kind} {shape} has more bytes than 64 bits can count")
    if prod(shape) * wanted.itemsize != len(content):
        raise ConstantError(f"a tensor of {kind} {shape} has {len(content)} bytes of content")
    array = np.frombuffer(bytearray(content), wanted).reshape(shape)
    match device:
        case None:
            return Tensor(array)
        case [str(target), int(index)]:
            return Tensor(array, (target, index))
    raise ConstantError(f"a device is a target and a number, not {found_text(device)}")


def _integers(values: list[Any]) -> bool:
    return all(type(value) is int and fits(abs(value), INT64) for value in values)


def _number(text: str) -> int | float | bool:
    if text in ("True", "False"):
        return text == "True"
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        raise ConstantError(f"{text[:40]!r} is not a number") from None


def _data_type(name: str) -> DataType:
    try:
        return dtype(name)
    except ValueError as error:
        raise ConstantError(str(error)) from None
