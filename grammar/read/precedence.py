"""Operator precedence parsing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from rlx.grammar.nodes.prim_operators import BY_SYMBOL, COMPARISON, OPERATORS

T = TypeVar("T")

STRENGTHS = {
    "@": BY_SYMBOL["*"].strength,
    **{word: o.strength for o in OPERATORS for word in (o.symbol, *o.short) if word},
}
"""The precedence of each binary operator."""


class Chain(Generic[T]):
    """A chain of operands and pending operators between two brackets.

    The algorithm does not recurse, so chains may have any length.

    Parameters
    ----------
    binary
        Makes the value of a binary operator.
    prefixed
        Makes the value of a prefix operator.
    compared
        Makes the value of a comparison, or of a chain such as ``a < b < c``, from the operators and
        the operands.
    """

    __slots__ = ("_binary", "_compared", "_operands", "_prefixed", "_waiting")

    def __init__(
        self,
        binary: Callable[[str, T, T], T],
        prefixed: Callable[[str, T], T],
        compared: Callable[[list[str], list[T]], T],
    ) -> None:
        self._binary, self._prefixed, self._compared = binary, prefixed, compared
        self._operands: list[T] = []
        self._waiting: list[tuple[int, str, bool]] = []

    def prefix(self, symbol: str, strength: int) -> None:
        """Add a prefix operator."""
        self._waiting.append((strength, symbol, True))

    def operand(self, value: T) -> None:
        self._operands.append(value)

    def infix(self, symbol: str) -> None:
        """Add a binary operator; earlier operators of at least the same precedence are applied
        first, but `**` and comparisons wait for the next operator.
        """
        strength = STRENGTHS[symbol]
        self._apply(strength + (symbol == "**" or strength == COMPARISON))
        self._waiting.append((strength, symbol, False))

    def finish(self) -> T:
        self._apply(0)
        (value,) = self._operands
        return value

    def _apply(self, strength: int) -> None:
        waiting, operands = self._waiting, self._operands
        while waiting and waiting[-1][0] >= strength:
            own, symbol, front = waiting.pop()
            if front:
                operands[-1] = self._prefixed(symbol, operands[-1])
            elif own == COMPARISON:
                operands.append(self._compared(*self._run(symbol)))
            else:
                right = operands.pop()
                operands[-1] = self._binary(symbol, operands[-1], right)

    def _run(self, last: str) -> tuple[list[str], list[T]]:
        """The comparisons that stand one after the other, and their operands,
        taken from the chain.
        """
        symbols = [last]
        while self._waiting and self._waiting[-1][0] == COMPARISON and not self._waiting[-1][2]:
            symbols.append(self._waiting.pop()[1])
        count = len(symbols) + 1
        operands = self._operands[-count:]
        del self._operands[-count:]
        return symbols[::-1], operands
