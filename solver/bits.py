"""The normal form of bit operations on integers: two's complement without end, as in Python.

A bitwise expression is a sum of multiples of conjunctions ``mask & x & y & ...``: with 1 for all
bits, ``a | b`` is ``a + b - a*b`` in each bit, ``a ^ b`` is ``a + b - 2*a*b``, ``~a`` is ``1 - a``, and
``a*a`` is ``a``. So every identity of such expressions is one of these sums. A conjunction with a
constant consists of remainders: ``x & 12`` is ``x % 16 - x % 4``. A power of two is an atom of its own,
so that ``a << k`` is a product and ``a >> k`` a quotient.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial, reduce
from math import gcd

from rlx.solver import intervals
from rlx.solver.known_store import KnownStore, split
from rlx.solver.poly import Atom, Mono, Poly, leading, quotient

# The normal form of a floor division.


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
    factor = gcd(*a.terms.values(), *b.terms.values())
    common = _common(a, _common(b, None)) or ()
    if common or factor != 1:
        a, b = (
            engine.poly({_must(quotient(m, common)): c // factor for m, c in p.terms.items()})
            for p in (a, b)
        )
    return a, b


def _must(mono: Mono | None) -> Mono:
    assert mono is not None
    return mono


def _common(a: Poly, start: Mono | None) -> Mono | None:
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
    return shared


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


def _grows_freely(engine: Quotients, rest: Poly, b: Poly) -> bool:
    """Whether ``rest`` has no limit that ``b`` or a fact could give it: most divisions of a
    variable.
    """
    if engine.inequalities or any(
        not engine.atoms[i].is_variable for mono in (*rest.terms, *b.terms) for i in mono
    ):
        return False
    own = {i for mono in b.terms for i in mono}
    for mono, coef in rest.terms.items():
        if coef > 0 and mono and mono[0] not in own:
            return engine.ranges.get(mono[0], (None, None))[1] is None
    return False


def _by_bounds(engine: Quotients, rest: Poly, b: Poly) -> Poly | None:
    if _grows_freely(engine, rest, b):
        return None
    if intervals.nonneg(engine, rest, 2):
        if _below(engine, rest, b):
            return engine.zero
        over = engine.sub(rest, b)
        return engine.one if intervals.nonneg(engine, over, 0) and _below(engine, over, b) else None
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
    """Rule 6, where the inner quotient turns out to be none."""
    factor = gcd(*b.terms.values())
    common = _common(b, None) or ()
    candidates: list[tuple[Mono, int]] = []
    if common:
        candidates += [(common, factor)] if factor > 1 or len(common) > 1 else []
        candidates += [((i,), 1) for i in dict.fromkeys(common)]
    if b.value is None:
        candidates += [((), factor)] if factor > 1 else []
    else:
        candidates += [((), d) for d in _divisors(rest, b.value)]
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
            return engine.div(numerator, outer)
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


BitForm = dict[tuple[int, frozenset[Poly]], int]
"""Coefficients of conjunctions: of a mask, which is -1 for all bits, and polynomials."""

_OPERANDS = 4
"""The maximum number of operands of ``|`` and ``^``, which become up to ``2**n`` conjunctions; more
are one atom.
"""
_RUNS = 8
"""The maximum number of groups of ones in a mask that becomes remainders."""
_SHIFTED = 4096


class Bits(Quotients):
    """Bit operations on polynomials."""

    def bitwise(self, op: str, a: Poly, b: Poly) -> Poly:
        """``a & b``, ``a | b`` or ``a ^ b``, by the name of the operation."""
        if a.value is not None and b.value is not None:
            return self.const(_EXACT[op](a.value, b.value))
        operands = (a, b) if op == "and" else self._flat(op, a, b)
        if len(operands) > _OPERANDS:
            result = self.of_atom(self.atom(op, operands))
        else:
            forms = [self.form(operand) for operand in operands]
            result = self._valued(reduce(partial(self._joined, op), forms) if forms else {})
        if op != "and":
            self.chains.setdefault(result, (op, operands))
        return result

    def _joined(self, op: str, left: BitForm, right: BitForm) -> BitForm:
        self.spend(4 * len(left) * len(right))
        both = _conjunction(left, right)
        if op == "and":
            return both
        return _sum((1, left), (1, right), (-1 if op == "or" else -2, both))

    def _flat(self, op: str, *operands: Poly) -> tuple[Poly, ...]:
        """The operands of nested operations of one kind, each once."""
        counts: dict[Poly, int] = {}
        for operand in operands:
            kind, parts = self.chains.get(operand, ("", ()))
            for part in parts if kind == op else (operand,):
                counts[part] = counts.get(part, 0) + 1
        return self._ordered(p for p, count in counts.items() if op == "or" or count % 2)

    def power(self, exponent: Poly) -> Poly:
        """``1 << exponent``, wherever that is at least 0."""
        if exponent.value is not None and 0 <= exponent.value < _SHIFTED:
            return self.const(1 << exponent.value)
        if all(c > 0 and self._never_negative(m) for m, c in exponent.terms.items() if m):
            constant = exponent.terms.get((), 0)
            if 0 <= constant < _SHIFTED and sum(exponent.terms.values()) < _SHIFTED:
                product = self.const(1 << constant)
                for mono, coef in exponent.terms.items():
                    atom = self.of_atom(self.atom("pow2", (self.of_mono(mono),))) if mono else None
                    for _ in range(coef if atom is not None else 0):
                        assert atom is not None
                        product = self.mul(product, atom)
                return product
        return self.of_atom(self.atom("pow2", (exponent,)))

    def _never_negative(self, mono: tuple[int, ...]) -> bool:
        low, _ = intervals.mono_interval(self, mono)
        return low is not None and low >= 0

    # Conjunctions

    def form(self, poly: Poly) -> BitForm:
        """A polynomial as a sum of conjunctions."""
        found = self.forms.get(poly)
        if found is None:
            found = self.forms[poly] = self._form(poly)
        return found

    def _form(self, poly: Poly) -> BitForm:
        if poly.value is not None:
            return _ALL if poly.value == -1 else {(poly.value, frozenset()): 1}
        for mono, coef in poly.terms.items():
            found = self._remainder(poly, mono, coef)
            if found is not None:
                return found
        if poly.terms[leading(poly)] < 0:
            return _sum((1, _ALL), (-1, self.form(self.shift(self.scale(-1, poly), -1))))
        if len(poly.terms) == 1:
            ((mono, coef),) = poly.terms.items()
            atom = self.atoms[mono[0]]
            if atom.kind == "and" and len(mono) == 1 and coef == 1:
                return reduce(
                    _conjunction, [self.form(p) for p in atom.parts if isinstance(p, Poly)]
                )
        return self._disjoint(poly) or {(-1, frozenset((poly,))): 1}

    def _remainder(self, poly: Poly, mono: tuple[int, ...], coef: int) -> BitForm | None:
        """``x % 8 + 16``, and ``x//8*8``, are conjunctions."""
        atom = self.atoms[mono[0]] if len(mono) == 1 else None
        if atom is None or not atom.is_quotient:
            return None
        top, divisor = atom.parts
        assert isinstance(top, Poly)
        assert isinstance(divisor, Poly)
        size = divisor.value
        if size is None or size & (size - 1) or abs(coef) != size:
            return None
        if coef > 0:
            if len(poly.terms) > 1:
                return None
            return _conjunction(self.form(top), {(-size, frozenset()): 1})
        more = self.sub(self.add(poly, self.scale(size, self.of_atom(atom))), top)
        if more.value is None or more.value % size:
            return None
        low = _conjunction(self.form(top), {(size - 1, frozenset()): 1})
        return _sum((1, low), (1, self.form(more))) if more.value else low

    def _disjoint(self, poly: Poly) -> BitForm | None:
        """``16*x + y`` with ``0 <= y < 16`` consists of two numbers without a common bit."""
        for size in sorted({_even(coef) for mono, coef in poly.terms.items() if mono} - {1}):
            upper = {m: c for m, c in poly.terms.items() if m and not c % size}
            constant = poly.terms.get((), 0)
            if constant // size:
                upper[()] = constant // size * size
            high = self.poly(upper)
            low = self.sub(poly, high)
            least, most = intervals.interval(self, low)
            known = least is not None and most is not None and low is not self.zero
            if known and 0 <= (least or 0) <= (most or 0) < size:
                return _sum((1, self.form(high)), (1, self.form(low)))
        return None

    def _valued(self, form: BitForm) -> Poly:
        """The sum as a polynomial, of which it is remembered what it is a sum of."""
        kept: BitForm = {}
        parts: list[tuple[int, Poly]] = []
        for (mask, leaves), coef in form.items():
            value = self._masked(self._conjoined(leaves), mask) if leaves else self.const(mask)
            if value is not self.zero:
                kept[mask, leaves] = coef
                parts.append((coef, value))
        result = self.combine(parts)
        if result.value is None:
            self.forms.setdefault(result, kept)
        return result

    def _masked(self, poly: Poly, mask: int) -> Poly:
        """``poly & mask``"""
        if mask in (-1, 0):
            return poly if mask else self.zero
        if poly.value is not None:
            return self.const(poly.value & mask)
        if mask < 0:
            return self.sub(poly, self._masked(poly, ~mask))
        low, high = intervals.interval(self, poly)
        if low is not None and low >= 0 and high is not None:
            full = (1 << high.bit_length()) - 1
            mask &= full
            if mask in (full, 0):
                return poly if mask else self.zero
        edges = [i for i in range(mask.bit_length() + 1) if (mask ^ mask << 1) >> i & 1]
        if len(edges) > 2 * _RUNS:
            return self.of_atom(self.atom("and", self._ordered((poly, self.const(mask)))))
        parts = []
        for place, edge in enumerate(edges):
            size = 1 << edge
            parts.append((-size if place % 2 else size, self.div(poly, self.const(size))))
        return self.combine(parts)

    def _conjoined(self, leaves: frozenset[Poly]) -> Poly:
        """The conjunction of polynomials, each of which stands for itself."""
        listed = self._ordered(leaves)
        if len(listed) == 1:
            return listed[0]
        for leaf in listed:
            power = self._above_mask(leaf)
            if power is not None:
                return self.mod(self._conjoined(leaves - {leaf}), power)
        limits = [intervals.interval(self, leaf) for leaf in listed]
        small = [
            h.bit_length() for low, h in limits if low is not None and low >= 0 and h is not None
        ]
        if small:
            size = 1 << min(small)
            if size == 2 and all(low is not None and low >= 0 and h == 1 for low, h in limits):
                return reduce(self.mul, listed)
            for leaf in listed:
                rest = self.mod(leaf, self.const(size))
                if rest is not leaf and (rest.value is not None or not self._divided(rest, leaf)):
                    return self._all((rest, *(leaves - {leaf})))
        zeros = max(min(map(_even, leaf.terms.values())) for leaf in listed)
        if zeros > 1:
            whole = self.const(zeros)
            return self.scale(zeros, self._all(self.div(leaf, whole) for leaf in listed))
        return self.of_atom(self.atom("and", tuple(listed)))

    def _all(self, operands: Iterable[Poly]) -> Poly:
        return reduce(lambda a, b: self.bitwise("and", a, b), operands)

    def _divided(self, rest: Poly, leaf: Poly) -> bool:
        """Whether a remainder has a quotient that the number itself does not have."""
        before = {i for mono in leaf.terms for i in mono}
        return any(self.atoms[i].is_quotient and i not in before for m in rest.terms for i in m)

    def _above_mask(self, poly: Poly) -> Poly | None:
        """P if a polynomial is ``P - 1`` for a power of two P that is no constant."""
        if poly.terms.get(()) != -1 or len(poly.terms) != 2:
            return None
        power = self.shift(poly, 1)
        ((mono, coef),) = power.terms.items()
        whole = coef > 0 and _even(coef) == coef
        return power if whole and all(self.atoms[i].kind == "pow2" for i in mono) else None

    def _ordered(self, polys: Iterable[Poly]) -> tuple[Poly, ...]:
        return tuple(sorted(polys, key=lambda p: p.index))


_ALL: BitForm = {(-1, frozenset()): 1}
_EXACT = {"and": int.__and__, "or": int.__or__, "xor": int.__xor__}


def _sum(*parts: tuple[int, BitForm]) -> BitForm:
    total: BitForm = {}
    for factor, form in parts:
        for key, coef in form.items():
            total[key] = total.get(key, 0) + factor * coef
    return {key: coef for key, coef in total.items() if coef}


def _conjunction(a: BitForm, b: BitForm) -> BitForm:
    """The product of two sums, in each bit."""
    total: BitForm = {}
    for (mask, leaves), x in a.items():
        for (other, more), y in b.items():
            key = (mask & other, leaves | more)
            if key[0]:
                total[key] = total.get(key, 0) + x * y
    return {key: coef for key, coef in total.items() if coef}


def _even(number: int) -> int:
    """The largest power of two that divides a number, which is not 0."""
    return number & -number
