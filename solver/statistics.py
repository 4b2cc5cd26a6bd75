"""What a prover was asked."""

from __future__ import annotations

from collections import Counter

from rlx.grammar.node import Node
from rlx.grammar.tir import PrimExpr

_SLOWEST = 3


class Slow(Node):
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

    Attributes
    ----------
    means
        Number of answers by what settled them; ``"remembered"`` for questions asked before.
    slowest
        The slowest first.
    place
        Where whoever asks stands at the moment: he sets it, and finds it at the slowest questions.
    """

    __slots__ = ("means", "place", "slowest")

    def __init__(self) -> None:
        self.means: Counter[str] = Counter()
        self.slowest: list[Slow] = []
        self.place: Node | None = None

    @property
    def questions(self) -> int:
        """How many questions were asked."""
        return self.means.total()

    def count(self, means: str) -> None:
        """One more answer."""
        self.means[means] += 1

    def time(self, seconds: float, question: PrimExpr) -> None:
        """How long a question took that was not settled at once."""
        slowest = self.slowest
        if len(slowest) < _SLOWEST or seconds > slowest[-1].seconds:
            slowest.append(Slow(seconds, question, self.place))
            slowest.sort(key=lambda slow: -slow.seconds)
            del slowest[_SLOWEST:]
