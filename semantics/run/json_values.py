"""Values as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlx.semantics.values import Value

VERSION = 1

VALUES = 100_000
"""The number of values after which the tuples that are left are given as a line of text: tuples may
share their fields, so that written out there are exponentially many.
"""


def json_value(value: Value) -> object:
    """A value as JSON: tensors with shape, element type and, up to a thousand, their elements."""
    return _json_value(value, [VALUES])


def _json_value(value: Value, room: list[int]) -> object:
    """A value as JSON, or as a line of text if there is no room for more values."""
    from rlx.semantics.run.value_text import line
    from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue

    room[0] -= 1
    match value:
        case Tensor(data=array):
            found: dict[str, object] = {"shape": list(value.shape), "dtype": value.dtype}
            if array.size <= 1000:
                found["data"] = [_element(x) for x in array.ravel()]
            return found
        case TupleValue(fields=fields) if room[0] > 0:
            return [_json_value(field, room) for field in fields]
        case ShapeValue(values=sizes):
            return {"sizes": list(sizes)}
        case Scalar(value=number, dtype=kind):
            return {"number": _json_number(number), "dtype": str(kind)}
    return line(value)


def _element(element: Any) -> object:
    """An element as JSON has it."""
    if element.dtype.kind == "b":
        return bool(element)
    if "int" in element.dtype.name:
        return int(element)
    return _json_number(float(element))


def _json_number(number: float) -> object:
    """A number, where JSON has one, else its text."""
    import math

    return number if math.isfinite(number) else str(number)
