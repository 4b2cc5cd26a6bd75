"""How much work one question may cost, and statistics of what a prover was asked."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlx.solver.normal_form import Engine
from collections import Counter

from rlx.grammar.node import Node, Record
from rlx.grammar.tir import PrimExpr

_FUEL, _SMT = 1_500_000, 1_040_000
FUEL = 120_000
_FUEL_PER_NODE, _HASTY_PER_NODE = 40, 2
LARGE = 20_000
"""Questions of more nodes get less, the larger the less: reading and evaluating them has taken its
time already.
"""
_LESS_PER_NODE, _LEAST = 16, 500_000
NODES = 150_000
"""Larger questions are not looked at unless both sides are one object."""


class Work:
    """What is left of the work for a question. It is counted, not timed, so that answers are the
    same on every machine (but where Z3 is left alone: ``smt.EMERGENCY``).

    Attributes
    ----------
    fuel
        Steps of the normal form and the tactics; a million take about half a second.
    smt
        Units of Z3's ``rlimit``; a million take about half a second.
    share
        Part of ``smt`` that a single query may use: ``1/share``.
    """

    __slots__ = ("_lent", "_to", "fuel", "share", "smt")

    def __init__(self) -> None:
        self.fuel = _FUEL
        self.smt = _SMT
        self.share = 1
        self._to: Engine | None = None
        self._lent = 0

    def measure(self, size: int) -> None:
        """The question turns out to have so many nodes."""
        self.fuel = min(self.fuel, max(_LEAST, _FUEL - _LESS_PER_NODE * max(0, size - LARGE)))

    def lend(self, engine: Engine, size: int = 0, hasty: bool = False) -> None:
        """Give an engine fuel for an expression of so many nodes; what it has left is given back
        first.

        A hasty try gets what a sum of plain terms needs.
        """
        if self._to is not None:
            self.fuel -= self._lent - max(self._to.fuel, 0)
        self._to = engine
        per_node = _HASTY_PER_NODE if hasty else _FUEL_PER_NODE
        self._lent = engine.fuel = min(FUEL + per_node * size, max(self.fuel, 0))

    def for_smt(self, limit: int) -> int:
        """How much of a limit a query may use; it counts as used."""
        granted = min(limit // self.share, self.smt)
        self.smt -= granted
        return granted

    @property
    def exhausted(self) -> bool:
        """Whether nothing that is worth the while can be done any more."""
        return self.fuel <= 0


@contextmanager
def undisturbed() -> Iterator[None]:
    """Without Python's cycle collector, which would walk through all that a question builds, again
    and again.

    Of a large question that is half of the time, and there is nothing to collect: what it builds
    refers to what was there before.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


SIGHT = "identical"
_SLOWEST = 3


class Slow(Record):
    """A question that took its time.

    Attributes
    ----------
    seconds
        How long.
    question
        The condition that was asked.
    place
        What :attr:`Statistics.place` was.
    """

    seconds: float
    question: PrimExpr
    place: Node | None


class Statistics:
    """Counts of questions, and the slowest three.

    A question that is settled at the first glance takes less time than counting by name.

    Attributes
    ----------
    means
        Number of answers by what settled them; ``"remembered"`` for questions asked before.
    slowest
        The slowest first.
    sight
        How many were settled at the first glance: both sides are one object, equal numbers or
        written alike.
    place
        The place that the caller is at: the caller sets it, and finds it at the slowest questions.
    """

    __slots__ = ("_means", "place", "sight", "slowest")

    def __init__(self) -> None:
        self._means: Counter[str] = Counter()
        self.sight = 0
        self.slowest: list[Slow] = []
        self.place: Node | None = None

    @property
    def means(self) -> Counter[str]:
        """The counts."""
        found = Counter(self._means)
        if self.sight:
            found[SIGHT] += self.sight
        return found

    @property
    def questions(self) -> int:
        """How many questions were asked."""
        return self.means.total()

    def count(self, means: str) -> None:
        """One more answer."""
        self._means[means] += 1

    def time(self, seconds: float, question: PrimExpr) -> None:
        """How long a question took that was not settled at once."""
        slowest = self.slowest
        if len(slowest) < _SLOWEST or seconds > slowest[-1].seconds:
            slowest.append(Slow(seconds, question, self.place))
            slowest.sort(key=lambda slow: -slow.seconds)
            del slowest[_SLOWEST:]
