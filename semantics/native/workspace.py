"""The memory that kernels allocate: a workspace that calls of a thread share, and blocks for what
does not fit into it.

A kernel takes memory from the workspace itself. For more it calls back, which happens until the
workspace has grown: so the code for it is here, once, and not in every kernel.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from rlx.semantics.native.arrays import GUARDED, Damaged
from rlx.semantics.native.interface import ffi

WORKSPACE_LIMIT = 256 << 20
FIRST_SIZE = 1 << 16
"""The bytes of a new workspace: enough for small buffers in loops."""
_AROUND = 64
"""The number of bytes before and behind a block, which nothing may change."""
_FILL = 0xA7

Numbers = Any
"""The numbers of a call as a kernel sees them; the prelude lists them."""


Memory = tuple[np.ndarray[Any, Any], int, int]
"""Memory, the first address in it that is a multiple of 64, and the bytes from there."""


class _Workspace(threading.local):
    """Memory for what kernels allocate, kept from call to call: fresh pages cost more than many
    kernels.
    """

    memory: Memory | None = None


_workspace = _Workspace()


class _Block(NamedTuple):
    """Memory outside of the workspace: with its surroundings, the block's size, and the address of
    the block that was taken before it.
    """

    memory: np.ndarray[Any, Any]
    size: int
    before: int


_blocks: dict[int, _Block] = {}
"""The blocks that kernels use, by their addresses."""


def aligned(size: int) -> tuple[np.ndarray[Any, Any], int]:
    """Memory of a size in bytes, and the first address in it that is a multiple of 64."""
    memory = np.empty(size + 64, np.uint8)
    return memory, (memory.__array_interface__["data"][0] + 63) & ~63


def _of_size(size: int) -> Memory:
    return (*aligned(size), size)


def call_with_memory(call: Any, numbers: Numbers, places: Any, limit: int) -> Any:
    """Call machine code that takes memory; at most ``limit`` bytes at a time.

    Raises
    ------
    Damaged
        If it wrote outside of that memory.
    """
    memory, _workspace.memory = _workspace.memory, None
    if memory is None and not GUARDED:
        memory = _of_size(FIRST_SIZE)
    prepare(numbers, limit)
    numbers[3], numbers[4] = (0, 0) if memory is None else memory[1:]
    numbers[6] = 0
    failed = call(numbers, places)
    larger = larger_workspace(numbers) if failed == 2 else None
    if larger is not None:
        numbers[3], numbers[4] = larger[1:]
        failed = call(numbers, places)
    wanted = numbers[6]
    give_back(numbers)
    if larger is None and numbers[4] < wanted < WORKSPACE_LIMIT and not GUARDED:
        larger = _of_size(wanted)
    kept = larger is not None and wanted < WORKSPACE_LIMIT
    _workspace.memory = larger if kept else memory
    return failed


def larger_workspace(numbers: Numbers) -> Memory | None:
    """A workspace for a kernel that did not begin, with half as much again as it wants, because
    many want a little more each time; None if it did not begin for another reason.
    """
    wanted = numbers[6]
    if not numbers[4] < wanted <= numbers[1]:
        return None
    try:
        return _of_size(wanted + wanted // 2)
    except MemoryError:
        return None


def prepare(numbers: Numbers, limit: int) -> None:
    """Set the numbers by which a kernel takes memory; there is no workspace yet."""
    numbers[1] = limit
    numbers[14], numbers[15] = callbacks()


def give_back(numbers: Numbers) -> None:
    """Give back what a kernel has not given back itself, because it was left early.

    Raises
    ------
    Damaged
        If it wrote outside of its memory.
    """
    if numbers[7]:
        less(numbers, 0)
    if numbers[5]:
        numbers[2] = numbers[5] = 0
    if numbers[11]:
        numbers[11] = 0
        raise Damaged("a kernel wrote outside of memory that it allocated")


@cache
def callbacks() -> tuple[int, int]:
    """The addresses of :func:`more` and :func:`less` as functions of C."""
    made = ffi().callback("intptr_t(int64_t *, int64_t)", more, error=0)
    given = ffi().callback("void(int64_t *, int64_t)", less)
    _kept.extend((made, given))
    return int(ffi().cast("int64_t", made)), int(ffi().cast("int64_t", given))


_kept: list[Any] = []
"""The callbacks, which cffi would else remove."""


def more(numbers: Numbers, size: int) -> int:
    """The address of a new block; 0 if there is no memory."""
    try:
        memory, start = aligned(size + 2 * _AROUND)
    except MemoryError:
        return 0
    place = start + _AROUND
    first = start - memory.__array_interface__["data"][0]
    memory[first : first + _AROUND] = _FILL
    memory[first + _AROUND + size :] = _FILL
    _blocks[place] = _Block(memory, size, numbers[7])
    numbers[7] = place
    return place


def less(numbers: Numbers, until: int) -> None:
    """Give back the blocks that were taken after the one at an address (0: all), and note whether
    their surroundings were changed.
    """
    while numbers[7] != until:
        place = numbers[7]
        block = _blocks.pop(place)
        numbers[7] = block.before
        first = place - block.memory.__array_interface__["data"][0]
        around = block.memory[first - _AROUND : first], block.memory[first + block.size :]
        if any((part != _FILL).any() for part in around):
            numbers[11] = 1
