"""Which known word a misspelt one was meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

LIMIT = 3
"""How many words are suggested at most, where several are as close."""


def closest(word: str, known: Iterable[str]) -> list[str]:
    """The known words nearest to one that is not known, if any is near: at most :data:`LIMIT` of
    them.

    One slip is allowed for every three letters, and at least one: a letter too many, missing,
    another one, or two exchanged. Words that differ in case alone are nearest. They come in
    alphabetical order, in whichever they are given.
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
    return sorted(other for other, found in best.items() if found == nearest)[:LIMIT]


def closest_names(name: str, known: Iterable[str]) -> list[str]:
    """The known names nearest to one that is not known.

    A name with no letter in common is another name, not this one misspelt: `q` is not meant to be
    `x`.
    """
    letters = {*name.lower()}
    return closest(name, (other for other in known if letters & {*other.lower()}))


def distance(a: str, b: str, limit: int) -> int:
    """How many slips lie between two words;
    a number above the limit where there are more than it allows.
    """
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


class Suggestion(str):
    """A help that suggests words, and knows which.

    Attributes
    ----------
    words
        What may be meant, in place of the text that a diagnostic points at.
    """

    __slots__ = ("words",)
    words: tuple[str, ...]

    def __new__(cls, text: str, words: Iterable[str] = ()) -> Self:
        made = super().__new__(cls, text)
        made.words = tuple(words)
        return made

    def __getnewargs__(self) -> tuple[str, tuple[str, ...]]:  # type: ignore[override]
        return str(self), self.words


def did_you_mean(words: Iterable[str], quote: str = "'") -> Suggestion | None:
    """``did you mean 'a' or 'b'?``; None without words."""
    words = tuple(words)
    if not words:
        return None
    shown = " or ".join(f"{quote}{word}{quote}" for word in words)
    return Suggestion(f"did you mean {shown}?", words)
