"""Which known word a misspelt one was meant to be."""

from __future__ import annotations

import re
from collections.abc import Iterable

LIMIT = 3
"""How many words are suggested at most, where several are as close."""


def closest(word: str, known: Iterable[str]) -> list[str]:
    """The known words nearest to one that is not known, if any is near: at most :data:`LIMIT` of them.

    One slip is allowed for every three letters, and at least one: a letter too many, missing, another one, or two
    exchanged. Words that differ in case alone are nearest.
    """
    allowed = max(1, len(word) // 3)
    letters = set(word)
    best: dict[str, int] = {}
    for other in known:
        if abs(len(other) - len(word)) > allowed or len(letters.symmetric_difference(other)) > 2 * (
            allowed + 1
        ):
            continue
        found = 0 if other.lower() == word.lower() else distance(word, other, allowed)
        if found <= allowed:
            allowed = min(allowed, max(found, 1)) if found else 1
            best[other] = found
    nearest = min(best.values(), default=0)
    return [other for other, found in best.items() if found == nearest][:LIMIT]


def distance(a: str, b: str, limit: int) -> int:
    """How many slips lie between two words; a number above the limit where there are more than it allows."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        below = [i]
        for j, y in enumerate(b, 1):
            cost = min(row[j] + 1, below[j - 1] + 1, row[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            below.append(cost)
        if min(below) > limit:
            return limit + 1
        before, row = row, below
    return row[-1]


def did_you_mean(words: Iterable[str], quote: str = "'") -> str | None:
    """``did you mean 'a' or 'b'?``; None without words."""
    shown = [f"{quote}{word}{quote}" for word in words]
    return f"did you mean {' or '.join(shown)}?" if shown else None


def meant(help: str | None) -> str | None:
    """The word that a help of :func:`did_you_mean` suggests, if it is a single one."""
    found = _SUGGESTED.match(help or "")
    return found["word"] if found else None


_SUGGESTED = re.compile(r"did you mean (?P<quote>['`])(?P<word>[^'`]+)(?P=quote)\?")
