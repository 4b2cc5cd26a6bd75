"""Unused names in a function, or in a module."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property


class Names:
    """The names of one scope.

    Parameters
    ----------
    taken
        The names that are used; they are looked through when the first name is asked for.
    separator
        Stands between a hint and its number.
    """

    def __init__(self, taken: Iterable[str] = (), separator: str = "") -> None:
        self._given, self._separator = taken, separator
        self._next: dict[str, int] = {}

    @cached_property
    def _taken(self) -> set[str]:
        return set(self._given)

    def new(self, hint: str) -> str:
        """The hint, or the hint with the smallest number that makes it unused."""
        number = self._next.get(hint, 0)
        taken, stem = self._taken, hint + self._separator
        name = f"{stem}{number}" if number else hint
        while name in taken:
            number += 1
            name = f"{stem}{number}"
        self._next[hint] = number + 1
        taken.add(name)
        return name

    def take(self, name: str) -> None:
        """Mark a name as used."""
        self._taken.add(name)

    def give_back(self, name: str, hint: str) -> None:
        """Mark a name as unused again, because its binding was rejected."""
        self._taken.discard(name)
        self._next.pop(hint, None)
