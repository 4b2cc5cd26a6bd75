"""Proofs of what the normal form did: each division that it recorded is a fact of the calculus, because
the remainder of what it gives lies between 0 and the divisor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from types import SimpleNamespace
from typing import Any

from rlx.grammar.nodes import tir
from rlx.solver import assumptions, normal_form
from rlx.solver.context import demands
from rlx.solver.normal_form import Engine
from rlx.solver.poly import Cond as EngineCond
from rlx.solver.poly import Poly as EnginePoly
from rlx.solver.proofs.checker import (
    FALSE,
    TRUE,
    Cond,
    Poly,
    RefusedError,
    beside,
    combine,
    negate,
    shift,
    value,
)
from rlx.solver.proofs.draft import (
    ONE,
    Item,
    NotFoundError,
)
from rlx.solver.proofs.inequalities import Inequalities, without

_FUEL = 400_000
_TERMS = 10
"""The maximum number of numbers whose bits are distinguished."""


class Recording(Engine):
    """A normal form that remembers the result of each division, and the divisions inside."""

    def __init__(self, fuel: int) -> None:
        self.divisions: dict[tuple[EnginePoly, EnginePoly], list[tuple[EnginePoly, EnginePoly]]]
        self.divisions = {}
        self._open: list[list[tuple[EnginePoly, EnginePoly]]] = [[]]
        super().__init__(fuel)

    def div(self, a: EnginePoly, b: EnginePoly) -> EnginePoly:
        known = (a, b) in self.divided
        self._open[-1].append((a, b))
        self._open.append([])
        try:
            return super().div(a, b)
        finally:
            inside = self._open.pop()
            if not known:
                self.divisions[a, b] = inside


class CaseScope:
    """What is known in one case: the recorded normal form, and its results by atom."""

    def __init__(self, engine: Recording) -> None:
        self.engine = engine
        self.values: dict[int, EnginePoly] = {}
        self.equations: dict[int, tuple[Poly, list[Item]]] = {}
        self.remainders: dict[
            tuple[EnginePoly, EnginePoly], tuple[int, list[Item], list[Item]]
        ] = {}


class Rewriting(Inequalities):
    """Equations between what stands in a goal and its normal form."""

    def scope(self, conds: Sequence[Cond]) -> CaseScope | None:
        """The normal form under the assumptions and more conditions; None if they contradict each
        other there.
        """
        engine = Recording(_FUEL)
        known = demands([self.goal, *self.assumed])
        if not assumptions.load(engine, self.ranges, (), [*known, *self.assumed]):
            return None
        scope = CaseScope(engine)
        for _ in range(2 if conds else 0):
            for cond in conds:
                scope.values.clear()
                if not assumptions.learn(engine, self.engine_cond(scope, cond)):
                    return None
                engine.forget()
            scope.values.clear()
        self.checker.take((_FUEL - engine.fuel) // 4)
        return scope

    def engine_cond(self, scope: CaseScope, cond: Cond) -> EngineCond:
        kind, parts = cond
        if kind in ("and", "or"):
            return scope.engine.join(kind, [self.engine_cond(scope, part) for part in parts])
        return scope.engine.against_zero(kind, self.engine_poly(scope, dict(parts)))

    def engine_poly(self, scope: CaseScope, poly: Poly) -> EnginePoly:
        """A polynomial over the checker's atoms in normal form."""
        engine, parts = scope.engine, []
        for mono, coef in poly.items():
            product = engine.const(1)
            for index in mono:
                product = engine.mul(product, self.engine_atom(scope, index))
            parts.append((coef, product))
        return engine.combine(parts)

    def engine_atom(self, scope: CaseScope, index: int) -> EnginePoly:
        found = scope.values.get(index)
        if found is None:
            found = scope.values[index] = self._evaluated(scope, *self.checker.atoms[index])
        return found

    def _evaluated(self, scope: CaseScope, kind: str, operands: tuple[Any, ...]) -> EnginePoly:
        engine, first = scope.engine, operands[0]
        match kind:
            case "var":
                return normal_form.variable(engine, self.spelled[first])
            case "div":
                a, b = (self.engine_poly(scope, dict(part)) for part in operands)
                return engine.div(a, b)
            case "bits":
                a, b = (self.engine_poly(scope, dict(part)) for part in operands)
                return engine.bitwise("and", a, b)
            case "max":
                return engine.positive_part(self.engine_poly(scope, dict(first)))
        return engine.indicator(self.engine_cond(scope, first))

    def back(self, scope: CaseScope, poly: EnginePoly) -> Poly:
        """A polynomial of the normal form over the checker's atoms."""
        parts: list[tuple[int, Poly]] = []
        for mono, coef in poly.terms.items():
            product = ONE
            for index in mono:
                product = self.checker.mul(product, self.back_atom(scope, index))
            parts.append((coef, product))
        return combine(*parts)

    def back_atom(self, scope: CaseScope, index: int) -> Poly:
        atom, checker = scope.engine.atoms[index], self.checker
        match atom.kind, atom.parts:
            case "var", _:
                match atom.key:
                    case tir.Var():
                        return {(self.vars[atom.key],): 1}
                    case ("quotient", int(inner)):
                        return self.back_atom(scope, inner)
            case "div", (EnginePoly() as a, EnginePoly() as b):
                return checker.div(self.back(scope, a), self.back(scope, b))
            case "relu", (EnginePoly() as a,):
                return checker.binary("max", self.back(scope, a), {})
            case "prod", (EnginePoly() as a, EnginePoly() as b):
                return checker.mul(self.back(scope, a), self.back(scope, b))
            case "and", parts:
                return reduce(
                    checker.common,
                    [self.back(scope, p) for p in parts if isinstance(p, EnginePoly)],
                )
            case "ind", (EngineCond() as cond,):
                return checker.choose(self.back_cond(scope, cond), ONE, {})
        raise NotFoundError(f"an atom of the normal form has no counterpart: {atom.kind}")

    def back_cond(self, scope: CaseScope, cond: EngineCond) -> Cond:
        if cond.poly is not None:
            return beside(cond.kind, self.back(scope, cond.poly))
        if not cond.parts:
            return TRUE if cond is scope.engine.true else FALSE
        return (cond.kind, tuple(self.back_cond(scope, part) for part in cond.parts))

    def rewritten(self, scope: CaseScope, poly: Poly) -> tuple[Poly, list[Item]]:
        """The normal form of a polynomial, and items whose sum is the difference."""
        items: list[Item] = []
        for index in sorted({i for mono in poly for i in mono}, reverse=True):
            result, known = self.equation(scope, index)
            if not known:
                continue
            factor: Poly = {}
            while any(index in mono for mono in poly):
                self.checker.take(len(poly) // 4)
                inside = {mono: coef for mono, coef in poly.items() if index in mono}
                rest = without(inside, index)
                factor = combine((1, factor), (1, rest))
                poly = combine((1, poly), (-1, inside), (1, self.checker.mul(rest, result)))
            items += self.scaled(known, factor)
        return poly, items

    def equation(self, scope: CaseScope, index: int) -> tuple[Poly, list[Item]]:
        """The normal form of an atom, and items whose sum is the difference."""
        found = scope.equations.get(index)
        if found is None:
            result = self.back(scope, self.engine_atom(scope, index))
            scope.equations[index] = found = (result, [])
            if result != {(index,): 1}:
                number = self.equal_atom(scope, index, result)
                scope.equations[index] = found = (result, [(ONE, (number,))])
        return found

    def equal_atom(self, scope: CaseScope, index: int, result: Poly) -> int:
        """The fact that an atom is its normal form."""
        difference = combine((1, {(index,): 1}), (-1, result))
        kind, operands = self.checker.atoms[index]
        if kind == "div":
            return self.equal_quotient(scope, index, result)
        if kind == "var":
            return self.equal(difference)
        if kind == "bits":
            return self.by_bits(beside("eq", difference))
        for part in operands if kind == "max" else _leaves(operands[0]):
            for item in self.rewritten(scope, dict(part))[1]:
                self.total([item])
        return self.equal_by_cases(difference, index)

    def equal_quotient(self, scope: CaseScope, index: int, result: Poly) -> int:
        checker = self.checker
        top, below = (dict(part) for part in checker.atoms[index][1])
        a, b = self.engine_poly(scope, top), self.engine_poly(scope, below)
        _, a_items = self.rewritten(scope, top)
        _, b_items = self.rewritten(scope, below)
        inner, low, high = self.remainder(scope, a, b)
        sign, fact = self.sign(below)
        if inner != sign:
            raise NotFoundError("the signs of a divisor differ")
        turn: Poly = {(): sign}
        moved = self.scaled(a_items, turn)
        moved += self.scaled(b_items, checker.mul({(): -sign}, result))
        back = [*self.scaled(moved, {(): -1}), *self.scaled(b_items, turn)]
        uses = [] if fact is None else [fact]
        for items in ([*low, *moved], [*high, *back]):
            if value(combine(*((1, self.product(item)) for item in items))) is None:
                uses.append(self.number(self.total(items)))
        return self.number(self.apply("quotient", index, [result], uses))

    def sign(self, divisor: Poly) -> tuple[int, int | None]:
        """The sign of a divisor, and the fact that says so."""
        known = value(divisor)
        if known:
            return (1 if known > 0 else -1), None
        for sign in (1, -1):
            try:
                return sign, self.nonneg_fact(shift(divisor, -1, sign))
            except NotFoundError:
                continue
        raise NotFoundError("the sign of a divisor is open")

    def remainder(
        self, scope: CaseScope, a: EnginePoly, b: EnginePoly
    ) -> tuple[int, list[Item], list[Item]]:
        """The sign of a divisor, and that the remainder is between 0 and it."""
        key = (a, b)
        found = scope.remainders.get(key)
        if found is None:
            checker = self.checker
            top, divisor = self.back(scope, a), self.back(scope, b)
            sign, _ = self.sign(divisor)
            result = self.back(scope, scope.engine.div(a, b))
            rest = combine((sign, top), (-sign, checker.mul(divisor, result)))
            above = combine((sign, divisor), (-1, rest), (-1, ONE))
            for inner in scope.engine.divisions.get(key, ()):
                if inner != key:
                    try:
                        self.remainder(scope, *inner)
                    except NotFoundError:
                        continue
            found = sign, self.nonneg(rest), self.nonneg(above)
            scope.remainders[key] = found
        return found

    def by_bits(self, gives: Cond) -> int:
        """A fact that holds for each bit of the numbers in it."""
        terms = [dict(key) for key in sorted(set(self._terms(dict(gives[1]), True)))]
        if len(terms) > _TERMS:
            raise NotFoundError("too many numbers with bits")
        uses = [self.nonneg_fact(term) for term in terms if gives[0] == "ge"]
        positive = [dict(self.checker.facts[number][1]) for number in uses]
        text = self.checker.sentence(gives)
        try:
            self.checker.bits(SimpleNamespace(gives=text, polys=terms, facts=positive, kinds=""))
        except RefusedError as error:
            raise NotFoundError(f"bits: {error}") from None
        return self.number(self.apply("bits", None, terms, uses, gives=gives))

    def _terms(self, poly: Poly, outside: bool) -> Iterator[tuple[tuple[Any, int], ...]]:
        """The numbers of whose bits a polynomial is made."""
        atoms = self.checker.atoms
        kinds = [atoms[mono[0]][0] if len(mono) == 1 else "" for mono in poly if mono]
        if outside or "bits" in kinds or (len(kinds) == 1 and value(shift(poly, 1)) is None):
            whole = not outside and "bits" not in kinds and set(poly.values()) - {-1}
            for mono in poly if not whole else ():
                if not mono:
                    continue
                kind, operands = atoms[mono[0]] if len(mono) == 1 else ("", ())
                if kind != "bits":
                    yield ((mono, 1),)
                for part in operands if kind == "bits" else ():
                    yield from self._terms(dict(part), False)
            if not whole:
                return
        yield tuple(sorted(poly.items()))

    def equal(self, poly: Poly) -> int:
        """The fact that a polynomial is 0."""
        for sign in (1, -1):
            known = self.index.get(beside("eq", shift(poly, 0, sign)))
            if known is not None:
                return self.number(self.total([({(): sign}, (known,))]))
        low = self.nonneg_fact(poly)
        high = self.nonneg_fact(shift(poly, 0, -1))
        return self.number(self.apply("squeeze", uses=[low, high]))

    def equal_by_cases(self, poly: Poly, first: int) -> int:
        """The same by the cases of an atom, and of the maxima and choices in the polynomial."""
        gives = beside("eq", poly)
        if gives in self.index:
            return self.index[gives]
        with self.case(negate(gives)) as proof:
            self.by_atoms(negate(gives), [first], 4)
        return self.number(self.apply("lemma", proofs=[proof], gives=gives))

    def by_atoms(self, unequal: Cond, atoms: list[int], splits: int) -> None:
        """Close a case by the cases of maxima and choices in a disequation."""
        if self.closed:
            return
        if not atoms:
            try:
                self.clash(unequal)
                return
            except NotFoundError:
                if self.closed:
                    return
        for index in dict.fromkeys([*atoms, *self.branching(dict(unequal[1]))]):
            cases = self.alternatives(index)
            if cases is not None and splits:
                self.cases(cases, lambda _: self.by_atoms(unequal, [], splits - 1))
                return
        self.contradiction()

    def clash(self, unequal: Cond) -> None:
        """Close a case in which a number is not 0 that is."""
        number = self.equal(dict(unequal[1]))
        self.apply("clash", uses=[number, self.index[unequal]])


def _leaves(cond: Cond) -> list[Any]:
    """The polynomials in a condition."""
    if cond[0] in ("and", "or"):
        return [leaf for part in cond[1] for leaf in _leaves(part)]
    return [cond[1]]
