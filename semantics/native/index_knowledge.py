"""What is known of the integers of one kernel, and what must be checked before its loops for it to
hold.
"""

from __future__ import annotations

from rlx.grammar import tir
from rlx.grammar.dtype import DataType
from rlx.semantics.native.infer_types import Types, type_of
from rlx.semantics.native.ranges import Bounds, IndexSum, LoopScope
from rlx.semantics.native.writer import CWriter

SMALL = 1 << 31
"""Symbols are used in proofs only while their magnitude is below this: products of two then fit."""
ROOM = 1 << 62


def magnitude(value: IndexSum) -> int:
    """The largest absolute value that a sum may have while its symbols are small."""
    return sum(abs(c) * SMALL ** len(m) for m, c in value.terms.items())


class IndexKnowledge:
    """Sums over loop variables and symbols: which variables and expressions are such a sum, and
    what holds of them.

    Attributes
    ----------
    out
        What is written.
    fast
        Whether what is emitted runs only where ``conditions`` hold; then sums may be used.
    divisions, wholes
        Variables for quotients and remainders by what is divided; the sum that a remainder belongs
        to.
    invented, inner
        Variables of sums that have no C variable, and those whose C variable comes after the
        conditions.
    """

    def __init__(self) -> None:
        self.out = CWriter()
        self.fast = False
        self.scope = LoopScope({}, set())
        self.symbols: set[str] = set()
        self.conditions: dict[str, None] = {}
        self.polys: dict[tir.PrimExpr, IndexSum | None] = {}
        self.sums: dict[tir.Var, IndexSum] = {}
        self.invented: set[str] = set()
        self.divisions: dict[object, tuple[str | None, str]] = {}
        self.wholes: dict[str, tuple[str, int, IndexSum]] = {}
        self.inner: set[str] = set()
        self._types: Types = {}

    def bind_sum(self, var: tir.Var, value: IndexSum | None) -> None:
        """Let a variable be a sum, or nothing known; what was known of expressions with it is
        forgotten.
        """
        before = self.sums.pop(var, None)
        if before is not None and (value is None or before.terms != value.terms):
            self.polys = {}
        if value is not None:
            self.sums[var] = value

    def leave(self, names: set[str]) -> None:
        """Forget what was known by C variables whose block ends."""
        if names:
            self.polys = {
                expr: value
                for expr, value in self.polys.items()
                if value is None or not value.variables() & names
            }

    def synthetic(self, low: IndexSum, high: IndexSum) -> str:
        """A variable of sums that stands for some value between two sums over symbols."""
        name = self.out.fresh("s")
        self.scope.loops[name] = Bounds(low, high)
        self.invented.add(name)
        return name

    def demand(self, value: IndexSum) -> bool:
        """Make ``value >= 0`` (a sum over symbols) certain: by proof, or by a check before the
        loops.
        """
        if self.scope.natural_sum(value):
            return True
        if value.constant is not None or magnitude(value) >= ROOM or not self.fast:
            return False
        if value.variables() & self.inner:
            return False
        self.symbols |= value.variables()
        self.conditions[f"{value.text()} >= 0"] = None
        return True

    def demand_any(self, values: list[IndexSum]) -> bool:
        """Make one of several sums certain, without a check if that is possible."""
        if any(self.scope.natural_sum(v) for v in values):
            return True
        return any(self.demand(v) for v in reversed(values))

    def type_of(self, expr: tir.PrimExpr) -> DataType:
        """The type that an expression has in C."""
        return type_of(self._types, expr)
