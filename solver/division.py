"""The normal form of a floor division.

All rules hold wherever the divisor is not zero, so a divisor that is never negative counts as
positive. The rules are tried in this order:

1. signs: ``P // -D = -P // D`` for constants and divisors that are never positive;
2. common factors: ``P*g // D*g = P // D``;
3. whole parts: ``(Q*D + R) // D = Q + R // D``, coefficients of R in ``(-D/2, D/2]``;
4. bounds: ``R // D`` is k if ``k*D <= R < (k + 1)*D`` for k in -1, 0, 1;
5. nested divisions: ``(X//A + R) // D = (X + A*R) // (A*D)`` for positive D;
6. the reverse, if it leaves fewer divisions: ``(g*R + C) // (g*D) = (R + C//g) // D``;
7. direction: ``-R // D = -((R + D - 1) // D)`` so that the leading coefficient is positive.
"""

from __future__ import annotations

from math import gcd

from rlx.solver import intervals
from rlx.solver.atom_values import poly_value
from rlx.solver.known_store import KnownStore, split
from rlx.solver.poly import Atom, Mono, Poly, leading, quotient


class Quotients(KnownStore):
    """Divisions of polynomials, with a cache of quotients."""

    def div(self, a: Poly, b: Poly) -> Poly:
        """The floor of ``a / b``, wherever ``b`` is not zero."""
        found = self.divided.get((a, b))
        if found is None:
            found = self.divided[a, b] = divide(self, a, b)
        return found

    def mod(self, a: Poly, b: Poly) -> Poly:
        """``a - b * (a // b)``"""
        return self.sub(a, self.mul(b, self.div(a, b)))


def divide(engine: Quotients, a: Poly, b: Poly) -> Poly:
    """The normal form of the floor of ``a / b``."""
    engine.spend(5)
    if b.value is not None:
        if b.value == 0:
            return engine.of_atom(engine.atom("opaque", (), ("zero", a)))
        if a.value is not None:
            return engine.const(a.value // b.value)
        if b.value < 0:
            return engine.div(engine.scale(-1, a), engine.const(-b.value))
        if b.value == 1:
            return a
    elif _points_down(engine, b):
        return engine.div(engine.scale(-1, a), engine.scale(-1, b))
    a, b = _cancel(engine, a, b)
    if b.value is not None and b.value <= 1:
        return engine.div(a, b)
    whole, rest = split(engine, a, b)
    if rest is engine.zero:
        return whole
    return engine.add(whole, _fraction(engine, rest, b))


def _points_down(engine: Quotients, b: Poly) -> bool:
    """Whether a divisor is better turned round: it is never positive, or its sign is open."""
    if intervals.nonneg(engine, b):
        return False
    return b.terms[leading(b)] < 0 or intervals.nonneg(engine, engine.scale(-1, b))


def _cancel(engine: Quotients, a: Poly, b: Poly) -> tuple[Poly, Poly]:
    """Both without their common factor, a monomial or the polynomial ``b`` itself."""
    if a is engine.zero:
        return a, engine.one
    factor = gcd(*b.terms.values(), *a.terms.values())
    common = _common(a, _common(b, None)) if b.value is None else ()
    if common or factor != 1:
        a, b = (
            engine.poly({_must(quotient(m, common)): c // factor for m, c in p.terms.items()})
            for p in (a, b)
        )
    return a, b


def _must(mono: Mono | None) -> Mono:
    assert mono is not None
    return mono


def _common(a: Poly, start: Mono | None) -> Mono:
    """Greatest common monomial of the terms of ``a`` and of ``start``."""
    shared = start
    for mono in a.terms:
        if shared is None:
            shared = mono
        elif shared:
            left, both = list(mono), []
            for index in shared:
                if index in left:
                    left.remove(index)
                    both.append(index)
            shared = tuple(both)
        if not shared:
            return ()
    return shared or ()


def _fraction(engine: Quotients, rest: Poly, b: Poly) -> Poly:
    """``rest // b`` where no multiple of ``b`` can be taken out of ``rest``."""
    positive = intervals.nonneg(engine, b)
    if positive:
        small = _by_bounds(engine, rest, b)
        if small is not None:
            return small
        flat = _flatten(engine, rest, b)
        if flat is not None:
            return flat
    folded = _unflatten(engine, rest, b)
    if folded is not None:
        return folded
    if positive and rest.terms[leading(rest)] < 0:
        turned = engine.shift(engine.sub(b, rest), -1)
        whole, left = split(engine, turned, b)
        # Halves of an even divisor come back positive; then the direction is settled.
        return engine.scale(-1, engine.add(whole, _settled(engine, left, b)))
    return engine.of_atom(engine.atom("div", (rest, b)))


def _settled(engine: Quotients, rest: Poly, b: Poly) -> Poly:
    if rest is engine.zero:
        return engine.zero
    small = _by_bounds(engine, rest, b)
    if small is not None:
        return small
    folded = _unflatten(engine, rest, b)
    if folded is not None:
        return folded
    return engine.of_atom(engine.atom("div", (rest, b)))


def _by_bounds(engine: Quotients, rest: Poly, b: Poly) -> Poly | None:
    """Rule 4, for the quotient that there is at all samples."""
    seen: int | None = None
    for known in engine.samples:
        try:
            quotient = poly_value(engine, rest, known) // (b.value or poly_value(engine, b, known))
        except ArithmeticError:
            continue
        if not -1 <= quotient <= 1 or seen not in (None, quotient):
            return None
        seen = quotient
    if seen != -1 and intervals.nonneg(engine, rest, 2):
        if seen != 1 and _below(engine, rest, b):
            return engine.zero
        if seen != 0:
            over = engine.sub(rest, b)
            if intervals.nonneg(engine, over, 0) and _below(engine, over, b):
                return engine.one
        return None
    if seen in (None, -1):
        below = intervals.nonneg(engine, engine.shift(engine.scale(-1, rest), -1), 0)
        if below and intervals.nonneg(engine, engine.add(rest, b), 2):
            return engine.const(-1)
    return None


def _below(engine: Quotients, a: Poly, b: Poly) -> bool:
    return intervals.nonneg(engine, engine.shift(engine.sub(b, a), -1), 2)


def _flatten(engine: Quotients, rest: Poly, b: Poly) -> Poly | None:
    """Rule 5, for one quotient with coefficient 1 or -1."""
    for mono, coef in rest.terms.items():
        if len(mono) != 1 or coef not in (1, -1):
            continue
        (index,) = mono
        atom = engine.atoms[index]
        if not atom.is_quotient:
            continue
        top, inner = atom.parts
        assert isinstance(top, Poly)
        assert isinstance(inner, Poly)
        if coef == -1:
            if not intervals.nonneg(engine, inner):
                continue
            top = engine.shift(engine.sub(inner, top), -1)
        remaining = engine.poly({m: c for m, c in rest.terms.items() if m != mono})
        numerator = engine.add(top, engine.mul(inner, remaining))
        return engine.div(numerator, engine.mul(inner, b))
    return None


def _unflatten(engine: Quotients, rest: Poly, b: Poly) -> Poly | None:
    """Rule 6, where the inner quotient turns out to be none, or others go with it. Where rule 5
    only undoes that, the quotient stays.
    """
    if engine.folding and (rest, b) in engine.folding:
        return None
    candidates: list[tuple[Mono, int]] = []
    if b.value is not None:
        candidates += [((), d) for d in _divisors(rest, b.value)]
    else:
        factor, common = gcd(*b.terms.values()), _common(b, None)
        if common:
            candidates += [(common, factor)] if factor > 1 or len(common) > 1 else []
            candidates += [((i,), 1) for i in dict.fromkeys(common)]
        candidates += [((), factor)] if factor > 1 else []
    for mono, size in candidates:
        if mono and all(quotient(m, mono) is None for m in rest.terms):
            continue
        g = engine.of_mono(mono, size)
        outer, exact = split(engine, b, g)
        if exact is not engine.zero or outer is engine.one or not intervals.nonneg(engine, outer):
            continue
        whole, left = split(engine, rest, g)
        if left is rest:
            continue
        inner = engine.div(left, g)
        numerator = engine.add(whole, inner)
        fewer = _quotients(engine, numerator) < _quotients(engine, rest)
        if fewer or not _has_plain_quotient(engine, numerator):
            engine.folding.add((rest, b))
            try:
                return engine.div(numerator, outer)
            finally:
                engine.folding.remove((rest, b))
    return None


def _divisors(rest: Poly, b: int) -> list[int]:
    """Proper divisors of ``b`` that it shares with coefficients of ``rest``."""
    shared = {gcd(b, c) for m, c in rest.terms.items() if m}
    return sorted((d for d in shared if 1 < d < b), reverse=True)


def _quotients(engine: Quotients, poly: Poly) -> int:
    """How many different quotients stand in a polynomial."""
    indices = {i for mono in poly.terms for i in mono}
    return sum(engine.atoms[i].is_quotient for i in indices)


def _has_plain_quotient(engine: Quotients, poly: Poly) -> bool:
    atoms: list[Atom] = engine.atoms
    return any(
        len(m) == 1 and c in (1, -1) and atoms[m[0]].is_quotient for m, c in poly.terms.items()
    )
