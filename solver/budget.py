"""The work limit of a question, and statistics of a prover's questions."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlx.solver.normal_form import Engine
from collections import Counter

from rlx.grammar.nodes.node import Node, Record
from rlx.grammar.nodes.tir import PrimExpr

QUESTION_FUEL = 1_500_000
"""The steps of one question."""
QUESTION_SMT = 1_040_000
"""The units of Z3's ``rlimit`` of one question."""
FUEL = 120_000
_FUEL_PER_NODE = 40
_HASTY_PER_NODE = 2
LARGE = 20_000
"""The number of nodes from which questions get less work, because parsing and evaluating them has
already taken time.
"""
_LESS_PER_NODE = 16
_LEAST = 500_000
NODES = 150_000
"""The maximum number of nodes; larger questions are only answered if both sides are the same
object.
"""


class Work:
    """The remaining work of a question. It is counted, not timed, so that answers are the same on
    every machine (except if Z3 is abandoned: ``smt.EMERGENCY``).

    Attributes
    ----------
    fuel
        Steps of the normal form and the tactics; a million take about half a second.
    smt
        Units of Z3's ``rlimit``; a million take about half a second.
    share
        Part of ``smt`` that a single query may use: ``1/share``.
    """

    __slots__ = ("_lent", "fuel", "share", "smt")

    def __init__(self) -> None:
        self.fuel = QUESTION_FUEL
        self.smt = QUESTION_SMT
        self.share = 1
        self._lent: tuple[Engine, int] | None = None

    def measure(self, size: int) -> None:
        """Adapt the work to the number of nodes of the question."""
        self.fuel = min(
            self.fuel, max(_LEAST, QUESTION_FUEL - _LESS_PER_NODE * max(0, size - LARGE))
        )

    def lend(self, engine: Engine, size: int = 0, hasty: bool = False) -> None:
        """Give an engine fuel for an expression with this number of nodes; its remaining fuel is
        returned first.

        A quick attempt gets the fuel that a sum of simple terms needs.
        """
        if self._lent is not None:
            borrower, lent = self._lent
            self.fuel -= lent - max(borrower.fuel, 0)
        per_node = _HASTY_PER_NODE if hasty else _FUEL_PER_NODE
        engine.fuel = min(FUEL + per_node * size, max(self.fuel, 0))
        self._lent = (engine, engine.fuel)

    def for_smt(self, limit: int) -> int:
        """The part of a limit that a query may use; it counts as used."""
        granted = min(limit // self.share, self.smt)
        self.smt -= granted
        return granted

    @property
    def steps(self) -> int:
        """The steps that the question has taken."""
        out = 0
        if self._lent is not None:
            borrower, lent = self._lent
            out = lent - max(borrower.fuel, 0)
        return QUESTION_FUEL - self.fuel + out

    @property
    def used(self) -> int:
        """The steps and units that the question has taken."""
        return self.steps + QUESTION_SMT - self.smt

    @property
    def exhausted(self) -> bool:
        """Whether the remaining work is too small for anything useful."""
        return self.fuel <= 0


class undisturbed:
    """Disable Python's garbage collector, which would repeatedly traverse everything that a
    question builds.

    It would take half of the time of a large question, and there is nothing to collect, because new
    objects only refer to older ones.
    """

    __slots__ = ("_collecting",)

    def __enter__(self) -> None:
        self._collecting = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self._collecting:
            gc.enable()


SIGHT = "identical"
_SLOWEST = 3


class Slow(Record):
    """A slow question.

    Attributes
    ----------
    seconds
        Its time in seconds.
    question
        The condition.
    place
        The value of :attr:`Statistics.place` at that time.
    """

    seconds: float
    question: PrimExpr
    place: Node | None


class Statistics:
    """Counts of questions, and the slowest three.

    Trivial questions are counted separately, because counting them by name would take longer than
    answering them.

    Attributes
    ----------
    means
        The number of answers by method; ``"remembered"`` for repeated questions.
    slowest
        The slowest first.
    sight
        The number of trivial questions, whose sides are the same object, equal numbers or equal
        texts.
    place
        The current place, which the caller sets and finds at the slowest questions.
    """

    __slots__ = ("_means", "place", "sight", "slowest")

    def __init__(self) -> None:
        self._means: Counter[str] = Counter()
        self.sight = 0
        self.slowest: list[Slow] = []
        self.place: Node | None = None

    @property
    def means(self) -> Counter[str]:
        """The number of answers by method."""
        found = Counter(self._means)
        if self.sight:
            found[SIGHT] += self.sight
        return found

    @property
    def questions(self) -> int:
        """The number of questions."""
        return self.means.total()

    def count(self, means: str) -> None:
        """Count an answer."""
        self._means[means] += 1

    def time(self, seconds: float, question: PrimExpr) -> None:
        """Record the time of a nontrivial question."""
        if len(self.slowest) == _SLOWEST and seconds <= self.slowest[-1].seconds:
            return
        self.slowest.append(Slow(seconds, question, self.place))
        self.slowest.sort(key=lambda slow: slow.seconds, reverse=True)
        del self.slowest[_SLOWEST:]
