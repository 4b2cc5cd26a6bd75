"""Piecewise linear functions of one quantity: nested minima, maxima and clamps as a normal form.

A slice of a slice, a shift by slices and the tail of a tail have lengths such as
``max(min(max(min(n, 1000) - 1, 0), 999) - 1, 0)``: a function of ``n`` alone, linear between a few
breakpoints. Over the integers it equals exactly one sum ``a + b*n + c1*max(n - t1, 0) + …`` with
increasing ``t1, t2, …``, however deep the minima and maxima were nested.
"""

from __future__ import annotations

from collections.abc import Callable

from rlx.solver import intervals
from rlx.solver.known_store import KnownStore
from rlx.solver.poly import Atom, Mono, Poly, PolyStore

_BREAKS = 12
"""The maximum number of breakpoints; a function with more stays nested."""


class Piecewise:
    """``constant + slope*x + sum(c * max(x - t, 0))`` for a polynomial x.

    Attributes
    ----------
    base
        The polynomial x, without a constant term.
    turns
        The change ``c`` of the slope at each breakpoint ``t``.
    """

    __slots__ = ("base", "constant", "slope", "turns")

    def __init__(self, base: Poly, constant: int, slope: int, turns: dict[int, int]) -> None:
        self.base, self.constant, self.slope, self.turns = base, constant, slope, turns

    def at(self, x: int) -> int:
        """The value at an integer."""
        bent = sum(c * max(x - t, 0) for t, c in self.turns.items())
        return self.constant + self.slope * x + bent

    def zeros(self) -> set[int]:
        """The integers at and beside which the sign may change, apart from the breakpoints."""
        found: set[int] = set()
        slope, places = self.slope, sorted(self.turns)
        for place in (places[0] - 1, *places):
            slope += self.turns.get(place, 0)
            if slope:
                crossing = place - self.at(place) // slope
                found |= {crossing - 1, crossing, crossing + 1}
        return found


def recognised(engine: PolyStore, poly: Poly) -> Piecewise | None:
    """A polynomial with maxima ``max(x + t, 0)`` of one quantity x as a piecewise function of x."""
    constant, turns = 0, dict[int, int]()
    rest: dict[Mono, int] = {}
    base: Poly | None = None
    for mono, coef in poly.terms.items():
        if not mono:
            constant = coef
            continue
        atom = engine.atoms[mono[0]]
        if len(mono) > 1 or atom.kind != "relu":
            rest[mono] = coef
            continue
        (inner,) = atom.parts
        assert isinstance(inner, Poly)
        shift = inner.terms.get((), 0)
        line = engine.shift(inner, -shift)
        if base is not None and line is not base:
            return None
        base = line
        turns[-shift] = coef
    if base is None or len(turns) > _BREAKS:
        return None
    slope = 0
    if rest:
        mono, coef = next(iter(rest.items()))
        size = base.terms.get(mono)
        if size is None or coef % size:
            return None
        slope = coef // size
        if engine.poly(rest) is not engine.scale(slope, base):
            return None
    return Piecewise(base, constant, slope, turns)


def positive_part(engine: KnownStore, poly: Poly, of_line: Callable[[Poly], Poly]) -> Poly | None:
    """The larger of 0 and a piecewise function of one quantity, as such a function; None for any
    other polynomial.

    ``of_line`` gives the larger of 0 and a linear function.
    """
    function = recognised(engine, poly)
    if function is None:
        return None
    low, high = intervals.interval(engine, function.base)
    places = sorted({*function.turns, *function.zeros()})
    engine.spend(4 * len(places) * len(function.turns))

    def value(x: int) -> int:
        return max(function.at(x), 0)

    start = places[0] - 1 if low is None else low
    slope = value(start + 1) - value(start)
    parts = [
        (value(start) - slope * start, engine.one),
        (slope, function.base),
    ]
    for place in places:
        turn = value(place + 1) - 2 * value(place) + value(place - 1)
        if turn and place > start and (high is None or place < high):
            parts.append((turn, of_line(engine.shift(function.base, -place))))
    return engine.combine(parts) if len(parts) <= _BREAKS + 2 else None


def clamped(
    engine: PolyStore, terms: dict[Mono, int], atom: Atom, times: int
) -> tuple[Poly, Poly] | None:
    """``(a, b)`` if ``a - max(P, 0)`` is the minimum of a and b, ``max(P, 0)`` is the atom, and
    the terms contain ``times * a``.
    """
    (inner,) = atom.parts
    assert isinstance(inner, Poly)
    shared = {m: c for m, c in inner.terms.items() if m and c > 0 and terms.get(m, 0) >= c * times}
    constant = inner.terms.get((), 0)
    if constant and terms.get((), 0) == constant * times:
        shared[()] = constant
    if shared:
        first = engine.poly(shared)
        return first, engine.sub(first, inner)
    for mono, coef in terms.items():
        other = engine.atoms[mono[0]] if len(mono) == 1 else atom
        if coef < times or other is atom or other.kind != "relu":
            continue
        # max(x, 0) - max(x - k, 0) is the minimum of max(x, 0) and k.
        (above,) = other.parts
        assert isinstance(above, Poly)
        gap = engine.sub(above, inner)
        if gap.value is not None and gap.value > 0:
            return engine.of_atom(other), gap
    return None
