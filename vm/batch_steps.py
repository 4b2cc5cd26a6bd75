"""Recording of formula steps: the slots, and the value of each slot during the recording."""

from __future__ import annotations

from typing import Any

from rlx.grammar.nodes.dtype import INT64, fits
from rlx.semantics.native import formulas
from rlx.semantics.native.kernel import Kernel
from rlx.semantics.values import Scalar, Value

Slots = tuple[int, ...]


class NoFormula(Exception):
    """No available steps compute a number from sizes, so the plan is valid only for these sizes."""


class StepWriter:
    """Writes steps on slots, and knows the current value of each slot."""

    def __init__(self) -> None:
        self._slots: list[int] = []
        self._steps: list[tuple[int, ...]] = []
        self._constants: dict[int, int] = {}
        self._demanded: set[tuple[int, int]] = set()
        self._kernels: list[Kernel] = []
        self._lengths: list[int] = []

    def _slot(self, number: int) -> int:
        self._slots.append(number)
        return len(self._slots) - 1

    def _constant(self, number: int) -> int:
        found = self._constants.get(number)
        if found is None:
            found = self._constants[number] = self._slot(word(number))
        return found

    def _varies(self, slot: int) -> bool:
        return self._constants.get(self._slots[slot]) != slot

    def _step(self, code: int, *words: int) -> None:
        self._steps.append((code, *words))

    def _times(self, a: int, b: int) -> int:
        return self._computed(formulas.TIMES, a, b, self._slots[a] * self._slots[b])

    def _plus(self, a: int, b: int) -> int:
        return self._computed(formulas.PLUS, a, b, self._slots[a] + self._slots[b])

    def _computed(self, code: int, a: int, b: int, number: int) -> int:
        if not (self._varies(a) or self._varies(b)):
            return self._constant(number)
        made = self._slot(word(number))
        self._step(code, made, a, b)
        return made

    def _equal(self, a: int, b: int) -> None:
        if a != b and (self._varies(a) or self._varies(b)):
            self._step(formulas.EQUAL, a, b)

    def _least(self, a: int, b: int) -> None:
        """Demand that one slot is at least as large as another; neither is of a heap."""
        if (a, b) not in self._demanded and (self._varies(a) or self._varies(b)):
            self._demanded.add((a, b))
            self._step(formulas.AT_LEAST, a, b)

    def _fixed(self, slot: int) -> int:
        """The number of a slot, which must be the same in every run."""
        number = self._slots[slot]
        self._equal(slot, self._constant(number))
        return number

    def _product(self, slots: Slots) -> int:
        total = self._constant(1)
        for slot in slots:
            total = self._times(total, slot)
        return total

    def _run(self, kernel: Kernel, first: int, count: int) -> None:
        """Run a kernel on an array of slots; where it is found is known in the end."""
        self._step(formulas.RUN, len(self._kernels), first)
        self._kernels.append(kernel)
        self._lengths.append(count)

    def _placed(self, arrays: int) -> list[int]:
        """The words of the steps, with the kernels behind the arrays."""
        found: list[int] = []
        for code, first, *rest in self._steps:
            place = 1 + arrays + 2 * first if code == formulas.RUN else first
            found += (code, place, *rest)
        return found


def word(number: Any) -> int:
    """A number if it fits into 64 bits."""
    found = int(number)
    if not fits(found, INT64):
        raise NoFormula
    return found


def is_size(value: Value) -> bool:
    """Whether a value is an integer that may differ between runs of one plan."""
    return isinstance(value, Scalar) and type(value.value) is int and value.dtype == INT64
