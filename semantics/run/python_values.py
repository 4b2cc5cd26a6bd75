"""Values from Python's own: arrays, numbers, lists and tuples, as an annotation wants them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.grammar import ast
from rlx.grammar.dtype import VOID
from rlx.grammar.printer import show
from rlx.semantics.run.files import elements
from rlx.semantics.run.literals import value_of
from rlx.semantics.scalars import DoesNotFit
from rlx.semantics.values import Tensor, TupleValue, Value


def from_python(name: str, given: Any, info: ast.StructInfo) -> Value:
    """A value for an annotation.

    Parameters
    ----------
    name
        What messages call it.
    given
        An array (anything that NumPy makes an array of by the array protocol), a number, nested
        lists of numbers, a tuple or list for a tuple, a list or tuple of integers for a shape, or a
        value.

    Raises
    ------
    DoesNotFit
        If it is nothing of the kind that the annotation asks for.
    FileError
        If the elements of an array are no numbers.
    """
    if isinstance(given, Value):
        return given
    if isinstance(info, ast.TupleStructInfo) and isinstance(given, tuple | list):
        return _tuple(name, given, info)
    array = _array(given)
    if array is None:
        return value_of(given, info)
    match info:
        case ast.TensorStructInfo(dtype=kind):
            return Tensor(elements(name, array, kind))
        case ast.ObjectStructInfo():
            return Tensor(elements(name, array, VOID))
    return value_of(array.tolist(), info)


def _tuple(name: str, given: tuple[Any, ...] | list[Any], info: ast.TupleStructInfo) -> TupleValue:
    if len(given) != len(info.fields):
        expected = f"expected {show(info)}"
        raise DoesNotFit(
            f"{expected}; a tuple of {len(info.fields)} is expected, this one has {len(given)}"
        )
    pairs = enumerate(zip(given, info.fields, strict=True))
    return TupleValue(tuple(from_python(f"{name}[{at}]", one, inner) for at, (one, inner) in pairs))


def _array(given: Any) -> np.ndarray[Any, Any] | None:
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
