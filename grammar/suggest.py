"""Suggestions for misspelt words."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Self

LIMIT = 3
"""The maximum number of suggested words, if several are equally close."""

MOST_TYPOS = 12
"""The maximum number of typos in a long word."""

WORK = 200_000
"""The number of letters of long words that one search compares: their time must not grow with the
product of their length and their number."""


def closest(word: str, known: Iterable[str]) -> list[str]:
    """The known words closest to an unknown one, if any is close enough: at most :data:`LIMIT` of
    them.

    One typo is allowed for every three letters, at least one and at most :data:`MOST_TYPOS`: an
    extra, missing or wrong letter, or two exchanged letters. Words that differ only in case are
    closest. The result is in alphabetical order.
    """
    allowed = max(1, min(len(word) // 3, MOST_TYPOS))
    work = WORK
    letters = set(word)
    best: dict[str, int] = {}
    for other in known:
        if abs(len(other) - len(word)) > allowed or len(letters.symmetric_difference(other)) > 2 * (
            allowed + 1
        ):
            continue
        work -= len(other)
        if work < 0:
            break
        if other.lower() == word.lower():
            found: int | None = 0
        elif fewest_typos(word, other) > allowed:
            continue
        else:
            found = distance(word, other, allowed)
        if found is not None:
            allowed = min(allowed, max(found, 1)) if found else 1
            best[other] = found
    nearest = min(best.values(), default=0)
    return sorted(other for other, found in best.items() if found == nearest)[:LIMIT]


def closest_names(name: str, known: Iterable[str]) -> list[str]:
    """The known names closest to an unknown one.

    A name without a common letter is not a misspelling: `q` is not suggested for `x`.
    """
    letters = {*name.lower()}
    return closest(name, (other for other in known if letters & {*other.lower()}))


def effort(known: Iterable[str]) -> int:
    """The cost of comparing a word with these: 1 for a short one, more for a long one."""
    return sum(1 + len(word) // 16 for word in known)


def fewest_typos(a: str, b: str) -> int:
    """A number of typos that two words have at least, from how often each letter is in them.

    It is cheap, and nearly all words are told apart by it.
    """
    left = max(len(a), len(b))
    for letter, times in _letters(a):
        found = b.count(letter)
        left -= min(times, found)
    return left


@lru_cache(maxsize=64)
def _letters(word: str) -> tuple[tuple[str, int], ...]:
    """The number of times that each letter is in a word."""
    return tuple((letter, word.count(letter)) for letter in {*word})


def distance(a: str, b: str, limit: int) -> int | None:
    """The number of typos between two words; None if there are more than the limit.

    The time is proportional to the length of the words times the limit.
    """
    if abs(len(a) - len(b)) > limit:
        return None
    a, b = _different_parts(a, b)
    # Three rows in turn: the one that is filled, and the two before it.
    rows = list(range(len(b) + 1)), [0] * (len(b) + 1), [0] * (len(b) + 1)
    for i, x in enumerate(a, 1):
        below, row, before = (rows[(i - k) % 3] for k in range(3))
        # Letters that are further apart than the limit cannot belong to each other.
        first, last = max(1, i - limit), min(len(b), i + limit)
        below[first - 1] = i if first == 1 else limit + 1
        for j in range(first, last + 1):
            y = b[j - 1]
            cost = min(row[j] + 1, below[j - 1] + 1, row[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            below[j] = cost
        if last < len(b):
            below[last + 1] = limit + 1
        if min(below[first - 1 : last + 1], default=i) > limit:
            return None
    found = rows[len(a) % 3][-1]
    return found if found <= limit else None


def _different_parts(a: str, b: str) -> tuple[str, str]:
    """Two words without the beginning and the end that they share."""
    most = min(len(a), len(b))
    start = next((k for k in range(most) if a[k] != b[k]), most)
    most -= start
    end = next((k for k in range(most) if a[-1 - k] != b[-1 - k]), most)
    return a[start : len(a) - end], b[start : len(b) - end]


class Suggestion(str):
    """A help text with its suggested words.

    Attributes
    ----------
    words
        The suggested replacements of the text that a diagnostic points at.
    """

    __slots__ = ("words",)
    words: tuple[str, ...]

    def __new__(cls, text: str, words: Iterable[str] = ()) -> Self:
        made = super().__new__(cls, text)
        made.words = tuple(words)
        return made

    def __getnewargs__(self) -> tuple[str, tuple[str, ...]]:  # type: ignore[override]
        return str(self), self.words


def misspelt(message: str, word: str, known: Iterable[str]) -> str:
    """A message about an unknown word, with the known words that may be meant."""
    meant = did_you_mean(closest(word, known))
    return f"{message}; {meant}" if meant else message


def did_you_mean(words: Iterable[str], quote: str = "'") -> Suggestion | None:
    """``did you mean 'a' or 'b'?``; None without words."""
    words = tuple(words)
    if not words:
        return None
    shown = " or ".join(f"{quote}{word}{quote}" for word in words)
    return Suggestion(f"did you mean {shown}?", words)
