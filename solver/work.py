"""How much work one question may cost, with all the questions it leads to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlx.solver.engine import Engine

_FUEL, _SMT = 1_500_000, 1_040_000
FUEL = 120_000
_FUEL_PER_NODE = 40
NODES = 150_000
"""Larger questions are not looked at unless both sides are one object."""


class Work:
    """What is left of the work for a question. Never the clock: answers are the same on every machine.

    Attributes
    ----------
    fuel
        Steps of the normal form and the tactics; a million take about half a second.
    smt
        Units of Z3's ``rlimit``; a million take about half a second.
    share
        Part of ``smt`` that a single query may use: ``1/share``.
    """

    __slots__ = ("_lent", "_to", "fuel", "share", "smt")

    def __init__(self) -> None:
        self.fuel = _FUEL
        self.smt = _SMT
        self.share = 1
        self._to: Engine | None = None
        self._lent = 0

    def lend(self, engine: Engine, size: int = 0) -> None:
        """Give an engine fuel for an expression of so many nodes; what it has left is given back first."""
        if self._to is not None:
            self.fuel -= self._lent - max(self._to.fuel, 0)
        self._to = engine
        self._lent = engine.fuel = min(FUEL + _FUEL_PER_NODE * size, max(self.fuel, 0))

    def for_smt(self, limit: int) -> int:
        """How much of a limit a query may use; it counts as used."""
        granted = min(limit // self.share, self.smt)
        self.smt -= granted
        return granted

    @property
    def exhausted(self) -> bool:
        """Whether nothing that is worth the while can be done any more."""
        return self.fuel <= 0
