"""Arrays: NumPy types of Relax's element types, and bitwise comparison."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.dtype import numpy_type as element_type
from rlx.semantics.faults import UnsupportedStop
from rlx.spec.registry import rule


@rule("E-element", "part of a step")
@cache
def numpy_type(kind: DataType) -> Any:
    """The NumPy type of elements.

    Raises
    ------
    UnsupportedStop
        ``E-element-type``: NumPy has no such type (vectors, handles, Void).
    """
    found = element_type(kind)
    if found is None:
        raise UnsupportedStop("E-element-type", f"elements of type {kind} are not supported")
    return found


def address(array: np.ndarray[Any, Any]) -> int:
    """The address of an array's first element."""
    place, _ = array.__array_interface__["data"]
    return int(place)


def has_nan(array: np.ndarray[Any, Any]) -> bool:
    """Whether an array has a NaN."""
    return array.dtype.kind not in "biu" and bool(np.isnan(array.astype(np.float64)).any())


_PIECE = 1 << 20


def identical(one: Any, other: Any) -> bool:
    """Whether two arrays of the same shape and type have the same bits: NaN equals NaN, and -0
    differs from 0.
    """
    if one.flags.c_contiguous and other.flags.c_contiguous:
        a, b = one.ravel().view(np.uint8), other.ravel().view(np.uint8)
        parts = range(0, a.size, _PIECE)
        return all(np.array_equal(a[at : at + _PIECE], b[at : at + _PIECE]) for at in parts)
    return bool(one.tobytes() == other.tobytes())


def forwards(array: Any) -> Any:
    """The array as memory of a tensor: in this machine's byte order, and not backwards; the same
    array if it is so already.
    """
    if any(step < 0 for step in array.strides):
        array = array.copy()
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
