"""The source of random choices: records of bytes, one for each step of a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

SIZE = 32
"""Bytes in a choices: more than nearly every step reads."""


class Choices:
    """The bytes of one step, read from left to right; behind the last one there are zeros.

    Zero is the plainest choice everywhere, so that a smaller record makes a plainer step.
    """

    __slots__ = ("at", "data")

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        """The next byte."""
        at = self.at
        self.at = at + 1
        return self.data[at] if at < len(self.data) else 0

    def below(self, count: int) -> int:
        """A number that is at least 0 and less than ``count``."""
        if count < 2:
            return 0
        if count <= 256:
            return self.byte() % count
        return (self.byte() * 256 + self.byte()) % count

    def one_in(self, count: int) -> bool:
        """True once in so many times, never for a record of zeros."""
        return self.byte() % count == count - 1

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]
