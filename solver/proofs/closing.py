"""Steps that close a case: by the normal form, by contradictory facts, or by a case distinction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import permutations
from math import gcd, lcm, prod
from typing import Any

from rlx.solver.poly import TooMuchWorkError
from rlx.solver.proofs.checker import Cond, Poly, beside, combine, negate, shift, value
from rlx.solver.proofs.draft import INSIDE, ONE, SIGNS, Item, NotFoundError, leaves, parts_of
from rlx.solver.proofs.inequalities import without
from rlx.solver.proofs.models import Models
from rlx.solver.proofs.rewriting import CaseScope

_CLASSES = 600
_FEW_CLASSES = 32
"""The most residues that are looked at, and those of facts alone."""
_DIGITS = 4
"""The most values of a digit that are looked at one by one, and the most such digits at once."""
_VALUES = 65
"""The most values of a variable that are looked at one by one: as many as exponents of an int64 have."""


class Closing(Models):
    """The search for a proof of a case."""

    tabled = False
    """Whether the present case is one of residues."""
    valued_digits = 0
    """How many digits have a value in the present case."""

    def __init__(self, *given: Any) -> None:
        self.masked: dict[object, bool] = {}
        super().__init__(*given)

    def close(self, splits: int, scope: CaseScope | None, conds: list[Cond]) -> None:
        """Close the present case."""
        if self.closed or self.bitwise():
            return
        kept = self.kept()
        self.saturate()
        if self.closed:
            return
        for cond in self.targets:
            if cond[0] == "or" and self.index[cond] not in self.done:
                self.cases(self.index[cond], lambda part: self.aimed(splits, scope, conds, part))
                return
        for cond in self.targets:
            directions = partial(self.by_directions, splits, scope, conds, cond)
            if self.compares_choices(cond) and self.tried(directions):
                return
        for cond in self.targets:
            if cond[0] in SIGNS and any(map(self.tried, self.ways(cond, scope, conds))):
                return
        for closing in (self.contradiction, lambda: self.contradictory(scope, conds)):
            try:
                closing()
                return
            except NotFoundError:
                if self.closed:
                    return
        if self.forgetful:
            self.restore(kept)
        if not splits or not self.by_split(splits, scope, conds):
            raise NotFoundError("no case distinction helps")

    def ways(
        self, cond: Cond, scope: CaseScope | None, conds: list[Cond]
    ) -> Iterator[Callable[[], None]]:
        """Ways to refute a condition of the negated goal."""
        others = [c for c in self.targets if c is not cond and c[0] != "or"]
        if scope is not None:
            yield lambda: self.against(self.scope([*conds, *others]) if others else scope, cond)
        if cond[0] == "ne":
            yield lambda: self.by_multiples(cond)
        if cond[0] == "ne" and self.thorough:
            yield lambda: self.congruent(cond)
            yield lambda: self.by_remainder(cond)
            if scope is not None:
                yield lambda: self.clash_by_parts(scope, cond)

    def tried(self, way: Callable[[], None]) -> bool:
        """Whether a way closes the present case."""
        with suppress(NotFoundError, TooMuchWorkError, RecursionError):
            way()
        return self.closed

    def bitwise(self) -> bool:
        """Close a case where the goal holds for each bit."""
        for cond in self.targets:
            if cond[0] not in ("ne", "ge") or all(
                self.checker.atoms[i][0] != "bits" for mono, _ in cond[1] for i in mono
            ):
                continue
            try:
                known = self.by_bits(negate(cond))
            except NotFoundError:
                continue
            if cond[0] == "ne":
                self.apply("clash", uses=[known, self.index[cond]])
            else:
                self.total([(ONE, (known,)), (ONE, (self.index[cond],))])
            return self.closed
        return False

    def compares_choices(self, cond: Cond) -> bool:
        """Whether two choices differ, as the truth values of conditions do."""
        atoms = (
            [mono[0] for mono, coef in cond[1] if mono and abs(coef) == 1]
            if cond[0] == "ne"
            else []
        )
        kinds = {self.checker.atoms[index][0] for index in atoms}
        return len(cond[1]) == len(atoms) == 2 and kinds == {"choice"}

    def by_directions(
        self, splits: int, scope: CaseScope | None, conds: list[Cond], unequal: Cond
    ) -> None:
        """Close a case where one of two conditions holds and the other one does not."""
        (((first,), _), ((second,), _)) = unequal[1]

        def inside(part: Cond, other: Cond) -> None:
            if self.tried(lambda: self.clash(unequal)):  # both hold, or none
                return
            before = self.targets
            self.targets = [c for c in (*parts_of(part), *parts_of(other)) if not says_which(c)]
            try:
                self.close(splits, scope, conds)
            finally:
                self.targets = before

        def says_which(cond: Cond) -> bool:
            return cond[0] == "eq" and any(first in mono or second in mono for mono, _ in cond[1])

        def outer(part: Cond) -> None:
            self.cases(self.alternatives(second), lambda other: inside(part, other))

        number = self.alternatives(first)
        if number is None or self.alternatives(second) is None:
            raise NotFoundError("the cases are distinguished already")
        self.cases(number, outer)

    def aimed(self, splits: int, scope: CaseScope | None, conds: list[Cond], part: Cond) -> None:
        """The same where one alternative of the negated goal holds."""
        before, self.targets = self.targets, parts_of(part)
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
            self.total([(ONE, (number,)), *self.scaled(items, minus)])
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
            self.total([(ONE, (fact,)), (ONE, (number,))])

    def by_remainder(self, unequal: Cond) -> None:
        """Close a case in which a quotient is not the number that leaves a remainder as it does."""
        poly = dict(unequal[1])
        for mono, coef in unequal[1]:
            index = mono[0] if len(mono) == 1 else 0
            kind, _ = self.checker.atoms[index]
            if kind != "div" or abs(coef) != 1 or sum(index in each for each in poly) > 1:
                continue
            result = combine((-coef, poly), (1, {mono: 1}))
            equal = self.by_its_remainder(index, result)
            items: list[Item] = [({(): coef}, (equal,))]
            self.apply("clash", uses=[self.number(self.total(items)), self.index[unequal]])
            return
        raise NotFoundError("it is no quotient and its value")

    def clash_by_parts(self, scope: CaseScope, unequal: Cond) -> None:
        """Close a case in which a number with common bits is not 0 that is."""
        poly = dict(unequal[1])
        if any(self.checker.atoms[i][0] == "bits" for i in self.below(poly)):
            self.apply("clash", uses=[self.by_parts(scope, poly), self.index[unequal]])

    def contradictory(self, scope: CaseScope | None, conds: list[Cond]) -> None:
        """Close a case whose assumptions the normal form finds contradictory: one of those that it
        needs for that is refuted under the others.
        """
        if scope is not None or (conds and not self.thorough):
            raise NotFoundError("the assumptions do not contradict each other")
        claimed = [cond for cond in self.checker.facts[: self.known] if cond[0] in SIGNS]
        core = [*dict.fromkeys([*claimed, *conds])]
        for cond in [*core]:
            others = [each for each in core if each != cond]
            if self.scope(others, alone=True) is None:
                core = others
        for cond in core:
            with suppress(NotFoundError):
                self.against(self.scope([c for c in core if c != cond], alone=True), cond)
            if self.closed:
                return
        raise NotFoundError("none of the assumptions is refuted under the others")

    def saturate(self) -> None:
        """Factors of what is not 0 are not 0 either; what is never negative is then at least 1, and
        equations are divided by it.
        """
        for cond, number in [*self.index.items()]:
            if cond[0] != "ne":
                continue
            poly = dict(cond[1])
            size = gcd(*poly.values())
            if size > 1 and len(poly) > 1:
                part: Poly = {mono: coef // size for mono, coef in poly.items()}
                with suppress(NotFoundError):
                    self.apply("factor", None, [part, {(): size}], [number])
                    for pair in self.digits(part):
                        self.digit(*pair)
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
        self.strict()
        self.rounded()
        if self.thorough:
            for cond in [
                cond for cond in self.index if cond[0] == "eq" and cond not in self.masked
            ]:
                self.note(self.masked, cond, True)
                self.same_bits(dict(cond[1]), self.index[cond])
                self.upper_part(dict(cond[1]), self.index[cond])
                if self.closed:
                    return
        equations = [cond for cond in self.index if cond[0] == "eq" and len(cond[1]) > 1]
        for cond in equations:
            poly = dict(cond[1])
            for index in self.common(poly, 1)[:1]:
                least = self.nonneg_fact({(index,): 1, (): -1})
                terms: list[Poly] = [{(index,): 1}, without(poly, index)]
                divided = self.apply("cut", None, terms, [self.index[cond], least])
                equations.append(self.checker.facts[self.number(divided)])

    def upper_part(self, poly: Poly, equation: int) -> None:
        """From ``D*P + R == 0`` follows ``P == 0`` where R is less than D, and more than -D."""
        sizes: list[Poly] = [{(i,): 1} for i in dict.fromkeys(i for mono in poly for i in mono)]
        sizes += [{(): c} for c in sorted({abs(c) for m, c in poly.items() if m} - {1})]
        for size in sizes:
            ((mono, coef),) = size.items()
            upper = {m: c for m, c in poly.items() if m and not c % coef and {*mono} <= {*m}}
            part: Poly = {m: c // coef for m, c in upper.items()}
            part = without(part, mono[0]) if mono else part
            rest = combine((1, poly), (-1, upper))
            if not upper or not rest or (not mono and () in part):
                continue
            if beside("eq", part) in self.index:
                continue
            before, self.linear = self.linear, True
            try:
                uses = [] if not mono else [self.nonneg_fact(shift(size, -1))]
                limits = []
                for sign in (1, -1):
                    known = self.nonneg(combine((1, size), (-1, ONE), (-sign, rest)), 2)
                    above = self.number(self.total([*known, ({(): sign}, (equation,))]))
                    terms = [size, shift(part, 0, sign)]
                    limits.append(self.number(self.apply("cut", None, terms, [above, *uses])))
                self.apply("squeeze", uses=limits)
            except NotFoundError:
                if self.closed:
                    return
            finally:
                self.linear = before

    def same_bits(self, poly: Poly, equation: int) -> None:
        """Equal numbers have the same bits in common with the numbers whose bits the first one has."""
        checker = self.checker
        for mono, coef in poly.items():
            kind, both = checker.atoms[mono[0]] if len(mono) == 1 else ("", ())
            if kind != "bits" or abs(coef) > 2:
                continue
            a, b = map(dict, both)
            point: Poly = {mono: 1}
            whole = combine((1, a), (1, b), (-abs(coef), point))
            forms = [whole, point] if abs(coef) == 1 else [whole]
            for form in forms:
                sign = 1 if (form.get(mono, 0) > 0) == (coef > 0) else -1
                other = combine((1, form), (-sign, poly))
                for mask in (a, b):
                    try:
                        self.equal_bits(form, other, mask, sign, equation)
                    except NotFoundError:
                        continue

    def equal_bits(self, form: Poly, other: Poly, mask: Poly, sign: int, equation: int) -> None:
        """The fact that two equal numbers have the same bits in common with a mask, and those bits."""
        common = self.checker.common(form, mask)
        ((mono, coef), *more) = common.items()
        if more or coef != 1 or self.checker.atoms[mono[0]][0] != "bits":
            return
        uses = [self.number(self.total([({(): each}, (equation,))])) for each in (sign, -sign)]
        upper = [
            other if each == form else each for each in map(dict, self.checker.atoms[mono[0]][1])
        ]
        found = self.number(self.apply("bits-split", mono[0], [ONE, *upper], uses))
        self.note(self.masked, self.checker.facts[found], True)
        for atoms in (common, self.checker.common(other, mask)):
            for index in [mono[0] for mono in atoms if self.is_bits(mono)]:
                self.by_mask(index)

    def by_mask(self, index: int) -> None:
        """An atom of common bits as one of those in its operands, or as what that leaves of a mask."""
        operands = [dict(part) for part in self.checker.atoms[index][1]]
        for form, mask in permutations(operands):
            for inner in [mono[0] for mono in form if self.is_bits(mono)]:
                if mask not in map(dict, self.checker.atoms[inner][1]):
                    continue
                point: Poly = {(inner,): 1}
                for result in (combine((1, mask), (-1, point)), point, mask):
                    try:
                        self.by_bits(beside("eq", combine((1, {(index,): 1}), (-1, result))))
                        return
                    except NotFoundError:
                        continue

    def rounded(self) -> None:
        """The limits of numbers that are multiples of others but for a constant: from ``n == 6*q`` and
        ``n <= 4`` follows ``q <= 0``.
        """
        limits = {(i, 1): fact for i, (_, fact) in self.lows().items()}
        limits |= {(i, -1): fact for i, (_, fact) in self.lows(-1).items()}
        for kind, parts in [*self.index]:
            single = [(m, c) for m, c in parts if len(m) == 1 and abs(c) == 1]
            if kind != "eq" or len(single) != 1:
                continue
            ((mono, coef),) = single
            size = gcd(*(c for m, c in parts if m and m != mono))
            for sign in (1, -1) if size > 1 else ():
                limit = limits.get((mono[0], sign))
                if limit is not None:
                    equation: Item = {(): -sign * coef}, (self.index[kind, parts],)
                    self.cut([(ONE, (limit,)), equation], size)

    def by_split(self, splits: int, scope: CaseScope | None, conds: list[Cond]) -> bool:
        """Close a case by a case distinction."""
        values = self.limited() if self.thorough and not conds else ()
        for number, close in [*values, *self.questions(scope)][:2]:
            kept = self.kept()

            def inside(part: Cond) -> None:
                more = [*conds, *(part[1] if part[0] == "and" else (part,))]
                more = [cond for cond in more if cond[0] in SIGNS]
                try:
                    below = self.scope(more)
                except (TooMuchWorkError, RecursionError):
                    below = None
                self.close(splits - 1, below, more)

            try:
                close(number, inside)
                return True
            except (NotFoundError, TooMuchWorkError):
                self.restore(kept)
        return False

    def questions(self, scope: CaseScope | None) -> Iterator[tuple[Any, Any]]:
        """Case distinctions that may help, the best first."""
        claimed = [dict(c[1]) for c in self.checker.facts[: self.known] if c[0] in SIGNS]
        polys = [dict(cond[1]) for cond in self.targets if cond[0] in SIGNS]
        polys += claimed if scope is None else []
        normal = []
        for poly in polys:
            if scope is not None:
                try:
                    normal.append(self.back(scope, self.engine_poly(scope, poly)))
                except (NotFoundError, TooMuchWorkError):
                    normal.append(poly)
        yield from self.distinctions([*normal, *polys])
        for cond, number in [*self.index.items()]:
            if cond[0] == "or" and number not in self.done:
                yield number, self.cases
        yield from self.distinctions(polys, inner=True)
        if scope is not None and self.valued_digits < _DIGITS:
            yield from self.open_digits([*normal, *polys])
        periods = self.periods([*normal, *polys])
        if not periods and self.thorough:
            periods = self.periods(claimed)
            periods = periods if prod(size for _, size in periods) <= _FEW_CLASSES else []
        if periods and not self.tabled:
            yield periods, self.tables
        unequal = [cond for cond in self.index if cond[0] == "ne"]
        for cond in sorted(
            unequal, key=lambda cond: (cond in self.targets, sum(map(len, cond[1])))
        ):
            if self.index[cond] not in self.done:
                yield self.index[cond], self.cases
        yield from self.distinctions(claimed)

    def open_digits(self, polys: list[Poly]) -> Iterator[tuple[Any, Any]]:
        """The digits of numbers that quotients in polynomials are made of, where they are few."""
        known = {tuple(term for term in c[1] if term[0]) for c in self.index if c[0] == "eq"}
        pairs = [pair for poly in polys for pair in self.digits(poly)]
        for pair in dict.fromkeys(pairs):
            try:
                digit, low, high = self.digit(*pair)
            except NotFoundError:
                continue
            if tuple(sorted(digit.items())) not in known and low is not None and high is not None:
                yield (digit, low, high), self.by_digit

    def by_digit(self, limited: tuple[Poly, int, int], close: Any) -> None:
        """Close a case by the values of a digit."""
        digit, low, high = limited
        least, most = (dict(self.checker.facts[fact][1]).get((), 0) for fact in (low, high))
        if least + most >= _DIGITS:
            raise NotFoundError("a digit has too many values")
        values = [beside("eq", shift(digit, -number)) for number in range(-least, most + 1)]
        self.valued_digits += 1
        try:
            proofs = self.each_closed(values, close)
        finally:
            self.valued_digits -= 1
        self.by_each("table", proofs, [low, high], [digit])

    def distinctions(self, polys: list[Poly], inner: bool = False) -> Iterator[tuple[Any, Any]]:
        """The cases of the maxima and choices in polynomials."""
        for poly in polys:
            for index in sorted(self.branching(poly, inner), key=self.nested):
                cases = self.alternatives(index)
                if cases is not None:
                    yield cases, self.cases

    def nested(self, index: int) -> bool:
        """Whether there are maxima or choices in the operand or condition of another one."""
        kind, operands = self.checker.atoms[index]
        inside = [dict(operands[0])] if kind == "max" else map(dict, leaves(operands[0]))
        return any(self.branching(poly) for poly in inside)

    def limited(self) -> Iterator[tuple[Any, Any]]:
        """The values of each variable that stands in an exponent of the goal, where they are few."""
        polys = [dict(cond[1]) for cond in self.targets if cond[0] in SIGNS]
        lowest, highest = self.lows(), self.lows(-1)
        below = dict.fromkeys(i for poly in polys for i in self.below(poly))
        exponents = [dict(p) for i in below for p in self.checker.atoms[i][1] if self.is_power(i)]
        for index in dict.fromkeys(i for poly in exponents for mono in poly for i in mono):
            if index in lowest and index in highest:
                low, high = lowest[index], highest[index]
                if low[0] < -high[0] < low[0] + _VALUES:
                    yield (index, low, high), self.valued

    def is_power(self, index: int) -> bool:
        return self.checker.atoms[index][0] == "power"

    def valued(self, limits: tuple[int, Any, Any], close: Any) -> None:
        """Close a case by the values of a variable."""
        index, (low, above), (high, below) = limits
        point: Poly = {(index,): 1}
        values = [beside("eq", shift(point, -number)) for number in range(low, 1 - high)]
        self.by_each("table", self.each_closed(values, close), [above, below], [point])

    def period(self, poly: Poly, size: int, found: dict[int, int], depth: int = 4) -> None:
        """What each variable matters modulo, where a polynomial matters modulo a number; no deeper than
        some quotients, since parts that are shared are looked at once for each use.
        """
        for mono, coef in poly.items():
            matters = size // gcd(size, coef)
            for index in mono if matters > 1 else ():
                kind, operands = self.checker.atoms[index]
                if kind == "var":
                    found[index] = lcm(found.get(index, 1), matters)
                divisor = value(dict(operands[1])) if kind == "div" else 1
                for part in operands[:1] if depth and kind in INSIDE and divisor else ():
                    self.period(dict(part), matters * abs(divisor or 1), found, depth - 1)

    def periods(self, polys: list[Poly]) -> list[tuple[int, int]]:
        """For each variable under a division by a constant, what it matters modulo."""
        periods: dict[int, int] = {}
        for poly in polys:
            for index in self.below(poly, 4):
                kind, operands = self.checker.atoms[index]
                size = value(dict(operands[1])) if kind == "div" else None
                if size:
                    self.period(dict(operands[0]), abs(size), periods)
        for kind, parts in self.targets:
            single = [(mono[0], abs(coef)) for mono, coef in parts if len(mono) == 1]
            inside = [i for mono, _ in parts for i in mono]
            for index, size in single if kind == "eq" and not periods else ():
                others = [i for i in dict.fromkeys(inside) if i != index]
                kinds = {self.checker.atoms[i][0] for i in others}
                if size > 1 and inside.count(index) == 1 and kinds == {"var"}:
                    periods = dict.fromkeys(others, size)
        several = sorted((index, size) for index, size in periods.items() if size > 1)
        return several if 1 < prod(size for _, size in several) <= _CLASSES else []

    def tables(self, periods: list[tuple[int, int]], close: Any) -> None:
        """Close a case by the residues of variables."""
        if not periods:
            return
        (index, size), *others = periods
        quotient = self.checker.div({(index,): 1}, {(): size})
        ((atom,),) = quotient
        low, high = (self.number(self.apply(rule, atom)) for rule in ("floor-low", "floor-high"))
        rest = combine((1, {(index,): 1}), (-size, quotient))
        values = [beside("eq", shift(rest, -residue)) for residue in range(size)]

        def inside(part: Cond) -> None:
            if others:
                self.tables(others, lambda more: close(("and", (part, *parts_of(more)))))
            else:
                close(part)

        before, self.tabled = self.tabled, True
        try:
            proofs = self.each_closed(values, inside)
        finally:
            self.tabled = before
        self.by_each("table", proofs, [low, high], [rest])
