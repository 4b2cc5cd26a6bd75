"""What a prover was asked."""

from __future__ import annotations

from collections import Counter

from rlx.grammar.node import Node, Record
from rlx.grammar.tir import PrimExpr

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
