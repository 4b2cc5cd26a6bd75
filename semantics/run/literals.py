"""Conversion of values from the command line and from Python by annotations."""

from __future__ import annotations

import ast as python
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import BOOL, INT64, VOID, DataType, dtype
from rlx.grammar.print.printer import show
from rlx.grammar.read.python_syntax import expression_of
from rlx.grammar.wording import counted
from rlx.operators.evaluation import OperatorFault, numpy_dtype
from rlx.semantics.run.files import elements
from rlx.semantics.values import (
    DoesNotFit,
    Opaque,
    Scalar,
    ShapeValue,
    Tensor,
    TupleValue,
    Value,
    fitted,
)

NAMES = {
    "true": True,
    "false": False,
    "True": True,
    "False": False,
    "nan": math.nan,
    "inf": math.inf,
}
"""The words that are literals."""


def digits_counted(text: str) -> None:
    """Raise DoesNotFit if a number in a text has more digits than Python reads."""
    if re.search(r"\d{4300}", text):
        raise DoesNotFit("a number has 4300 digits or more")


def literal(text: str) -> Any:
    """The value of a literal: a number, a Boolean, ``nan`` or ``inf``, a string, a list or a tuple
    of these. Raises DoesNotFit if a number is too long, and ValueError if it is none of these.
    """
    digits_counted(text)
    try:
        return _plain(expression_of(text))
    except (SyntaxError, MemoryError, RecursionError):
        raise ValueError(text) from None


def _plain(node: python.expr) -> Any:
    match node:
        case python.Constant(value=float(number)) if math.isinf(number):
            raise DoesNotFit("a number does not fit into float64; write inf for infinity")
        case python.Constant(value=bool() | int() | float() | str() as value):
            return value
        case python.Name(id=name) if name in NAMES:
            return NAMES[name]
        case python.UnaryOp(op=python.USub(), operand=operand):
            return -_parsed_number(operand)
        case python.UnaryOp(op=python.UAdd(), operand=operand):
            return _parsed_number(operand)
        case python.List(elts=items):
            return [_plain(item) for item in items]
        case python.Tuple(elts=items):
            return tuple([_plain(item) for item in items])
    raise ValueError("not a literal")


def _parsed_number(node: python.expr) -> int | float:
    value = _plain(node)
    if type(value) not in (int, float):
        raise ValueError("not a number")
    return value  # type: ignore[no-any-return]


def value_of(found: Any, info: ast.StructInfo) -> Value:
    """A literal converted to a value with an annotation. Raises DoesNotFit if it does not fit; the
    message gives the reason.
    """
    try:
        return _parsed_value(found, info)
    except DoesNotFit as misfit:
        raise DoesNotFit(f"expected {show(info)}; {misfit}") from None


def _parsed_value(found: Any, info: ast.StructInfo) -> Value:
    match info:
        case ast.TensorStructInfo(dtype=kind):
            return Tensor(_array(found, kind))
        case ast.PrimStructInfo(dtype=kind):
            return Scalar(fitted(found, kind), kind)
        case ast.ShapeStructInfo() if isinstance(found, (list, tuple)):
            return ShapeValue(tuple(_size(size) for size in found))
        case ast.TupleStructInfo(fields=infos) if isinstance(found, tuple):
            return _tuple(found, infos)
        case ast.ObjectStructInfo():
            return Opaque(found)
    raise DoesNotFit(f"it is not a literal of that kind{_WRITTEN.get(type(info), '')}")


_WRITTEN: dict[type, str] = {
    ast.ShapeStructInfo: ": a shape is written [2, 3]",
    ast.TupleStructInfo: ": a tuple is written (a, b), (a,) or ()",
}


def _size(size: Any) -> int:
    if type(size) is not int or size < 0:
        raise DoesNotFit(f"the dimension {size!r} is not an integer of at least 0")
    return int(fitted(size, INT64))


def _tuple(found: tuple[Any, ...], infos: tuple[ast.StructInfo, ...]) -> TupleValue:
    if len(found) != len(infos):
        raise DoesNotFit(_other_fields(len(found), len(infos)))
    return TupleValue(
        tuple([_parsed_value(one, info) for one, info in zip(found, infos, strict=True)])
    )


def _other_fields(found: int, wanted: int) -> str:
    return f"found {counted(found, 'field')} instead of {wanted}"


def _array(found: Any, kind: DataType) -> np.ndarray[Any, Any]:
    shape = _shape(found)
    elements = list(_elements(found))
    kind = _common(elements) if kind.is_void else kind
    try:
        element = numpy_dtype(kind)
    except OperatorFault as fault:
        raise DoesNotFit(str(fault)) from None
    numbers = [fitted(number, kind) for number in elements]
    return np.array(numbers, element).reshape(shape)


def _shape(found: Any) -> tuple[int, ...]:
    shape: list[int] = []
    while isinstance(found, (list, tuple)):
        shape.append(len(found))
        if not found:
            break
        found, *_ = found
    return tuple(shape)


def _elements(found: Any) -> Iterator[Any]:
    """The numbers in nested lists; all lists on one level must be as long as each other."""
    level = [found]
    for axis, size in enumerate(_shape(found)):
        for at, part in enumerate(level):
            if not isinstance(part, (list, tuple)) or len(part) != size:
                held = f"has {len(part)}" if isinstance(part, (list, tuple)) else "is a number"
                where = f"list {at} of axis {axis}" if axis else "the whole"
                raise DoesNotFit(f"the lists differ: the first has {size} elements, {where} {held}")
        level = [item for part in level for item in part]
    for item in level:
        if isinstance(item, (list, tuple)):
            raise DoesNotFit("the lists differ in depth")
        yield item


def _common(elements: list[Any]) -> DataType:
    """The type for numbers of which nothing is said."""
    if elements and all(isinstance(number, bool) for number in elements):
        return BOOL
    return (
        INT64 if elements and all(type(number) is int for number in elements) else dtype("float64")
    )


def from_python(name: str, given: Any, info: ast.StructInfo) -> Value:
    """A value for an annotation. Raises DoesNotFit if it does not match the annotation; FileError
    if the elements of an array are not numbers.

    Parameters
    ----------
    name
        Its name in messages.
    given
        An array (anything that NumPy makes an array of by the array protocol), a number, nested
        lists of numbers, a tuple or list for a tuple, a list or tuple of integers for a shape, or a
        value.
    """
    if isinstance(given, Value):
        return given
    if isinstance(info, ast.TupleStructInfo) and isinstance(given, tuple | list):
        if len(given) != len(info.fields):
            words = _other_fields(len(given), len(info.fields))
            raise DoesNotFit(f"expected {show(info)}; {words}")
        pairs = enumerate(zip(given, info.fields, strict=True))
        return TupleValue(
            tuple(from_python(f"{name}[{at}]", one, inner) for at, (one, inner) in pairs)
        )
    array = _array_of(given)
    if array is None:
        return value_of(given, info)
    match info:
        case ast.TensorStructInfo(dtype=kind):
            return Tensor(elements(name, array, kind))
        case ast.ObjectStructInfo():
            return Tensor(elements(name, array, VOID))
    return value_of(array.tolist(), info)


def _array_of(given: Any) -> np.ndarray[Any, Any] | None:
    """The array that something is by itself; None of numbers and lists, whose types nobody has
    chosen.
    """
    if isinstance(given, np.ndarray):
        return given
    if isinstance(given, np.generic) or hasattr(given, "__array__"):
        return np.asarray(given)
    if hasattr(given, "__dlpack__"):
        return np.from_dlpack(given)
    return None
