"""Computation of integers by sequences of simple steps in machine code, before kernels use them.

The sizes and offsets of calls are computed from few numbers by sums and products, and by kernels on
one array of integers. The steps are data, interpreted by one small driver in C, so a new sequence
needs no compilation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rlx.semantics.native import compiler
from rlx.semantics.native.frame import beginning
from rlx.semantics.native.kernel import ENDLESS, MEMORY_LIMIT, Kernel

COPY, TIMES, PLUS, EQUAL, AT_LEAST, DIVIDES, RUN, READ, PUT, WRITE = range(10)
"""The operations of steps; a slot holds one integer.

``COPY to from``; ``TIMES to a b``; ``PLUS to a b``; ``EQUAL a b``, ``AT_LEAST a b`` and
``DIVIDES number a``, which must hold; ``RUN kernel slot``, on an array that begins at a slot;
``READ array slot count`` and ``WRITE array slot count``; ``PUT array place slot``.
"""

_DRIVER = """
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
/* v: the number of words, then the words of the steps. p: the slots, then the arrays; of a kernel itself and its numbers.
   1 where something must hold and does not, a number is too large, or a kernel stops. */
int32_t rlx_kernel(int64_t *v, void **p) {
    int64_t *s = (int64_t *)p[0];
    const int64_t *w = v + 1, *end = w + v[0];
    while (w < end) {
        switch (w[0]) {
        case 0: s[w[1]] = s[w[2]]; w += 3; break;
        case 1: if (__builtin_mul_overflow(s[w[2]], s[w[3]], &s[w[1]])) return 1; w += 4; break;
        case 2: if (__builtin_add_overflow(s[w[2]], s[w[3]], &s[w[1]])) return 1; w += 4; break;
        case 3: if (s[w[1]] != s[w[2]]) return 1; w += 3; break;
        case 4: if (s[w[1]] < s[w[2]]) return 1; w += 3; break;
        case 5: if (s[w[2]] % w[1]) return 1; w += 3; break;
        case 6: {
            int32_t (*call)(int64_t *, void **) = (int32_t (*)(int64_t *, void **))p[w[1]];
            int64_t *numbers = (int64_t *)p[w[1] + 1];
            void *args[1] = {s + w[2]};
            numbers[0] = ENDLESS_;
            if (call(numbers, args)) return 1;
            w += 3; break;
        }
        case 7: __builtin_memcpy(s + w[2], p[w[1]], 8 * w[3]); w += 4; break;
        case 8: ((int64_t *)p[w[1]])[w[2]] = s[w[3]]; w += 4; break;
        case 9: __builtin_memcpy(p[w[1]], s + w[2], 8 * w[3]); w += 4; break;
        default: return 1;
        }
    }
    return 0;
}
""".replace("ENDLESS_", f"{ENDLESS}LL")


class Steps(NamedTuple):
    """A sequence of steps.

    Attributes
    ----------
    words
        The encoded steps.
    slots
        The initial values of the slots; the given numbers come first.
    arrays
        The number of arrays passed to each run; they come first among the arrays.
    kernels
        The kernels, which come after them with two entries each.
    lengths
        The array length of each kernel.
    """

    words: Sequence[int]
    slots: Sequence[int]
    arrays: int
    kernels: Sequence[Kernel]
    lengths: Sequence[int]


class Formulas:
    """Steps that are ready to run.

    Parameters
    ----------
    steps
        The steps.
    kept
        Further cffi arrays after the kernels; each run writes numbers to them.
    """

    def __init__(self, steps: Steps, kept: Sequence[Any]) -> None:
        self._library, self._ffi = compiler.library(_DRIVER)  # kept: else it is unloaded
        self._run = self._library.rlx_kernel
        new = self._ffi.new
        self._words = new("int64_t[]", [len(steps.words), *steps.words])
        self._slots = new("int64_t[]", list(steps.slots))
        numbers = [new("int64_t[]", [*beginning(MEMORY_LIMIT), length]) for length in steps.lengths]
        self._held = [*numbers, *kept]
        pointers = [self._slots, *[self._ffi.NULL] * steps.arrays]
        for kernel, its in zip(steps.kernels, numbers, strict=True):
            pointers += [self._ffi.cast("void *", kernel.entry.call), its]
        self._pointers = new("void *[]", [*pointers, *kept])

    def __call__(self, numbers: Sequence[int], arrays: Sequence[Any]) -> bool:
        """Run the steps on numbers and on arrays of integers; whether all holds that must."""
        try:
            self._slots[0 : len(numbers)] = numbers
        except OverflowError:
            return False
        held = []  # what from_buffer gives keeps an array where it is
        for k, array in enumerate(arrays, 1):
            self._pointers[k] = address = self._ffi.from_buffer(array)
            held.append(address)
        return not self._run(self._words, self._pointers)

    def read(self, first: int, count: int) -> list[int]:
        """The values of consecutive slots."""
        found: list[int] = self._ffi.unpack(self._slots + first, count)
        return found
