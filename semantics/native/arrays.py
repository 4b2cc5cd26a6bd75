"""The arrays of a call as memory for a kernel: copies of arrays that are not contiguous, guards in
tests.

With ``RLX_NATIVE_GUARD`` in the environment every array of a call is copied between bytes that
nothing may change, and so is what a kernel allocates; a kernel that changed them, or what it only
reads, ends the call with :class:`Damaged`. The project's tests run with it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from rlx.semantics.arrays import address

Array = np.ndarray[Any, Any]

GUARDED = bool(os.environ.get("RLX_NATIVE_GUARD"))
_GUARD = 64
"""The number of guard bytes before and after an array."""
_FILL = 0xA7
_WORK = 10_000


class Damaged(Exception):
    """A kernel wrote outside its memory, which is a bug in rlx."""


class Copies:
    """Copies of arrays that are not contiguous or not aligned; an array that is passed twice is
    copied once.

    Parameters
    ----------
    args
        The arguments of the call.
    written
        The positions of the arguments that are written to.
    """

    __slots__ = ("_guarded", "_made", "_written")

    def __init__(self, args: Sequence[object], written: Collection[int]) -> None:
        self._written = written
        self._made: dict[object, tuple[Array, Array, bool]] = {}
        self._guarded: list[tuple[Array, Array, Array, bool]] = []
        if GUARDED:
            self._guard(args)

    def compact(self, position: int, array: Array) -> Array:
        """The array itself if it can be used, otherwise its copy."""
        place = _place(array)
        _, copy, before = self._made.get(place, (None, None, False))
        if copy is None:
            if _usable(array):
                return array
            copy = np.array(array, order="C")
        self._made[place] = (array, copy, position in self._written or before)
        return copy

    def finish(self) -> None:
        """Copy the results back to the arrays that are written to. Raises Damaged if a guard was
        changed, or an array that is only read.
        """
        for array, copy, written in self._made.values():
            if written:
                np.copyto(array, copy)
        for memory, array, copy, written in self._guarded:
            same = written or array.tobytes() == copy.tobytes()
            size = copy.nbytes
            if (memory[:_GUARD] != _FILL).any() or (memory[_GUARD + size :] != _FILL).any():
                raise Damaged("a kernel wrote outside of an argument")
            if not same:
                raise Damaged("a kernel wrote to an argument that it only reads")

    def _guard(self, args: Sequence[object]) -> None:
        """Copies between guards, of arrays that share no memory with others."""
        arrays = [(k, arg) for k, arg in enumerate(args) if isinstance(arg, np.ndarray)]
        for position, array in arrays:
            others = [other for k, other in arrays if k != position]
            if any(np.may_share_memory(array, other) for other in others):
                continue
            size = array.nbytes
            memory = np.empty(size + 3 * _GUARD, np.uint8)
            start = -address(memory) % _GUARD
            memory = memory[start : start + size + 2 * _GUARD]
            memory[:] = _FILL
            copy = memory[_GUARD : _GUARD + size].view(array.dtype).reshape(array.shape)
            copy[...] = array
            written = position in self._written
            self._made[_place(array)] = (array, copy, written)
            self._guarded.append((memory, array, copy, written))


def tangled(args: Sequence[object], written: Collection[int]) -> bool:
    """Whether an array that would have to be copied shares some elements, but not all, with one
    that is written to.
    """
    arrays = [(k, arg) for k, arg in enumerate(args) if isinstance(arg, np.ndarray)]
    return any(
        _shared(one, two)
        for k, one in arrays
        if not _usable(one)
        for other, two in arrays
        if k != other and (k in written or other in written) and _place(one) != _place(two)
    )


def _usable(array: Array) -> bool:
    """Whether a kernel can read an array where it is."""
    return bool(array.flags.c_contiguous and array.flags.aligned)


def _shared(one: Array, two: Array) -> bool:
    try:
        return np.shares_memory(one, two, max_work=_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _place(array: Array) -> object:
    return address(array), array.dtype, array.shape, array.strides
