"""Proofs of what the normal form did: each division that it recorded is a fact of the calculus, because
the remainder of what it gives lies between 0 and the divisor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import reduce
from itertools import permutations
from math import gcd
from typing import Any

from rlx.grammar.nodes import tir
from rlx.solver import assumptions, intervals, normal_form, prim_exprs
from rlx.solver.context import demands
from rlx.solver.normal_form import Engine
from rlx.solver.poly import Cond as EngineCond
from rlx.solver.poly import Poly as EnginePoly
from rlx.solver.proofs.checker import (
    FALSE,
    TRUE,
    Cond,
    Mono,
    Poly,
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
    leaves,
    parts_of,
)
from rlx.solver.proofs.inequalities import Inequalities, without

_FUEL = 400_000
_BACK = 20
"""The effort that an atom of the normal form takes."""
_LATEST = 24
"""The maximum number of facts, the latest ones, in which the equations of a case are used."""
_EDGES = 2
_SIZES = 8
"""The maximum number of powers of two at which numbers are split."""


Turn = Callable[[Poly], tuple[Poly, list[Item]]]
"""Writes a polynomial in another way, with items whose sum is the difference."""


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
    """The knowledge in one case: the recorded normal form, and its results by atom."""

    def __init__(self, engine: Recording) -> None:
        self.engine = engine
        self.values: dict[int, EnginePoly] = {}
        self.backs: dict[int, Poly] = {}
        self.equations: dict[int, tuple[Poly, list[Item]]] = {}
        self.remainders: dict[
            tuple[EnginePoly, EnginePoly], tuple[int, list[Item], list[Item]]
        ] = {}
        self.asked: list[tuple[EnginePoly, EnginePoly]] = []


class Rewriting(Inequalities):
    """Equations between what stands in a goal and its normal form."""

    latest: CaseScope | None = None

    def highest(self, poly: Poly) -> int | None:
        """The largest value that a polynomial may have; None if no limit is known."""
        scope = self.latest
        if scope is None:
            return None
        return intervals.interval(scope.engine, self.engine_poly(scope, poly))[1]

    def scope(self, conds: Sequence[Cond], alone: bool = False) -> CaseScope | None:
        """The normal form under the assumptions (not if ``alone``) and more conditions; None if they
        contradict each other there.
        """
        engine = Recording(_FUEL)
        known = [] if alone else [*demands([self.goal, *self.assumed]), *self.assumed]
        if not assumptions.load(engine, self.ranges, known):
            return None
        if any(map(prim_exprs.bitwise, tir.postorder(self.goal))):
            normal_form.condition(engine, self.goal)  # which numbers bit operations give
        scope = self.latest = CaseScope(engine)
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
            case "power":
                return engine.power(self.engine_poly(scope, dict(first)))
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
        """An atom of the normal form over the checker's atoms."""
        found = scope.backs.get(index)
        if found is None:
            self.checker.take(_BACK)
            found = scope.backs[index] = self._back_atom(scope, index)
        return found

    def _back_atom(self, scope: CaseScope, index: int) -> Poly:
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
            case "pow2", (EnginePoly() as a,):
                first = next((i for mono in a.terms for i in mono), None)
                match first if first is None else scope.engine.atoms[first].key:
                    case ("exponent", int(inner)):  # of a variable that is known to be a power
                        return self.back_atom(scope, inner)
                return checker.power(self.back(scope, a))
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
            found = self.note(scope.equations, index, (result, list[Item]()))
            if result != {(index,): 1}:
                known: list[Item] = [(ONE, (self.equal_atom(scope, index, result),))]
                found = self.note(scope.equations, index, (result, known))
        return found

    def equal_atom(self, scope: CaseScope, index: int, result: Poly) -> int:
        """The fact that an atom is its normal form."""
        difference = combine((1, {(index,): 1}), (-1, result))
        checker = self.checker
        kind, operands = checker.atoms[index]
        if kind == "div":
            try:
                return self.equal_quotient(scope, index, result)
            except NotFoundError:
                if all(checker.atoms[i][0] != "bits" for i in self.below(difference)):
                    raise
                return self.by_parts(scope, difference)
        if kind == "var":
            return self.equal(difference)
        if kind == "power":
            return self.equal_power(scope, index, result)
        if kind == "bits":
            with suppress(NotFoundError):
                return self.by_bits(beside("eq", difference))
            with suppress(NotFoundError):
                return self.by_runs(scope, index, result)
            turns = [None, self.with_former_bits, self.with_whole_bits]
            with suppress(NotFoundError):
                return self.by_operands(scope, index, result, turns)
            with suppress(NotFoundError):
                return self.by_parts(scope, difference)
            return self.by_operands(scope, index, result, [self.with_lower_bits])
        for part in operands if kind == "max" else leaves(operands[0]):
            known = self.rewritten(scope, dict(part))[1]
            if combine(*((1, self.product(item)) for item in known)):
                self.total(known)
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
            scope.asked.append(key)  # a quotient that is folded is divided inside of itself
            for inner in scope.engine.divisions.get(key, ()):
                try:
                    if inner not in scope.asked:
                        self.remainder(scope, *inner)
                except NotFoundError:
                    continue
            scope.asked.pop()
            found = sign, self.nonneg(rest), self.nonneg(above)
            self.note(scope.remainders, key, found)
        return found

    def equal_power(self, scope: CaseScope, index: int, result: Poly) -> int:
        """The fact that a power is a number, or a product of others."""
        exponent = dict(self.checker.atoms[index][1][0])
        power = value(result)
        if power is not None and power > 0:
            known: Poly = {(): power.bit_length() - 1} if power > 1 else {}
            equal = self.equal(combine((1, exponent), (-1, known)))
            return self.number(self.apply("power-sum", index, [known, {}], [equal]))
        first = min(exponent)
        part: Poly = {first: exponent[first] if not first else 1}
        parts = part, combine((1, exponent), (-1, part))
        uses = [self.nonneg_fact(each) for each in parts if value(each) is None]
        number = self.number(self.apply("power-sum", index, parts, uses))
        product = combine((1, {(index,): 1}), (-1, dict(self.checker.facts[number][1])))
        _, items = self.rewritten(scope, product)
        return self.number(self.total([(ONE, (number,)), *items]))

    def by_parts(self, scope: CaseScope, difference: Poly) -> int:
        """The fact that a polynomial with common bits is 0, by upper and lower parts of numbers."""
        lower = self.split_at(scope, self.sizes(scope, [difference]), [difference])
        try:
            return self.equal(difference)
        except NotFoundError:
            if not self.thorough:
                raise
            both = [difference, *lower]
            self.split_at(scope, self.sizes(scope, both, inside=True), both)
            return self.equal(difference)

    def by_runs(self, scope: CaseScope, index: int, result: Poly) -> int:
        """The fact that common bits under a mask are a sum of quotients of numbers: of each run of ones,
        those from its first place and less those from behind it.
        """
        found = {abs(coef): mono[0] for mono, coef in result.items() if self.is_bits(mono)}
        edges = sorted(found)
        if len(edges) < _EDGES or len(found) < len(result):
            raise NotFoundError("it is no such sum")
        upper, scale = index, 1
        for edge, after in zip(edges, [*edges[1:], 0], strict=True):
            if edge > scale:
                _, parts = self.split(scope, upper, {(): edge // scale})
                ((mono, _),) = self.checker.common(*parts).items() or (((), 0),)
                if not mono:
                    break
                upper, scale = mono[0], edge
            if after:
                self.split(scope, found[edge], {(): after // edge})
        return self.equal(combine((1, {(index,): 1}), (-1, result)))

    def split_at(self, scope: CaseScope, sizes: list[Poly], polys: list[Poly]) -> list[Poly]:
        """Split the common bits below polynomials at powers of two. Returns the equations."""
        found = list[Poly]()
        for size in sizes:
            for index in dict.fromkeys(index for poly in polys for index in self.below(poly)):
                kind, operands = self.checker.atoms[index]
                try:
                    if kind == "bits":
                        number, _ = self.split(scope, index, size)
                        found.append(dict(self.checker.facts[number][1]))
                    elif kind == "div" and dict(operands[1]) == size:
                        self.floor_by_parts(scope, index, size)
                except NotFoundError:
                    continue
        return found

    def lowest_bits(self) -> None:
        """Facts about ``x & -x`` for positive x: it is a power of two, and divides x."""
        for index in range(len(self.checker.atoms)):
            kind, operands = self.checker.atoms[index]
            for whole in map(dict, operands) if kind == "bits" else ():
                if beside("ge", shift(whole, -1)) in self.index or self.shifted(shift(whole, -1)):
                    with suppress(NotFoundError):
                        self.lowest_bit(index, whole)

    def lowest_bit(self, index: int, whole: Poly) -> None:
        """The same of one of them."""
        checker, lowest = self.checker, Poly({(index,): 1})
        if dict(checker.atoms[index][1][0]) != combine((-1, dict(checker.atoms[index][1][1]))):
            return
        before, below = shift(whole, -1), shift(lowest, -1)
        self.nonneg_fact(before)
        others = checker.common(whole, before)  # the bits of `whole` but for the lowest one
        equal = self.by_bits(beside("eq", combine((1, lowest), (1, others), (-1, whole))))
        self.by_bits(beside("ge", combine((1, before), (-1, others))))
        least = self.nonneg_fact(below)
        both = combine((1, before), (-1, others))  # it is `below`
        back = self.number(self.total([({(): -1}, (equal,))]))
        zeros = list[int]()
        for number in (lowest, whole):
            ((atom,),) = checker.common(number, below)
            upper = [both if dict(each) == below else dict(each) for each in checker.atoms[atom][1]]
            split = self.number(self.apply("bits-split", atom, [ONE, *upper], [equal, back]))
            rest = self.by_bits(beside("eq", checker.common(number, both)))
            zeros.append(self.number(self.total([(ONE, (split,)), (ONE, (rest,))])))
        ((quotient,),) = checker.div(whole, lowest)
        low, high = (
            self.number(self.apply(rule, quotient, uses=[least]))
            for rule in ("floor-low", "floor-high")
        )
        ((atom,),) = checker.common(whole, below)
        first = dict(checker.atoms[atom][1][0]) == whole
        parts: list[Poly] = [{(quotient,): 1}, {}] if first else [{}, {(quotient,): 1}]
        limits = [low, high, least] if first else [least, low, high]
        uses = [least, zeros[0], *limits]
        split, limit = (
            self.number(self.apply(rule, atom, [lowest, *parts], uses))
            for rule in ("bits-split", "bits-limit")
        )
        minus: Poly = {(): -1}
        above = self.total([(ONE, (limit,)), (ONE, (split,)), (minus, (zeros[1],))])
        self.apply("squeeze", uses=[low, self.number(above)])

    def by_operands(
        self, scope: CaseScope, index: int, result: Poly, turns: Sequence[Turn | None]
    ) -> int:
        """The fact that an atom of common bits is what the normal forms of its operands give, turned in
        some way.
        """
        for turn in turns:
            with suppress(NotFoundError):
                return self.by_normal_operands(scope, index, result, turn)
        raise NotFoundError("the normal forms of the operands do not give it")

    def by_normal_operands(
        self, scope: CaseScope, index: int, result: Poly, turn: Turn | None
    ) -> int:
        """The same: a number is split at 1 into an equal one and 0."""
        checker, items = self.checker, list[Item]()
        common: Poly = {(index,): 1}
        for operand in checker.atoms[index][1]:
            if [*common.values()] != [1] or checker.atoms[index := min(common)[0]][0] != "bits":
                break
            both = [*checker.atoms[index][1]]
            normal, known = self.rewritten(scope, dict(operand))
            if turn is not None:
                normal, more = turn(normal)
                known = [*known, *more]
            if known and operand in both:
                upper = [normal if each == operand else dict(each) for each in both]
                equal = self.number(self.total(known))
                turned = self.number(self.total([({(): -1}, (equal,))]))
                split = self.apply("bits-split", index, [ONE, *upper], [equal, turned])
                items.append((ONE, (self.number(split),)))
                common = checker.common(*upper)
        if not items:
            raise NotFoundError("the operands are in normal form")
        if turn is not None:
            wanted, more = turn(result)
            rest, items = common, [*items, *self.scaled(more, {(): -1})]
        else:
            wanted = result
            rest, more = self.rewritten(scope, common) if common != result else (result, [])
            items += more
        if rest != wanted:
            items.append((ONE, (self.by_bits(beside("eq", combine((1, rest), (-1, wanted)))),)))
        return self.number(self.total(items))

    def with_former_bits(self, poly: Poly) -> tuple[Poly, list[Item]]:
        """A polynomial with the common bits that were there first instead of equal ones, and items whose
        sum is the difference.
        """
        return self.replaced(
            poly, [(max(bits), c) for bits, c in self.equal_bits_facts() if len(c[1]) == 2]
        )

    def with_whole_bits(self, poly: Poly) -> tuple[Poly, list[Item]]:
        """The same with the common bits of numbers instead of those without a factor of the numbers."""
        whole = []
        for cond in self.index:
            if cond[0] == "eq" and len(cond[1]) > 1 and all(self.is_bits(m) for m, _ in cond[1]):
                (least, _), (second, mono), *_ = sorted((abs(c), m) for m, c in cond[1])
                if least == 1 < second:
                    whole.append((mono[0], cond))
        return self.replaced(poly, whole)

    def with_lower_bits(self, poly: Poly) -> tuple[Poly, list[Item]]:
        """The same with the upper and lower parts of common bits, and upper parts instead of quotients."""
        split = [(min(bits), c) for bits, c in self.equal_bits_facts() if len(c[1]) > 2]
        quotients = []
        for cond in self.index:
            atoms = sorted(mono[0] for mono, coef in cond[1] if len(mono) == 1 and abs(coef) == 1)
            kinds = [self.checker.atoms[i][0] for i in atoms]
            if cond[0] == "eq" and len(cond[1]) == 2 and sorted(kinds) == ["bits", "div"]:
                quotients.append((atoms[kinds.index("div")], cond))
        return self.replaced(poly, [*split, *quotients])

    def equal_bits_facts(self) -> Iterator[tuple[list[int], Cond]]:
        """The equations in which atoms of common bits are added once, and these atoms."""
        for cond in self.index:
            bits = [mono[0] for mono, coef in cond[1] if self.is_bits(mono) and abs(coef) == 1]
            if cond[0] == "eq" and len(bits) >= 2:
                yield bits, cond

    def is_bits(self, mono: Mono) -> bool:
        return len(mono) == 1 and self.checker.atoms[mono[0]][0] == "bits"

    def replaced(self, poly: Poly, equations: list[tuple[int, Cond]]) -> tuple[Poly, list[Item]]:
        """A polynomial in which equations replace an atom each, and items whose sum is the difference."""
        items: list[Item] = []
        for index, cond in equations:
            equation: Poly = dict(cond[1])
            count, rest = divmod(poly.get((index,), 0), equation[index,])
            if count and not rest:
                poly = combine((1, poly), (-count, equation))
                items.append(({(): count}, (self.index[cond],)))
        return poly, items

    def sizes(self, scope: CaseScope, polys: list[Poly], inside: bool = False) -> list[Poly]:
        """The powers of two at which numbers may be split, and if `inside` those where their terms begin."""
        checker, found = self.checker, dict[tuple[Any, ...], None]()
        for kind, parts in self.index:
            atom = checker.atoms[parts[0][0][0]] if kind == "eq" and parts[0][0] else ("", ())
            for a, b in permutations(atom[1]) if len(parts) == 1 and atom[0] == "bits" else ():
                if shift(dict(a), -1) == dict(b):
                    found[a] = None
        for index in dict.fromkeys(index for poly in polys for index in self.below(poly)):
            kind, operands = checker.atoms[index]
            if kind == "power":
                found[(((index,), 1),)] = None
            elif kind == "div":
                found[operands[1]] = None
            for each in operands if kind == "bits" else ():
                common = [gcd(*(coef for _, coef in each))]
                for coef in [coef for mono, coef in each if mono] if inside else common:
                    found[(((), coef & -coef),)] = None
                _, high = intervals.interval(scope.engine, self.engine_poly(scope, dict(each)))
                found[(((), 1 << max(high or 0, 0).bit_length()),)] = None
        return [dict(each) for each in found if each != (((), 1),)][:_SIZES]

    def split(self, scope: CaseScope, index: int, size: Poly) -> tuple[int, tuple[Poly, Poly]]:
        """The fact of the parts of an atom above and below a power of two, and the upper parts."""
        checker, uses = self.checker, list[int]()
        if value(size) is None:
            uses = [self.nonneg_fact(shift(size, -1))]
            square = self.index.get(beside("eq", checker.common(size, shift(size, -1))))
            if square is None:
                kinds = [checker.atoms[i] for mono in size for i in dict.fromkeys(mono)]
                uses = [self.nonneg_fact(dict(each[0])) for kind, each in kinds if kind == "power"]
            else:
                uses.append(square)
        upper = self.parts(scope, index, size)
        for operand, part in zip(map(dict, checker.atoms[index][1]), upper, strict=True):
            rest = combine((1, operand), (-1, checker.mul(size, part)))
            for each in (rest, combine((1, size), (-1, ONE), (-1, rest))):
                if value(each) is None:
                    uses.append(self.nonneg_after(scope, each, 1))
        number = self.number(self.apply("bits-split", index, [size, *upper], uses))
        for mono, coef in checker.facts[number][1]:
            if mono and coef == -1 and checker.atoms[mono[0]][0] == "bits":  # the lower parts
                self.attempt("bits-limit", index, uses, [size, *upper])
                self.limits_of_bits(mono[0], 2)
        return number, upper

    def parts(self, scope: CaseScope, index: int, size: Poly) -> tuple[Poly, Poly]:
        """The parts above a power of two of the two numbers whose bits an atom has."""
        upper = []
        for operand in map(dict, self.checker.atoms[index][1]):
            a, b = self.engine_poly(scope, operand), self.engine_poly(scope, size)
            self.remainder(scope, a, b)
            upper.append(self.back(scope, scope.engine.div(a, b)))
        return upper[0], upper[1]

    def floor_by_parts(self, scope: CaseScope, index: int, size: Poly) -> int:
        """The fact that a quotient is the sum of the quotients of what stands in it."""
        top, whole = dict(self.checker.atoms[index][1][0]), value(size)
        result: Poly = {}
        items: list[Item] = []
        for mono, coef in top.items():
            if whole and mono and abs(coef) >= whole:
                count = coef // whole if coef > 0 else -(-coef // whole)
                result = combine((1, result), (count, {mono: 1}))
                coef -= whole * count
            if not coef:
                continue
            if not mono:
                part: Poly = {(): coef // whole} if whole else {}
            elif len(mono) == 1 and self.checker.atoms[mono[0]][0] == "bits":
                upper = self.parts(scope, mono[0], size)
                if any(upper):
                    number, upper = self.split(scope, mono[0], size)
                    items.append(({(): coef}, (number,)))
                part = combine((coef, self.checker.common(*upper)))
            else:
                a, b = self.engine_poly(scope, {mono: 1}), self.engine_poly(scope, size)
                part = combine((coef, self.back(scope, scope.engine.div(a, b))))
            result = combine((1, result), (1, part))
        rest = combine((1, top), (-1, self.checker.mul(size, result)))
        rest = combine((1, rest), *((-1, self.product(item)) for item in items))
        uses = [] if whole else [self.nonneg_fact(shift(size, -1))]
        for sign, poly in ((1, rest), (-1, combine((1, size), (-1, ONE), (-1, rest)))):
            known = self.nonneg(poly)
            uses.append(self.number(self.total([*known, *self.scaled(items, {(): sign})])))
        return self.number(self.apply("quotient", index, [result], uses))

    def nonneg_after(self, scope: CaseScope, poly: Poly, sign: int) -> int:
        """The fact that a polynomial is at least 0, by its normal form."""
        result, items = self.rewritten(scope, poly)
        known = self.nonneg(shift(result, 0, sign))
        number = self.total([*known, *self.scaled(items, {(): sign})])
        if number is None:
            raise NotFoundError("the case is closed")
        return number

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

    def by_atoms(
        self, unequal: Cond, atoms: list[int], splits: int, alternatives: Sequence[Cond] = ()
    ) -> None:
        """Close a case by the cases of maxima and choices in a disequation, and by alternatives that the
        cases before brought.
        """
        if self.closed:
            return
        asked = dict.fromkeys([*atoms, *self.branching(dict(unequal[1]))])
        listed = [self.index.get(each) for each in alternatives]
        waiting = [number for number in listed if number not in self.done]
        open_cases = (cases for index in asked if (cases := self.alternatives(index)) is not None)
        cases = next((each for each in (*waiting, *open_cases)), None) if splits else None
        if not atoms or cases is None:
            before, self.linear = self.linear, self.thorough and cases is not None
            try:
                self.clash(unequal)
                return
            except NotFoundError:
                if self.closed:
                    return
            finally:
                self.linear = before
        if cases is not None:

            def inside(part: Cond) -> None:
                more = [each for each in parts_of(part) if each[0] == "or"]
                self.by_atoms(unequal, [], splits - 1, [*more, *alternatives])

            self.cases(cases, inside)
            return
        self.contradiction()

    def clash(self, unequal: Cond) -> None:
        """Close a case in which a number is not 0 that is."""
        if not self.thorough:
            self.apply("clash", uses=[self.equal(dict(unequal[1])), self.index[unequal]])
            return
        rest, items = self.reduced(dict(unequal[1]))
        if value(rest):
            raise NotFoundError("the equations say that it is another number")
        for cond, number in [*self.index.items()][-_LATEST:] if rest else ():
            if cond[0] == "ge" and any(len(mono) > 1 for mono, _ in cond[1]):
                left, known = self.reduced(dict(cond[1]))
                if known and (value(left) is None or (value(left) or 0) < 0):
                    self.total([(ONE, (number,)), *self.scaled(known, {(): -1})])
        if self.closed:
            return
        if rest:
            items.append((ONE, (self.equal(rest),)))
        self.apply("clash", uses=[self.number(self.total(items)), self.index[unequal]])
