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

from rlx.semantics.arrays import address
from rlx.semantics.native.arrays import GUARDED, Damaged
from rlx.semantics.native.frame import (
    DAMAGED,
    GIVE_BACK,
    LAST_BLOCK,
    LEFT,
    LIMIT,
    LIVE,
    ROOM,
    TAKE,
    USED,
    WANTED,
    WORKSPACE,
)
from rlx.semantics.native.interface import ffi

WORKSPACE_LIMIT = 256 << 20
FIRST_SIZE = 1 << 16
"""The bytes of a new workspace: enough for small buffers in loops."""
_AROUND = 64
"""The number of bytes before and behind a block, which nothing may change."""
_FILL = 0xA7
_LINE = 64
"""The bytes of a cache line, at whose start memory begins."""

Numbers = Any
"""The numbers of a call as a kernel sees them; the prelude lists them."""


Memory = tuple[np.ndarray[Any, Any], int, int]
"""Memory, the first address in it that is a multiple of 64, and the bytes from there."""


_NOTHING: Memory = (np.empty(0, np.uint8), 0, 0)


class Workspace(threading.local):
    """Memory for what kernels allocate, kept from call to call: fresh pages cost more than many
    kernels.
    """

    memory: Memory | None = None


kept_workspace = Workspace()
"""The memory that the next call of a thread begins with."""


class _Block(NamedTuple):
    """Memory outside of the workspace: with its surroundings, the block's size, and the address of
    the block that was taken before it.
    """

    memory: np.ndarray[Any, Any]
    size: int
    before: int


blocks: dict[int, _Block] = {}
"""The blocks that kernels use, by their addresses."""


def aligned(size: int) -> tuple[np.ndarray[Any, Any], int]:
    """Memory of a size in bytes, and the first address in it that is a multiple of 64."""
    memory = np.empty(size + _LINE, np.uint8)
    return memory, -(-address(memory) // _LINE) * _LINE


def _of_size(size: int) -> Memory:
    return (*aligned(size), size)


def call_with_memory(call: Any, numbers: Numbers, places: Any, limit: int) -> Any:
    """Call machine code that takes memory; at most ``limit`` bytes at a time. Raises Damaged if it
    wrote outside of that memory.
    """
    memory, kept_workspace.memory = kept_workspace.memory, None
    if memory is None and not GUARDED:
        memory = _of_size(FIRST_SIZE)
    prepare(numbers, limit)
    use(numbers, memory)
    numbers[WANTED] = 0
    failed = call(numbers, places)
    larger = larger_workspace(numbers) if failed == LEFT else None
    if larger is not None:
        use(numbers, larger)
        failed = call(numbers, places)
    wanted = numbers[WANTED]
    give_back(numbers)
    if larger is None and numbers[ROOM] < wanted < WORKSPACE_LIMIT and not GUARDED:
        larger = _of_size(wanted)
    kept = larger is not None and wanted < WORKSPACE_LIMIT
    kept_workspace.memory = larger if kept else memory
    return failed


def larger_workspace(numbers: Numbers) -> Memory | None:
    """A workspace for a kernel that did not begin, with half as much again as it wants, because
    many want a little more each time; None if it did not begin for another reason.
    """
    wanted = numbers[WANTED]
    if not numbers[ROOM] < wanted <= numbers[LIMIT]:
        return None
    try:
        return _of_size(wanted + wanted // 2)
    except MemoryError:
        return None


def prepare(numbers: Numbers, limit: int) -> None:
    """Set the numbers by which a kernel takes memory; there is no workspace yet."""
    numbers[LIMIT] = limit
    numbers[TAKE], numbers[GIVE_BACK] = callbacks()


def use(numbers: Numbers, workspace: Memory | None) -> None:
    """Let a kernel take its memory from a workspace, or from none."""
    _, numbers[WORKSPACE], numbers[ROOM] = workspace or _NOTHING


def give_back(numbers: Numbers) -> None:
    """Give back what a kernel has not given back itself, because it was left early. Raises Damaged
    if it wrote outside of its memory.
    """
    if numbers[LAST_BLOCK]:
        less(numbers, 0)
    if numbers[USED]:
        numbers[LIVE] = numbers[USED] = 0
    if numbers[DAMAGED]:
        numbers[DAMAGED] = 0
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
    first = start - address(memory)
    memory[first : first + _AROUND] = _FILL
    memory[first + _AROUND + size :] = _FILL
    blocks[place] = _Block(memory, size, numbers[LAST_BLOCK])
    numbers[LAST_BLOCK] = place
    return place


def less(numbers: Numbers, until: int) -> None:
    """Give back the blocks that were taken after the one at an address (0: all), and note whether
    their surroundings were changed.
    """
    while numbers[LAST_BLOCK] != until:
        place = numbers[LAST_BLOCK]
        block = blocks.pop(place)
        numbers[LAST_BLOCK] = block.before
        first = place - address(block.memory)
        around = block.memory[first - _AROUND : first], block.memory[first + block.size :]
        if any((part != _FILL).any() for part in around):
            numbers[DAMAGED] = 1
