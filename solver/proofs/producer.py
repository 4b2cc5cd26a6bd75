"""Certificates of goals that the prover has proved.

The normal form of the prover is computed once more, with a record of its divisions. Each of them
is a fact of the calculus: the remainder of what it gives lies between 0 and the divisor. What the
normal form decides by bounds is proved here by linear combinations of facts, which a linear program
finds; then come case distinctions. Nothing here is trusted: :mod:`rlx.solver.proofs.checker` checks
what is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import reduce
from itertools import combinations, permutations, repeat
from keyword import iskeyword
from math import gcd, lcm
from types import SimpleNamespace
from typing import Any, NamedTuple

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import assumptions, normal_form
from rlx.solver.context import Range, demands
from rlx.solver.expression_text import show
from rlx.solver.normal_form import Engine
from rlx.solver.poly import Cond as EngineCond
from rlx.solver.poly import Poly as EnginePoly
from rlx.solver.poly import TooMuchWorkError
from rlx.solver.proofs.checker import (
    FALSE,
    RULES,
    TRUE,
    Cond,
    Mono,
    Poly,
    ProofChecker,
    RefusedError,
    as_cond,
    beside,
    check,
    combine,
    negate,
    shift,
    value,
)
from rlx.solver.smt import loaded_z3

_FUEL = 400_000
_PROGRAMS = 100
"""The maximum number of linear programs for one certificate."""
_EFFORT = 600_000
"""The maximum number of products of terms, and of similar steps, for one certificate: about a
second. What needs more stays unchecked.
"""
_ROWS = 240
_SPLITS = 6
_EQUATIONS = 12
_CLASSES = 600
_ONE: Poly = {(): 1}

Row = tuple[Poly, Poly, tuple[int, ...], bool]
"""A fact or product of facts: its polynomial, a factor, the facts, whether it is 0."""
Item = tuple[Poly, tuple[int, ...]]
"""A factor, and the facts that it multiplies."""


class NotFoundError(Exception):
    """No certificate was found."""


class Drafting(ProofChecker):
    """A checker that names new atoms, for proofs under construction."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: set[str] = set()
        self.effort = _EFFORT

    def mul(self, a: Poly, b: Poly) -> Poly:
        self.take(len(a) * len(b))
        return super().mul(a, b)

    def take(self, amount: int) -> None:
        """Use up effort.

        Raises
        ------
        NotFoundError
            If none is left.
        """
        self.effort -= amount
        if self.effort < 0:
            raise NotFoundError("the proof needs too much effort")

    @property
    def names(self) -> list[str]:
        """The names of the atoms."""
        return [*self.named]

    def name(self, atom: tuple[str, tuple[Any, ...]]) -> str:
        letter = {"div": "q", "max": "m", "choice": "c", "bits": "b"}[atom[0]]
        number = len(self.atoms)
        while (found := f"{letter}{number}") in self.taken:
            number += 1
        self.taken.add(found)
        return found


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


class Found(NamedTuple):
    """A step, and the number of its fact while the proof is made; None if it closes a case."""

    given: dict[str, Any]
    number: int | None


class Below(NamedTuple):
    """A proof below a step, with the numbers of the facts that it assumes."""

    steps: list[Found]
    first: int
    facts: int


class Draft:
    """A proof under construction."""

    def __init__(
        self, goal: PrimExpr, facts: Sequence[PrimExpr], ranges: Sequence[tuple[tir.Var, Range]]
    ) -> None:
        self.goal, self.assumed, self.ranges = goal, facts, ranges
        self.names = distinct_names([var for var, _ in ranges])
        self.vars: dict[tir.Var, int] = {}
        self.checker = Drafting()
        self.checker.taken |= set(self.names.values())
        self.steps: list[Found] = []
        self.index: dict[Cond, int] = {}
        self.failed: dict[object, int] = {}
        self.programs = _PROGRAMS
        renamed: dict[tir.Var, PrimExpr] = {v: tir.Var(n, v.dtype) for v, n in self.names.items()}
        self.texts = [show(tir.substitute(fact, renamed)) for fact in (*facts, goal)]
        self._claim()

    def _claim(self) -> None:
        checker = self.checker
        variables: dict[str, list[Any]] = {}
        for var, (low, high) in self.ranges:
            variables[self.names[var]] = [low, high]
        self.claimed = {
            "version": 1,
            "goal": self.texts[-1],
            "assume": self.texts[:-1],
            "variables": variables,
        }
        checker.claim({**self.claimed, "names": {}, "proof": []})
        self.own = len(checker.atoms)
        self.vars = {var: checker.named[name] for var, name in self.names.items()}
        self.known = len(checker.facts)
        for number, cond in enumerate(checker.facts):
            self.index.setdefault(cond, number)
        form = checker.parse(self.texts[-1])
        self.targets = _parts(negate(as_cond(form)))

    # Steps

    def apply(
        self,
        rule: str,
        atom: int | None = None,
        polys: Sequence[Poly] = (),
        uses: Sequence[Any] = (),
        proofs: list[Below] | None = None,
        gives: Cond | None = None,
    ) -> int | None:
        """Add a step; the number of its fact, or None if that closes the case.

        Raises
        ------
        NotFoundError
            If the rule does not allow it.
        """
        checker = self.checker
        given: dict[str, Any] = {"rule": rule}
        operands: tuple[Any, ...] = ()
        if atom is not None:
            given["atom"] = checker.names[atom]
            operands = checker.atoms[atom][1]
        if polys or rule == "sum":
            given["terms"] = [checker.text(poly) for poly in polys]
        if uses or rule in ("sum", "same", "quotient", "floor-low", "floor-high"):
            given["uses"] = list(uses)
        if proofs is not None:
            given["proofs"] = proofs
        cond = gives
        if cond is None:
            conds = [] if rule == "sum" else [checker.facts[use] for use in uses]
            facts = [dict(c[1]) if c[0] in ("ge", "eq", "ne") else {} for c in conds]
            kinds = " ".join(c[0] for c in conds)
            step = SimpleNamespace(
                **given,
                code=RULES[rule][1],
                point={(atom or 0,): 1},
                operands=operands,
                polys=list(polys),
                facts=facts,
                kinds=kinds,
                depth=0,
            )
            if proofs is None:
                try:
                    checker.work = 1 << 40
                    cond = getattr(checker, RULES[rule][0])(step)
                except RefusedError as error:
                    raise NotFoundError(f"{rule}: {error}") from None
            else:
                cond = FALSE
        if cond == TRUE:
            raise NotFoundError("a step says nothing")
        if cond in self.index:
            return self.index[cond]
        given["gives"] = checker.sentence(cond)
        number = len(checker.facts)
        self.steps.append(Found(given, None if cond == FALSE else number))
        if cond == FALSE:
            checker.closed = True
            return None
        checker.add(cond)
        self.index[cond] = number
        return number

    @contextmanager
    def case(self, assumed: Cond) -> Iterator[Below]:
        """A proof below a step, with one more fact."""
        checker = self.checker
        checker.take(len(self.index))
        before, closed, steps = len(checker.facts), checker.closed, self.steps
        index, failed = self.index, self.failed
        self.steps, self.index, self.failed = [], dict(index), {}
        checker.add(assumed)
        for number in range(before, len(checker.facts)):
            self.index.setdefault(checker.facts[number], number)
        proof = Below(self.steps, before, len(checker.facts) - before)
        try:
            yield proof
            if not checker.closed:
                raise NotFoundError("a case is open")
        finally:
            del checker.facts[before:], checker.used[before:]
            checker.closed, self.steps = closed, steps
            self.index, self.failed = index, failed

    @property
    def closed(self) -> bool:
        return self.checker.closed

    def total(self, items: Iterable[Item]) -> int | None:
        """The fact that a sum of products gives; None if it closes the case."""
        merged: dict[tuple[int, ...], Poly] = {}
        for factor, ids in items:
            key = tuple(sorted(ids))
            merged[key] = combine((1, merged.get(key, {})), (1, factor))
        listed = [(ids, factor) for ids, factor in sorted(merged.items()) if factor]
        if len(listed) == 1 and len(listed[0][0]) == 1 and listed[0][1] == _ONE:
            return listed[0][0][0]
        return self.apply("sum", None, [f for _, f in listed], [list(ids) for ids, _ in listed])

    # The normal form

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
                var = next(v for v, n in self.names.items() if n == first)
                return normal_form.variable(engine, var)
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
            product = _ONE
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
                    case ("above", int(inner), int(low)):
                        return shift(self.back_atom(scope, inner), -low)
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
                return checker.choose(self.back_cond(scope, cond), _ONE, {})
        raise NotFoundError(f"an atom of the normal form has no counterpart: {atom.kind}")

    def back_cond(self, scope: CaseScope, cond: EngineCond) -> Cond:
        if cond.poly is not None:
            return beside(cond.kind, self.back(scope, cond.poly))
        if not cond.parts:
            return TRUE if cond is scope.engine.true else FALSE
        return (cond.kind, tuple(self.back_cond(scope, part) for part in cond.parts))

    # What the normal form did, as facts

    def rewritten(self, scope: CaseScope, poly: Poly) -> tuple[Poly, list[Item]]:
        """The normal form of a polynomial, and items whose sum is the difference."""
        items: list[Item] = []
        for index in sorted({i for mono in poly for i in mono}, reverse=True):
            result, known = self.equation(scope, index)
            if not known:
                continue
            factor: Poly = {}
            while any(index in mono for mono in poly):
                for mono, coef in [*poly.items()]:
                    if index in mono:
                        at = mono.index(index)
                        rest: Poly = {mono[:at] + mono[at + 1 :]: coef}
                        factor = combine((1, factor), (1, rest))
                        replaced = self.checker.mul(rest, result)
                        poly = combine((1, poly), (-1, {mono: coef}), (1, replaced))
            items += self.scaled(known, factor)
        return poly, items

    def scaled(self, items: Iterable[Item], factor: Poly) -> list[Item]:
        return [(self.checker.mul(factor, each), ids) for each, ids in items]

    def equation(self, scope: CaseScope, index: int) -> tuple[Poly, list[Item]]:
        """The normal form of an atom, and items whose sum is the difference."""
        found = scope.equations.get(index)
        if found is None:
            result = self.back(scope, self.engine_atom(scope, index))
            scope.equations[index] = found = (result, [])
            if result != {(index,): 1}:
                number = self.equal_atom(scope, index, result)
                scope.equations[index] = found = (result, [(_ONE, (number,))])
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
            raise NotFoundError("no rule is about the common bits of two numbers")
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

    @staticmethod
    def number(found: int | None) -> int:
        if found is None:
            raise NotFoundError("the case is closed")
        return found

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
            above = combine((sign, divisor), (-1, rest), (-1, _ONE))
            for inner in scope.engine.divisions.get(key, ()):
                if inner != key:
                    try:
                        self.remainder(scope, *inner)
                    except NotFoundError:
                        continue
            found = sign, self.nonneg(rest), self.nonneg(above)
            scope.remainders[key] = found
        return found

    # Equations

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

    def alternatives(self, index: int) -> int | None:
        """The fact of the cases of a maximum or choice, if they were not distinguished before."""
        kind, _ = self.checker.atoms[index]
        cases = self.apply("max-cases" if kind == "max" else "choice-cases", index)
        return None if cases in self.done else cases

    done: frozenset[int] = frozenset()

    def cases(self, number: int | None, close: Any) -> None:
        """Close a case by the alternatives of a fact."""
        assert number is not None
        kind, parts = self.checker.facts[number]
        if kind == "ne":
            poly = dict(parts)
            parts = (beside("ge", shift(poly, -1)), beside("ge", shift(poly, -1, -1)))
        proofs = []
        before, self.done = self.done, self.done | {number}
        try:
            for part in parts:
                with self.case(part) as proof:
                    if not self.closed:
                        close(part)
                proofs.append(proof)
        finally:
            self.done = before
        self.apply("cases", uses=[number], proofs=proofs)

    def clash(self, unequal: Cond) -> None:
        """Close a case in which a number is not 0 that is."""
        number = self.equal(dict(unequal[1]))
        self.apply("clash", uses=[number, self.index[unequal]])

    def branching(self, poly: Poly) -> list[int]:
        """The maxima and choices in a polynomial, and in the operands of its quotients."""
        found: dict[int, None] = {}
        for index in self.below(poly):
            if self.checker.atoms[index][0] in ("max", "choice"):
                found[index] = None
        return [*found]

    def below(self, poly: Poly, depth: int = 3) -> list[int]:
        """The atoms of a polynomial and of their operands."""
        found: dict[int, None] = {}
        waiting = [(i, depth) for mono in poly for i in mono]
        while waiting:
            index, left = waiting.pop(0)
            if index in found:
                continue
            found[index] = None
            kind, operands = self.checker.atoms[index]
            if left and kind in ("div", "max", "bits"):
                waiting += [(i, left - 1) for part in operands for mono, _ in part for i in mono]
        return [*found]

    # Inequalities

    def nonneg_fact(self, poly: Poly) -> int:
        return self.number(self.total(self.nonneg(poly)))

    def nonneg(self, poly: Poly, depth: int = 3) -> list[Item]:
        """Items whose sum is a polynomial that is at least 0."""
        known = value(poly)
        if known is not None:
            if known < 0:
                raise NotFoundError("a constant is negative")
            return [({(): known}, ())] if known else []
        number = self.index.get(beside("ge", poly), self.index.get(beside("eq", poly)))
        if number is None:
            key = tuple(sorted(poly.items()))
            if self.failed.get(key, -1) >= depth:
                raise NotFoundError("tried before")
            self.failed[key] = depth
            found = self.shifted(poly)
            if found is not None:
                return found
            number = self.combined(poly, depth)
            del self.failed[key]
        return [(_ONE, (number,))]

    def lows(self) -> dict[int, tuple[int, int]]:
        """The largest known lower limit of each atom, and its fact."""
        found: dict[int, tuple[int, int]] = {}
        for cond, number in self.index.items():
            if cond[0] != "ge" or len(cond[1]) > 2:
                continue
            linear = [(m, c) for m, c in cond[1] if m]
            if len(linear) == 1 and len(linear[0][0]) == 1 and linear[0][1] == 1:
                low = -dict(cond[1]).get((), 0)
                index = linear[0][0][0]
                if index not in found or found[index][0] < low:
                    found[index] = (low, number)
        return found

    def shifted(self, poly: Poly) -> list[Item] | None:
        """A polynomial with no negative coefficient once each atom begins at its lower limit."""
        lows = self.lows()
        if any(i not in lows for mono in poly for i in mono):
            return None
        total: Poly = {}
        for mono, coef in poly.items():
            product: Poly = {(): coef}
            for index in mono:
                product = self.checker.mul(product, {(index,): 1, (): lows[index][0]})
                product = {m: c for m, c in product.items() if c}
            total = combine((1, total), (1, product))
        if any(coef < 0 for coef in total.values()):
            return None
        return [({(): c}, tuple(sorted(lows[i][1] for i in m))) for m, c in total.items()]

    def combined(self, poly: Poly, depth: int) -> int:
        """The fact that a polynomial is at least 0, by a linear program over facts."""
        if depth <= 0:
            raise NotFoundError("the inequality is too deep")
        self.limits(poly, depth)
        rows = self.rows(poly)
        found = self.program(poly, rows, [])
        if found is not None:
            return self.by_multipliers(poly, found)
        divisors = self.divisors(poly)
        if self.squares(poly):
            rows = self.rows(poly)
        products = self.products(rows, [poly])
        if products:
            found = self.program(poly, rows + products, [])
            if found is not None:
                return self.by_multipliers(poly, found)
        for divisor, fact in divisors:
            whole = combine((1, self.checker.mul(divisor, poly)), (1, divisor), (-1, _ONE))
            more = self.products(rows, [whole])
            found = self.program(whole, rows + more, None)
            if found is None:
                continue
            number = self.total(self.whole(found))
            if number is None:
                raise NotFoundError("the case is closed")
            cut = self.apply("cut", None, [divisor, poly], [number, fact])
            assert cut is not None
            return cut
        raise NotFoundError("no combination of the facts gives it")

    @staticmethod
    def whole(found: list[tuple[Fraction, Poly, tuple[int, ...]]]) -> list[Item]:
        size = lcm(*(factor.denominator for factor, _, _ in found))
        return [(shift({}, 0) or combine((int(f * size), p)), ids) for f, p, ids in found]

    def by_multipliers(
        self, poly: Poly, found: list[tuple[Fraction, Poly, tuple[int, ...]]]
    ) -> int:
        size = lcm(*(factor.denominator for factor, _, _ in found))
        items = self.whole(found)
        number = self.total(items)
        if number is None:
            raise NotFoundError("the case is closed")
        if self.checker.facts[number] == beside("ge", poly):
            return number
        left = combine((size, poly), *((-1, self.product(item)) for item in items))
        constant = value(left)
        assert constant is not None
        if size == 1 and constant > 0:
            number = self.total([*items, ({(): constant}, ())])
        else:
            number = self.apply("cut", None, [{(): size}, poly], [number])
        assert number is not None
        return number

    def product(self, item: Item) -> Poly:
        poly, ids = item
        for each in ids:
            poly = self.checker.mul(poly, dict(self.checker.facts[each][1]))
        return poly

    def limits(self, poly: Poly, depth: int) -> None:
        """Facts about the quotients, maxima and choices in a polynomial."""
        for index in self.below(poly, 1):
            kind, operands = self.checker.atoms[index]
            if kind in ("max", "choice"):
                two = ("max-zero", "max-least") if kind == "max" else ("choice-low", "choice-high")
                for rule in two:
                    self.attempt(rule, index)
            elif kind == "div":
                divisor = dict(operands[1])
                fact: int | None = None
                if value(divisor) is None:
                    try:
                        fact = self.total(self.nonneg(shift(divisor, -1), depth - 1))
                    except NotFoundError:
                        continue
                elif not value(divisor):
                    continue
                uses = [] if fact is None else [fact]
                for rule in ("floor-low", "floor-high"):
                    self.attempt(rule, index, uses)
                if index not in self.lows():
                    try:
                        self.nonneg({(index,): 1}, depth - 1)
                    except NotFoundError:
                        continue

    def squares(self, poly: Poly) -> bool:
        """Facts that squares of differences of atoms are not negative, if such may help."""
        doubled = [mono[0] for mono, coef in poly.items() if len(mono) == 2 == mono.count(mono[0])]
        found = False
        for first, second in combinations(sorted(doubled), 2):
            coef = poly.get((first, second), 0)
            if coef:
                self.square({(first,): 1, (second,): 1 if coef > 0 else -1})
                found = True
        return found

    def square(self, poly: Poly) -> None:
        """The fact that a square is not negative."""
        gives = beside("ge", self.checker.mul(poly, poly))
        if gives in self.index:
            return
        ((atom,),) = self.checker.binary("max", poly, {})
        with self.case(negate(gives)) as proof:
            opposite = self.index[negate(gives)]

            def close(part: Cond) -> None:
                sign = part[1][0]
                number = self.index[sign]
                whole = sign == beside("ge", poly)
                items: list[Item] = [(_ONE, (opposite,)), (_ONE, (number, number))]
                self.total(items if whole else [*items, ({(): 2}, (number,))])

            self.cases(self.apply("max-cases", atom), close)
        self.apply("lemma", proofs=[proof], gives=gives)

    def attempt(self, rule: str, index: int, uses: Sequence[int] = ()) -> None:
        try:
            self.apply(rule, index, uses=uses)
        except NotFoundError:
            return

    def rows(self, poly: Poly) -> list[Row]:
        """Facts that are about the atoms of a polynomial: polynomial, factor, fact, equation."""
        near = set(self.below(poly))
        rows: list[Row] = []
        for _ in range(2):
            rows = []
            grown = set(near)
            for cond, number in self.index.items():
                if cond[0] in ("ge", "eq"):
                    atoms = {i for mono, _ in cond[1] for i in mono}
                    if atoms & near:
                        rows.append((dict(cond[1]), _ONE, (number,), cond[0] == "eq"))
                        grown |= atoms
            near = grown
        rows.sort(key=lambda row: len(row[0]))
        return rows[:_ROWS]

    def products(self, rows: list[Row], targets: list[Poly]) -> list[Row]:
        """Products of facts with limits of atoms, in whose terms the targets are."""
        lows = self.lows()
        wanted = {mono for poly in targets for mono in poly if len(mono) > 1}
        found: dict[object, tuple[Poly, Poly, tuple[int, ...], bool]] = {}
        for _ in range(2):
            new: set[Mono] = set()
            for poly, _, ids, equation in rows:
                for mono in poly:
                    self.checker.take(len(wanted))
                    for other in wanted:
                        factor = _quotient(other, mono)
                        if not factor:
                            continue
                        if equation:
                            product = self.checker.mul(poly, {factor: 1})
                            found.setdefault((ids, factor), (product, {factor: 1}, ids, True))
                        elif all(i in lows for i in factor):
                            more = tuple(sorted((*ids, *(lows[i][1] for i in factor))))
                            product = self.product((_ONE, more))
                            found.setdefault(more, (product, _ONE, more, False))
                        else:
                            continue
                        new |= {m for m in product if len(m) > 1}
            for other in wanted:
                if all(i in lows for i in other):
                    ids = tuple(sorted(lows[i][1] for i in other))
                    found.setdefault(ids, (self.product((_ONE, ids)), _ONE, ids, False))
            if len(found) > _ROWS or new <= wanted:
                break
            wanted |= new
        return [*found.values()][:_ROWS]

    def divisors(self, poly: Poly) -> list[tuple[Poly, int]]:
        """The divisors of quotients and the atoms in a polynomial that are at least 1."""
        found: dict[object, tuple[Poly, int]] = {}
        for index in self.below(poly, 2):
            kind, operands = self.checker.atoms[index]
            if kind == "div":
                divisor = dict(operands[1])
                number = self.index.get(beside("ge", shift(divisor, -1)))
                if number is not None and value(divisor) is None:
                    found[tuple(sorted(divisor.items()))] = (divisor, number)
        for index, (low, number) in self.lows().items():
            if low == 1 and any(index in mono for mono in poly):
                found.setdefault((((index,), 1),), ({(index,): 1}, number))
        return [*found.values()][:6]

    def program(
        self,
        poly: Poly,
        rows: list[Row],
        slack: list[int] | None,
    ) -> list[tuple[Fraction, Poly, tuple[int, ...]]] | None:
        """Factors of rows whose sum is a polynomial but for a constant; None if there are none.

        With ``slack`` the constant may lack almost 1.
        """
        rows = _useful(poly, rows)
        if not rows:
            return None
        if self.programs <= 0:
            raise NotFoundError("the proof needs too many linear programs")
        self.programs -= 1 + len(rows) // 40
        self.checker.take(4 * sum(len(row) for row, _, _, _ in rows))
        return _solved(poly, rows, slack is not None)

    # The whole

    def close(self, splits: int, scope: CaseScope | None, conds: list[Cond]) -> None:
        """Close the present case."""
        if self.closed:
            return
        self.saturate()
        for cond in self.targets:
            if cond[0] == "or" and self.index[cond] not in self.done:
                self.cases(self.index[cond], lambda part: self.aimed(splits, scope, conds, part))
                return
        for cond in self.targets:
            if scope is not None and cond[0] in ("ge", "ne", "eq"):
                try:
                    others = [c for c in self.targets if c is not cond and c[0] != "or"]
                    self.against(self.scope([*conds, *others]) if others else scope, cond)
                except (NotFoundError, TooMuchWorkError, RecursionError):
                    pass
            if self.closed:
                return
        try:
            self.contradiction()
            return
        except NotFoundError:
            if self.closed:
                return
        if not splits or not self.by_split(splits, scope, conds):
            raise NotFoundError("no case distinction helps")

    def aimed(self, splits: int, scope: CaseScope | None, conds: list[Cond], part: Cond) -> None:
        """The same where one alternative of the negated goal holds."""
        before, self.targets = self.targets, _parts(part)
        try:
            self.close(splits, scope, conds)
        finally:
            self.targets = before

    def against(self, scope: CaseScope | None, cond: Cond) -> None:
        """Close a case by the opposite of one condition, from the normal form."""
        if scope is None:
            return
        kind, parts = cond
        number = self.index[cond]
        if kind == "ne":
            result, items = self.rewritten(scope, dict(parts))
            if not result:
                self.apply("clash", uses=[self.total(items), number])
                return
            for sign in (1, -1):
                self.nonneg_after(scope, dict(parts), sign)
            self.clash(cond)
        elif kind == "eq":
            result, items = self.rewritten(scope, dict(parts))
            minus: Poly = {(): -1}
            self.total([(_ONE, (number,)), *self.scaled(items, minus)])
            for sign in (1, -1) if not self.closed else ():
                try:
                    apart = self.nonneg(shift(result, -1, sign))
                except NotFoundError:
                    continue
                turn: Poly = {(): sign}
                opposite: Poly = {(): -sign}
                self.total([*apart, *self.scaled(items, turn), (opposite, (number,))])
                return
        elif kind == "ge":
            fact = self.nonneg_after(scope, shift(dict(parts), -1, -1), 1)
            self.total([(_ONE, (fact,)), (_ONE, (number,))])

    def nonneg_after(self, scope: CaseScope, poly: Poly, sign: int) -> int:
        """The fact that a polynomial is at least 0, by its normal form."""
        result, items = self.rewritten(scope, poly)
        known = self.nonneg(shift(result, 0, sign))
        number = self.total([*known, *self.scaled(items, {(): sign})])
        if number is None:
            raise NotFoundError("the case is closed")
        return number

    def saturate(self) -> None:
        """What is not 0 and never negative is at least 1; so are its factors."""
        for cond, number in [*self.index.items()]:
            if cond[0] != "ne":
                continue
            poly = dict(cond[1])
            if len(poly) == 1:
                ((mono, coef),) = poly.items()
                if len(mono) > 1 or coef != 1:
                    for index in dict.fromkeys(mono):
                        at = mono.index(index)
                        rest: Poly = {mono[:at] + mono[at + 1 :]: coef}
                        try:
                            self.apply("factor", None, [{(index,): 1}, rest], [number])
                        except NotFoundError:
                            continue
        for cond, number in [*self.index.items()]:
            if cond[0] != "ne":
                continue
            for sign in (1, -1):
                poly = shift(dict(cond[1]), 0, sign)
                least = self.index.get(beside("ge", poly))
                if least is None and beside("ge", shift(poly, -1)) not in self.index:
                    items = self.shifted(poly)
                    least = None if items is None else self.total(items)
                if least is not None:
                    self.apply("strict", None, uses=[number, least])
                    break

    def contradiction(self) -> None:
        """Close a case by a linear program over all facts."""
        if self.residue_clash():
            return
        near: Poly = {}
        for cond in self.index:
            if cond[0] in ("ge", "eq", "ne"):
                near |= {mono: 1 for mono, _ in cond[1]}
        self.limits(near, 2)
        rows: list[Row] = []
        for cond, number in self.index.items():
            if cond[0] in ("ge", "eq"):
                rows.append((dict(cond[1]), _ONE, (number,), cond[0] == "eq"))
        rows = rows[-_ROWS:]
        minus: Poly = {(): -1}
        found = self.program(minus, rows, None)
        if found is None:
            wanted = [row[0] for row in rows]
            found = self.program(minus, rows + self.products(rows, wanted), None)
        if found is None:
            raise NotFoundError("the facts are not found to contradict each other")
        self.total(self.whole(found))
        if not self.closed:
            raise NotFoundError("the facts are not found to contradict each other")

    def residue_clash(self) -> bool:
        """Close a case by an equation that no integers satisfy, because a number divides all but
        its constant; equations are combined in pairs.
        """
        known = [(dict(cond[1]), number) for cond, number in self.index.items() if cond[0] == "eq"][
            :_EQUATIONS
        ]
        sums: list[list[Item]] = [[(_ONE, (number,))] for _, number in known]
        for (a, first), (b, second) in permutations(known, 2):
            for mono, coef in b.items():
                if mono and abs(coef) == 1 and mono in a:
                    sums.append([(_ONE, (first,)), ({(): -a[mono] * coef}, (second,))])
        for items in sums:
            poly = combine(*((1, self.product(item)) for item in items))
            size = gcd(*(coef for mono, coef in poly.items() if mono))
            if size > 1 and poly.get((), 0) % size:
                self.divide(items, poly, size)
                return True
        return False

    def divide(self, items: list[Item], poly: Poly, size: int) -> None:
        """Close a case by an equation whose constant is no multiple of a number."""
        cuts = []
        for sign in (1, -1):
            number = self.number(self.total(self.scaled(items, {(): sign})))
            rounded: Poly = {m: sign * c // size for m, c in poly.items()}
            cut = self.number(
                self.apply("cut", None, [{(): size}, combine((1, rounded))], [number])
            )
            cuts.append((_ONE, (cut,)))
        self.total(cuts)

    def by_split(self, splits: int, scope: CaseScope | None, conds: list[Cond]) -> bool:
        """Close a case by a case distinction."""
        for number, close in [*self.questions(scope)][:2]:
            kept = len(self.steps), dict(self.index), len(self.checker.facts)

            def inside(part: Cond) -> None:
                more = [*conds, *(part[1] if part[0] == "and" else (part,))]
                more = [cond for cond in more if cond[0] in ("ge", "eq", "ne")]
                try:
                    below = self.scope(more)
                except (TooMuchWorkError, RecursionError):
                    below = None
                self.close(splits - 1, below, more)

            try:
                close(number, inside)
                return True
            except (NotFoundError, TooMuchWorkError):
                del self.steps[kept[0] :]
                del self.checker.facts[kept[2] :], self.checker.used[kept[2] :]
                self.index = kept[1]
        return False

    def questions(self, scope: CaseScope | None) -> Iterator[tuple[Any, Any]]:
        """Case distinctions that may help, the best first."""
        targets = [c for c in self.targets if c[0] in ("ge", "eq", "ne")]
        polys = [dict(cond[1]) for cond in targets]
        normal = []
        for poly in polys:
            if scope is not None:
                try:
                    normal.append(self.back(scope, self.engine_poly(scope, poly)))
                except (NotFoundError, TooMuchWorkError):
                    normal.append(poly)
        for poly in [*normal, *polys]:
            for index in self.branching(poly):
                cases = self.alternatives(index)
                if cases is not None:
                    yield cases, self.cases
        for cond, number in [*self.index.items()]:
            if cond[0] == "or" and number not in self.done:
                yield number, self.cases
        periods = self.periods([*normal, *polys])
        if periods:
            yield periods, self.tables
        for cond, number in [*self.index.items()]:
            if cond[0] == "ne" and number not in self.done and cond not in self.targets:
                yield number, self.cases

    def periods(self, polys: list[Poly]) -> list[tuple[int, int]]:
        """For each variable under a division by a constant, what it matters modulo."""
        periods: dict[int, int] = {}
        for poly in polys:
            for index in self.below(poly, 4):
                kind, operands = self.checker.atoms[index]
                if kind != "div" or not value(dict(operands[1])):
                    continue
                size = abs(value(dict(operands[1])) or 1)
                inner = self.below(dict(operands[0]), 4)
                for each in inner:
                    if self.checker.atoms[each][0] == "div":
                        size *= abs(value(dict(self.checker.atoms[each][1][1])) or 1)
                for each in inner:
                    if self.checker.atoms[each][0] == "var":
                        periods[each] = lcm(periods.get(each, 1), size)
        total = 1
        for size in periods.values():
            total *= size
        return sorted(periods.items()) if 1 < total <= _CLASSES else []

    def tables(self, periods: list[tuple[int, int]], close: Any) -> None:
        """Close a case by the residues of variables."""
        if not periods:
            return
        (index, size), *others = periods
        quotient = self.checker.div({(index,): 1}, {(): size})
        ((atom,),) = quotient
        low = self.apply("floor-low", atom)
        high = self.apply("floor-high", atom)
        rest = combine((1, {(index,): 1}), (-size, quotient))
        proofs = []
        for residue in range(size):
            part = beside("eq", shift(rest, -residue))
            with self.case(part) as proof:
                if others:
                    self.tables(
                        others, lambda more, part=part: close(("and", (part, *_parts(more))))
                    )
                else:
                    close(part)
            proofs.append(proof)
        self.apply("table", None, [rest], [low, high], proofs)

    # The certificate

    def certificate(self) -> dict[str, Any]:
        """The finished certificate, without what is not needed.

        Raises
        ------
        NotFoundError
            If no proof is found.
        """
        if not self.closed:
            try:
                scope = self.scope(())
            except (TooMuchWorkError, RecursionError):
                scope = None
            self.close(_SPLITS, scope, [])
        proof = self.emitted(_needed(self.steps)[0], {n: n for n in range(self.known)}, self.known)
        words = set(re.findall(r"\w+", " ".join(_texts(proof))))
        checker = self.checker
        waiting = [i for i, name in enumerate(checker.names) if name in words or i < self.own]
        needed: set[int] = set()
        while waiting:
            index = waiting.pop()
            if index not in needed and checker.atoms[index][0] != "var":
                needed.add(index)
                waiting += _inside(checker.atoms[index])
        names = {checker.names[index]: self.definition(index) for index in sorted(needed)}
        found = {**self.claimed, "names": names, "proof": proof}
        return found

    def emitted(
        self, steps: list[Found], numbers: dict[int, int], count: int
    ) -> list[dict[str, Any]]:
        """Steps with the numbers that their facts have in the end."""
        numbers = dict(numbers)
        result = []
        for given, number in steps:
            step = dict(given)
            if "uses" in step:
                step["uses"] = [
                    sorted(numbers[n] for n in use) if isinstance(use, list) else numbers[use]
                    for use in step["uses"]
                ]
                if step["rule"] == "sum":
                    order = sorted(range(len(step["uses"])), key=lambda i: step["uses"][i])
                    for key in ("uses", "terms"):
                        step[key] = [step[key][i] for i in order]
            if "proofs" in step:
                proofs = []
                for below in step["proofs"]:
                    inner = dict(numbers)
                    inner |= {below.first + i: count + i for i in range(below.facts)}
                    proofs.append(self.emitted(below.steps, inner, count + below.facts))
                step["proofs"] = proofs
            if number is not None:
                numbers[number] = count
                count += 1
            result.append(step)
        return result

    def definition(self, index: int) -> str:
        checker = self.checker
        match checker.atoms[index]:
            case "div", (a, b):
                return f"{_bracketed(checker.text(dict(a)))}//{_bracketed(checker.text(dict(b)))}"
            case "bits", (a, b):
                return f"{_bracketed(checker.text(dict(a)))} & {_bracketed(checker.text(dict(b)))}"
            case "max", (a,):
                return f"max({checker.text(dict(a))}, 0)"
            case _, (cond,):
                return f"select({checker.sentence(cond)}, 1, 0)"
        raise AssertionError(index)


def found(
    goal: PrimExpr, facts: Sequence[PrimExpr], ranges: Sequence[tuple[tir.Var, Range]]
) -> dict[str, Any] | None:
    """A certificate of a goal, or None if none is found.

    Raises
    ------
    RefusedError
        If what was found is none: a mistake of this module.
    """
    if any(_wide(node) for node in tir.postorder(goal, *facts)):
        return None
    try:
        made = Draft(goal, facts, ranges).certificate()
    except (NotFoundError, RefusedError, TooMuchWorkError, RecursionError):
        return None
    check(made)
    return made


def _wide(node: PrimExpr) -> bool:
    """Whether a node has a type of values beyond int64, of which a cast to int64 wraps."""
    match node:
        case tir.Var(dtype=kind) | tir.IntImm(dtype=kind) | tir.Cast(dtype=kind):
            return kind.bits > 64 or (kind.code == "uint" and kind.bits == 64)
    return False


def distinct_names(variables: Sequence[tir.Var]) -> dict[tir.Var, str]:
    """A name of its own for each variable."""
    names: dict[tir.Var, str] = {}
    for var in variables:
        name = var.name
        while name in names.values() or iskeyword(name):
            name += "_"
        names[var] = name
    return names


def _parts(cond: Cond) -> list[Cond]:
    return list(cond[1]) if cond[0] == "and" else [cond]


def _leaves(cond: Cond) -> list[Any]:
    """The polynomials in a condition."""
    if cond[0] in ("and", "or"):
        return [leaf for part in cond[1] for leaf in _leaves(part)]
    return [cond[1]]


def _inside(part: Any) -> list[int]:
    """The atoms in the operands of an atom."""
    kind, operands = part
    if kind in ("and", "or"):
        return [i for each in operands for i in _inside(each)]
    if kind == "choice":
        return _inside(operands[0])
    polys = operands if kind in ("div", "max", "bits") else [operands]
    return [i for poly in polys for mono, _ in poly for i in mono]


def _bracketed(text: str) -> str:
    return text if text.isidentifier() or text.isdecimal() else f"({text})"


def _quotient(mono: Mono, divisor: Mono) -> Mono:
    """The other factor of a monomial; empty if there is none."""
    left = list(mono)
    for index in divisor:
        if index not in left:
            return ()
        left.remove(index)
    return tuple(left)


def _needed(steps: list[Found]) -> tuple[list[Found], set[int]]:
    """The steps that a proof needs, and the facts that these need from outside."""
    needed: set[int] = set()
    kept: list[Found] = []
    for given, number in reversed(steps):
        if number is not None and number not in needed:
            continue
        needed.discard(-1 if number is None else number)
        step = dict(given)
        for use in step.get("uses", ()):
            needed |= set(use) if isinstance(use, list) else {use}
        if "proofs" in step:
            proofs = []
            for below in step["proofs"]:
                inner, outside = _needed(below.steps)
                needed |= {n for n in outside if n < below.first}
                proofs.append(Below(inner, below.first, below.facts))
            step["proofs"] = proofs
        kept.append(Found(step, number))
    return kept[::-1], needed


def _texts(proof: list[dict[str, Any]]) -> Iterator[str]:
    for step in proof:
        yield step["gives"]
        yield step.get("atom", "")
        yield from step.get("terms", ())
        for below in step.get("proofs", ()):
            yield from _texts(below)


def _useful(poly: Poly, rows: list[Row]) -> list[Row]:
    """The rows each of whose terms can be cancelled by another row or stands in the polynomial."""
    while True:
        up: dict[Mono, int] = {}
        down: dict[Mono, int] = {}
        for row, _, _, equation in rows:
            for mono, coef in row.items():
                if coef > 0 or equation:
                    up[mono] = up.get(mono, 0) + 1
                if coef < 0 or equation:
                    down[mono] = down.get(mono, 0) + 1
        for mono, coef in poly.items():
            (down if coef > 0 else up).setdefault(mono, 0)
            if coef > 0:
                down[mono] += 1
            else:
                up[mono] += 1

        def cancelled(
            term: tuple[Mono, int], equation: bool, up: Any = up, down: Any = down
        ) -> bool:
            mono, coef = term
            ups, downs = up.get(mono, 0), down.get(mono, 0)
            own = int(equation)
            return (
                not mono or downs > own or (equation and ups > 1)
                if coef > 0
                else (not mono or ups > own or (equation and downs > 1))
            )

        kept = [row for row in rows if all(map(cancelled, row[0].items(), repeat(row[3])))]
        if len(kept) == len(rows):
            return kept
        rows = kept


def _solved(
    poly: Poly, rows: list[Row], slack: bool
) -> list[tuple[Fraction, Poly, tuple[int, ...]]] | None:
    """Factors of rows, not negative but for equations, whose sum is a polynomial but for a
    constant that is at most its own (with ``slack``, it may be almost 1 more).
    """
    by_mono: dict[Mono, list[str]] = {mono: [] for mono in poly}
    lines = []
    for place, (row, _, _, equation) in enumerate(rows):
        lines.append(f"(declare-const l{place} Real)")
        if not equation:
            lines.append(f"(assert (>= l{place} 0))")
        for mono, coef in row.items():
            by_mono.setdefault(mono, []).append(f"(* {_literal(coef)} l{place})")
    for mono, parts in by_mono.items():
        whole = f"(+ 0 {' '.join(parts)})" if parts else "0"
        wanted = _literal(poly.get(mono, 0))
        if mono:
            lines.append(f"(assert (= {whole} {wanted}))")
        else:
            lines.append(
                f"(assert ({'<' if slack else '<='} {whole} {_literal(poly.get((), 0) + slack)}))"
            )
    z3 = loaded_z3()
    solver = z3.SimpleSolver()
    solver.set("rlimit", 200_000)
    solver.from_string("\n".join(lines))
    if str(solver.check()) != "sat":
        return None
    model = solver.model()
    values = {str(each): model[each] for each in model.decls()}
    found = []
    for place, (_, factor, ids, _) in enumerate(rows):
        number = values.get(f"l{place}")
        if number is not None:
            size = Fraction(number.numerator_as_long(), number.denominator_as_long())
            if size:
                found.append((size, factor, ids))
    return found


def _literal(number: int) -> str:
    return str(number) if number >= 0 else f"(- {-number})"
