"""A proof under construction: its facts, its steps, and proofs below a step."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property
from keyword import iskeyword
from math import lcm
from time import process_time
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar
from unicodedata import normalize

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.expression_text import show
from rlx.solver.prim_exprs import Range
from rlx.solver.proofs.checker import (
    FALSE,
    RULES,
    TRUE,
    WORK,
    Cond,
    Poly,
    ProofChecker,
    RefusedError,
    as_cond,
    beside,
    combine,
    negate,
    shift,
    value,
)
from rlx.solver.smt import loaded_z3

K = TypeVar("K")
V = TypeVar("V")
_PROGRAMS = 500
"""The maximum number of linear programs for one certificate."""
_EFFORT = 600_000
"""The maximum number of products of terms, and of similar steps, for one certificate: about a
second. What needs more stays unchecked.
"""
_EMERGENCY = 10.0
"""The seconds of the processor after which a certificate is given up, whatever was counted."""
_WORK = 2 * WORK
"""The work of the checker's rules while a proof is made, with those that lead nowhere."""
ONE: Poly = {(): 1}
Row = tuple[Poly, Poly, tuple[int, ...], bool]
"""A fact or product of facts: its polynomial, a factor, the facts, whether it is 0."""
Item = tuple[Poly, tuple[int, ...]]
"""A factor, and the facts that it multiplies."""
Multipliers = list[tuple[Fraction, Poly, tuple[int, ...]]]
"""How often each row is taken: a number, a polynomial before the facts of the row, and these facts."""

INSIDE = ("div", "max", "bits", "power")
"""The kinds of atoms whose operands are polynomials."""
SIGNS = {"ge": ">=", "eq": "==", "ne": "!="}


class NotFoundError(Exception):
    """Raised if no certificate is found."""


class Spelling(ProofChecker):
    """A checker that writes facts as texts."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def define(self, name: str, atom: tuple[str, tuple[Any, ...]]) -> Poly:
        found = super().define(name, atom)
        self.names.append(name)
        return found

    def text(self, poly: Poly) -> str:
        """A polynomial over the names of its atoms."""
        parts = list[str]()
        for mono, coef in sorted(poly.items(), key=lambda t: (-len(t[0]), t[0])):
            number = [str(abs(coef))] if abs(coef) != 1 or not mono else []
            parts += ["-" if coef < 0 else "+", "*".join(number + [self.names[i] for i in mono])]
        parts[:2] = ["".join(parts[:2]).lstrip("+")]
        return " ".join(parts) or "0"

    def sentence(self, cond: Cond) -> str:
        """A condition over the names of its atoms."""
        kind, parts = cond
        if kind in SIGNS:
            return f"{self.text(dict(parts))} {SIGNS[kind]} 0"
        inner = f" {kind} ".join(f"({self.sentence(part)})" for part in parts)
        return inner or str(cond == TRUE)


class Drafting(Spelling):
    """A checker that names new atoms, for proofs under construction."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: set[str] = set()
        self.effort, self.started = _EFFORT, process_time()
        self.work = _WORK

    def mul(self, a: Poly, b: Poly) -> Poly:
        self.take(len(a) * len(b))
        return super().mul(a, b)

    def take(self, amount: int) -> None:
        """Use up effort. Raises NotFoundError if none is left."""
        self.effort -= amount
        if self.effort < 0 or process_time() - self.started > _EMERGENCY:
            raise NotFoundError("the proof needs too much effort")

    def name(self, atom: tuple[str, tuple[Any, ...]]) -> str:
        letter = {"div": "q", "max": "m", "choice": "c", "bits": "b", "power": "p"}[atom[0]]
        number = len(self.atoms)
        while (found := f"{letter}{number}") in self.taken:
            number += 1
        self.taken.add(found)
        return found


class Found(NamedTuple):
    """A step, and the number of its fact while the proof is made; None if it closes a case."""

    given: dict[str, Any]
    number: int | None


class Below(NamedTuple):
    """A proof below a step, with the numbers of the facts that it assumes."""

    steps: list[Found]
    first: int
    facts: int

    def needs_its_facts(self) -> bool:
        """Whether the proof uses what it assumes."""
        return not self.assumed().isdisjoint(needed(self.steps)[1])

    def assumed(self) -> set[int]:
        """The numbers of the facts that it assumes."""
        return {*range(self.first, self.first + self.facts)}


class Steps:
    """The facts and steps of a proof."""

    def __init__(
        self, goal: PrimExpr, facts: Sequence[PrimExpr], ranges: Sequence[tuple[tir.Var, Range]]
    ) -> None:
        self.goal, self.assumed, self.ranges = goal, facts, ranges
        self.names = distinct_names([var for var, _ in ranges])
        self.spelled = {name: var for var, name in self.names.items()}
        self.vars: dict[tir.Var, int] = {}
        self.checker = Drafting()
        self.checker.taken |= set(self.names.values())
        self.steps: list[Found] = []
        self.index: dict[Cond, int] = {}
        self.failed: dict[object, int] = {}
        self.notes: list[tuple[dict[Any, Any], object]] = []
        self.known_products: dict[tuple[int, ...], Poly] = {}
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
        self.targets = parts_of(negate(as_cond(form)))

    @cached_property
    def _z3(self) -> Any:
        """Z3's context of this proof alone: in a shared one, what Z3 finds depends on what it was
        asked before.
        """
        return loaded_z3().Context()

    def solution(self, lines: Sequence[str]) -> dict[str, Fraction] | None:
        """Numbers that satisfy linear conditions in SMT-LIB, by name; None if none are found."""
        solver = loaded_z3().SimpleSolver(ctx=self._z3)
        solver.set("rlimit", 200_000)
        solver.from_string("\n".join(lines))
        if str(solver.check()) != "sat":
            return None
        model = solver.model()
        numbers = {str(each): model[each] for each in model.decls()}
        return {
            name: Fraction(number.numerator_as_long(), number.denominator_as_long())
            for name, number in numbers.items()
        }

    def apply(
        self,
        rule: str,
        atom: int | None = None,
        polys: Sequence[Poly] = (),
        uses: Sequence[Any] = (),
        proofs: list[Below] | None = None,
        gives: Cond | None = None,
    ) -> int | None:
        """Add a step; the number of its fact, or None if that closes the case. Raises NotFoundError
        if the rule does not allow it.
        """
        checker = self.checker
        given: dict[str, Any] = {"rule": rule}
        operands: tuple[Any, ...] = ()
        if atom is not None:
            given["atom"] = checker.names[atom]
            operands = checker.atoms[atom][1]
        if polys or "terms" in RULES[rule][2]:
            given["terms"] = [checker.text(poly) for poly in polys]
        if uses or "uses" in RULES[rule][2]:
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
                conds=conds,
                kinds=kinds,
                depth=0,
            )
            if proofs is None:
                try:
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

    def note(self, known: dict[K, V], key: K, value: V) -> V:
        """Remember a result that stands on the present facts, while they stand."""
        known[key] = value
        self.notes.append((known, key))
        return value

    def kept(self) -> tuple[int, dict[Cond, int], int, int]:
        """What :meth:`restore` needs."""
        return len(self.steps), dict(self.index), len(self.checker.facts), len(self.notes)

    def restore(self, kept: tuple[int, dict[Cond, int], int, int]) -> None:
        """Take back the steps and facts since a point."""
        del self.steps[kept[0] :]
        self.index = dict(kept[1])
        self.forget(*kept[2:])

    def forget(self, facts: int, notes: int) -> None:
        """Take back facts from a number on, and the results noted since then."""
        del self.checker.facts[facts:], self.checker.used[facts:]
        for known, key in self.notes[notes:]:
            known.pop(key, None)
        del self.notes[notes:]

    @contextmanager
    def case(self, assumed: Cond) -> Iterator[Below]:
        """A proof below a step, with one more fact."""
        checker = self.checker
        checker.take(len(self.index))
        before, closed, steps = len(checker.facts), checker.closed, self.steps
        notes = len(self.notes)
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
            self.forget(before, notes)
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
        if len(listed) == 1 and len(listed[0][0]) == 1 and listed[0][1] == ONE:
            return listed[0][0][0]
        return self.apply("sum", None, [f for _, f in listed], [list(ids) for ids, _ in listed])

    @staticmethod
    def number(found: int | None) -> int:
        if found is None:
            raise NotFoundError("the case is closed")
        return found

    def scaled(self, items: Iterable[Item], factor: Poly) -> list[Item]:
        return [(self.checker.mul(factor, each), ids) for each, ids in items]

    def product(self, item: Item) -> Poly:
        poly, ids = item
        for each in ids:
            poly = self.checker.mul(poly, dict(self.checker.facts[each][1]))
        return poly

    @staticmethod
    def whole(found: Multipliers) -> list[Item]:
        size = lcm(*(factor.denominator for factor, _, _ in found))
        return [(shift({}, 0) or combine((int(f * size), p)), ids) for f, p, ids in found]

    def attempt(
        self, rule: str, index: int, uses: Sequence[int] = (), polys: Sequence[Poly] = ()
    ) -> None:
        try:
            self.apply(rule, index, polys, uses)
        except NotFoundError:
            return

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
        before, self.done = self.done, self.done | {number}
        try:
            proofs = self.each_closed(parts, close)
        finally:
            self.done = before
        self.by_each("cases", proofs, [number])

    def each_closed(self, parts: Iterable[Cond], close: Any) -> list[Below]:
        """The proofs below cases that assume one condition each; if one does not need it, no more."""
        proofs = list[Below]()
        for part in parts:
            with self.case(part) as proof:
                self.opposed(proof)
                if not self.closed:
                    close(part)
            proofs.append(proof)
            if not proof.needs_its_facts():
                return [proof]
        return proofs

    def by_each(
        self, rule: str, proofs: list[Below], uses: Sequence[int], polys: Sequence[Poly] = ()
    ) -> None:
        """Close a case by proofs that assume one case each, or by the one that needs no such
        assumption.
        """
        if proofs and not proofs[-1].needs_its_facts():
            self.steps += proofs[-1].steps
            self.checker.closed = True
        else:
            self.apply(rule, None, polys, uses, proofs)

    def opposed(self, proof: Below) -> None:
        """Close a case that assumes the opposite of a fact."""
        facts = self.checker.facts
        for number in range(proof.first, len(facts)):
            kind, parts = facts[number]
            for known in range(number) if kind in ("ge", "eq") and not self.closed else ():
                other, more = facts[known]
                if {kind, other} <= {"ge", "eq"} and len(parts) - len(more) in (-1, 0, 1):
                    total = value(combine((1, dict(parts)), (1, dict(more))))
                    if total is not None and (total < 0 or (kind == other == "eq" and total)):
                        self.total([(ONE, (number,)), (ONE, (known,))])
                        break

    def branching(self, poly: Poly, inner: bool = False) -> list[int]:
        """The maxima and choices in a polynomial, and in the operands of its quotients; with
        ``inner`` also those in the conditions of its choices.
        """
        found: dict[int, None] = {}
        waiting = [poly]
        while waiting:
            for index in self.below(waiting.pop(0)):
                kind, operands = self.checker.atoms[index]
                if kind in ("max", "choice") and index not in found:
                    found[index] = None
                    if inner and kind == "choice":
                        waiting += map(dict, leaves(operands[0]))
        return [*found]

    def below(self, poly: Poly, depth: int = 3, inside: Sequence[str] = INSIDE) -> list[int]:
        """The atoms of a polynomial and of the operands of such kinds of atoms."""
        found: dict[int, None] = {}
        waiting = [(i, depth) for mono in poly for i in mono]
        while waiting:
            index, left = waiting.pop(0)
            if index in found:
                continue
            found[index] = None
            kind, operands = self.checker.atoms[index]
            if left and kind in inside:
                waiting += [(i, left - 1) for part in operands for mono, _ in part for i in mono]
        return [*found]


def needed(steps: list[Found]) -> tuple[list[Found], set[int]]:
    """The steps that a proof needs, and the facts that these need from outside."""
    facts: set[int] = set()
    kept: list[Found] = []
    for given, number in reversed(steps):
        if number is not None and number not in facts:
            continue
        facts.discard(-1 if number is None else number)
        step = dict(given)
        for use in step.get("uses", ()):
            facts |= set(use) if isinstance(use, list) else {use}
        if "proofs" in step:
            proofs = []
            for below in step["proofs"]:
                inner, outside = needed(below.steps)
                facts |= outside - below.assumed()
                proofs.append(Below(inner, below.first, below.facts))
            step["proofs"] = proofs
        kept.append(Found(step, number))
    return kept[::-1], facts


def distinct_names(variables: Sequence[tir.Var]) -> dict[tir.Var, str]:
    """A name of its own for each variable, as the checker reads it."""
    names: dict[tir.Var, str] = {}
    taken = set[str]()
    for var in variables:
        name = re.sub(r"\W", "_", normalize("NFKC", var.name))
        name = name if name.isidentifier() else f"v{name}"
        while name in taken or iskeyword(name):
            name += "_"
        taken.add(name)
        names[var] = name
    return names


def leaves(cond: Cond) -> list[Any]:
    """The polynomials in a condition."""
    if cond[0] in ("and", "or"):
        return [leaf for part in cond[1] for leaf in leaves(part)]
    return [cond[1]]


def parts_of(cond: Cond) -> list[Cond]:
    return list(cond[1]) if cond[0] == "and" else [cond]
