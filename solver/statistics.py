"""What a prover was asked."""

from __future__ import annotations

from collections import Counter

from rlx.grammar.tir import PrimExpr

_SLOWEST = 3


class Statistics:
    """Counts of questions, and the slowest three.

    Attributes
    ----------
    means
        Number of answers by what settled them; ``"remembered"`` for questions asked before.
    slowest
        ``(seconds, question)``, the slowest first.
    """

    __slots__ = ("means", "slowest")

    def __init__(self) -> None:
        self.means: Counter[str] = Counter()
        self.slowest: list[tuple[float, PrimExpr]] = []

    @property
    def questions(self) -> int:
        """How many questions were asked."""
        return self.means.total()

    def count(self, means: str) -> None:
        """One more answer."""
        self.means[means] += 1

    def time(self, seconds: float, question: PrimExpr) -> None:
        """How long a question took that was not settled at once."""
        self.slowest.append((seconds, question))
        self.slowest.sort(key=lambda pair: -pair[0])
        del self.slowest[_SLOWEST:]
