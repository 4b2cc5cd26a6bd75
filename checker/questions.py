"""Statistics of the prover's questions in a check: their number, their tactics, the slowest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from operator import attrgetter

from rlx.grammar.diagnostic import Source, region
from rlx.grammar.nodes.node import Record
from rlx.solver.budget import Slow, Statistics

SLOWEST = 3
_SHOWN = 300
"""Nodes of the largest question that is written out."""


class Asked(Record):
    """A slow question: how long it took, its text, and line and column of what it was asked for."""

    seconds: float
    question: str
    line: int
    column: int


class Questions(Record):
    """The questions of one file: how often which means settled one, and the slowest."""

    means: Mapping[str, int]
    slowest: tuple[Asked, ...]


def questions(statistics: Sequence[Statistics], source: Source) -> Questions:
    """Sum up the provers of a file's modules."""
    means: Counter[str] = Counter()
    slow: list[Slow] = []
    for prover in statistics:
        means += prover.means
        slow += prover.slowest
    return Questions(dict(means), tuple(_asked(s, source) for s in slowest(slow)))


def slowest(found: Iterable[Slow]) -> list[Slow]:
    """The slowest three, the slowest first."""
    return nlargest(SLOWEST, found, key=attrgetter("seconds"))


def _asked(slow: Slow, source: Source) -> Asked:
    from rlx.solver import prim_exprs
    from rlx.solver.question_parser import show

    weight = prim_exprs.weight(slow.question)
    text = show(slow.question) if weight <= _SHOWN else f"a question of {weight} parts"
    line, column, _, _ = region(source, getattr(slow.place, "span", None))
    return Asked(slow.seconds, text, line, column)
