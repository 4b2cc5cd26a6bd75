"""Certificates of goals that the prover has proved.

The normal form of the prover is computed once more, with a record of its divisions. Each of them
is a fact of the calculus: the remainder of what it gives lies between 0 and the divisor. What the
normal form decides by bounds is proved here by linear combinations of facts, which a linear program
finds; then come case distinctions. Nothing here is trusted: :mod:`rlx.solver.proofs.checker` checks
what is found.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from math import lcm
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.stack import roomy
from rlx.solver import prim_exprs
from rlx.solver.context import Components, ContextState, Range, constraints
from rlx.solver.expression_text import show
from rlx.solver.poly import TooMuchWorkError
from rlx.solver.proofs.checker import (
    Cond,
    Poly,
    RefusedError,
    beside,
    check,
    combine,
    negate,
    shift,
    value,
)
from rlx.solver.proofs.draft import (
    ONE,
    Below,
    Found,
    NotFoundError,
    parts_of,
)
from rlx.solver.proofs.inequalities import without
from rlx.solver.proofs.rewriting import CaseScope, Rewriting

# How a case is closed: by the normal form, by contradictory facts, or by a case distinction.


_CLASSES = 600


class Closing(Rewriting):
    """The search for a proof of a case."""

    def close(self, splits: int, scope: CaseScope | None, conds: list[Cond]) -> None:
        """Close the present case."""
        if self.closed or self.bitwise():
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

    def nonneg_after(self, scope: CaseScope, poly: Poly, sign: int) -> int:
        """The fact that a polynomial is at least 0, by its normal form."""
        result, items = self.rewritten(scope, poly)
        known = self.nonneg(shift(result, 0, sign))
        number = self.total([*known, *self.scaled(items, {(): sign})])
        if number is None:
            raise NotFoundError("the case is closed")
        return number

    def saturate(self) -> None:
        """Factors of what is not 0 are not 0 either; what is never negative is then at least 1, and
        equations are divided by it.
        """
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
        self.strict()
        equations = [cond for cond in self.index if cond[0] == "eq" and len(cond[1]) > 1]
        for cond in equations:
            poly = dict(cond[1])
            for index in self.common(poly, 1)[:1]:
                least = self.nonneg_fact({(index,): 1, (): -1})
                terms: list[Poly] = [{(index,): 1}, without(poly, index)]
                divided = self.apply("cut", None, terms, [self.index[cond], least])
                equations.append(self.checker.facts[self.number(divided)])

    def strict(self) -> None:
        """What is not 0 and never negative is at least 1."""
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
                        others, lambda more, part=part: close(("and", (part, *parts_of(more))))
                    )
                else:
                    close(part)
            proofs.append(proof)
        self.apply("table", None, [rest], [low, high], proofs)


_SPLITS = 6


class Draft(Closing):
    """A proof that becomes a certificate."""

    def certificate(self) -> dict[str, Any]:
        """The finished certificate, without what is not needed. Raises NotFoundError if no proof is
        found.
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
    """A certificate of a goal, or None if none is found. Raises RefusedError if what was found is
    none: a mistake of this module.
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


# The certificate of a verdict, made when it is asked for.


PARANOID = os.environ.get("RLX_PARANOID") == "1"
"""Whether each proof is checked as it is made."""
UNCHECKED = "unchecked"
"""The last word of what stands in place of the steps where nothing was found."""


def identity(a: PrimExpr, b: PrimExpr, means: str) -> dict[str, Any]:
    """The certificate that expressions of the same structure are equal, for all integers."""
    goal = tir.EQ(a, b)
    anything: dict[tir.Var, Range] = dict.fromkeys(tir.free_vars(goal), (None, None))
    return certificate(goal, ContextState(anything, (), {}), means)


@roomy
def certificate(goal: PrimExpr, state: ContextState, means: str) -> dict[str, Any]:
    """The certificate of a goal that was proved; ``"proof"`` is a text if none was found. `means`:
    how the prover proved it.
    """
    from rlx.solver.proofs.checker import RefusedError
    from rlx.solver.proofs.draft import distinct_names

    expanded, *facts = prim_exprs.expand([goal, *constraints(state)])
    known = [fact for fact in facts if prim_exprs.uninterpreted(tir.postorder(fact)) is None]
    near, far = Components(known).split(tir.free_vars(expanded))
    refused = None
    for assumed in (near, known) if far else (near,):
        variables = dict.fromkeys(tir.free_vars(expanded, *assumed))
        if assumed is known:
            variables |= dict.fromkeys(state.ranges)
        ranges = [(var, state.range_of(var)) for var in variables]
        try:
            result = found(expanded, assumed, ranges)
        except RefusedError as error:
            refused, result = error, None
        if result is not None:
            return result
    if refused is not None and PARANOID:
        raise RuntimeError(f"the certificate of {show(goal)} is refused: {refused}")
    by = "SMT" if means.startswith("smt") else means
    names = distinct_names(tir.free_vars(expanded, *near))
    renamed: dict[tir.Var, PrimExpr] = {v: tir.Var(name, v.dtype) for v, name in names.items()}
    return {
        "version": 1,
        "goal": show(tir.substitute(expanded, renamed)),
        "assume": [show(tir.substitute(fact, renamed)) for fact in near],
        "variables": {name: list(state.range_of(var)) for var, name in names.items()},
        "names": {},
        "proof": f"by {by}, {UNCHECKED}",
    }
