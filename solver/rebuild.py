"""Conversion of normal forms to expressions."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from math import gcd

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT64
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs
from rlx.solver.normal_form import Engine
from rlx.solver.piecewise import clamped
from rlx.solver.poly import Atom, Cond, Mono, Part, Poly

_TERMS = 64
_SEVERAL = 2
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
        rest, minima = self._minima(poly)
        rest, remainders = self._remainders(rest)
        result: PrimExpr | None = None
        for coef, (a, b) in minima:
            left, right = self.part(a), self.part(b)
            if left is None or right is None:
                return None
            smaller = _times(tir.Min(left, right), coef)
            result = smaller if result is None else tir.Add(result, smaller)
        for coef, (top, divisor) in remainders:
            left, right = self.part(top), self.part(divisor)
            if left is None or right is None:
                return None
            taken = _times(tir.FloorMod(left, right), abs(coef) if result is not None else coef)
            if result is None:
                result = taken
            else:
                result = tir.Sub(result, taken) if coef < 0 else tir.Add(result, taken)
        if self._factored:
            rest, products = self._products(rest)
            for common, other in products:
                left, right = self.part(common), self.part(other)
                if left is None or right is None:
                    return None
                factored = tir.Mul(right, left)
                result = factored if result is None else tir.Add(result, factored)
        ordered = sorted(rest.items(), key=lambda t: (t[1] < 0, not t[0], -len(t[0]), t[0]))
        for mono, coef in ordered:
            term = self._term(mono, abs(coef) if result is not None else coef)
            if term is None:
                return None
            if result is None:
                result = term
            else:
                result = tir.Sub(result, term) if coef < 0 else tir.Add(result, term)
        return prim_exprs.ZERO if result is None else result

    def _minima(self, poly: Poly) -> tuple[dict[Mono, int], list[tuple[int, tuple[Poly, Poly]]]]:
        """The remaining terms, and multiples of minima ``min(a, b)``, whose normal form is
        ``a - max(a - b, 0)``.
        """
        engine, terms = self._engine, dict(poly.terms)
        found: list[tuple[int, tuple[Poly, Poly]]] = []
        for mono, coef in poly.terms.items():
            if coef > 0 or len(mono) != 1 or engine.atoms[mono[0]].kind != "relu":
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
            product = engine.sub(top, engine.mul(divisor, engine.of_atom(atom)))
            mono, size = next(iter(product.terms.items()))
            times, rest = divmod(left.get(mono, 0), size)
            if (
                times
                and not rest
                and all(left.get(m) == times * c for m, c in product.terms.items())
            ):
                left = {m: c for m, c in left.items() if m not in product.terms}
                found.append((times, (top, divisor)))
        return left, found

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
        size = gcd(*left.values())
        if size > 1 and sum(abs(c) == size for m, c in left.items() if m) >= _SEVERAL:
            found.append((engine.const(size), engine.poly({m: c // size for m, c in left.items()})))
            left = {}
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
            value = self.part(cond.poly)
            return None if value is None else _CONDITIONS[cond.kind](value, prim_exprs.ZERO)
        if not cond.parts:
            return tir.IntImm(int(cond is self._engine.true), BOOL)
        operands = [self.part(part) for part in cond.parts]
        result = operands[0]
        for operand in operands[1:]:
            if result is None or operand is None:
                return None
            result = (tir.And if cond.kind == "and" else tir.Or)(result, operand)
        return result


def _times(factor: PrimExpr, coef: int) -> PrimExpr:
    if coef == 1:
        return factor
    return tir.Sub(prim_exprs.ZERO, factor) if coef == -1 else tir.Mul(factor, tir.IntImm(coef))
