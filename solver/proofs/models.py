"""Case distinctions where a model of the facts fails: a linear program takes each product for a number
of its own, and what is wrong with the values that it finds says which case, or which further fact about a
product, is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import floor, gcd, prod

from rlx.solver.proofs.checker import Cond, Mono, Poly, beside, combine, shift, value
from rlx.solver.proofs.congruence import Congruence
from rlx.solver.proofs.draft import ONE, SIGNS, NotFoundError, leaves
from rlx.solver.proofs.inequalities import literal, without

_DEGREE, _LINEAR = 4, 12
"""The largest degree of products whose limits are multiplied, and the most inequalities that are."""
_REFINED = 12
"""How often facts about products are added before a case distinction."""

Model = dict[Mono, Fraction]
"""A number for each product of atoms; 0 for those that it does not have."""


class Models(Congruence):
    """The search for a proof of a case by models of its facts."""

    most_values = 8
    """How often the values of an atom are divided, one below another."""
    undivided = False
    """Whether the values of some atom could be divided once more."""

    def by_models(self, splits: int) -> None:
        """Close the present case, by at most so many case distinctions, one below another."""
        for values in range(self.most_values + 1):
            kept = self.kept()
            try:
                self.by_cases(splits, values)
                return
            except NotFoundError:
                if self.closed or not self.undivided:
                    raise
                self.restore(kept)
        raise NotFoundError("the values of atoms are divided too often")

    def by_cases(self, splits: int, values: int) -> None:
        """The same, where the values of an atom are divided so often."""
        self.undivided = False
        model: Model = {}
        for _ in range(_REFINED):
            self.strict()
            self.limit_atoms()
            self.tighten()
            if self.closed or self.impossible():
                return
            model = self.model()
            if not self.refined(model):
                break
        if self.closed:
            return
        if any(len(mono) > 2 for mono in model):
            with suppress(NotFoundError):
                self.contradiction()
            if self.closed:
                return
        number = next(self.doubts(model), None) if splits else None
        if number is not None:
            self.cases(number, lambda _: self.by_cases(splits - 1, values))
            return
        open_values = False
        for number in self.divided(model):
            open_values = True
            kept = self.kept()
            try:
                if values:
                    self.cases(number, lambda _: self.by_cases(splits, values - 1))
                    return
            except NotFoundError:
                self.restore(kept)
        self.undivided = open_values or self.undivided
        raise NotFoundError("a model of the facts has no mistake that a case would mend")

    def impossible(self) -> bool:
        """Close the present case if its facts contradict each other linearly."""
        found = self.program({(): -1}, self.known_rows(), None)
        if found is not None:
            self.total(self.whole(found))
        return found is not None

    def limit_atoms(self) -> None:
        """The limits of each atom in the facts, and of those inside of it."""
        near: Poly = {}
        for cond in self.index:
            near |= {mono: 1 for leaf in leaves(cond) for mono, _ in leaf}
        for index in self.below(near):
            kind, operands = self.checker.atoms[index]
            self.limits_of_maximum(index)
            if kind == "div":
                below = dict(operands[1])
                signs = [] if value(below) else [shift(below, -1, sign) for sign in (1, -1)]
                known = [
                    n for each in signs if (n := self.index.get(beside("ge", each))) is not None
                ]
                for rule in ("floor-low", "floor-high") if known or value(below) else ():
                    self.attempt(rule, index, known[:1])

    def tighten(self) -> None:
        """Divide inequalities by what divides all but their constant."""
        for cond, number in [*self.index.items()]:
            poly = dict(cond[1]) if cond[0] == "ge" else {}
            size = gcd(*(coef for mono, coef in poly.items() if mono))
            if size > 1 and poly.get((), 0) % size:
                self.cut([(ONE, (number,))], size)

    def model(self) -> Model:
        """A solution of the linear facts."""
        names: dict[Mono, str] = {}
        lines = []
        rows = self.known_rows()
        self.checker.take(4 * sum(len(row) for row, _, _, _ in rows))
        for row, _, _, equation in rows:
            parts = [literal(row.get((), 0))]
            for mono, coef in row.items():
                if mono:
                    name = names.setdefault(mono, f"x{len(names)}")
                    parts.append(f"(* {literal(coef)} {name})")
            lines.append(f"(assert ({'=' if equation else '>='} (+ 0 {' '.join(parts)}) 0))")
        declared = [f"(declare-const {name} Real)" for name in names.values()]
        found = self.solution([*declared, *lines])
        if found is None:
            raise NotFoundError("no model is found")
        return {mono: found.get(name, Fraction()) for mono, name in names.items()}

    def refined(self, model: Model) -> bool:
        """Add facts about products that a model does not satisfy; whether there are any."""
        before = len(self.checker.facts)
        lows, highs = self.lows(), self.lows(-1)
        for cond, number in [*self.index.items()]:
            if cond[0] == "eq" and len(cond[1]) <= 2 and len(max(cond[1])[0]) == 1:
                index = max(cond[1])[0][0]
                for mono in [mono for mono in model if index in mono and len(mono) > 1]:
                    (rest,) = without({mono: 1}, index)
                    if self.checker.mul({rest: 1}, dict(cond[1])):
                        self.total([({rest: 1}, (number,))])
        for mono in [mono for mono in model if len(mono) == 2]:
            first, second = mono
            if first == second:
                self.above(model, {(first,): 1}, {mono: 1})
            elif {(first, first), (second, second)} <= model.keys():
                for sign in (1, -1):
                    root: Poly = {(first,): 1, (second,): sign}
                    self.above(model, root, self.checker.mul(root, root))
        for mono in [mono for mono in model if 1 < len(mono) <= _DEGREE]:
            both = [[side[i][1] for side in (lows, highs) if i in side] for i in mono]
            for ids in {tuple(sorted(each)) for each in product(*both)}:
                self.if_wrong(model, ids)
        linear = [
            n for c, n in self.index.items() if c[0] == "ge" and all(len(m) < 2 for m, _ in c[1])
        ]
        for ids in combinations_with_replacement(linear[-_LINEAR:], 2):
            self.if_wrong(model, ids)
        for mono in [mono for mono in model if len(mono) == 3]:
            inside = sorted({*mono})
            roots: list[Poly] = [{(a,): 1} for a in inside]
            roots += [{(a,): 1, (b,): sign} for a, b in combinations(inside, 2) for sign in (1, -1)]
            positive = [i for i in inside if lows.get(i, (-1, 0))[0] >= 0]
            for each, factor in product(roots, positive):
                square = self.checker.mul(each, each)
                least, known = lows[factor]
                limit: Poly = shift({(factor,): 1}, -least)
                if _number(model, self.checker.mul(square, limit)) < 0:
                    self.square(each)
                    self.total([(ONE, (self.index[beside("ge", square)], known))])
        return len(self.checker.facts) > before

    def if_wrong(self, model: Model, ids: tuple[int, ...]) -> None:
        """Add the product of some facts if it is not true in a model, and about nothing else."""
        poly = self.multiplied(ids)
        if all(mono in model for mono in poly if mono) and _number(model, poly) < 0:
            self.total([(ONE, ids)])

    def above(self, model: Model, root: Poly, square: Poly) -> None:
        """The fact that the square of a number is on or above the line through two neighbours, if a model
        is below it.
        """
        middle = floor(_number(model, root))
        line = combine((1, square), (-2 * middle - 1, root), (middle * (middle + 1), ONE))
        if _number(model, line) < 0:
            self.neighbours(shift(root, -middle))

    def doubts(self, model: Model) -> Iterator[int]:
        """Facts with cases none of which holds in a model, the most promising first."""
        for cond, fact in self.index.items():
            if cond[0] in ("ne", "or") and fact not in self.done and not _holds(cond, model):
                yield fact
        near = {i for mono in model for i in mono}
        conds = [leaf for cond in self.index for leaf in leaves(cond)]
        near |= {i for leaf in conds for mono, _ in leaf for i in mono}
        for index in self.below({(i,): 1 for i in near}):
            kind, operands = self.checker.atoms[index]
            wanted = number = model.get((index,), Fraction())
            if kind == "max":
                wanted = max(_number(model, dict(operands[0])), Fraction())
            elif kind == "choice":
                wanted = Fraction(_holds(operands[0], model))
            if wanted != number and (cases := self.alternatives(index)) is not None:
                yield cases
        atoms = [self.checker.atoms[i] for mono in model for i in mono]
        divisors = {parts[1] for kind, parts in atoms if kind == "div"}
        for cond, fact in self.index.items():
            if cond[0] == "ne" and fact not in self.done and cond[1] in divisors:
                yield fact

    def divided(self, model: Model) -> Iterator[int]:
        """The fact of two cases for an atom that is no integer in a model, or in whose products the model
        is wrong.
        """
        wrong = {
            i
            for mono in model
            if len(mono) > 1 and model[mono] != prod(model.get((i,), Fraction()) for i in mono)
            for i in mono
        }
        wrong |= {m[0] for m, number in model.items() if len(m) == 1 and number.denominator > 1}
        lows, highs = self.lows(), self.lows(-1)
        for index in sorted(wrong):
            middle = floor(model.get((index,), Fraction()))
            low, high = lows.get(index), highs.get(index)
            if high is not None and middle >= -high[0]:
                middle -= 1
            if low is not None and middle < low[0]:
                continue
            ((atom,),) = self.checker.binary("max", {(index,): 1, (): -middle - 1}, {})
            cases = self.alternatives(atom)
            if cases is not None:
                yield cases


def _number(model: Model, poly: Poly) -> Fraction:
    return sum((coef * model.get(m, Fraction(not m)) for m, coef in poly.items()), Fraction())


def _holds(cond: Cond, model: Model) -> bool:
    kind, parts = cond
    if kind in SIGNS:
        number = _number(model, dict(parts))
        return bool({"ge": number >= 0, "eq": number == 0, "ne": number != 0}[kind])
    found = (_holds(part, model) for part in parts)
    return all(found) if kind == "and" else any(found)
