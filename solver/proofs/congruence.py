"""Quotients that are equal because their operands are."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from rlx.solver.proofs.checker import FALSE, TRUE, Cond, Poly, combine, shift, value
from rlx.solver.proofs.draft import ONE, SIGNS, Item, NotFoundError
from rlx.solver.proofs.lattice import as_sum
from rlx.solver.proofs.rewriting import Rewriting

_POINTS = 40
_ADMITTED = 4
"""At so many points where all facts hold two numbers are compared; if there are fewer, at the others."""
_PAIRS = 8
_EQUATIONS = 16
"""The most equations that are added up to find multiples."""


class Congruence(Rewriting):
    """Equations between quotients whose dividends and divisors are equal in all cases."""

    def __init__(self, *given: Any) -> None:
        self.open: set[object] = set()
        super().__init__(*given)

    def congruent(self, unequal: Cond) -> None:
        """Close a case in which a number is not 0, by equations between the quotients in it."""
        poly = dict(unequal[1])
        quotients = [i for i in self.below(poly) if self.checker.atoms[i][0] == "div"]
        equations = list[int]()
        for pair in [*self.alike(sorted(quotients))][:_PAIRS]:
            equations += self.equal_by_operands(*pair)
        if not equations:
            raise NotFoundError("no quotients are equal")
        rest, items = self.reduced(poly, equations)
        known = [*items, *self.zero(rest)]
        self.apply("clash", uses=[self.number(self.total(known)), self.index[unequal]])

    def by_multiples(self, unequal: Cond) -> None:
        """Close a case in which a number is not 0, but a sum of equations and of multiples of a divisor
        in it: then one of its quotients is another number, which leaves a remainder as it does.
        """
        poly = dict(unequal[1])
        equations = [(c, n) for c, n in self.index.items() if c[0] == "eq"][-_EQUATIONS:]
        known = [dict(cond[1]) for cond, _ in equations]
        monos = {mono for each in (poly, *known) for mono in each}
        for index in [i for i in self.below(poly, 0) if self.checker.atoms[i][0] == "div"]:
            divisor = dict(self.checker.atoms[index][1][1])
            factors: list[Poly] = [{mono: 1} for mono in sorted(monos)]
            if value(divisor) is None:
                factors = [ONE]
                factors += [{(i,): 1} for i in sorted({i for mono in monos for i in mono})]
            multiples = [self.checker.mul(divisor, each) for each in factors]
            counts = as_sum(poly, [*known, *multiples])
            if counts is None:
                continue
            many = combine(
                *((n, factors[i - len(known)]) for i, n in counts.items() if i >= len(known))
            )
            times = many.get((index,), 0)
            if abs(times) != 1:
                continue
            result = combine((1, {(index,): 1}), (-times, many))
            equal = self.by_its_remainder(index, result)
            items: list[Item] = [(self.checker.mul(divisor, {(): times}), (equal,))]
            items += [
                ({(): count}, (equations[each][1],))
                for each, count in counts.items()
                if each < len(known)
            ]
            self.apply("clash", uses=[self.number(self.total(items)), self.index[unequal]])
            return
        raise NotFoundError("it is no sum of equations and multiples")

    def equal_by_operands(self, first: int, second: int) -> list[int]:
        """The facts that two quotients are equal, and their operands; none if that is not proved."""
        (top, below), (other_top, other_below) = (
            [dict(part) for part in self.checker.atoms[i][1]] for i in (first, second)
        )
        try:
            tops = self.zero(combine((1, top), (-1, other_top)))
            divisors = self.zero(combine((1, below), (-1, other_below)))
            sign, positive = self.sign(below)
            uses = [] if positive is None else [positive]
            limits = (self.apply(rule, first, uses=uses) for rule in ("floor-low", "floor-high"))
            low, high = map(self.number, limits)
            point: Poly = {(first,): sign}
            moved = [*self.scaled(tops, {(): -sign}), *self.scaled(divisors, point)]
            less = self.scaled(divisors, {(): -sign})
            back = [*self.scaled(moved, {(): -1}), *less]
            if positive is not None:
                uses = [self.number(self.total([(ONE, (positive,)), *less]))]
            uses += [self.number(self.total([(ONE, (low,)), *moved]))]
            uses += [self.number(self.total([(ONE, (high,)), *back]))]
            equal = self.number(self.apply("quotient", second, [{(first,): 1}], uses))
        except NotFoundError:
            for index, other in ((first, second), (second, first)):
                if self.closed:
                    raise
                with suppress(NotFoundError):
                    return [self.by_its_remainder(index, {(other,): 1})]
            return []
        return [number for _, (number,) in (*tops, *divisors)] + [equal]

    def by_its_remainder(self, index: int, result: Poly) -> int:
        """The fact that a quotient is the number that leaves a remainder as it does."""
        top, divisor = map(dict, self.checker.atoms[index][1])
        sign, fact = self.sign(divisor)
        low = combine((sign, top), (-sign, self.checker.mul(divisor, result)))
        high = shift(combine((sign, divisor), (-1, low)), -1)
        uses = [] if fact is None else [fact]
        uses += [self.nonneg_fact(each) for each in (low, high) if value(each) is None]
        return self.number(self.apply("quotient", index, [result], uses))

    def zero(self, poly: Poly) -> list[Item]:
        """Items whose sum is a polynomial that is 0."""
        if not poly:
            return []
        atoms, key = self.branching(poly), tuple(sorted(poly.items()))
        if not atoms:
            number = self.equal(poly)
        elif key in self.open:
            raise NotFoundError("tried before")
        else:
            self.open.add(key)
            number = self.equal_by_cases(poly, atoms[0])
            self.open.discard(key)
        return [(ONE, (number,))]

    def alike(self, atoms: list[int]) -> Iterator[tuple[int, int]]:
        """Pairs of atoms that have the same value at some points."""
        rows = self.values(max(atoms, default=0))
        for place, second in enumerate(atoms):
            for first in atoms[:place]:
                if rows and all(row[first] == row[second] for row in rows):
                    yield first, second
                    break

    def values(self, last: int) -> list[list[int]]:
        """The values of the atoms at points where all facts hold, or where all are defined."""
        rng = random.Random(0)
        admitted, others = list[list[int]](), list[list[int]]()
        ranges = {self.names[var]: limits for var, limits in self.ranges}
        facts = [cond for cond in self.checker.facts[: self.known] if cond not in self.targets]
        for _ in range(_POINTS):
            row = list[int]()
            try:
                for kind, operands in self.checker.atoms[: last + 1]:
                    if kind == "var":
                        low, high = ranges[operands[0]]
                        least = (low if high is None else high - 9) if low is not None else -9
                        most = high if high is not None else max(least, 0) + 30
                        row.append(rng.randint(min(least, most), most))
                    else:
                        row.append(_atom(kind, operands, row))
                holds = all(_holds(cond, row) for cond in facts)
            except (ZeroDivisionError, IndexError, OverflowError):
                continue
            (admitted if holds else others).append(row)
        return admitted if len(admitted) >= _ADMITTED else others


def _value(parts: Any, row: list[int]) -> int:
    total = 0
    for mono, coef in parts:
        for index in mono:
            coef *= row[index]
        total += coef
    return total


def _atom(kind: str, operands: tuple[Any, ...], row: list[int]) -> int:
    if kind == "choice":
        return int(_holds(operands[0], row))
    first, *more = (_value(part, row) for part in operands)
    match kind:
        case "div":
            return first // more[0]
        case "bits":
            return first & more[0]
        case "max":
            return max(first, 0)
    return 1 << min(first, 64) if first >= 0 else 0


def _holds(cond: Cond, row: list[int]) -> bool:
    kind, parts = cond
    if kind in SIGNS:
        number = _value(parts, row)
        return {"ge": number >= 0, "eq": number == 0, "ne": number != 0}[kind]
    if cond in (TRUE, FALSE):
        return cond == TRUE
    found = (_holds(part, row) for part in parts)
    return all(found) if kind == "and" else any(found)
