"""The memory of PrimFuncs: flat arrays with a record of written elements, and buffers that are
views of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.dtype import numpy_type as element_type
from rlx.semantics.faults import OutOfFuelStop
from rlx.semantics.tir.values import Number, fault, unsupported
from rlx.spec.registry import refuted, rule

Array = np.ndarray[Any, Any]
Written = Any
"""A flag for each element, by its position: a `bytearray`, a view of one, or
:class:`~rlx.semantics.tir.pointers.PartlyWritten`.
"""


def numpy_type(dtype: DataType) -> np.dtype[Any]:
    """The element type of arrays with elements of a scalar type.

    Raises
    ------
    UnsupportedStop
        `E-tir-type`, for a type that NumPy and ml_dtypes do not have.
    """
    found = element_type(dtype)
    if found is None:
        unsupported("E-tir-type", f"arrays with elements of type {dtype} are not supported")
    return found


class Cells:
    """A piece of memory.

    Attributes
    ----------
    data
        Its elements, one axis.
    written
        One flag per element that says whether it was written; None if all were.
    read
        Reads an element as a Python number.
    whole, start
        The memory of which this is a view, if it is one, and the byte where the view begins.
    parts
        One flag per byte, if there are views whose elements have another width.
    """

    __slots__ = ("data", "parts", "read", "start", "whole", "written")

    def __init__(
        self, data: Array, written: Written | None, whole: Cells | None = None, start: int = 0
    ) -> None:
        self.data = data
        self.written = written
        self.whole, self.start = whole, start
        self.parts: bytearray | None = None
        self.read: Callable[[int], Number] = data.item
        if data.dtype.kind not in "biuf":
            integer = "int" in data.dtype.name
            self.read = lambda at: int(data[at]) if integer else float(data[at])


def strided(array: Array, shape: Sequence[int], strides: Sequence[int]) -> Array:
    """A view of an array's memory with any element type, because only the bits matter."""
    bits = array.view(f"u{array.itemsize}") if array.itemsize <= 8 else array
    return np.lib.stride_tricks.as_strided(bits, shape, strides).view(array.dtype)


class BoundBuffer:
    """A buffer while its memory is there: element `i` is at `offset + sum(i * strides)`."""

    __slots__ = ("dims", "memory", "name", "offset", "strides")

    def __init__(
        self,
        name: str,
        memory: Cells,
        dims: Sequence[int],
        strides: Sequence[int] | None = None,
        offset: int = 0,
    ) -> None:
        self.name = name
        self.memory = memory
        self.dims = tuple(dims)
        self.strides = compact(dims) if strides is None else tuple(strides)
        self.offset = offset

    def array(self) -> Array:
        """The elements as an array that shares the memory, for external functions.

        Their writes are not visible, so all elements count as written afterwards.
        """
        written = self.memory.written
        if written is not None:
            for place in self._strided(np.arange(self.memory.data.size)).ravel().tolist():
                written[place] = 1
        return self._strided(self.memory.data)

    def content(self) -> Array:
        """The elements as an array, for functions that only read them."""
        written = self.memory.written
        if written is not None:
            places = self._strided(np.arange(self.memory.data.size)).ravel().tolist()
            if not all(written[place] for place in places):
                fault("E-tir-unwritten", f"{self.name} is read before all of it is written")
        return self._strided(self.memory.data)

    def _strided(self, flat: Array) -> Array:
        by = [stride * flat.itemsize for stride in self.strides]
        return strided(flat[self.offset :], self.dims, by)


def compact(dims: Sequence[int]) -> tuple[int, ...]:
    """The strides of a row-major array without gaps, in elements."""
    return tuple(math.prod(dims[axis + 1 :]) for axis in range(len(dims)))


@rule("E-tir-address", "TIR expression")
def address(buffer: BoundBuffer, indices: Sequence[int]) -> int:
    """The position of a buffer's element in its memory."""
    if len(indices) != len(buffer.dims):
        found = f"{buffer.name} has {len(buffer.dims)} axes, found {len(indices)} indices"
        fault("E-tir-bounds", found)
    place = buffer.offset
    for axis, index in enumerate(indices):
        if not 0 <= index < buffer.dims[axis]:
            where = f"axis {axis} of {buffer.name}, whose extent is {buffer.dims[axis]}"
            fault("E-tir-bounds", f"index {index} is not within {where}")
        place += index * buffer.strides[axis]
    if not 0 <= place < buffer.memory.data.size:
        there = f"the {buffer.memory.data.size} elements behind {buffer.name}"
        fault("E-tir-bounds", f"place {place} is not within {there}")
    return place


@rule("E-tir-load", "TIR expression")
def load(buffer: BoundBuffer, indices: Sequence[int]) -> Number:
    """The number in an element."""
    memory = buffer.memory
    place = address(buffer, indices)
    if memory.written is not None and not memory.written[place]:
        fault("E-tir-unwritten", f"{buffer.name}{list(indices)} is read before it is written")
    return memory.read(place)


@rule("E-tir-store", "TIR statement")
def store(buffer: BoundBuffer, indices: Sequence[int], value: Number) -> None:
    """Write a number to an element."""
    memory = buffer.memory
    place = address(buffer, indices)
    memory.data[place] = value
    if memory.written is not None:
        memory.written[place] = 1


WHILE = 10
"""Units of fuel for an iteration of a `while` loop."""


class SharedFuel:
    """Fuel that several runs share."""

    __slots__ = ("left",)

    def __init__(self, left: float) -> None:
        self.left = left


class TirRun:
    """The limits of a run, and the external functions.

    Attributes
    ----------
    fuel
        The remaining fuel for iterations of loops.
    room
        The remaining bytes for allocations.
    call
        The functions from outside, by name.
    """

    __slots__ = ("call", "fuel", "room")

    def __init__(
        self, fuel: float | None, room: int, call: Mapping[str, Callable[..., Any]]
    ) -> None:
        self.fuel: float = math.inf if fuel is None else fuel
        self.room = room
        self.call = call

    @rule("E-tir-fuel", "TIR statement")
    def spend(self, units: int, what: str = "the loop") -> None:
        """Take fuel for iterations of a loop, or for lanes."""
        self.fuel -= units
        if self.fuel < 0:
            refuted("E-tir-fuel")
            message = f"{what} exceeds the budget of iterations"
            raise OutOfFuelStop("E-tir-fuel", message)

    @rule("E-tir-allocate", "TIR statement")
    def allocate(self, name: str, dtype: DataType, dims: Sequence[int]) -> BoundBuffer:
        """Fresh, unwritten memory for a buffer."""
        element = numpy_type(dtype)
        size = math.prod(dims)
        if any(dim < 0 for dim in dims) or size * element.itemsize > self.room:
            asked = f"{name} of shape {tuple(dims)} needs {size * element.itemsize} bytes"
            fault("E-tir-allocate", f"{asked}; {self.room} are left")
        self.room -= size * element.itemsize
        return BoundBuffer(name, Cells(np.zeros(size, element), bytearray(size)), dims)
