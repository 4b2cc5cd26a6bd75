"""Scopes as they are known before a program runs: which variable has which place, and from where to
where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from rlx.grammar import ast, tir
from rlx.grammar.node import Span

Variable = ast.Var | tir.Var

Reader = Callable[[Any], Any]
"""Looks up a value (of a shape variable: a number) from a frame."""


class Branching(Protocol):
    """The instruction at which a branch begins."""

    serial: int


class VariableSlot:
    """Where the value of a variable is, and for which instructions.

    ``born`` and ``died`` are serial numbers of instructions; ``died`` is None to the end of the
    scope.
    """

    __slots__ = ("born", "died", "index", "span")

    def __init__(self, index: int, born: int, span: Span | None) -> None:
        self.index, self.born, self.span = index, born, span
        self.died: int | None = None

    def seen_at(self, serial: int) -> bool:
        """Whether an instruction may read it."""
        return self.born <= serial and (self.died is None or serial < self.died)


class ScopeSlots:
    """A scope: of a function, or of a branch (``outer`` is then the scope around it, ``at`` the
    branching).
    """

    __slots__ = ("at", "outer", "places", "serial", "size", "spans")

    def __init__(self, outer: ScopeSlots | None = None, at: Branching | None = None) -> None:
        self.outer, self.at = outer, at
        self.places: dict[Variable, VariableSlot] = {}
        self.size = self.serial = 0
        self.spans: list[Span | None] = []

    def add(self, var: Variable | None, span: Span | None) -> int:
        """The next place, for a variable or for an operand without a name."""
        index = self.size
        self.size += 1
        self.spans.append(span)
        if var is not None:
            self.places[var] = VariableSlot(index, self.serial, span)
        return index

    def end(self, var: Variable) -> None:
        """The variable is not seen by what follows."""
        place = self.places.get(var)
        if place is not None:
            place.died = self.serial

    def find(self, var: Variable, serial: int | None = None) -> tuple[int, VariableSlot] | None:
        """How many scopes out a variable is, and its place there; None if it is not seen."""
        scope: ScopeSlots | None = self
        at = self.serial if serial is None else serial
        hops = 0
        while scope is not None:
            place = scope.places.get(var)
            if place is not None:
                return (hops, place) if place.seen_at(at) else None
            if scope.at is None:
                return None
            at, scope, hops = scope.at.serial, scope.outer, hops + 1
        return None

    def reader(self, var: Variable) -> Reader | None:
        """Reads the variable's value from a frame of this scope; None if it is not seen."""
        found = self.find(var)
        if found is None:
            return None
        hops, place = found
        return slot_reader(hops, place.index)

    def seen(self, serial: int) -> Iterator[tuple[Variable, int, int]]:
        """What an instruction sees: variables with their scope's distance and their place."""
        scope: ScopeSlots | None = self
        hops = 0
        while scope is not None:
            for var, place in scope.places.items():
                if place.seen_at(serial):
                    yield var, hops, place.index
            if scope.at is None:
                return
            serial, scope, hops = scope.at.serial, scope.outer, hops + 1


def slot_reader(hops: int, index: int) -> Reader:
    """Reads a place of the frame that many scopes out."""
    if hops == 0:
        return lambda frame: frame.slots[index]
    if hops == 1:
        return lambda frame: frame.outer.slots[index]

    def read(frame: Any) -> Any:
        for _ in range(hops):
            frame = frame.outer
        return frame.slots[index]

    return read
