"""Integer expressions as exact sums over loop variables and symbols.

They are used only where no overflow is possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64, DataType, limits
from rlx.grammar.nodes.prim_operators import INTEGER_DIVISIONS
from rlx.semantics.native import c_types
from rlx.semantics.native.ranges import ROOM, IndexKnowledge, magnitude
from rlx.solver.poly import Polynomial

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
    between = _between(state, rest, divisor)
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
        quotient, remainder = _of_part(state, rest, divisor)
        if remainder is None:
            remainder = state.synthetic(Polynomial({}), Polynomial.of(divisor - 1))
        between = between or _by_factor(state, rest, divisor)
        if quotient is None and between is not None:
            quotient = state.synthetic(*between)
        if quotient is not None:
            state.wholes.append((remainder, quotient, divisor, rest))
        found = state.divisions[key] = (quotient, remainder)
    return found


def _of_part(
    state: IndexKnowledge, rest: Polynomial, divisor: int
) -> tuple[str | None, str | None]:
    """Simplify a quotient or a remainder that is divided again: ``a // 7 // 4`` is ``a // 28``, and
    ``a % 28 % 4`` is ``a % 4``.
    """
    for remainder, quotient, inner, whole in state.wholes:
        if rest.terms == Polynomial.of(quotient).terms:
            return _whole_parts(state, whole, inner * divisor)[0], None
        if rest.terms == Polynomial.of(remainder).terms and inner % divisor == 0:
            return None, _whole_parts(state, whole, divisor)[1]
    return None, None


def _whole_parts(state: IndexKnowledge, whole: Polynomial, divisor: int) -> tuple[str | None, str]:
    return _parts(state, whole, divisor, _between(state, whole, divisor))


def _between(state: IndexKnowledge, value: Polynomial, divisor: int) -> list[Polynomial] | None:
    """The constant bounds of a quotient, if they are known."""
    bounds = state.scope.constant_range(value)
    return None if bounds is None else [Polynomial.of(bound // divisor) for bound in bounds]


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
    for remainder, quotient, divisor, whole in reversed(state.wholes):
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
    # a wrapped operand is another number
    if not usable(state, a, dtype) or not usable(state, b, dtype):
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
