"""Numbers that the function of a batch computes, and the Python lines that compute them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64

LARGEST = 2**63 - 1


class NoPlan(Exception):
    """There is no function for a batch and its inputs, so its instructions run one by one; the
    message gives the reason.

    Attributes
    ----------
    apart
        Instructions without which there might be one.
    """

    def __init__(self, message: str, apart: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.apart = apart


class Number(NamedTuple):
    """A number as the function writes it, and what it was for the inputs that were seen."""

    text: str
    seen: int

    @property
    def varies(self) -> bool:
        """Whether it may differ from run to run: it is a variable."""
        return self.text[0].isalpha()


@lru_cache(maxsize=4096)
def constant(number: int) -> Number:
    """A number that is the same in each run."""
    return Number(str(int(number)), int(number))


Sizes = tuple[Number, ...]

_OPERATORS: dict[type, tuple[str, Callable[[int, int], int]]] = {
    tir.Add: ("{} + {}", operator.add),
    tir.Sub: ("{} - {}", operator.sub),
    tir.Mul: ("{} * {}", operator.mul),
    tir.FloorDiv: ("{} // {}", operator.floordiv),
    tir.FloorMod: ("{} % {}", operator.mod),
    tir.Max: ("max({}, {})", max),
    tir.Min: ("min({}, {})", min),
}


class NumberWriter:
    """Writes the lines that compute numbers, and those that leave where a condition fails.

    Attributes
    ----------
    lines
        The lines so far; none is needed twice.
    """

    def __init__(self) -> None:
        self.lines: dict[str, None] = {}
        self._made: dict[str, Number] = {}

    def variable(self, text: str, seen: int) -> Number:
        """A number that an expression gives, in a variable of its own."""
        if text not in self._made:
            self._made[text] = Number(f"t{len(self._made)}", seen)
            self.lines[f"{self._made[text].text} = {text}"] = None
        return self._made[text]

    def demand(self, condition: str) -> None:
        """Leave unless a condition holds."""
        self.lines[f"if not ({condition}): return OTHERS"] = None

    def computed(self, kind: type, a: Number, b: Number) -> Number:
        """A number that is computed from two others; a divisor is not 0."""
        text, function = _OPERATORS[kind]
        seen = function(a.seen, b.seen)
        if not (a.varies or b.varies):
            return constant(seen)
        return self.variable(text.format(a.text, b.text), seen)

    def product(self, numbers: Sizes) -> Number:
        """The product of numbers."""
        total = constant(1)
        for number in numbers:
            if number != constant(1):
                total = number if total == constant(1) else self.computed(tir.Mul, total, number)
        return total

    def equal(self, a: Number, b: Number) -> None:
        """Demand that two numbers are equal, as they were."""
        if a.text != b.text and (a.varies or b.varies):
            self.demand(f"{a.text} == {b.text}")

    def least(self, low: int, number: Number, high: Number | None = None) -> None:
        """Demand that a number is not too small, and not too large."""
        if not low <= number.seen <= (number if high is None else high).seen:
            raise NoPlan("a number is not in its range")
        if number.varies or (high is not None and high.varies):
            self.demand(f"{low} <= {number.text}" + ("" if high is None else f" <= {high.text}"))

    def fixed(self, number: Number) -> int:
        """A number that must be the same in each run."""
        self.equal(number, constant(number.seen))
        return number.seen

    def on_heap(self, func: tir.PrimFunc, heap: list[Number]) -> bool:
        """Follow a PrimFunc that stores sums, products and the like of numbers of a heap in it;
        whether it is one.
        """
        body = func.body
        stores = body.stmts if isinstance(body, tir.SeqStmt) else (body,)
        for store in stores:
            at = _place(store, heap)
            value = None if at is None else self._value(store.value, heap)  # type: ignore[attr-defined]
            if at is None or value is None:
                return False
            heap[at] = value
        return True

    def _value(self, value: tir.PrimExpr, heap: list[Number]) -> Number | None:
        made: dict[tir.PrimExpr, Number] = {}
        for each in tir.postorder(value):
            at = _place(each, heap)
            if at is not None:
                made[each] = heap[at]
            elif isinstance(each, tir.IntImm):
                made[each] = constant(each.value)
            elif type(each) in _OPERATORS and isinstance(each, tir.Binary):
                a, b = made[each.a], made[each.b]
                if isinstance(each, tir.FloorDiv | tir.FloorMod) and (b.varies or not b.seen):
                    return None
                if any(isinstance(x, tir.IntImm) and x.dtype != INT64 for x in (each.a, each.b)):
                    return None
                made[each] = number = self.computed(type(each), a, b)
                if not -LARGEST - 1 <= number.seen <= LARGEST:
                    return None
                if number.varies and not isinstance(each, tir.Max | tir.Min):
                    self.demand(f"{-LARGEST} <= {number.text} <= {LARGEST}")
            else:
                return None
        return made[value]


def _place(node: tir.PrimExpr | tir.Stmt, heap: list[Number]) -> int | None:
    """The place in a heap that a load or a store is at, if it is known."""
    if isinstance(node, tir.BufferLoad | tir.BufferStore) and len(node.indices) == 1:
        (at,) = node.indices
        if isinstance(at, tir.IntImm) and 0 <= at.value < len(heap):
            return at.value
    return None
