"""Proofs that a number is at least 0, or that facts contradict each other, by linear combinations of
facts and of their products, which a linear program finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product, repeat
from math import gcd, lcm
from types import SimpleNamespace
from typing import Any

from rlx.solver.proofs.checker import (
    Cond,
    Mono,
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
    Multipliers,
    NotFoundError,
    Row,
    Steps,
    parts_of,
)

_ROWS = 240
_ROW = 10
"""The effort that a row of bits takes."""
_TERMS = 10
"""The maximum number of numbers whose bits are distinguished."""
_EQUATIONS = 12
_PAIRS = 6
"""The maximum number of pairs of quotients that are compared."""
_ROUNDS = 6
"""How often equations are put into a product."""
_SHORT = 6
"""The maximum number of terms of a fact that tells limits of quotients."""
_DEPTH = 3
"""How often one inequality may lead to others."""


class Inequalities(Steps):
    """The inequalities that follow from facts by combinations of them."""

    thorough = False
    """Whether equal quotients and upper limits of quotients are looked for, and cases distinguished
    before facts are multiplied. It takes longer where it does not help, so it is the second attempt.
    """
    forgetful = False
    """Whether what led nowhere before a case distinction is taken back, which makes its cases shorter
    but may have to be found again in each, and quotients are compared: the third attempt.
    """
    linear = False
    """Whether products of facts are left out, where a case distinction follows anyway."""

    def nonneg_fact(self, poly: Poly) -> int:
        return self.number(self.total(self.nonneg(poly)))

    def nonneg(self, poly: Poly, depth: int = _DEPTH) -> list[Item]:
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
            found = self.shifted(poly) or self.factored(poly, depth)
            if found is not None:
                return found
            number = self.combined(poly, depth)
            del self.failed[key]
        return [(ONE, (number,))]

    def lows(self, sign: int = 1) -> dict[int, tuple[int, int]]:
        """The largest known lower limit of each atom, or with the sign -1 of its opposite, and the
        fact of it.
        """
        self.checker.take(len(self.index) // 4)
        found: dict[int, tuple[int, int]] = {}
        for cond, number in self.index.items():
            if cond[0] != "ge" or len(cond[1]) > 2:
                continue
            linear = [(m, c) for m, c in cond[1] if m]
            if len(linear) == 1 and len(linear[0][0]) == 1 and linear[0][1] == sign:
                low = -dict(cond[1]).get((), 0)
                index = linear[0][0][0]
                if index not in found or found[index][0] < low:
                    found[index] = (low, number)
        return found

    def shifted(self, poly: Poly) -> list[Item] | None:
        """A polynomial with no negative coefficient once each atom begins at its lower limit, or ends
        at its upper one if that is the only one.
        """
        lows = self.lows()
        inside = {i for mono in poly for i in mono}
        if not inside <= lows.keys():
            highs = self.lows(-1)
            if not inside <= lows.keys() | highs.keys():
                return None
        else:
            highs = {}
        parts: list[tuple[int, Poly]] = []
        for mono, coef in poly.items():
            product: Poly = {(): coef}
            for index in mono:
                low = lows.get(index)
                limit = (
                    shift({(index,): 1}, low[0]) if low else shift({(index,): -1}, -highs[index][0])
                )
                product = self.checker.mul(product, limit)
            parts.append((1, product))
        total = combine(*parts)
        if any(coef < 0 for coef in total.values()):
            return None
        facts = {i: (lows.get(i) or highs[i])[1] for i in inside}
        return [({(): c}, tuple(sorted(facts[i] for i in m))) for m, c in total.items()]

    def common(self, poly: Poly, least: int) -> list[int]:
        """The atoms that all terms have and that are at least ``least``."""
        lows = self.lows()
        first, *others = poly
        return [
            index
            for index in dict.fromkeys(first)
            if index in lows and lows[index][0] >= least and all(index in m for m in others)
        ]

    def factored(self, poly: Poly, depth: int) -> list[Item] | None:
        """A polynomial that is the product of an atom and one that is at least 0."""
        for index in self.common(poly, 0) if depth > 1 else ():
            low, limit = self.lows()[index]
            try:
                items = self.nonneg(without(poly, index), depth - 1)
            except NotFoundError:
                continue
            more = self.scaled(items, {(): low}) if low else []
            return [*((factor, (*ids, limit)) for factor, ids in items), *more]
        return None

    def combined(self, poly: Poly, depth: int) -> int:
        """The fact that a polynomial is at least 0, by a linear program over facts."""
        if depth <= 0:
            raise NotFoundError("the inequality is too deep")
        self.limits(poly, depth)
        rows = self.rows(poly)
        found = self.program(poly, rows, [])
        if found is not None:
            return self.by_multipliers(poly, found)
        if self.linear:
            raise NotFoundError("no linear combination of the facts gives it")
        wholes = [
            (combine((1, self.checker.mul(divisor, poly)), (1, divisor), (-1, ONE)), divisor, fact)
            for divisor, fact in self.divisors(poly)
        ]
        for whole, divisor, fact in wholes:
            found = self.program(whole, rows, None)
            if found is not None:
                return self.by_divisor(poly, divisor, fact, found)
        if self.squares(poly):
            rows = self.rows(poly)
        products = self.products(rows, [poly])
        if products:
            found = self.program(poly, rows + products, [])
            if found is not None:
                return self.by_multipliers(poly, found)
        for whole, divisor, fact in wholes:
            found = self.program(whole, rows + self.products(rows, [whole]), None)
            if found is not None:
                return self.by_divisor(poly, divisor, fact, found)
        if depth == _DEPTH and any(self.checker.atoms[i][0] == "max" for m in poly for i in m):
            return self.by_maxima(poly)
        if depth == _DEPTH and self.thorough:
            return self.multiple(poly)
        raise NotFoundError("no combination of the facts gives it")

    def by_divisor(self, poly: Poly, divisor: Poly, fact: int, found: Multipliers) -> int:
        """The fact that a polynomial is at least 0, as a positive multiple of it and the divisor is."""
        number = self.number(self.total(self.whole(found)))
        return self.number(self.apply("cut", None, [divisor, poly], [number, fact]))

    def reduced(
        self, poly: Poly, equations: Sequence[int] | None = None
    ) -> tuple[Poly, list[Item]]:
        """A polynomial in which equations, all that are known or some, replace their last products, and
        items whose sum is the difference.
        """
        items: list[Item] = []
        if equations is None:
            equations = [number for cond, number in self.index.items() if cond[0] == "eq"]
        for number in reversed(equations):
            equation = dict(self.checker.facts[number][1])
            single = [mono for mono, coef in equation.items() if mono and abs(coef) == 1]
            last = max(single or equation, key=lambda mono: mono[::-1])
            factor: Poly = {}
            for mono, coef in poly.items():
                rest = mono if mono == last else quotient(mono, last)
                if rest and not coef % equation[last]:
                    factor[() if mono == last else rest] = coef // equation[last]
            if factor:
                poly = combine((1, poly), (-1, self.checker.mul(factor, equation)))
                items.append((factor, (number,)))
        return poly, items

    def multiple(self, poly: Poly) -> int:
        """The fact that a polynomial is at least 0 that equations make a multiple of another."""
        rest, items = self.reduced(poly)
        size = gcd(*rest.values())
        if size < 2 or not items:
            raise NotFoundError("no combination of the facts gives it")
        part: Poly = {mono: coef // size for mono, coef in rest.items()}
        known = self.scaled(self.nonneg(combine((1, part))), {(): size})
        return self.number(self.total([*known, *items]))

    def by_maxima(self, poly: Poly) -> int:
        """The fact that a polynomial is at least 0, because it is with each of the two values of
        each maximum that is subtracted in it.
        """
        for index in self.below(poly, _ROWS, ("max",)):
            self.limits_of_maximum(index)
        least: list[tuple[Poly, int]] = []
        whole = poly
        while taken := [
            mono[0] for mono, coef in whole.items() if coef == -1 and self.is_max(mono)
        ]:
            index = max(taken)
            least.append((whole, index))
            operand = dict(self.checker.atoms[index][1][0])
            whole = combine((1, whole), (1, {(index,): 1}), (-1, operand))
        rest = self.by_rows(whole)
        for outer, index in reversed(least):
            zero = self.by_rows(combine((1, outer), (1, {(index,): 1})))
            gives = beside("ge", outer)
            with self.case(negate(gives)) as proof:
                point: Poly = {(index,): 1}
                known = self.index[negate(gives)], rest, zero, point

                def close(
                    part: Cond, known: tuple[int, int | None, int | None, Poly] = known
                ) -> None:
                    opposite, high, low, point = known
                    equation = parts_of(part)[-1]
                    used = low if dict(equation[1]) == point else high
                    facts = [opposite] if used is None else [opposite, used]
                    minus: Item = {(): -1}, (self.index[equation],)
                    self.total([*((ONE, (fact,)) for fact in facts), minus])

                self.cases(self.apply("max-cases", index), close)
            rest = self.number(self.apply("lemma", proofs=[proof], gives=gives))
        return self.number(rest)

    def by_rows(self, poly: Poly) -> int | None:
        """The fact that a polynomial is at least 0, by all facts about what is in it; None if it is
        0 itself.
        """
        if not poly:
            return None
        number = self.index.get(beside("ge", poly), self.index.get(beside("eq", poly)))
        if number is not None:
            return number
        items = self.shifted(poly)
        if items is not None:
            return self.number(self.total(items))
        found = self.program(poly, self.rows(poly, _ROWS), [])
        if found is None:
            raise NotFoundError("no combination of the facts gives it")
        return self.by_multipliers(poly, found)

    def is_max(self, mono: Mono) -> bool:
        return len(mono) == 1 and self.checker.atoms[mono[0]][0] == "max"

    def limits_of_maximum(self, index: int) -> None:
        """The lower and upper bounds of a maximum or choice."""
        kind, _ = self.checker.atoms[index]
        two = {"max": ("max-zero", "max-least"), "choice": ("choice-low", "choice-high")}
        for rule in two.get(kind, ()):
            self.attempt(rule, index)

    def by_multipliers(self, poly: Poly, found: Multipliers) -> int:
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

    def limits(self, poly: Poly, depth: int) -> None:
        """Facts about the quotients, maxima and choices in a polynomial."""
        for index in self.below(poly, 1):
            kind, operands = self.checker.atoms[index]
            self.limits_of_maximum(index)
            if kind == "bits":
                self.limits_of_bits(index, depth)
            elif kind == "power":
                try:
                    exponent = self.total(self.nonneg(dict(operands[0]), depth - 1))
                    number = self.apply("power-low", index, uses=[self.number(exponent)])
                    self.total([(ONE, (self.number(number),)), (ONE, (self.number(exponent),))])
                except NotFoundError:
                    continue
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
                if self.thorough:
                    self.limits_of_dividend(index, uses)
                ends: list[Poly] = [] if index in self.lows() else [{(index,): 1}]
                if self.thorough and index not in self.lows(-1):
                    high, size = self.highest(dict(operands[0])), value(divisor) or 0
                    if high is not None and size > 0:
                        ends.append({(index,): -1, (): high // size})
                if self.forgetful and value(divisor) is None:
                    ends.append({(index,): 1, (): -1})
                for end in ends:
                    try:
                        self.nonneg(combine((1, end)), depth - 1)
                    except NotFoundError:
                        continue
        for first, second in self.digits(poly):
            try:
                self.digit(first, second)
            except NotFoundError:
                if self.closed:
                    raise
        if self.forgetful and depth > 1:
            self.growing(poly, depth - 1)

    def limits_of_dividend(self, index: int, uses: list[int]) -> None:
        """Facts about a quotient that facts about its dividend give: ``c//4 < k`` for ``c < 4*k``."""
        top, divisor = (dict(part) for part in self.checker.atoms[index][1])
        if len(divisor) > 1:
            return
        last = max(top)
        for cond, number in [*self.index.items()]:
            known = dict(cond[1]) if cond[0] == "ge" else {}
            times, more = divmod(known.get(last, 0), top[last])
            if not times or more or len(known) > _SHORT or any(index in mono for mono in known):
                continue
            try:
                rule = "floor-high" if times > 0 else "floor-low"
                end = self.number(self.apply(rule, index, uses=uses))
                items: list[Item] = [(ONE, (number,)), ({(): abs(times)}, (end,))]
                items += self.to_multiples(
                    combine(*((1, self.product(each)) for each in items)), divisor
                )
                whole = self.number(self.total(items))
                rounded = _rounded(dict(self.checker.facts[whole][1]), divisor)
                self.apply("cut", None, [divisor, rounded], [whole, *uses])
            except NotFoundError:
                if self.closed:
                    raise

    def to_multiples(self, poly: Poly, divisor: Poly) -> Iterator[Item]:
        """Equations that replace terms of a polynomial that are no multiples of a divisor."""
        for term in poly.items():
            for cond, number in self.index.items() if not _is_multiple(term, divisor) else ():
                coef = dict(cond[1]).get(term[0], 0) if cond[0] == "eq" else 0
                if abs(coef) == 1:
                    yield {(): -coef * term[1]}, (number,)
                    break

    def growing(self, poly: Poly, depth: int) -> None:
        """Facts that quotients by one number are at least as large as others, like their dividends."""
        groups: dict[object, list[int]] = {}
        for index in self.below(poly, 1):
            kind, operands = self.checker.atoms[index]
            if kind == "div" and (value(dict(operands[1])) or 0) > 1:
                groups.setdefault(operands[1], []).append(index)
        pairs = [pair for group in groups.values() for pair in permutations(group, 2)]
        before, self.linear = self.linear, True
        for larger, smaller in pairs[:_PAIRS]:
            try:
                self.nonneg({(larger,): 1, (smaller,): -1}, depth)
            except NotFoundError:
                if self.closed:
                    raise
            finally:
                self.linear = before

    def digits(self, poly: Poly) -> Iterator[tuple[int, int]]:
        """Pairs of quotients of one number by constants that divide each other, as the digits of the
        number are made of them; the numbers may differ by a constant.
        """
        groups: dict[object, list[tuple[int, int]]] = {}
        for index in self.below(poly, 1):
            kind, operands = self.checker.atoms[index]
            size = value(dict(operands[1])) if kind == "div" else None
            if size and size > 0:
                key = tuple(term for term in operands[0] if term[0])
                groups.setdefault(key, []).append((size, index))
        for group in groups.values():
            group.sort()
            for place, (large, second) in enumerate(group):
                for small, first in reversed(group[:place]):
                    if not large % small:
                        yield first, second
                        if small < large:
                            break

    def digit(self, first: int, second: int) -> tuple[Poly, int | None, int | None]:
        """The digit that two quotients leave between them, and the facts of its limits."""
        (low, high), (less, more) = (
            [self.apply(rule, index) for rule in ("floor-low", "floor-high")]
            for index in (first, second)
        )
        size = value(dict(self.checker.atoms[first][1][1])) or 1
        base = (value(dict(self.checker.atoms[second][1][1])) or 1) // size
        known = [
            self.cut([(ONE, (self.number(each),)) for each in pair], size)
            for pair in ((high, less), (low, more))
        ]
        return {(first,): 1, (second,): -base}, known[0], known[1]

    def limits_of_bits(self, index: int, depth: int) -> None:
        """Facts about the common bits of two numbers: what they are at most, and at least."""
        point: Poly = {(index,): 1}
        operands: list[Poly] = [dict(each) for each in self.checker.atoms[index][1]]
        least = [beside("ge", combine((1, operand), (-1, point))) for operand in operands]
        for gives in (beside("ge", point), *least):
            try:
                self.by_bits(gives, depth - 1)
            except NotFoundError:
                continue
        highs = [self.highest(operand) for operand in operands]
        if None not in highs:
            size = 1 << max(high or 0 for high in highs).bit_length()
            try:
                uses = []
                for operand in operands:
                    for each in (operand, shift(operand, size - 1, -1)):
                        uses.append(self.number(self.total(self.nonneg(each, depth - 1))))
                self.apply("bits-limit", index, [{(): size}, {}, {}], uses)
            except NotFoundError:
                return

    def highest(self, poly: Poly) -> int | None:
        """The largest value that a polynomial may have; None if no limit is known."""
        raise NotImplementedError

    def by_bits(self, gives: Cond, depth: int = 3) -> int:
        """A fact that holds for each bit of the numbers in it."""
        if gives in self.index:
            return self.index[gives]
        poly, leaves = dict(gives[1]), set[tuple[Any, ...]]()
        for index in [i for mono in poly for i in mono if self.checker.atoms[i][0] == "bits"]:
            leaves |= {leaf for part in self.checker.atoms[index][1] for leaf in self._leaves(part)}
        for counts in product(*(self._counts(poly, leaf) for leaf in sorted(leaves))):
            times = dict(zip(sorted(leaves), counts, strict=True))
            rest = combine((1, poly), *((-count, dict(leaf)) for leaf, count in times.items()))
            for mono, coef in rest.items():
                if mono and (len(mono) > 1 or self.checker.atoms[mono[0]][0] != "bits"):
                    times[((mono, 1),)] = times.get(((mono, 1),), 0) + coef
            terms = [dict(leaf) for leaf in sorted(times)]
            polys = [each for t in sorted(times) for each in (dict(t), shift({}, times[t]))]
            if len(terms) <= _TERMS and self._holds(gives, polys, terms):
                facts = list[int]()
                if gives[0] == "ge":
                    terms = [term for term in terms if self._known(term, depth)]
                    if not self._holds(gives, polys, terms):
                        continue
                    for term in [*terms]:
                        less = [each for each in terms if each is not term]
                        terms = less if self._holds(gives, polys, less) else terms
                    facts = [self.number(self.total(self.nonneg(term))) for term in terms]
                polys = self._without_idle(gives, polys, terms if facts else [])
                return self.number(self.apply("bits", None, polys, facts, gives=gives))
        raise NotFoundError("it does not hold for each bit")

    def _holds(self, gives: Cond, polys: list[Poly], known: list[Poly]) -> bool:
        """Whether a condition holds for each row of bits."""
        self.checker.take(_ROW << len(polys) // 2)
        step = SimpleNamespace(stated=gives, polys=polys, facts=known, kinds="")
        try:
            self.checker.bits(step)
        except RefusedError as error:
            return bool(error.args[0] == "PF15-terms")  # it holds, but not all are needed
        return True

    def _without_idle(self, gives: Cond, polys: list[Poly], known: list[Poly]) -> list[Poly]:
        """The numbers without those that no row needs, since they are in others."""
        for place in reversed(range(0, len(polys), 2)):
            less = polys[:place] + polys[place + 2 :]
            if (
                not polys[place + 1]
                and polys[place] not in known
                and self._holds(gives, less, known)
            ):
                polys = less
        return polys

    def _known(self, poly: Poly, depth: int) -> bool:
        try:
            self.total(self.nonneg(poly, depth))
        except NotFoundError:
            return False
        return True

    def _counts(self, poly: Poly, leaf: tuple[Any, ...]) -> Iterator[int]:
        """How often a number may occur in a sum."""
        yield 0
        mono, coef = min(leaf, key=lambda term: (-len(term[0]), term))
        if len(leaf) > 1 and poly.get(mono, 0) // coef:
            yield poly[mono] // coef

    def _leaves(self, part: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """The numbers of whose bits an operand is made."""
        atoms = self.checker.atoms
        if not any(len(mono) == 1 and atoms[mono[0]][0] == "bits" for mono, _ in part):
            opposite = tuple(sorted(shift(dict(part), -1, -1).items()))
            turned = min(part, key=lambda term: (-len(term[0]), term))[1] < 0
            turned = ("ge", part) not in self.index and (turned or ("ge", opposite) in self.index)
            yield opposite if turned else part
            return
        rest = dict(part)
        inner = [
            atoms[mono[0]][1] for mono, _ in part if len(mono) == 1 and atoms[mono[0]][0] == "bits"
        ]
        found = dict.fromkeys(
            leaf for both in inner for each in both for leaf in self._leaves(each)
        )
        yield from found
        for leaf in found:
            last, coef = max(leaf)
            if not rest.get(last, 0) % coef:
                rest = combine((1, rest), (-(rest.get(last, 0) // coef), dict(leaf)))
        for mono in rest:
            if mono and not (len(mono) == 1 and atoms[mono[0]][0] == "bits"):
                yield ((mono, 1),)

    def squares(self, poly: Poly) -> bool:
        """Facts that squares of atoms and of their differences are not negative, if such may help."""
        doubled = [mono[0] for mono, coef in poly.items() if len(mono) == 2 == mono.count(mono[0])]
        lows = self.lows()
        least = {i: lows[i][0] for i in doubled if i in lows}
        roots: list[Poly] = [{(i,): 1} for i in doubled]
        found = False
        for index in doubled:
            if least.get(index, -1) < 0:
                self.square({(index,): 1})
                found = True
        for first, second in combinations(sorted(doubled), 2):
            coef = poly.get((first, second), 0)
            if coef:
                roots.append({(first,): 1, (second,): 1 if coef > 0 else -1})
                self.square(roots[-1])
                found = True
        for root in roots:
            (index,) = next(iter(root))
            slope, size = poly.get((index,), 0), poly[index, index]
            middle = -slope // (2 * size) if size > 0 else 0
            if slope and size > 0 and (len(root) > 1 or least.get(index, middle) <= middle):
                for number in (middle, middle + 1 if slope % size else middle):
                    self.neighbours(shift(root, -number))
                    found = True
        return found

    def neighbours(self, poly: Poly) -> None:
        """The fact that the product of a number and the one before it is not negative."""
        gives = beside("ge", self.checker.mul(poly, shift(poly, -1)))
        if gives in self.index:
            return
        ((atom,),) = self.checker.binary("max", shift(poly, -1), {})
        with self.case(negate(gives)) as proof:
            opposite = self.index[negate(gives)]

            def close(part: Cond) -> None:
                number = self.index[part[1][0]]
                self.total([(ONE, each) for each in ((opposite,), (number, number), (number,))])

            self.cases(self.apply("max-cases", atom), close)
        self.apply("lemma", proofs=[proof], gives=gives)

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
                items: list[Item] = [(ONE, (opposite,)), (ONE, (number, number))]
                self.total(items if whole else [*items, ({(): 2}, (number,))])

            self.cases(self.apply("max-cases", atom), close)
        self.apply("lemma", proofs=[proof], gives=gives)

    def rows(self, poly: Poly, rounds: int = 2) -> list[Row]:
        """Facts that are about the atoms of a polynomial, or about those of such facts, and so on:
        polynomial, factor, fact, equation.
        """
        near = set(self.below(poly))
        rows: list[Row] = []
        for _ in range(rounds):
            self.checker.take(len(self.index))
            rows = []
            grown = set(near)
            for cond, number in self.index.items():
                if cond[0] in ("ge", "eq"):
                    atoms = {i for mono, _ in cond[1] for i in mono}
                    if atoms & near:
                        rows.append((dict(cond[1]), ONE, (number,), cond[0] == "eq"))
                        grown |= atoms
            if near == grown:
                break
            near = grown
        rows.sort(key=lambda row: len(row[0]))
        return rows[:_ROWS]

    def products(self, rows: list[Row], targets: list[Poly]) -> list[Row]:
        """Products of facts with limits of atoms, in whose terms the targets are; the equations are,
        where the targets have no products.
        """
        closest = self.lows(-1) | self.lows()
        # the product with `b - 1` is no help where one with b is needed
        simplest = {
            i: (0, number)
            for i in closest
            if (number := self.index.get(beside("ge", {(i,): 1}))) is not None
        }
        limits = [closest, closest | simplest][: 1 + any(closest[i][0] for i in simplest)]
        equations = [poly for poly, _, _, equation in rows if equation]
        wanted = {mono for poly in targets for mono in poly if len(mono) > 1}
        wanted = wanted or {mono for poly in equations for mono in poly if len(mono) > 1}
        found: dict[object, tuple[Poly, Poly, tuple[int, ...], bool]] = {}
        for _ in range(2):
            new: set[Mono] = set()
            for poly, _, ids, equation in rows:
                for mono in poly:
                    self.checker.take(len(wanted))
                    for other in wanted:
                        factor = quotient(other, mono)
                        if not factor:
                            continue
                        if equation:
                            if (ids, factor) not in found:
                                product = self.checker.mul(poly, {factor: 1})
                                found[ids, factor] = product, {factor: 1}, ids, True
                                new |= {m for m in product if len(m) > 1}
                            continue
                        for lows in limits if all(i in closest for i in factor) else ():
                            more = tuple(sorted((*ids, *(lows[i][1] for i in factor))))
                            if more not in found:
                                product = self.multiplied(more)
                                found[more] = product, ONE, more, False
                                new |= {m for m in product if len(m) > 1}
            for other in wanted:
                for lows in limits if all(i in closest for i in other) else ():
                    ids = tuple(sorted(lows[i][1] for i in other))
                    found.setdefault(ids, (self.multiplied(ids), ONE, ids, False))
            if len(found) > _ROWS or new <= wanted:
                break
            wanted |= new
        return [*found.values()][:_ROWS]

    def multiplied(self, ids: tuple[int, ...]) -> Poly:
        """The product of facts."""
        known = self.known_products.get(ids)
        return known or self.note(self.known_products, ids, self.product((ONE, ids)))

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
    ) -> Multipliers | None:
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
        return self._solved(poly, rows, slack is not None)

    def _solved(self, poly: Poly, rows: list[Row], slack: bool) -> Multipliers | None:
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
                by_mono.setdefault(mono, []).append(f"(* {literal(coef)} l{place})")
        for mono, parts in by_mono.items():
            whole, constant = f"(+ 0 {' '.join(parts)})", poly.get(mono, 0)
            sign = "=" if mono else "<" if slack else "<="
            lines.append(f"(assert ({sign} {whole} {literal(constant + (slack and not mono))}))")
        sizes = self.solution(lines)
        if sizes is None:
            return None
        sized = ((sizes.get(f"l{place}"), row) for place, row in enumerate(rows))
        return [(size, factor, ids) for size, (_, factor, ids, _) in sized if size]

    def contradiction(self) -> None:
        """Close a case by a linear program over all facts."""
        if self.residue_clash():
            return
        near: Poly = {}
        for cond in self.index:
            if cond[0] in ("ge", "eq", "ne"):
                near |= {mono: 1 for mono, _ in cond[1]}
        self.limits(near, 2)
        minus: Poly = {(): -1}
        rows = self.known_rows()
        found = self.program(minus, rows, None)
        if found is None and self.squares(near):
            rows = self.known_rows()
            found = self.program(minus, rows, None)
        if found is None:
            wanted = [row[0] for row in rows]
            found = self.program(minus, rows + self.products(rows, wanted), None)
        if found is None:
            raise NotFoundError("the facts are not found to contradict each other")
        self.total(self.whole(found))
        if not self.closed:
            raise NotFoundError("the facts are not found to contradict each other")

    def known_rows(self) -> list[Row]:
        """The latest comparisons with 0."""
        known = [(c, number) for c, number in self.index.items() if c[0] in ("ge", "eq")]
        return [(dict(c[1]), ONE, (number,), c[0] == "eq") for c, number in known[-_ROWS:]]

    def strict(self) -> None:
        """A value that is not 0 and never negative is at least 1."""
        for cond, number in [*self.index.items()]:
            if cond[0] != "ne":
                continue
            simple = cond in self.targets
            for sign in (1, -1):
                poly = shift(dict(cond[1]), 0, sign)
                least = self.index.get(beside("ge", poly))
                if least is None and beside("ge", shift(poly, -1)) not in self.index:
                    least = self.least(poly, simple)
                if least is not None:
                    self.apply("strict", None, uses=[number, least])
                    break

    def least(self, poly: Poly, simple: bool) -> int | None:
        """The fact that a polynomial is at least 0, by the limits of its atoms or, if not only such are
        asked for, by its maxima.
        """
        items = self.shifted(poly)
        if items is None and not simple and any(map(self.is_max, poly)):
            try:
                items = self.nonneg(poly)
            except NotFoundError:
                return None
        return None if items is None else self.total(items)

    def residue_clash(self) -> bool:
        """Close a case by an equation that no integers satisfy, because a number divides all but
        its constant; equations are combined in pairs.
        """
        known = [(dict(cond[1]), number) for cond, number in self.index.items() if cond[0] == "eq"][
            :_EQUATIONS
        ]
        sums: list[list[Item]] = [[(ONE, (number,))] for _, number in known]
        for (a, first), (b, second) in permutations(known, 2):
            for mono, coef in b.items():
                if mono and abs(coef) == 1 and mono in a:
                    sums.append([(ONE, (first,)), ({(): -a[mono] * coef}, (second,))])
        for poly, number in known:
            if any(len(mono) > 1 for mono in poly):
                sums.append([(ONE, (number,)), *self.solved(poly, number)])
        for items in sums:
            poly = combine(*((1, self.product(item)) for item in items))
            size = gcd(*(coef for mono, coef in poly.items() if mono))
            if size > 1 and poly.get((), 0) % size:
                self.divide(items, size)
                return True
        return False

    def solved(self, poly: Poly, number: int) -> list[Item]:
        """Items that replace variables in products by what other equations say they are."""
        others = [
            each
            for cond, each in self.index.items()
            if cond[0] == "eq" and each != number and all(len(mono) < 2 for mono, _ in cond[1])
        ]
        items: list[Item] = []
        for _ in range(_ROUNDS):
            poly, more = self.reduced(poly, others)
            if not more:
                break
            items += self.scaled(more, {(): -1})
        return items

    def divide(self, items: list[Item], size: int) -> None:
        """Close a case by an equation whose constant is no multiple of a number."""
        both = [self.cut(self.scaled(items, {(): sign}), size) for sign in (1, -1)]
        self.total([(ONE, (self.number(fact),)) for fact in both])

    def cut(self, items: list[Item], size: int) -> int | None:
        """The fact that a sum of facts gives, divided by a number that divides all of it but its
        constant; None if it closes the case.
        """
        fact = self.total(items)
        if fact is None:
            return None
        if size == 1:
            return fact
        whole = dict(self.checker.facts[fact][1])
        rounded: Poly = {mono: coef // size for mono, coef in whole.items()}
        return self.apply("cut", None, [{(): size}, combine((1, rounded))], [fact])


def without(poly: Poly, index: int) -> Poly:
    """A polynomial divided by an atom that all its terms have."""
    return {mono[: (at := mono.index(index))] + mono[at + 1 :]: c for mono, c in poly.items()}


def quotient(mono: Mono, divisor: Mono) -> Mono:
    """The other factor of a monomial; empty if there is none."""
    left = list(mono)
    for index in divisor:
        if index not in left:
            return ()
        left.remove(index)
    return tuple(left)


def _is_multiple(term: tuple[Mono, int], divisor: Poly) -> bool:
    """Whether a term is a constant or a multiple of a number or product."""
    ((mono, size),) = divisor.items()
    divides = not mono or term[0] == mono or bool(quotient(term[0], mono))
    return not term[0] or (divides and not term[1] % size)


def _rounded(whole: Poly, divisor: Poly) -> Poly:
    """The Y of ``D*Y + r >= 0`` that is at least 0, for a number or product D and a constant r."""
    ((mono, size),) = divisor.items()
    constant = whole.get((), 0)
    found: Poly = {(): -(constant < 0) if mono else constant // size}
    for each, coef in whole.items():
        if not _is_multiple((each, coef), divisor):
            raise NotFoundError("it is no multiple of the divisor")
        if each:
            part = quotient(each, mono) if mono else each
            found[part] = found.get(part, 0) + coef // size
    return combine((1, found))


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


def literal(number: int) -> str:
    """A number in SMT-LIB."""
    return str(number) if number >= 0 else f"(- {-number})"
