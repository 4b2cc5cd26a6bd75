"""The normal form of bit operations on integers: two's complement without end, as in Python.

A bitwise expression is a sum of multiples of conjunctions ``mask & x & y & ...``: with 1 for all
bits, ``a | b`` is ``a + b - a*b`` in each bit, ``a ^ b`` is ``a + b - 2*a*b``, ``~a`` is ``1 - a``, and
``a*a`` is ``a``. So every identity of such expressions is one of these sums. A conjunction with a
constant consists of remainders: ``x & 12`` is ``x % 16 - x % 4``. A power of two is an atom of its own,
so that ``a << k`` is a product and ``a >> k`` a quotient.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial, reduce

from rlx.solver import intervals
from rlx.solver.division import Quotients
from rlx.solver.poly import Poly, leading

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

    def div(self, a: Poly, b: Poly) -> Poly:
        """The quotient, rounded down; of bit operations by a power of two, that of each operand."""
        size = b.value or 0
        if size > 1 and not size & (size - 1):
            form = self.forms.get(a, {}) if self.forms else {}
            if (form and (-1, frozenset((a,))) not in form) or self._conjoins(a):
                return self._shifted(a, form or self.form(a), b)
        for low in self._sums_of_bits(a, size) if size > 1 else ():
            high = self.sub(a, low)
            if not any(coef % size for coef in high.terms.values()):
                return self.poly({mono: coef // size for mono, coef in high.terms.items()})
        return super().div(a, b)

    def _conjoins(self, poly: Poly) -> bool:
        """Whether a polynomial is ``x & y``."""
        ((mono, coef), *more) = poly.terms.items() if poly.terms else (((), 0),)
        return not more and coef == len(mono) == 1 and self.atoms[mono[0]].kind == "and"

    def _shifted(self, poly: Poly, form: BitForm, size: Poly) -> Poly:
        """The quotient of bit operations by a power of two: the same operations on the quotients."""
        places = (size.value or 1).bit_length() - 1
        shifted: list[tuple[int, BitForm]] = []
        for (mask, leaves), coef in form.items():
            above: BitForm = {(mask >> places, frozenset()): 1} if mask >> places else {}
            quotients = [self.form(self.div(leaf, size)) for leaf in leaves]
            shifted.append((coef, reduce(_conjunction, quotients, above)))
        result = self._valued(_sum(*shifted))
        op, operands = self.chains.get(poly, ("", ()))
        if op and result.value is None:
            parts = self._ordered(self.div(operand, size) for operand in operands)
            self.chains.setdefault(result, (op, parts))
        return result

    def _sums_of_bits(self, poly: Poly, limit: int) -> Iterator[Poly]:
        """What ``x ^ y``, ``x | y`` and ``x & ~y`` contribute to a polynomial, from 0 and below a limit."""
        for mono, coef in poly.terms.items():
            atom = self.atoms[mono[0]] if len(mono) == 1 and coef < 0 else None
            if atom is None or atom.kind != "and" or len(atom.parts) != 2:
                continue
            parts = [part for part in atom.parts if isinstance(part, Poly)]
            ends = [intervals.interval(self, part) for part in parts]
            highs = [
                high for low, high in ends if low is not None and low >= 0 and high is not None
            ]
            common = self.scale(coef, self.of_atom(atom))
            for size in {1 << high.bit_length() for high in highs}:
                # bits that only one of them has are not common
                one, other = (self.mod(part, self.const(size)) for part in parts)
                both = self.add(one, other)
                sums = [(-coef, both), (-coef, one), (-coef, other)]
                for times, each in sums if coef % 2 else [(-coef // 2, both), *sums]:
                    if times * (size - 1) < limit:
                        yield self.add(self.scale(times, each), common)

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
        if result not in operands:
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
            least = self._multiple_of(leaf)
            if any(least and self._below(other, least) for other in listed if other is not leaf):
                return self.zero
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
                    return self._all((rest, *(other for other in listed if other is not leaf)))
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

    def _multiple_of(self, poly: Poly) -> Poly | None:
        """The power of two that is no constant and a factor of all terms of a polynomial, if any."""
        first, *others = poly.terms
        found = [i for i in first if self.atoms[i].kind == "pow2" and all(i in m for m in others)]
        return (
            reduce(self.mul, map(self.of_atom, [self.atoms[i] for i in found])) if found else None
        )

    def _below(self, poly: Poly, limit: Poly) -> bool:
        """Whether a polynomial is at least 0 and less than another one."""
        rest = self.sub(self.shift(limit, -1), poly)
        return intervals.nonneg(self, poly) and intervals.nonneg(self, rest)

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
