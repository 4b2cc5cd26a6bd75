"""Facts about integers during code generation, and conditions that are checked before loops.

An index is written as a :class:`Polynomial` over loop variables and *symbols* (sizes that are fixed
while the loops run). A loop variable is eliminated by substituting its bound. The remaining sum is
either provably not negative, or a condition on symbols that is checked once before the loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64, DataType, limits
from rlx.grammar.nodes.prim_operators import INTEGER_DIVISIONS
from rlx.semantics.native import c_types
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
        self.wholes: dict[str, tuple[str, int, Polynomial]] = {}
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


# Integer expressions as exact sums over loop variables and symbols, which are only used where
# nothing wraps.


TERMS = 32
"""The maximum number of terms of a sum."""

PRODUCTS = 256
"""The maximum number of products of terms computed for one sum."""

Visit = tir.Visit[Polynomial | None]


def poly_of(state: IndexKnowledge, expr: tir.PrimExpr) -> Polynomial | None:
    """An integer expression as a sum, or None."""
    return tir.fold_lazily(expr, partial(_short, state), state.polys)


def _short(state: IndexKnowledge, expr: tir.PrimExpr) -> Visit:
    found = yield from _visit(state, expr)
    return None if found is None or len(found.terms) > TERMS else found


def _visit(state: IndexKnowledge, expr: Any) -> Visit:
    match expr:
        case tir.IntImm(dtype=dtype, value=value):
            return Polynomial.of(c_types.wrapped(value, dtype)) if dtype.is_integer else None
        case tir.Var():
            return state.sums.get(expr)
        case tir.Add() | tir.Sub() | tir.Mul():
            a, b = (yield expr.a), (yield expr.b)
            return _arithmetic(expr, a, b) if _meet(state, expr, a, b) else None
        case tir.Binary() if isinstance(expr, INTEGER_DIVISIONS):
            return _division(state, expr, (yield expr.a), (yield expr.b))
        case tir.Min() | tir.Max():
            return _extremum(state, expr, (yield expr.a), (yield expr.b))
        case tir.Cast(dtype=dtype, value=value) if dtype.is_integer:
            inner = yield value
            source = state.type_of(value)
            if inner is None or not source.is_integer or not usable(state, inner, source):
                return None
            return inner if usable(state, inner, dtype) else None
        case tir.Call(op="likely", args=(inner,)):
            return (yield inner)
    return None


def _arithmetic(expr: Any, a: Polynomial | None, b: Polynomial | None) -> Polynomial | None:
    if a is None or b is None or len(a.terms) * len(b.terms) > PRODUCTS:
        return None
    if type(expr) is tir.Mul:
        return a * b
    return a + b if type(expr) is tir.Add else a - b


def _meet(
    state: IndexKnowledge, expr: tir.Binary, a: Polynomial | None, b: Polynomial | None
) -> bool:
    """Whether the operands have their exact values in the type in which they meet: one of another
    type may have wrapped before, or wraps then.
    """
    types = state.meet(expr.a, expr.b)
    for part, value in ((expr.a, a), (expr.b, b)):
        found = state.type_of(part)
        if found == types:
            continue
        if value is None or not usable(state, value, types):
            return False
        if not isinstance(part, tir.IntImm) and not usable(state, value, found):
            return False
    return True


def _division(
    state: IndexKnowledge, expr: Any, a: Polynomial | None, b: Polynomial | None
) -> Polynomial | None:
    if a is None or b is None:
        return None
    dtype = state.type_of(expr)
    if not dtype.is_integer or not _meet(state, expr, a, b):
        return None
    if not usable(state, a, dtype) or not usable(state, b, dtype):
        return None
    if isinstance(expr, (tir.TruncDiv, tir.TruncMod)) and not state.scope.proves(a):
        return None
    quotient = isinstance(expr, (tir.FloorDiv, tir.TruncDiv))
    divisor = b.value
    if divisor is None:
        return _by_symbol(state, quotient, a, b)
    if divisor <= 0:
        return None
    whole = Polynomial({m: c // divisor for m, c in a.terms.items() if m and c % divisor == 0})
    rest = a - whole * Polynomial.of(divisor)
    bounds = state.scope.constant_range(rest)
    between = None if bounds is None else [Polynomial.of(bound // divisor) for bound in bounds]
    if between is not None:
        shift, last = between
        if shift.terms == last.terms:
            return whole + shift if quotient else rest - shift * Polynomial.of(divisor)
    part, remainder = _parts(state, rest, divisor, between)
    if not quotient:
        return Polynomial.of(remainder)
    return None if part is None else whole + Polynomial.of(part)


def _parts(
    state: IndexKnowledge, rest: Polynomial, divisor: int, between: Sequence[Polynomial] | None
) -> tuple[str | None, str]:
    """Variables for the quotient (where the bounds ``between`` which it lies are known) and the
    remainder of a sum by a constant.
    """
    key = (frozenset(rest.terms.items()), divisor)
    found = state.divisions.get(key)
    if found is None:
        remainder = state.synthetic(Polynomial({}), Polynomial.of(divisor - 1))
        quotient = None
        between = between or _by_factor(state, rest, divisor)
        if between is not None:
            quotient = state.synthetic(*between)
            state.wholes[remainder] = (quotient, divisor, rest)
        found = state.divisions[key] = (quotient, remainder)
    return found


def _by_factor(
    state: IndexKnowledge, a: Polynomial, divisor: int
) -> tuple[Polynomial, Polynomial] | None:
    """Bounds of a quotient, where the dividend's are multiples of the divisor and a constant."""
    lows, highs = state.scope.lower(a), state.scope.lower(-a)
    if not lows or not highs:
        return None
    low, high = lows[0], -highs[0]
    for bound in (low, high):
        if any(m and c % divisor for m, c in bound.terms.items()):
            return None
    first, last = (Polynomial({m: c // divisor for m, c in p.terms.items()}) for p in (low, high))
    return first, last


def rejoined(state: IndexKnowledge, value: Polynomial) -> Polynomial:
    """The sum with `quotient * divisor + remainder` simplified to the dividend."""
    for remainder, (quotient, divisor, whole) in state.wholes.items():
        left, right = value.coefficient(remainder), value.coefficient(quotient)
        if left is None or right is None or not left.terms:
            continue
        if (left * Polynomial.of(divisor)).terms == right.terms:
            rest = value.with_bound(remainder, Polynomial({})).with_bound(quotient, Polynomial({}))
            value = rest + left * whole
    return value


def _by_symbol(
    state: IndexKnowledge, quotient: bool, a: Polynomial, b: Polynomial
) -> Polynomial | None:
    """A remainder lies below its divisor; where the dividend already does, the quotient is 0."""
    natural = state.scope.proves(a)
    if natural and state.scope.proves(b - a - Polynomial.of(1)):
        return Polynomial({}) if quotient else a
    if not quotient and state.scope.natural_sum(b):
        return Polynomial.of(state.synthetic(Polynomial({}), b - Polynomial.of(1)))
    return None


def _extremum(
    state: IndexKnowledge, expr: Any, a: Polynomial | None, b: Polynomial | None
) -> Polynomial | None:
    if a is None or b is None or not _meet(state, expr, a, b):
        return None
    dtype = state.type_of(expr)
    if not usable(state, a, dtype) or not usable(state, b, dtype):  # what wraps is another number
        return None
    first, second = state.scope.constant_range(a), state.scope.constant_range(b)
    if first is None or second is None:
        return None
    pick = min if isinstance(expr, tir.Min) else max
    low, high = map(Polynomial.of, map(pick, first, second))
    return Polynomial.of(state.synthetic(low, high))


def usable(state: IndexKnowledge, value: Polynomial, dtype: DataType) -> bool:
    """Whether the sum certainly fits its type; may add conditions that are checked before the
    loops.
    """
    lows, highs = state.scope.lower(value), state.scope.lower(-value)
    if not lows or not highs:
        return False
    low, high = lows[0], highs[0]
    if magnitude(low) >= ROOM or magnitude(high) >= ROOM:
        return False
    names = low.variables() | high.variables()
    if names & state.inner:
        return False
    state.symbols |= names
    if dtype == INT64:
        return True
    least, most = limits(dtype)
    return state.demand(low - Polynomial.of(least)) and state.demand(Polynomial.of(most) + high)


def facts_of(state: IndexKnowledge, condition: tir.PrimExpr, holds: bool) -> list[Polynomial]:
    """The sums that are not negative if ``condition`` holds (or if it does not)."""
    found: list[Polynomial] = []
    stack = [(condition, holds)]
    while stack:
        expr, wanted = stack.pop()
        match expr:
            case tir.Call(op="likely", args=(inner,)):
                stack.append((inner, wanted))
            case tir.Not(a=inner):
                stack.append((inner, not wanted))
            case tir.And() if wanted:
                stack += [(expr.b, True), (expr.a, True)]
            case tir.Or() if not wanted:
                stack += [(expr.b, False), (expr.a, False)]
            case tir.Comparison(a=a, b=b):
                found += _comparison(state, type(expr), a, b, wanted)
    return found


_NEGATED: dict[type, type] = {
    tir.LT: tir.GE,
    tir.GE: tir.LT,
    tir.LE: tir.GT,
    tir.GT: tir.LE,
    tir.NE: tir.EQ,
    tir.EQ: tir.NE,
}


def _comparison(
    state: IndexKnowledge, kind: type, a: tir.PrimExpr, b: tir.PrimExpr, holds: bool
) -> list[Polynomial]:
    left, right = poly_of(state, a), poly_of(state, b)
    types = state.meet(a, b)
    if left is None or right is None or not types.is_integer:
        return []
    for part, value in ((a, left), (b, right)):
        if not usable(state, value, types) or not usable(state, value, state.type_of(part)):
            return []
    gap, one = right - left, Polynomial.of(1)
    match kind if holds else _NEGATED[kind]:
        case tir.LE:
            return [gap]
        case tir.LT:
            return [gap - one]
        case tir.GE:
            return [-gap]
        case tir.GT:
            return [-gap - one]
        case tir.EQ:
            return [gap, -gap]
    return []
