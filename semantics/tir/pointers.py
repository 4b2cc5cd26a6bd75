"""Pointers of PrimFuncs: places in memory as values, views of memory, and C's functions
on bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.dtype import dtype as named
from rlx.semantics.tir.memory import Array, BoundBuffer, Cells, numpy_type
from rlx.semantics.tir.values import fault, unsupported
from rlx.spec.registry import rule


class Pointer(NamedTuple):
    """A place in memory.

    Attributes
    ----------
    memory
        The whole memory, as it was allocated or passed.
    at
        The number of bytes from its beginning.
    """

    memory: Cells
    at: int

    def __add__(self, count: Any) -> Pointer:
        """The place some bytes further on."""
        return Pointer(self.memory, self.at + int(count))

    def array(self) -> Array:
        """The elements from here on as an array, for external functions, which may write them."""
        found = view(self, named(self.memory.data.dtype.name))
        return BoundBuffer("the memory", found, found.data.shape).array()

    def bytes(self, count: int) -> tuple[Any, PartlyWritten | None]:
        """Some bytes from here on, and which of them were written; None if all were."""
        whole = self.memory.data.view(np.uint8)
        if count < 0 or not 0 <= self.at <= self.at + count <= whole.size:
            where = f"{whole.size} bytes of memory, from byte {self.at} on"
            fault("E-tir-bounds", f"{count} bytes are not within {where}")
        flags = None if self.memory.written is None else PartlyWritten(self.memory, self.at, 1)
        return whole[self.at : self.at + count], flags


@rule("E-tir-pointer", "TIR expression")
def place_of(buffer: BoundBuffer, indices: list[int]) -> Pointer:
    """The place of a buffer's element, which may lie behind the last one."""
    steps = zip(indices, buffer.strides, strict=False)
    place = buffer.offset + sum(index * by for index, by in steps)
    memory = buffer.memory
    return Pointer(memory.whole or memory, memory.start + place * memory.data.itemsize)


def data_of(buffer: BoundBuffer) -> Pointer:
    """The beginning of the memory that a buffer was declared in."""
    return Pointer(buffer.memory.whole or buffer.memory, buffer.memory.start)


class PartlyWritten:
    """The written elements of a view, whose elements are not those of the memory.

    An element of the memory is written once all of its bytes are.
    """

    __slots__ = ("_each", "_memory", "_parts", "_start", "_width")

    def __init__(self, memory: Cells, start: int, width: int) -> None:
        if memory.parts is None:
            memory.parts = bytearray(memory.data.nbytes)
        self._memory, self._parts = memory, memory.parts
        self._start, self._width, self._each = start, width, memory.data.itemsize

    def __getitem__(self, index: int) -> bool:
        first, whole = self._start + index * self._width, self._memory.written
        assert whole is not None
        found = range(first, first + self._width)
        return all(whole[byte // self._each] or self._parts[byte] for byte in found)

    def __setitem__(self, index: int, flag: int) -> None:
        first, whole, each = self._start + index * self._width, self._memory.written, self._each
        assert whole is not None
        self._parts[first : first + self._width] = bytes([flag]) * self._width
        for element in range(first // each, (first + self._width - 1) // each + 1):
            if all(self._parts[element * each : (element + 1) * each]):
                whole[element] = 1


def view(pointer: Pointer, dtype: DataType) -> Cells:
    """The memory from a pointer on, as elements of a type."""
    memory, start = pointer
    element = numpy_type(dtype)
    if start == 0 and memory.data.dtype == element:
        return memory
    whole = memory.data.view(np.uint8)
    if not 0 <= start <= whole.size:
        fault("E-tir-bounds", f"byte {start} is not within {whole.size} bytes of memory")
    count = (whole.size - start) // element.itemsize
    data = whole[start : start + count * element.itemsize].view(element)
    written: Any = memory.written
    if written is not None:
        each = memory.data.itemsize
        if element.itemsize == each and start % each == 0:
            written = memoryview(written)[start // each :]
        else:
            written = PartlyWritten(memory, start, element.itemsize)
    return Cells(data, written, memory, start)


def whole_bytes(dtype: DataType) -> None:
    """Refuse the memory of elements that have no byte of their own."""
    if dtype.bits % 8 and dtype.code != "bool":
        unsupported("E-tir-alias-width", f"memory of {dtype} cannot be viewed as another type")


# ------------------------------------------------------------------ C's functions on bytes


def _copy(to: Pointer, source: Pointer, count: int) -> Pointer:
    (target, flags), (bytes_, known) = to.bytes(count), source.bytes(count)
    before = bytes_.copy()
    said = None if known is None else [known[byte] for byte in range(count)]
    target[...] = before
    if flags is not None:
        for byte in range(count):
            flags[byte] = said is None or said[byte]
    return to


def _copy_apart(to: Pointer, source: Pointer, count: int) -> Pointer:
    for place in (to, source):
        place.bytes(count)  # a fault unless they are there
    if to.memory is source.memory and abs(to.at - source.at) < count:
        fault("E-tir-pointer-overlap", f"memcpy copies {count} bytes to memory that overlaps them")
    return _copy(to, source, count)


def _fill(to: Pointer, value: int, count: int) -> Pointer:
    target, flags = to.bytes(count)
    target[...] = value % 256
    if flags is not None:
        for byte in range(count):
            flags[byte] = 1
    return to


BYTES: Mapping[str, Callable[..., Pointer]] = {
    "memcpy": _copy_apart,
    "memmove": _copy,
    "memset": _fill,
}
"""C's functions by their names."""
