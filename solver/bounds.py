"""Bounds of an expression's values: the smallest and largest one, and residues."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import TYPE_CHECKING

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import intervals, normal_form, prim_exprs
from rlx.solver.normal_form import Engine
from rlx.solver.poly import Poly, TooMuchWorkError
from rlx.solver.prim_exprs import Range

if TYPE_CHECKING:
    from rlx.solver.session import Session

_ANY: Range = (None, None)
_FIRST = (0, -1, -(1 << 8), -(1 << 16), -(1 << 32), -(1 << 64))
"""The lower limits that are tried where none is known."""


def limits(session: Session, expr: PrimExpr) -> Range:
    """The smallest and largest value of an expression wherever it is defined; None for no limit."""
    (expanded,) = prim_exprs.expand([expr])
    order = tir.postorder(expanded)
    if prim_exprs.stranger(order) is not None:
        return _ANY
    try:
        engine = session.shared.ready(order, session.work)
    except (TooMuchWorkError, RecursionError):
        engine = None

    def of_node(node: PrimExpr, below: list[Range]) -> Range:
        found = _of_node(session, node, below)
        if engine is None:
            return found
        try:
            poly = normal_form.polynomial(engine, node)
            return intervals.meet(found, intervals.interval(engine, poly))
        except (TooMuchWorkError, RecursionError):
            engine.forget_limits()
            return found

    low, high = tir.fold(expanded, of_node)
    if engine is None:
        return low, high
    try:
        poly = normal_form.polynomial(engine, expanded)
        low = _tightened(engine, poly, low)
        opposite = _tightened(engine, engine.scale(-1, poly), None if high is None else -high)
        high = None if opposite is None else -opposite
    except (TooMuchWorkError, RecursionError):
        engine.forget_limits()
    return low, high


def _tightened(engine: Engine, poly: Poly, low: int | None) -> int | None:
    """The largest lower limit that facts prove, by doubling steps and then halving ones."""

    def holds(limit: int) -> bool:
        return intervals.nonneg(engine, engine.shift(poly, -limit))

    if poly.value is not None:
        return poly.value
    if low is None:
        low = next((limit for limit in _FIRST if holds(limit)), None)
        if low is None:
            return None
    elif not engine.inequalities:
        return low
    step = 1
    while step < 1 << 64 and holds(low + step):
        low += step
        step *= 2
    while step > 1:
        step //= 2
        if holds(low + step):
            low += step
    return low


def _of_node(session: Session, node: PrimExpr, below: list[Range]) -> Range:
    rule = _RULES.get(type(node))
    if rule is not None:
        return rule(below[0], below[1])
    if prim_exprs.is_boolean(node):
        return 0, 1
    match node:
        case tir.IntImm(value=value):
            return int(value), int(value)
        case tir.Var():
            return session.state.range_of(node)
        case tir.Cast():
            low, high = below[0]
            wrapped = prim_exprs.wraps_to(node)
            if wrapped is None:
                return low, high
            kept = low is not None and high is not None
            return below[0] if kept and wrapped[0] <= low and high <= wrapped[1] else wrapped  # type: ignore[operator]
        case tir.Select() | tir.Call() if prim_exprs.conditional(node):
            (_, (low, high), (least, most)) = below
            return (
                None if low is None or least is None else min(low, least),
                None if high is None or most is None else max(high, most),
            )
    return prim_exprs.unknown_limits(node)


def _sum(a: Range, b: Range) -> Range:
    return (
        None if a[0] is None or b[0] is None else a[0] + b[0],
        None if a[1] is None or b[1] is None else a[1] + b[1],
    )


def _difference(a: Range, b: Range) -> Range:
    return _sum(a, (None if b[1] is None else -b[1], None if b[0] is None else -b[0]))


def _quotient(a: Range, b: Range) -> Range:
    (low, high), (small, large) = a, b
    if small is None or small < 1:
        return _ANY
    if low is not None:
        low = low // small if low < 0 else 0 if large is None else low // large
    if high is not None:
        high = high // small if high >= 0 else -1 if large is None else high // large
    return low, high


def _remainder(a: Range, b: Range) -> Range:
    (low, high), (small, large) = a, b
    if small is None or small < 1:
        return _ANY
    top = None if large is None else large - 1
    if low is not None and low >= 0 and high is not None:
        if high < small:
            return a
        top = high if top is None else min(top, high)
    return 0, top


def _truncated_quotient(a: Range, b: Range) -> Range:
    (low, high), (small, large) = a, b
    if small is None or small < 1:
        return _ANY
    if low is not None:
        low = -(-low // small) if low < 0 else 0 if large is None else low // large
    if high is not None:
        high = high // small if high >= 0 else 0 if large is None else -(-high // large)
    return low, high


def _truncated_remainder(a: Range, b: Range) -> Range:
    (low, high), (small, large) = a, b
    if small is None or small < 1:
        return _ANY
    ends = [None if large is None else large - 1] * 2
    if low is not None:
        ends[0] = 0 if low >= 0 else -low if ends[0] is None else min(ends[0], -low)
    if high is not None:
        ends[1] = 0 if high <= 0 else high if ends[1] is None else min(ends[1], high)
    return None if ends[0] is None else -ends[0], ends[1]


def _smaller(a: Range, b: Range) -> Range:
    highs = [limit for limit in (a[1], b[1]) if limit is not None]
    low = None if a[0] is None or b[0] is None else min(a[0], b[0])
    return low, min(highs, default=None)


def _larger(a: Range, b: Range) -> Range:
    lows = [limit for limit in (a[0], b[0]) if limit is not None]
    high = None if a[1] is None or b[1] is None else max(a[1], b[1])
    return max(lows, default=None), high


_RULES: dict[type[PrimExpr], Callable[[Range, Range], Range]] = {
    tir.Add: _sum,
    tir.Sub: _difference,
    tir.Mul: intervals.product,
    tir.FloorDiv: _quotient,
    tir.FloorMod: _remainder,
    tir.TruncDiv: _truncated_quotient,
    tir.TruncMod: _truncated_remainder,
    tir.Min: _smaller,
    tir.Max: _larger,
}


def residue(session: Session, expr: PrimExpr) -> tuple[int, int]:
    """``(coeff, base)`` such that every value is ``coeff * x + base``; ``(1, 0)`` if no more is
    known, and a ``coeff`` of 0 for a constant.
    """
    (expanded,) = prim_exprs.expand([expr])
    order = tir.postorder(expanded)
    if prim_exprs.stranger(order) is not None:
        return 1, 0
    try:
        engine = session.shared.ready(order, session.work)
        poly = normal_form.polynomial(engine, expanded)
    except (TooMuchWorkError, RecursionError):
        return 1, 0
    coeff = gcd(*[coef for mono, coef in poly.terms.items() if mono])
    base = poly.terms.get((), 0)
    return coeff, base % coeff if coeff else base
