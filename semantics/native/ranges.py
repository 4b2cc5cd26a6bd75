"""Facts about integers during code generation, and conditions that are checked before loops.

An index is written as a :class:`IndexSum` over loop variables and *symbols* (sizes that are fixed
while the loops run). A loop variable is eliminated by substituting its bound. The remaining sum is
either provably not negative, or a condition on symbols that is checked once before the loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64, DataType, limits
from rlx.semantics.native.c_types import Types, meet, type_of, wrapped
from rlx.semantics.native.writer import CWriter

Monomial = tuple[str, ...]


class IndexSum:
    """A sum of products with integer coefficients: ``{("i", "n"): 2, (): 1}`` is ``2*i*n + 1``."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = {m: c for m, c in terms.items() if c}

    @staticmethod
    def of(value: int | str) -> IndexSum:
        """A constant, or a variable by its name."""
        return IndexSum({(): value} if isinstance(value, int) else {(value,): 1})

    def __add__(self, other: IndexSum) -> IndexSum:
        total = dict(self.terms)
        for monomial, factor in other.terms.items():
            total[monomial] = total.get(monomial, 0) + factor
        return IndexSum(total)

    def __neg__(self) -> IndexSum:
        return IndexSum({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: IndexSum) -> IndexSum:
        return self + -other

    def __mul__(self, other: IndexSum) -> IndexSum:
        total: dict[Monomial, int] = {}
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                product = tuple(sorted(m + n))
                total[product] = total.get(product, 0) + c * d
        return IndexSum(total)

    @property
    def constant(self) -> int | None:
        """The value, if no variable occurs."""
        if not self.terms:
            return 0
        return self.terms.get(()) if len(self.terms) == 1 else None

    def variables(self) -> set[str]:
        """The names in the sum."""
        return {name for monomial in self.terms for name in monomial}

    def coefficient(self, name: str) -> IndexSum | None:
        """The coefficient of ``name``, or None if it is squared."""
        found: dict[Monomial, int] = {}
        for monomial, factor in self.terms.items():
            match monomial.count(name):
                case 0:
                    continue
                case 1:
                    rest = list(monomial)
                    rest.remove(name)
                    found[tuple(rest)] = factor
                case _:
                    return None
        return IndexSum(found)

    def with_bound(self, name: str, bound: IndexSum) -> IndexSum:
        """This sum with ``bound`` substituted for ``name``, which occurs linearly."""
        factor = self.coefficient(name)
        assert factor is not None
        rest = IndexSum({m: c for m, c in self.terms.items() if name not in m})
        return rest + factor * bound

    def text(self) -> str:
        """As an expression of C."""
        parts = []
        for monomial, factor in sorted(self.terms.items(), reverse=True):
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

    def __init__(self, low: IndexSum, high: IndexSum) -> None:
        self.low = low
        self.high = high


class LoopScope:
    """Loop variables in order of nesting, symbols that are not negative, current facts.

    A fact is a :class:`IndexSum` that is not negative.
    """

    __slots__ = ("facts", "loops", "natural")

    def __init__(
        self, loops: dict[str, Bounds], natural: set[str], facts: tuple[IndexSum, ...] = ()
    ) -> None:
        self.loops = loops
        self.natural = natural
        self.facts = facts

    def lower(self, value: IndexSum) -> list[IndexSum]:
        """Lower bounds of ``value`` without loop variables, the preferred one first."""
        found = [self._eliminate(value)]
        for fact in self.facts:
            found.extend(self._by_fact(value, fact))
        return [p for p in found if p is not None]

    def constant_range(self, value: IndexSum) -> tuple[int, int] | None:
        """The smallest and largest value, if both are known numbers."""
        lows = [p.constant for p in self.lower(value)]
        highs = [p.constant for p in self.lower(-value)]
        low = max((v for v in lows if v is not None), default=None)
        high = max((v for v in highs if v is not None), default=None)
        return None if low is None or high is None else (low, -high)

    def proves(self, value: IndexSum) -> bool:
        """Whether ``value >= 0`` is certain."""
        return any(self.natural_sum(bound) for bound in self.lower(value))

    def natural_sum(self, value: IndexSum) -> bool:
        """Whether a sum over symbols is certainly not negative."""
        return all(c >= 0 and self.natural.issuperset(m) for m, c in value.terms.items())

    def _by_fact(self, value: IndexSum, fact: IndexSum) -> Iterable[IndexSum | None]:
        """Bounds of ``value`` that use a fact to replace one loop variable."""
        for name in value.variables() & fact.variables() & self.loops.keys():
            given, wanted = fact.coefficient(name), value.coefficient(name)
            unit = given.constant if given is not None else None
            sign = self._sign(wanted) if wanted is not None else 0
            # fact: unit*name + rest >= 0, so name >= -rest (unit 1) or name <= rest (unit -1)
            if unit in (1, -1) and sign == unit:
                rest = fact.with_bound(name, IndexSum({}))
                yield self._eliminate(value.with_bound(name, -rest if unit == 1 else rest))

    def _eliminate(self, value: IndexSum) -> IndexSum | None:
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

    def _eliminate_linear(self, value: IndexSum) -> IndexSum | None:
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
        found = IndexSum(terms)
        return None if any(m and m[0] in self.loops for m in found.terms) else found

    def _sign(self, factor: IndexSum) -> int:
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


def magnitude(value: IndexSum) -> int:
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
        self.polys: dict[tir.PrimExpr, IndexSum | None] = {}
        self.sums: dict[tir.Var, IndexSum] = {}
        self.invented: set[str] = set()
        self.divisions: dict[object, tuple[str | None, str]] = {}
        self.wholes: dict[str, tuple[str, int, IndexSum]] = {}
        self.inner: set[str] = set()
        self._types: Types = {}

    def bind_sum(self, var: tir.Var, value: IndexSum | None) -> None:
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

    def synthetic(self, low: IndexSum, high: IndexSum) -> str:
        """A new variable of sums with a value between two sums over symbols."""
        name = self.out.fresh("s")
        self.scope.loops[name] = Bounds(low, high)
        self.invented.add(name)
        return name

    def demand(self, value: IndexSum) -> bool:
        """Ensure ``value >= 0`` (a sum over symbols), by proof or by a check before the loops."""
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
        """Ensure that one of several sums is not negative, without a check if possible."""
        if any(self.scope.natural_sum(v) for v in values):
            return True
        return any(self.demand(v) for v in reversed(values))

    def type_of(self, expr: tir.PrimExpr) -> DataType:
        """The C type of an expression."""
        return type_of(self._types, expr)

    def meet(self, a: tir.PrimExpr, b: tir.PrimExpr) -> DataType:
        """The common type of two operands."""
        type_of(self._types, a)
        type_of(self._types, b)
        return meet(self._types, a, b)
