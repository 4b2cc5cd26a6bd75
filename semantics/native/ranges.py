"""Facts about integers during code generation, and conditions that are checked before loops.

An index is written as a :class:`Polynomial` over loop variables and *symbols* (sizes that are fixed
while the loops run). A loop variable is eliminated by substituting its bound. The remaining sum is
either provably not negative, or a condition on symbols that is checked once before the loops.
"""

from __future__ import annotations

from collections.abc import Iterable

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64, DataType, limits
from rlx.semantics.native.c_types import Types, meet, type_of, wrapped
from rlx.semantics.native.writer import CWriter
from rlx.solver.poly import Polynomial


def text_of(value: Polynomial) -> str:
    """A sum as an expression of C."""
    parts = []
    for monomial, factor in sorted(value.terms.items(), reverse=True):
        names = list(monomial)
        if factor != 1 or not names:
            names.append(literal(factor))
        parts.append("*".join(names))
    return " + ".join(parts) or "0"


def literal(value: int) -> str:
    """An integer as a C constant of type ``int64_t``, wrapped to 64 bits."""
    value, (smallest, _) = wrapped(value, INT64), limits(INT64)
    return "INT64_MIN" if value == smallest else f"INT64_C({value})"


class Bounds:
    """The smallest and the largest value of a loop variable (both may name other variables)."""

    __slots__ = ("high", "low")

    def __init__(self, low: Polynomial, high: Polynomial) -> None:
        self.low = low
        self.high = high


class LoopScope:
    """Loop variables in order of nesting, symbols that are not negative, current facts.

    A fact is a :class:`Polynomial` that is not negative.
    """

    __slots__ = ("facts", "loops", "natural")

    def __init__(
        self, loops: dict[str, Bounds], natural: set[str], facts: tuple[Polynomial, ...] = ()
    ) -> None:
        self.loops = loops
        self.natural = natural
        self.facts = facts

    def lower(self, value: Polynomial) -> list[Polynomial]:
        """Lower bounds of ``value`` without loop variables, the preferred one first."""
        found = [self._eliminate(value)]
        for fact in self.facts:
            found.extend(self._by_fact(value, fact))
        return [p for p in found if p is not None]

    def constant_range(self, value: Polynomial) -> tuple[int, int] | None:
        """The smallest and largest value, if both are known numbers."""
        lows = [p.value for p in self.lower(value)]
        highs = [p.value for p in self.lower(-value)]
        low = max((v for v in lows if v is not None), default=None)
        high = max((v for v in highs if v is not None), default=None)
        return None if low is None or high is None else (low, -high)

    def proves(self, value: Polynomial) -> bool:
        """Whether ``value >= 0`` is certain."""
        return any(self.natural_sum(bound) for bound in self.lower(value))

    def natural_sum(self, value: Polynomial) -> bool:
        """Whether a sum over symbols is certainly not negative."""
        return all(c >= 0 and self.natural.issuperset(m) for m, c in value.terms.items())

    def _by_fact(self, value: Polynomial, fact: Polynomial) -> Iterable[Polynomial | None]:
        """Bounds of ``value`` that use a fact to replace one loop variable."""
        for name in value.variables() & fact.variables() & self.loops.keys():
            given, wanted = fact.coefficient(name), value.coefficient(name)
            unit = given.value if given is not None else None
            sign = self._sign(wanted) if wanted is not None else 0
            # fact: unit*name + rest >= 0, so name >= -rest (unit 1) or name <= rest (unit -1)
            if unit in (1, -1) and sign == unit:
                rest = fact.with_bound(name, Polynomial({}))
                yield self._eliminate(value.with_bound(name, -rest if unit == 1 else rest))

    def _eliminate(self, value: Polynomial) -> Polynomial | None:
        """A lower bound without loop variables, by the bounds of each, the innermost first."""
        linear = self._eliminate_linear(value)
        if linear is not None:
            return linear
        for name in reversed(self.loops):
            if not any(name in m for m in value.terms):
                continue
            factor = value.coefficient(name)
            sign = self._sign(factor) if factor is not None else 0
            if not sign:
                return None
            bounds = self.loops[name]
            value = value.with_bound(name, bounds.low if sign > 0 else bounds.high)
        return None if value.variables() & self.loops.keys() else value

    def _eliminate_linear(self, value: Polynomial) -> Polynomial | None:
        """The same for a sum without products, as most are; None if there are some."""
        terms = dict(value.terms)
        if any(len(monomial) > 1 for monomial in terms):
            return None
        for name, bounds in reversed(self.loops.items()):
            factor = terms.pop((name,), 0)
            if not factor:
                continue
            for monomial, number in (bounds.low if factor > 0 else bounds.high).terms.items():
                if len(monomial) > 1:
                    return None
                terms[monomial] = terms.get(monomial, 0) + factor * number
        found = Polynomial(terms)
        return None if any(m and m[0] in self.loops for m in found.terms) else found

    def _sign(self, factor: Polynomial) -> int:
        """1 for a factor that is never negative, -1 for one never positive, 0 for others."""
        names = factor.variables()
        if not names <= self.natural | self.loops.keys():
            return 0
        positive = all(c >= 0 for c in factor.terms.values())
        negative = all(c <= 0 for c in factor.terms.values())
        if names & self.loops.keys() and not all(
            self.natural_sum(self.loops[n].low) for n in names & self.loops.keys()
        ):
            return 0
        return int(positive) - int(negative) if positive != negative else 0


SMALL = 1 << 31
"""The limit of symbols in proofs, so that products of two symbols fit into 64 bits."""
ROOM = 1 << 62


def magnitude(value: Polynomial) -> int:
    """The largest absolute value of a sum if its symbols are below the limit."""
    return sum(abs(c) * SMALL ** len(m) for m, c in value.terms.items())


class IndexKnowledge:
    """Sums over loop variables and symbols: the sums of variables and expressions, and facts about
    them.

    Attributes
    ----------
    out
        The writer of the C code.
    fast
        Whether the emitted code only runs if ``conditions`` hold; then sums may be used.
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
        self.polys: dict[tir.PrimExpr, Polynomial | None] = {}
        self.sums: dict[tir.Var, Polynomial] = {}
        self.invented: set[str] = set()
        self.divisions: dict[object, tuple[str | None, str]] = {}
        self.wholes: list[tuple[str, str, int, Polynomial]] = []
        self.inner: set[str] = set()
        self._types: Types = {}

    def bind_sum(self, var: tir.Var, value: Polynomial | None) -> None:
        """Set the sum of a variable, or None; facts about expressions with it are dropped."""
        before = self.sums.pop(var, None)
        if before is not None and (value is None or before.terms != value.terms):
            self.polys = {}
        if value is not None:
            self.sums[var] = value

    def leave(self, names: set[str]) -> None:
        """Drop facts about C variables whose block ends."""
        if names:
            self.polys = {
                expr: value
                for expr, value in self.polys.items()
                if value is None or not value.variables() & names
            }

    def synthetic(self, low: Polynomial, high: Polynomial) -> str:
        """A new variable of sums with a value between two sums over symbols."""
        name = self.out.fresh("s")
        self.scope.loops[name] = Bounds(low, high)
        self.invented.add(name)
        return name

    def demand(self, value: Polynomial) -> bool:
        """Ensure ``value >= 0`` (a sum over symbols), by proof or by a check before the loops."""
        if self.scope.natural_sum(value):
            return True
        if value.value is not None or magnitude(value) >= ROOM or not self.fast:
            return False
        if value.variables() & self.inner:
            return False
        self.symbols |= value.variables()
        self.conditions[f"{text_of(value)} >= 0"] = None
        return True

    def demand_any(self, values: list[Polynomial]) -> bool:
        """Ensure that one of several sums is not negative, without a check if possible. A check that
        only sizes of 0 pass would be of no use.
        """
        if any(self.scope.natural_sum(v) for v in values):
            return True
        useful = (v for v in reversed(values) if not self.scope.natural_sum(-v))
        return any(map(self.demand, useful))

    def type_of(self, expr: tir.PrimExpr) -> DataType:
        """The C type of an expression."""
        return type_of(self._types, expr)

    def meet(self, a: tir.PrimExpr, b: tir.PrimExpr) -> DataType:
        """The common type of two operands."""
        type_of(self._types, a)
        type_of(self._types, b)
        return meet(self._types, a, b)
