"""Sequences of kernel calls, executed by one call of machine code.

The overhead of a call from Python is then paid only once: the numbers are prepared before, and a
small driver in C passes the addresses of the arrays to each kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rlx.semantics.faults import Stop
from rlx.semantics.native import compiler
from rlx.semantics.native.frame import (
    FIRST_SLOT,
    FIRST_VALUE,
    FUEL,
    LEFT,
    SECOND_VALUE,
    SITE,
    WANTED,
    beginning,
)
from rlx.semantics.native.kernel import (
    ENDLESS,
    MEMORY_LIMIT,
    Kernel,
    Variant,
    scalar,
    stop_of,
)
from rlx.semantics.native.workspace import (
    WORKSPACE_LIMIT,
    Memory,
    aligned,
    give_back,
    larger_workspace,
    prepare,
    use,
)


class ArrayPlace(NamedTuple):
    """An array of a call: it begins `offset` bytes after one of the bases, and has a shape."""

    base: int
    offset: int
    shape: tuple[int, ...]


class KernelCall(NamedTuple):
    """A kernel and its arguments, with the right types and ranks (:func:`fits`)."""

    kernel: Kernel
    args: tuple[ArrayPlace | int | float, ...]


class Failure(NamedTuple):
    """The index of the call that stopped, and its exception."""

    call: int
    stop: Stop


DRIVER = """
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
/* v: the word of the next call, the word behind the last, then the words of each call: where in p its kernel and its numbers
   are, how many arrays it takes, and for each of those a base and an offset. p: room for addresses, the bases, kernels, numbers. */
int32_t rlx_kernel(int64_t *v, void **p) {
    void **args = (void **)p[0];
    int64_t at = v[0];
    while (at < v[1]) {
        int32_t (*call)(int64_t *, void **) = (int32_t (*)(int64_t *, void **))p[v[at]];
        int64_t *numbers = (int64_t *)p[v[at + 1]];
        int64_t count = v[at + 2];
        for (int64_t k = 0; k < count; ++k)
            args[k] = (char *)p[v[at + 3 + 2 * k]] + v[at + 4 + 2 * k];
        numbers[0] = INT64_MAX_;
        int32_t failed = call(numbers, args);
        if (failed) { v[0] = at; return failed; }
        at += 3 + 2 * count;
    }
    v[0] = at;
    return 0;
}
""".replace("INT64_MAX_", f"{ENDLESS}LL")

_FIRST_WORD = 2


class KernelSequence:
    """A fixed sequence of calls on arrays of known sizes.

    Parameters
    ----------
    calls
        The calls in order.
    bases
        The number of base addresses of their arrays.

    Attributes
    ----------
    memory, words
        The numbers and the words that each run reads.
    sizes
        For each call, the start of each argument's numbers.
    offsets
        For each call, the position of each array's offset in the words; 0 if not an array.
    """

    def __init__(self, calls: Sequence[KernelCall], bases: int) -> None:
        self._calls, self._bases = tuple(calls), bases
        self._library, self._ffi = compiler.library(DRIVER)  # kept: else it is unloaded
        self._driver = self._library.rlx_kernel
        self._taking = [k for k, call in enumerate(calls) if call.kernel.entry.takes]
        self._lay_out()
        self._workspace: Memory | None = None
        for k in self._taking:
            prepare(self._numbers[k], MEMORY_LIMIT)

    def _lay_out(self) -> None:
        """The words of the calls, their kernels, and their numbers."""
        words = [0, 0]
        self._starts: dict[int, int] = {}
        starts: list[int] = []
        numbers: list[int] = []
        self.sizes: list[list[int]] = []
        self.offsets: list[list[int]] = []
        for k, (_, args) in enumerate(self._calls):
            self._starts[len(words)] = k
            kernel = 1 + self._bases + 2 * k
            words += [kernel, kernel + 1, sum(isinstance(arg, ArrayPlace) for arg in args)]
            starts.append(len(numbers))
            numbers += _numbers(self._calls[k])
            sizes, offsets, at = list[int](), list[int](), starts[-1] + FIRST_SLOT
            for arg in args:
                sizes.append(at)
                offsets.append(len(words) + 1 if isinstance(arg, ArrayPlace) else 0)
                if isinstance(arg, ArrayPlace):
                    words += [1 + arg.base, arg.offset]
                at += len(arg.shape) if isinstance(arg, ArrayPlace) else 1
            self.sizes.append(sizes)
            self.offsets.append(offsets)
        words[1] = len(words)
        new, most = self._ffi.new, max(len(call.args) for call in self._calls)
        self.words, self.memory = new("int64_t[]", words), new("int64_t[]", numbers)
        self._room = new("void *[]", most)
        self._numbers = [self.memory + start for start in starts]
        self._pointers = new("void *[]", 1 + self._bases + 2 * len(self._calls))
        self._pointers[0] = self._room
        for k, (call, found) in enumerate(zip(self._calls, self._numbers, strict=True)):
            at = 1 + self._bases + 2 * k
            self._pointers[at] = self._ffi.cast("void *", call.kernel.entry.call)
            self._pointers[at + 1] = found

    def __call__(self, arrays: Sequence[np.ndarray[Any, Any]]) -> Failure | None:
        """Run the calls; the first that stops ends them. `arrays`: an array at each base,
        contiguous, and writeable where a call writes to it. Raises ValueError if there are fewer or
        more arrays than bases.
        """
        if len(arrays) != self._bases:
            raise ValueError(f"expected {self._bases} arrays, found {len(arrays)}")
        pointers, words, address = self._pointers, self.words, self._ffi.from_buffer
        held = []  # what from_buffer gives keeps an array where it is
        for k, array in enumerate(arrays, 1):
            pointers[k] = here = address(array)
            held.append(here)
        words[0] = _FIRST_WORD
        failed = self._driver(words, pointers)
        while failed == LEFT:
            stopped = self._again()
            if stopped is not None:
                return stopped
            failed = self._driver(words, pointers)
        if self._taking:
            self._settle()
        if not failed:
            return None
        k = self._starts[words[0]]
        return self._failure(k, self._calls[k].kernel.entry)

    def _failure(self, k: int, entry: Variant) -> Failure:
        """Why a call stopped, by the numbers that its kernel has left."""
        numbers = self._numbers[k]
        site = entry.sites[numbers[SITE]]
        return Failure(k, stop_of(site, numbers[FIRST_VALUE], numbers[SECOND_VALUE]))

    def _again(self) -> Failure | None:
        """Bring the memory that the current call wants, or run it as one whose arguments share
        memory, and go on to the next.
        """
        words, at = self.words, self.words[0]
        k = self._starts[at]
        kernel, numbers = self._calls[k].kernel, self._numbers[k]
        larger = larger_workspace(numbers) if kernel.entry.takes else None
        if larger is not None:
            self._use(larger)
            return None
        entry = kernel.general()
        numbers[FUEL] = ENDLESS
        failed = entry.call(numbers, self._room)  # the driver put the addresses there
        if entry.takes:
            give_back(numbers)
        if failed:
            return self._failure(k, entry)
        words[0] = at + 3 + 2 * words[at + 2]
        return None

    def _settle(self) -> None:
        """Give the kernels that take memory as much as they took for the next time."""
        wanted = 0
        for k in self._taking:
            numbers = self._numbers[k]
            give_back(numbers)
            wanted = max(wanted, numbers[WANTED])
        held = 0 if self._workspace is None else self._workspace[2]
        if wanted >= WORKSPACE_LIMIT:
            self._use(None)
        elif held < wanted:
            self._use((*aligned(wanted), wanted))

    def _use(self, workspace: Memory | None) -> None:
        self._workspace = workspace
        for k in self._taking:
            use(self._numbers[k], workspace)


def fits(kernel: Kernel, args: Sequence[np.ndarray[Any, Any] | int | float]) -> bool:
    """Whether arrays and numbers can be used in place without conversion."""
    if len(args) != len(kernel.taken):
        return False
    for arg, taken in zip(args, kernel.taken, strict=True):
        if (taken.buffer is None) == isinstance(arg, np.ndarray):
            return False
        if isinstance(arg, np.ndarray):
            flags = arg.flags
            if arg.dtype != taken.wanted or arg.ndim != taken.rank:
                return False
            if not flags.carray and (taken.written or not (flags.c_contiguous and flags.aligned)):
                return False
    return True


def _numbers(call: KernelCall) -> list[int]:
    """The numbers that a kernel is called with."""
    found = beginning(MEMORY_LIMIT)
    for position, arg in enumerate(call.args):
        if isinstance(arg, ArrayPlace):
            found += arg.shape
        else:
            found.append(scalar(position, call.kernel.taken[position].dtype, arg))
    return found
