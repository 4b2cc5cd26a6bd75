"""Conversion of normal forms to expressions."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from itertools import permutations
from math import gcd

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT64
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import intervals, prim_exprs
from rlx.solver.known_store import split
from rlx.solver.normal_form import Engine
from rlx.solver.piecewise import clamped
from rlx.solver.poly import Atom, Cond, Mono, Part, Poly

_TERMS = 64
_SEVERAL = 2
_LONG = 7
"""The length of a sum with an extremum that may be shorter as an extremum of sums."""
_CONDITIONS = {"eq": tir.EQ, "ne": tir.NE, "ge": tir.GE}


def rebuilt(engine: Engine, part: Part, factored: bool = False) -> PrimExpr | None:
    """An expression for a polynomial or condition; None if it would be long.

    Equal parts of the normal form become the same object. `factored`: whether a factor that several
    terms of a sum have is written once.
    """
    return _Rebuilding(engine, factored).part(part)


class _Rebuilding:
    """Converts one normal form; a part that occurs several times is converted once."""

    def __init__(self, engine: Engine, factored: bool) -> None:
        self._engine = engine
        self._factored = factored
        self._done: dict[Part | Atom, PrimExpr | None] = {}

    def part(self, part: Part) -> PrimExpr | None:
        done = self._done
        if part not in done:
            done[part] = self._condition(part) if isinstance(part, Cond) else self._polynomial(part)
        return done[part]

    def _polynomial(self, poly: Poly) -> PrimExpr | None:
        if len(poly.terms) > _TERMS:
            return None
        if len(poly.terms) < _SEVERAL:
            return self._term(*next(iter(poly.terms.items()), ((), 0)))
        atoms = self._engine.atoms
        alone = [atoms[mono[0]] for mono in poly.terms if len(mono) == 1]
        if sum(atom.is_quotient for atom in alone) >= _SEVERAL:
            poly = self._whole(poly)
        found = self._sum(poly)
        bent = [(atom.index,) for atom in alone if atom.kind == "relu"]
        return self._around_extremum(poly, bent[0], found) if found and len(bent) == 1 else found

    def _around_extremum(self, poly: Poly, bent: Mono, found: PrimExpr) -> PrimExpr:
        """A sum with one maximum or minimum, as the extremum of two sums or as an opposite if that is
        shorter.
        """
        engine, coef = self._engine, poly.terms[bent]
        (inner,) = engine.atoms[bent[0]].parts
        assert isinstance(inner, Poly)
        rest = engine.poly({m: c for m, c in poly.terms.items() if m != bent})
        others = list[PrimExpr | None]()
        inside = gcd(*inner.terms.values())
        size = gcd(coef * inside, *rest.terms.values())
        if size > 1:
            bend = engine.positive_part(
                engine.poly({m: c // inside for m, c in inner.terms.items()})
            )
            part = engine.poly({m: c // size for m, c in rest.terms.items()})
            smaller = self.part(engine.add(part, engine.scale(coef * inside // size, bend)))
            others.append(None if smaller is None else _times(smaller, size))
        if any(c < 0 for c in rest.terms.values()):
            opposite = self._sum(engine.scale(-1, poly))
            others.append(None if opposite is None else _times(opposite, -1))
        if abs(coef) == 1 and any(rest.terms) and prim_exprs.length(found) > _LONG:
            kind = tir.Max if coef > 0 else tir.Min
            whole = engine.add(rest, engine.scale(coef, inner))
            others.append(self._binary(kind, whole, rest))
        for other in others:
            if other is not None and prim_exprs.length(other) < prim_exprs.length(found):
                found = other
        return found

    def _sum(self, poly: Poly) -> PrimExpr | None:
        rest, minima = self._minima(poly)
        rest, maxima = self._maxima(rest)
        rest, remainders = self._remainders(rest)
        parts: list[tuple[int, PrimExpr | None]] = []
        for kind, extrema in ((tir.Min, minima), (tir.Max, maxima)):
            for coef, (a, b) in extrema:
                parts.append((coef, self._binary(kind, a, b)))
        for coef, (top, divisor) in remainders:
            parts.append((coef, self._binary(tir.FloorMod, top, divisor)))
        if self._factored:
            rest, products = self._products(rest)
            for common, other in products:
                parts.append((1, self._binary(tir.Mul, other, common)))
        ordered = sorted(rest.items(), key=lambda t: (t[1] < 0, not t[0], -len(t[0]), t[0]))
        for mono, coef in ordered:
            parts.append((1 if coef > 0 else -1, self._term(mono, abs(coef))))
        result: PrimExpr | None = None
        for coef, part in sorted(parts, key=lambda each: each[0] < 0):
            if part is None:
                return None
            if result is None:
                result = _times(part, coef)
            else:
                taken = _times(part, abs(coef))
                result = tir.Sub(result, taken) if coef < 0 else tir.Add(result, taken)
        return prim_exprs.ZERO if result is None else result

    def _binary(self, kind: type[tir.Binary], a: Poly, b: Poly) -> PrimExpr | None:
        left, right = self.part(a), self.part(b)
        if left is None or right is None:
            return None
        return (
            kind(left, right) if kind in (tir.FloorMod, tir.Mul) else _extremum(kind, left, right)
        )

    def _minima(self, poly: Poly) -> tuple[dict[Mono, int], list[tuple[int, tuple[Poly, Poly]]]]:
        """The remaining terms, and multiples of minima ``min(a, b)``, whose normal form is
        ``a - max(a - b, 0)``.
        """
        engine, terms = self._engine, dict(poly.terms)
        found: list[tuple[int, tuple[Poly, Poly]]] = []
        for mono in poly.terms:
            coef = terms.get(mono, 0)  # another minimum may have taken some
            if coef >= 0 or len(mono) != 1 or engine.atoms[mono[0]].kind != "relu":
                continue
            pair = clamped(engine, terms, engine.atoms[mono[0]], -coef)
            if pair is None:
                continue
            first, _ = pair
            del terms[mono]
            for taken, size in first.terms.items():
                terms[taken] = terms.get(taken, 0) + coef * size
            found.append((-coef, pair))
        return {m: c for m, c in terms.items() if c}, found

    def _maxima(
        self, terms: dict[Mono, int]
    ) -> tuple[dict[Mono, int], list[tuple[int, tuple[Poly, Poly]]]]:
        """The remaining terms, and multiples of maxima ``max(a, b)``, whose normal form is
        ``b + max(a - b, 0)``.
        """
        engine, left = self._engine, dict(terms)
        found: list[tuple[int, tuple[Poly, Poly]]] = []
        for mono in terms:
            coef = left.get(mono, 0)  # another maximum may have taken some
            if not coef or len(mono) != 1 or engine.atoms[mono[0]].kind != "relu":
                continue
            (inner,) = engine.atoms[mono[0]].parts
            assert isinstance(inner, Poly)
            size = gcd(*inner.terms.values())
            less = {m: -c // size for m, c in inner.terms.items() if c < 0}
            times = coef * size
            fits = [m for m in less if m] or [()]
            if coef > 0 and all(left.get(m) == -coef * c for m, c in inner.terms.items()):
                # max(a, 0) - a is the maximum of -a and 0.
                left = {m: c for m, c in left.items() if m not in inner.terms and m != mono}
                opposite = engine.poly({m: -c // size for m, c in inner.terms.items()})
                found.append((times, (opposite, engine.zero)))
                continue
            if size == 1 and not any(left.get(m, 0) for m in fits):
                continue
            if coef > 0 and less and all(left.get(m, 0) >= times * less.get(m, 1) for m in fits):
                del left[mono]
                for m, c in less.items():
                    left[m] = left.get(m, 0) - times * c
                second = engine.poly(less)
            elif size > 1 and coef > 0:
                del left[mono]
                second = engine.zero
            else:
                continue
            first = engine.poly({m: c // size for m, c in inner.terms.items()})
            found.append((times, (engine.add(first, second), second)))
        return {m: c for m, c in left.items() if c}, found

    def _remainders(
        self, terms: dict[Mono, int]
    ) -> tuple[dict[Mono, int], list[tuple[int, tuple[Poly, Poly]]]]:
        """The remaining terms, and multiples of remainders ``a % b``, whose normal form is
        ``a - b*(a//b)``.
        """
        engine, left = self._engine, dict(terms)
        found: list[tuple[int, tuple[Poly, Poly]]] = []
        for index in sorted({i for mono in terms for i in mono}):
            atom = engine.atoms[index]
            if not atom.is_quotient:
                continue
            top, divisor = atom.parts
            assert isinstance(top, Poly)
            assert isinstance(divisor, Poly)
            for part, modulus in self._digits(top, divisor, left.get((index,), 0)):
                product = engine.sub(part, engine.mul(modulus, engine.of_atom(atom)))
                mono, size = next(term for term in product.terms.items() if term[0])
                times, rest = divmod(left.get(mono, 0), size)
                if (
                    times
                    and not rest
                    and all(left.get(m) == times * c for m, c in product.terms.items() if m)
                ):
                    left = {m: c for m, c in left.items() if m not in product.terms or not m}
                    constant = left.pop((), 0) - times * product.terms.get((), 0)
                    size = modulus.value or 0
                    if times < 0 and size > 1 and constant == -times * (size - 1):
                        # m - 1 - p % m is (-1 - p) % m
                        least = (-1 - part.terms.get((), 0)) % size
                        part = engine.poly({m: -c for m, c in part.terms.items() if m})
                        part, times, constant = engine.shift(part, least), -times, 0
                    left |= {(): constant} if constant else {}
                    found.append((times, (part, modulus)))
                    break
        return left, found

    def _whole(self, poly: Poly) -> Poly:
        """A polynomial without the quotients that are a number together: ``n//2 + (n + 1)//2`` is n."""
        engine, groups = self._engine, dict[tuple[Poly, int], dict[int, Mono]]()
        for mono in poly.terms:
            atom = engine.atoms[mono[0]] if len(mono) == 1 else None
            if atom is None or not atom.is_quotient:
                continue
            top, divisor = atom.parts
            assert isinstance(top, Poly)
            assert isinstance(divisor, Poly)
            constant, size = top.terms.get((), 0), divisor.value or 0
            if 0 <= constant < size:
                line = engine.shift(top, -constant)
                groups.setdefault((line, size), {})[constant] = mono
        for (line, size), quotients in groups.items():
            if (
                len(quotients) == size
                and len(times := {poly.terms[m] for m in quotients.values()}) == 1
            ):
                rest = {m: c for m, c in poly.terms.items() if m not in quotients.values()}
                poly = engine.combine([(1, engine.poly(rest)), (times.pop(), line)])
        return poly

    def _digits(self, top: Poly, divisor: Poly, coef: int) -> list[tuple[Poly, Poly]]:
        """The numbers and moduli of whose remainders a quotient may be a part: those of
        ``(a//2) % 4`` and ``a % 8`` for ``a//8``.
        """
        engine, size = self._engine, divisor.value
        found = [(top, divisor)]
        if size is not None and coef and 1 < (modulus := gcd(size, coef)) < size:
            part = engine.div(top, engine.const(size // modulus))
            if any(part.terms):
                found.append((part, engine.const(modulus)))
        return found

    def _products(self, terms: dict[Mono, int]) -> tuple[dict[Mono, int], list[tuple[Poly, Poly]]]:
        """The remaining terms, and products of a factor that several terms have."""
        engine, left = self._engine, dict(terms)
        found: list[tuple[Poly, Poly]] = []
        while True:
            counts = Counter(index for mono in left for index in set(mono))
            index, count = max(counts.items(), key=lambda c: (c[1], -c[0]), default=(0, 0))
            if count < _SEVERAL:
                break
            inside: dict[Mono, int] = {}
            for mono, coef in left.items():
                if index in mono:
                    at = mono.index(index)
                    inside[mono[:at] + mono[at + 1 :]] = coef
            left = {mono: coef for mono, coef in left.items() if index not in mono}
            found.append((engine.of_atom(engine.atoms[index]), engine.poly(inside)))
        size = gcd(*(coef for mono, coef in left.items() if mono))
        if size > 1 and sum(abs(c) == size for m, c in left.items() if m) >= _SEVERAL:
            inside = {m: c // size for m, c in left.items() if m or not c % size}
            left = {m: c for m, c in left.items() if m not in inside}
            found.append((engine.const(size), engine.poly(inside)))
        return left, found

    def _term(self, mono: Mono, coef: int) -> PrimExpr | None:
        if not mono:
            return tir.IntImm(coef)
        product: PrimExpr | None = None
        for index in mono:
            factor = self._atom(self._engine.atoms[index])
            if factor is None:
                return None
            product = factor if product is None else tir.Mul(product, factor)
        assert product is not None
        return _times(product, coef)

    def _atom(self, atom: Atom) -> PrimExpr | None:
        done = self._done
        if atom not in done:
            done[atom] = self._new_atom(atom)
        return done[atom]

    def _new_atom(self, atom: Atom) -> PrimExpr | None:
        if isinstance(atom.key, PrimExpr):
            return atom.key
        match atom.key:
            case ("quotient", int(index)):
                return self._atom(self._engine.atoms[index])
            case ("zero", Poly() as top):
                numerator = self.part(top)
                return None if numerator is None else tir.FloorDiv(numerator, prim_exprs.ZERO)
        operands = [self.part(part) for part in atom.parts]
        match atom.kind, operands:
            case "div", [PrimExpr() as a, PrimExpr() as b]:
                return tir.FloorDiv(a, b)
            case "relu", [PrimExpr() as a]:
                return tir.Max(a, prim_exprs.ZERO)
            case "prod", [PrimExpr() as a, PrimExpr() as b]:
                return tir.Mul(a, b)
            case "ind", [PrimExpr() as c]:
                return tir.Select(c, prim_exprs.ONE, prim_exprs.ZERO)
            case "pow2", [PrimExpr() as a]:
                return tir.Call("shift_left", (prim_exprs.ONE, a), INT64)
            case "and" | "or" | "xor" as op, [PrimExpr(), *_]:
                known = [operand for operand in operands if operand is not None]
                if len(known) == len(operands):
                    return reduce(lambda a, b: tir.Call(f"bitwise_{op}", (a, b), INT64), known)
        return None

    def _condition(self, cond: Cond) -> PrimExpr | None:
        if cond.poly is not None:
            return self._comparison(cond.kind, cond.poly)
        if not cond.parts:
            return tir.IntImm(int(cond is self._engine.true), BOOL)
        parts = self._joined(cond.kind, [part for part in cond.parts if isinstance(part, Cond)])
        operands = [self.part(part) for part in parts]
        result = operands[0]
        for operand in operands[1:]:
            if result is None or operand is None:
                return None
            result = (tir.And if cond.kind == "and" else tir.Or)(result, operand)
        return result

    def _joined(self, kind: str, parts: list[Cond]) -> list[Cond]:
        """The parts of a conjunction or disjunction, without those that others make needless: two
        that compare one number, or with its opposite, are one comparison or decided.
        """
        engine = self._engine
        for a, b in permutations(parts, 2):
            joined = _pair(engine, kind, a, b)
            if joined is not None:
                rest = [part for part in parts if part is not a and part is not b]
                if joined is engine.true or joined is engine.false:
                    return [joined]
                return self._joined(kind, [joined, *rest])
        return parts

    def _comparison(self, kind: str, poly: Poly) -> PrimExpr | None:
        """A comparison of a polynomial with 0, with its negative terms on the other side."""
        engine = self._engine
        if kind != "ge" and len(poly.terms) == 1:
            ((mono, coef),) = poly.terms.items()
            key = engine.atoms[mono[0]].key
            if len(mono) == coef == 1 and isinstance(key, tir.Var) and key.dtype == BOOL:
                return key if kind == "ne" else tir.Not(key)
        poly = self._with_remainders(poly)
        if kind == "ge":
            poly = self._rounded(poly)
        if len(poly.terms) - (() in poly.terms) == 1 and kind == "ge":
            ((mono, coef),) = (term for term in poly.terms.items() if term[0])
            atom, constant = engine.atoms[mono[0]], poly.terms.get((), 0)
            if len(mono) == abs(coef) == 1 and atom.is_quotient:
                top, divisor = atom.parts
                assert isinstance(top, Poly)
                assert isinstance(divisor, Poly)
                size = divisor.value or 0
                if size > 0:  # n//4 >= 2 is n >= 8, and n//4 <= 2 is n <= 11
                    more = size * constant + (size - 1 if coef < 0 else 0)
                    return self._comparison(kind, engine.shift(engine.scale(coef, top), more))
        least = poly.terms.get((), 0)
        upper = {mono: coef for mono, coef in poly.terms.items() if mono and coef > 0}
        lower = {mono: -coef for mono, coef in poly.terms.items() if mono and coef < 0}
        if kind != "ge" and not upper:
            return self._comparison(kind, engine.scale(-1, poly))
        relation = _CONDITIONS[kind] if kind != "ge" or not lower else tir.LE
        if not lower:
            lower = {(): -least}
        elif not upper:
            upper = {(): least}
        elif kind == "ge" and least == -1:
            relation = tir.LT
        elif least:
            (upper if least > 0 else lower)[()] = abs(least)
        left, right = (lower, upper) if relation in (tir.LE, tir.LT) else (upper, lower)
        first, second = self.part(engine.poly(left)), self.part(engine.poly(right))
        return None if first is None or second is None else relation(first, second)

    def _with_remainders(self, poly: Poly) -> Poly:
        """A polynomial with remainders as its variables."""
        engine = self._engine
        if len(poly.terms) < _SEVERAL or not any(
            engine.atoms[i].is_quotient for mono in poly.terms for i in mono
        ):
            return poly
        rest, remainders = self._remainders(poly.terms)
        parts = [(1, engine.poly(rest))]
        for times, (top, divisor) in remainders:
            remainder = self._binary(tir.FloorMod, top, divisor)
            if remainder is None:
                return poly
            parts.append((times, engine.of_atom(engine.atom("var", (), remainder))))
        return engine.combine(parts)

    def _rounded(self, poly: Poly) -> Poly:
        """A polynomial that is negative where another one is: a whole part of it, if that is shorter."""
        engine = self._engine
        for size in sorted({abs(c) for m, c in poly.terms.items() if m} - {1}, reverse=True):
            part = engine.div(poly, engine.const(size))
            if any(part.terms) and {*part.terms} <= {*poly.terms, ()}:
                return part
        for index in sorted({i for mono in poly.terms if len(mono) > 1 for i in mono}):
            factor = engine.of_atom(engine.atoms[index])
            part, rest = split(engine, poly, factor)
            if rest.value in (0, -1) and intervals.nonneg(engine, engine.shift(factor, -1)):
                return self._rounded(engine.add(part, rest))
        return poly


def _pair(engine: Engine, kind: str, a: Cond, b: Cond) -> Cond | None:
    """Two comparisons with 0, both or one of which holds, as one; None if they stay two."""
    if a.poly is None or b.poly is None or a.kind != "ge":
        return None
    gap, total = engine.sub(a.poly, b.poly).value, engine.add(a.poly, b.poly).value
    both = kind == "and"
    if b.kind == "ge":
        if gap is not None:
            return b if (gap >= 0) == both else a
        if total is None:
            return None
        if both and total <= 0:
            return engine.false if total else engine.against_zero("eq", a.poly)
        if not both and total >= -2:
            whole = total > -2
            return engine.true if whole else engine.against_zero("ne", engine.shift(a.poly, 1))
        return None
    place = gap if gap is not None else total
    if place is None:
        return None
    # The other one says that the number of this one is, or is not, at a place.
    if b.kind == "eq":
        if both:
            return b if place >= 0 else engine.false
        if place == -1:
            return engine.against_zero("ge", engine.shift(a.poly, 1))
        return a if place >= 0 else None
    if not both:
        return engine.true if place >= 0 else b
    if place == 0:
        return engine.against_zero("ge", engine.shift(a.poly, -1))
    return a if place < 0 else None


def _extremum(kind: type[tir.Binary], a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """The minimum or maximum; of quotients by one number, the quotient of the minimum or maximum."""
    if isinstance(a, tir.FloorDiv) and isinstance(b, tir.FloorDiv):
        size = a.b
        if isinstance(size, tir.IntImm) and size.value > 0 and prim_exprs.alike(size, b.b):
            return tir.FloorDiv(kind(a.a, b.a), size)
    return kind(a, b)


def _times(factor: PrimExpr, coef: int) -> PrimExpr:
    match factor:
        case tir.Sub(a=tir.IntImm(value=0), b=opposite):
            return _times(opposite, -coef)
    if coef == 1:
        return factor
    return tir.Sub(prim_exprs.ZERO, factor) if coef == -1 else tir.Mul(factor, tir.IntImm(coef))
