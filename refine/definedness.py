"""Operations on elements that fail for some operands, and the limits of floats that exclude it.

Integers are not divided by 0 (E-tir-divide), shifted by a negative number or by all their bits
(E-tir-shift), or raised to a negative power (E-tir-power); a float is cast to an integer type
only if its integer part fits (E-tir-cast). Everything else has a result for all operands.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, DataType, limits, numpy_type
from rlx.grammar.nodes.prim_operators import INTEGER_DIVISIONS
from rlx.grammar.nodes.tir import PrimExpr


def requirement(node: PrimExpr) -> tuple[PrimExpr, str] | None:
    """The condition under which an operation does not fail, and its description; None if it never
    fails.
    """
    match node:
        case tir.Binary(b=b) if isinstance(node, INTEGER_DIVISIONS) and tir.type_of(b).is_integer:
            if isinstance(b, tir.IntImm) and b.value:
                return None
            return tir.interned(tir.NE(b, _number(b, 0))), "a divisor is not 0"
        case tir.Call(op="shift_left" | "shift_right", args=(a, b)):
            bits = tir.type_of(a).bits
            if isinstance(b, tir.IntImm) and 0 <= b.value < bits:
                return None
            inside = tir.And(tir.LE(_number(b, 0), b), tir.LT(b, _number(b, bits)))
            return tir.interned(inside), "a number is shifted by less than its bits"
        case tir.Call(op="pow" | "power", args=(_, b)) if tir.type_of(b).is_integer:
            if isinstance(b, tir.IntImm) and b.value >= 0:
                return None
            return tir.interned(tir.LE(_number(b, 0), b)), "an exponent is not negative"
        case tir.Cast(dtype=kind, value=x) if kind.is_integer and tir.type_of(x).is_float:
            return _has_integer(x, kind), f"a float that is cast fits into {kind}"
    return None


def requirements(number: PrimExpr) -> Iterator[tuple[PrimExpr, str]]:
    """The conditions under which an integer expression of sizes has a value. An operand that `if_then_else`,
    `and` or `or` does not evaluate adds none.
    """
    stack: list[tuple[PrimExpr, tuple[PrimExpr, ...]]] = [(number, ())]
    seen = set()
    while stack:
        node, unless = stack.pop()
        if (node, unless) in seen:
            continue
        seen.add((node, unless))
        needed = requirement(node)
        if needed is not None:
            condition, words = needed
            for each in unless:
                condition = tir.Or(each, condition)
            yield tir.interned(condition), words
        match node:
            case tir.Call(op="if_then_else", args=(test, a, b)):
                parts = [(test, unless), (a, (*unless, tir.Not(test))), (b, (*unless, test))]
            case tir.And(a=a, b=b):
                parts = [(a, unless), (b, (*unless, tir.Not(a)))]
            case tir.Or(a=a, b=b):
                parts = [(a, unless), (b, (*unless, a))]
            case _:
                parts = [(child, unless) for child in tir.children(node)]
        stack += reversed(parts)


def _number(like: PrimExpr, value: float) -> PrimExpr:
    kind = tir.type_of(like)
    return tir.FloatImm(value, kind) if kind.is_float else tir.IntImm(int(value), kind)


def _has_integer(x: PrimExpr, kind: DataType) -> PrimExpr:
    """The condition that the integer part of a float is in a type."""
    digits, largest = _format(tir.type_of(x))
    least, most = limits(kind)
    above: PrimExpr = tir.LT(_number(x, least - 1), x)
    if -least > largest:
        above = tir.LT(_number(x, -math.inf), x)
    elif -least >= 1 << digits:  # no float is between it and the integer below it
        above = tir.LE(_number(x, least), x)
    below = tir.LT(x, _number(x, math.inf if most + 1 > largest else most + 1))
    return tir.interned(tir.And(above, below))


@cache
def _format(kind: DataType) -> tuple[int, float]:
    """The bits of a number that a type of floats holds, and its largest finite number."""
    import ml_dtypes

    info: Any = ml_dtypes.finfo(numpy_type(kind))  # type: ignore[no-untyped-call]
    return int(info.nmant) + 1, float(info.max)


# ---------------------------------------------------------------- limits of floats


class Limits(NamedTuple):
    """Between which numbers a float is, and whether it may be NaN."""

    low: float = -math.inf
    high: float = math.inf
    nan: bool = True

    def met(self, other: Limits) -> Limits:
        """The limits of what is within both."""
        return Limits(max(self.low, other.low), min(self.high, other.high), self.nan and other.nan)

    def joined(self, other: Limits) -> Limits:
        """The limits of what is within one of them."""
        return Limits(min(self.low, other.low), max(self.high, other.high), self.nan or other.nan)


Chosen = Mapping[PrimExpr, bool]
"""Conditions that are assumed, with their values."""


_DEPTH, _WORK = 64, 2_000
"""How deep, and how many parts of, an element is looked at."""


Integers = Callable[[PrimExpr], tuple[int | None, int | None]]
"""The smallest and the largest value of an integer, as far as they are known."""


def decided(condition: PrimExpr, chosen: Chosen, integers: Integers) -> bool | None:
    """Whether a comparison of floats, or that one is NaN, always holds (True) or never (False) by
    their limits; None if that is not decided, or if it is another condition.
    """
    match condition:
        case tir.And(a=a, b=b):
            both = decided(a, chosen, integers), decided(b, chosen, integers)
            return False if False in both else True if both == (True, True) else None
        case tir.Call(op="isnan", args=(number,)):
            found = _LimitReader(integers).limits(
                tir.interned(number), _bounds_of(chosen.items(), {}), 0
            )
            return None if found.nan else False
        case tir.LT(a=a, b=b) | tir.LE(a=a, b=b) if tir.type_of(a).is_float:
            reader = _LimitReader(integers)
            with_chosen = _bounds_of(chosen.items(), {})
            x, y = (reader.limits(tir.interned(each), with_chosen, 0) for each in (a, b))
            strict = isinstance(condition, tir.LT)
            if not (x.nan or y.nan) and (x.high < y.low or (not strict and x.high == y.low)):
                return True
            if x.low > y.high or (strict and x.low == y.high):
                return False
    return None


_Bounds = Mapping[PrimExpr, Limits]


def _bounds_of(conditions: Iterable[tuple[PrimExpr, bool]], known: _Bounds) -> _Bounds:
    found = dict(known)
    for condition, value in conditions:
        for x, bound in _bounds(condition, value):
            x = tir.interned(x)
            found[x] = found.get(x, Limits()).met(bound)
            while not bound.nan and isinstance(x, tir.Call) and x.op == "fabs":
                x = tir.interned(x.args[0])
                found[x] = found.get(x, Limits()).met(Limits(nan=False))
    return found


def _bounds(condition: PrimExpr, value: bool) -> Iterator[tuple[PrimExpr, Limits]]:
    """The limits that a condition on floats and literals gives the floats."""
    match condition:
        case tir.Not(a=a):
            yield from _bounds(a, not value)
        case tir.And(a=a, b=b) if value:
            yield from _bounds(a, True)
            yield from _bounds(b, True)
        case tir.Or(a=a, b=b) if not value:
            yield from _bounds(a, False)
            yield from _bounds(b, False)
        case tir.Call(op="isnan", args=(x,)) if not value:
            yield x, Limits(nan=False)
        case tir.Call(op="isfinite", args=(x,)) if value:
            largest = _format(tir.type_of(x))[1]
            yield x, Limits(-largest, largest, False)
        case tir.EQ(a=a, b=b) if value:
            yield from _bounds(tir.LE(a, b), True)
            yield from _bounds(tir.LE(b, a), True)
        case tir.GT(a=a, b=b) | tir.GE(a=a, b=b) | tir.LT(a=b, b=a) | tir.LE(a=b, b=a):
            # The larger one is a, if the condition holds; else b is, or one is NaN.
            if isinstance(b, tir.FloatImm):
                low, high, _ = _literal(b)
                yield a, Limits(low=low, nan=False) if value else Limits(high=high)
            if isinstance(a, tir.FloatImm):
                low, high, _ = _literal(a)
                yield b, Limits(high=high, nan=False) if value else Limits(low=low)


def _literal(number: tir.FloatImm) -> Limits:
    """A literal, which is rounded to its type, or taken as it is written where floats stand for real
    numbers.
    """
    if math.isnan(number.value):
        return Limits()
    written = Limits(number.value, number.value, False)
    return written.joined(_rounded(written, number.dtype))


class _LimitReader:
    """The limits of the parts of an element."""

    def __init__(self, integers: Integers) -> None:
        self._integers, self._work = integers, _WORK

    def limits(self, expr: PrimExpr, bounds: _Bounds, depth: int) -> Limits:
        self._work -= 1
        kind = tir.type_of(expr)
        if kind.is_integer or kind == BOOL:
            least, most = limits(kind)
            if kind != BOOL:
                low, high = self._integers(expr)
                least, most = (
                    least if low is None else max(least, low),
                    most if high is None else min(most, high),
                )
            return Limits(_outside(least, -math.inf), _outside(most, math.inf), False)
        found = Limits()
        if self._work > 0 and depth < _DEPTH:
            found = self._of(expr, kind, bounds, depth + 1)
        return found.met(bounds.get(expr, Limits()))

    def _of(self, expr: PrimExpr, kind: DataType, bounds: _Bounds, depth: int) -> Limits:
        def of(part: PrimExpr, known: _Bounds = bounds) -> Limits:
            return self.limits(tir.interned(part), known, depth)

        match expr:
            case tir.FloatImm():
                return _literal(expr)
            case tir.Cast(value=x):
                return _rounded(of(x), kind)
            case (
                tir.Select(condition=c, true_value=a, false_value=b)
                | tir.Call(op="if_then_else", args=(c, a, b))
            ):
                return of(a, _bounds_of([(c, True)], bounds)).joined(
                    of(b, _bounds_of([(c, False)], bounds))
                )
            case tir.Min(a=a, b=b) | tir.Max(a=a, b=b):
                return _extremum(of(a), of(b), isinstance(expr, tir.Min))
            case tir.Add(a=a, b=b) | tir.Sub(a=a, b=b) | tir.Mul(a=a, b=b):
                return _rounded(_combined(_ARITHMETIC[type(expr)], of(a), of(b)), kind)
            case tir.Call(op="floor" | "ceil" | "trunc" | "round" | "nearbyint", args=(x,)):
                inner = of(x)
                return Limits(
                    _outward(inner.low, math.floor), _outward(inner.high, math.ceil), inner.nan
                )
            case tir.Call(op="fabs", args=(x,)):
                inner = of(x)
                return Limits(0.0, max(abs(inner.low), abs(inner.high)), inner.nan)
            case tir.Call(op="tanh" | "erf" | "sigmoid", args=(x,)):
                return Limits(-1.0, 1.0, of(x).nan)
        return Limits()


_ARITHMETIC: dict[type[PrimExpr], Callable[[float, float], float]] = {
    tir.Add: operator.add,
    tir.Sub: operator.sub,
    tir.Mul: operator.mul,
}


def _outside(number: int, end: float) -> float:
    """The float that is an integer, or the nearest one towards an end."""
    found = float(number)
    return found if int(found) == number else math.nextafter(found, end)


def _outward(number: float, to_integer: Callable[[float], int]) -> float:
    return float(to_integer(number)) if math.isfinite(number) else number


def _extremum(a: Limits, b: Limits, smaller: bool) -> Limits:
    """The limits of `a if a < b else b`, or with `>`: NaN if b is, and b if only a is."""
    choose = min if smaller else max
    low, high = choose(a.low, b.low), choose(a.high, b.high)
    if a.nan:
        low, high = min(low, b.low), max(high, b.high)
    return Limits(low, high, b.nan)


def _combined(operation: Callable[[float, float], float], a: Limits, b: Limits) -> Limits:
    """Limits of the exact result of an operation that is monotone in each operand."""
    corners = [operation(x, y) for x in a[:2] for y in b[:2]]
    if any(map(math.isnan, corners)):
        return Limits()
    # A product with an infinity is NaN where the other number is 0.
    infinite = math.inf in map(abs, (*a[:2], *b[:2]))
    low, high = math.nextafter(min(corners), -math.inf), math.nextafter(max(corners), math.inf)
    return Limits(low, high, a.nan or b.nan or infinite)


def _rounded(exact: Limits, kind: DataType) -> Limits:
    """Limits of numbers that are rounded to a type of floats, which keeps their order."""
    import numpy as np

    plain = numpy_type(kind)
    assert plain is not None
    with np.errstate(over="ignore"):
        low, high = (float(plain.type(end)) for end in exact[:2])
    if math.isnan(low) or math.isnan(high):  # the type has no infinity
        return Limits()
    return Limits(low, high, exact.nan)
