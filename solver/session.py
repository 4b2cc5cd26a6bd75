"""Questions under one state of a context, with a cache of answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.prim_operators import INTEGER_DIVISIONS
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs
from rlx.solver.assumptions import SharedNormalForm
from rlx.solver.budget import LARGE, NODES, Statistics, Work, undisturbed
from rlx.solver.consistency import empty_range, moved_values, simple_values
from rlx.solver.context import Components, ContextState, constraints
from rlx.solver.differences import CHAIN
from rlx.solver.prim_exprs import Range
from rlx.solver.question import Question, named
from rlx.solver.search import fails_somewhere
from rlx.solver.tactics import (
    LIKELY,
    POINTS,
    SEARCH,
    SOLUTIONS,
    TACTICS,
    Tactic,
    decide,
    holds_simply,
)
from rlx.solver.usage_errors import DIGITS, too_long
from rlx.solver.verdict import CONTRADICTORY, Evidence, Proved, Refuted, Relation, Unknown, Verdict

_KEPT = 40_000
"""The maximum number of nodes of questions with cached answers and normal forms."""


class Session:
    """A state of a context with its normal form and cached answers."""

    def __init__(
        self,
        state: ContextState,
        statistics: Statistics,
        groups: dict[object, Verdict] | None = None,
    ) -> None:
        self.state = state
        self._groups = {} if groups is None else groups
        self.statistics = statistics
        known = constraints(state)
        orders = {c: tir.postorder(c) for c in known}
        self._conditions = {c: each for c, each in orders.items() if not prim_exprs.stranger(each)}
        self._strange = len(self._conditions) < len(orders)
        self._first = len(self._conditions) < CHAIN
        self._contradictory = None if self._conditions or state.ranges else False
        self._components = Components(self._conditions, self._conditions)
        self._answers: dict[object, Verdict] = {}
        self.relations: dict[object, Relation] = {}
        self._witnesses: dict[PrimExpr, Verdict] = {}
        self._doubtful: list[list[PrimExpr]] = []
        self._far = False
        self._sample = self._simple_values()
        self.shared = SharedNormalForm(state, self._conditions, self._sample)
        self.trail: list[str] = []
        self._trails: dict[PrimExpr, tuple[str, ...]] = {}
        self._kept = 0
        self._lengths: dict[PrimExpr, int] = {}
        self.work = Work()

    def begin(self) -> None:
        """Begin a new question with a new work limit.

        Cached answers and normal forms are dropped when there are many, so that the memory of a
        prover is bounded.
        """
        self.work = Work()
        if self._kept > _KEPT:
            self._kept = 0
            self._answers.clear()
            self._trails.clear()
            self.relations.clear()
            self._lengths.clear()
            self.shared.forget()

    # Questions

    def equal(self, a: PrimExpr, b: PrimExpr) -> Verdict:
        """Whether two expressions are equal."""
        key = (a, b)
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self.always(tir.EQ(a, b))
        else:
            self.statistics.count("remembered")
        return found

    def always(self, condition: PrimExpr) -> Verdict:
        """Whether a condition holds for all values."""
        found = self._answers.get(condition)
        if found is None:
            self.trail = []
            found = self._answers[condition] = self._always(condition)
            self._trails[condition] = tuple(dict.fromkeys(self.trail))
        else:
            self.statistics.count("remembered")
        return found

    def tried(self, condition: PrimExpr) -> tuple[str, ...]:
        """The names of the tactics tried on a condition, in order."""
        return self._trails.get(condition, ())

    def _always(self, condition: PrimExpr) -> Verdict:
        started = perf_counter()
        try:
            with undisturbed():
                verdict = self._decided(condition)
        except tir.TooLargeError as reason:
            verdict = Unknown(str(reason))
        if isinstance(verdict, Refuted) and any(map(too_long, verdict.values.values())):
            verdict = Unknown(f"a counterexample has a number of more than {DIGITS} digits")
        means = verdict.means if isinstance(verdict, (Proved, Refuted)) else verdict.status
        if isinstance(verdict, Proved):
            # The evidence does not keep the session in memory.
            evidence = Evidence(_certificate, self.claimed, condition, self.state, means)
            verdict = Proved(means, verdict.divisors, evidence)
        self.statistics.count(means)
        self.statistics.time(perf_counter() - started, condition)
        return verdict

    def _decided(self, condition: PrimExpr) -> Verdict:
        expanded = condition
        order = tir.postorder(condition, limit=NODES)
        self._kept += len(order)
        strange = prim_exprs.stranger(order)
        if strange is not None:
            return self._told(Unknown(f"{prim_exprs.named(strange)} is not integer arithmetic"))
        if prim_exprs.has_call(order):
            (expanded,) = prim_exprs.expand([condition])
            order = tir.postorder(expanded)
        self.work.measure(len(order))
        return self._checked(condition, self._told(self._conjunction(expanded, order)))

    @staticmethod
    def claimed(condition: PrimExpr) -> PrimExpr:
        """The goal whose proof over exact integers proves the condition; other kinds of integers
        ask for more.
        """
        return condition

    def _checked(self, condition: PrimExpr, verdict: Verdict) -> Verdict:
        """The verdict, after what else the kind of integers demands."""
        return verdict

    def _told(self, verdict: Verdict) -> Verdict:
        """The verdict; that the assumptions contradict each other goes before all else."""
        if not isinstance(verdict, Refuted) and self.contradictory():
            return Proved(CONTRADICTORY)
        if self._strange and isinstance(verdict, Refuted):
            return Unknown("an assumption is not integer arithmetic")
        return verdict

    def contradictory(self) -> bool:
        """Whether the assumptions are found to be contradictory."""
        if self._contradictory is None:
            empty = empty_range(self.state)
            self._contradictory = empty or any(map(self._impossible, self._doubtful))
        return self._contradictory

    def _simple_values(self) -> dict[tir.Var, int]:
        """Values that satisfy connected assumptions; where no simple ones do, it is doubtful
        whether any do.
        """
        found: dict[tir.Var, int] = {}
        _, groups = self._components.split(()) if self._conditions else ([], [])
        for group in groups:
            order = [*dict.fromkeys(n for c in group for n in self._conditions[c])]
            simple = simple_values(self.state, group, order)
            values = self._moved_values(group) if simple is None else simple
            if values is None:
                self._doubtful.append(group)
            else:
                found |= values
        return found

    def _moved_values(self, group: list[PrimExpr]) -> Mapping[tir.Var, int] | None:
        """Values that satisfy assumptions which simple ones do not; they refute goals at once, since it
        would take long to find others.
        """
        key = self._group(group)
        found = self._groups.get(key)
        if found is None:
            values = moved_values(self.state, group)
            if values is None:
                return None
            found = self._groups[key] = Refuted(named(values), values, "points")
        if not isinstance(found, Refuted):
            return None
        self._far = True
        return found.values

    def _impossible(self, group: list[PrimExpr]) -> bool:
        """Whether no values satisfy some assumptions."""
        # The question at hand keeps what it may cost.
        kept, self.work = self.work, Work()
        witness = self._witness(group)
        self.work = kept
        return isinstance(witness, Proved)

    def _conjunction(self, condition: PrimExpr, order: list[PrimExpr]) -> Verdict:
        if not isinstance(condition, tir.And):
            return self.settle(condition, order)
        proved: list[Proved] = []
        left: list[PrimExpr] = []
        self.trail.append("normal form")
        for part in prim_exprs.conjuncts(condition):
            below = tir.postorder(part)
            if self.shared.proves(part, below, self.work):
                proved.append(self.shared.proved("normal form", part, below, self.work))
            else:
                left.append(part)
        self.work.share = max(1, len(left))
        try:
            return self._all(condition, left, proved)
        finally:
            self.work.share = 1

    def _all(self, whole: PrimExpr, parts: list[PrimExpr], proved: list[Proved]) -> Verdict:
        """The verdict on a conjunction, some of whose parts are proved."""
        unknown: Verdict | None = None
        for part in parts:
            verdict = self._finished(self.question(part), SEARCH)
            match verdict:
                case Refuted():
                    # Another part may be undefined at these values: the whole is asked again.
                    return self.settle(whole)
                case Proved():
                    proved.append(verdict)
                case _:
                    unknown = verdict
        if unknown is not None:
            return unknown
        slowest = max((p.means for p in proved), key=len)
        return Proved(slowest, tuple(dict.fromkeys(d for p in proved for d in p.divisors)))

    def settle(self, goal: PrimExpr, order: list[PrimExpr] | None = None) -> Verdict:
        """The answer to one condition, in exact integers."""
        if order is None:
            order = tir.postorder(goal)
        fails = self._fails(order) if len(order) <= LARGE else None
        if fails and self._far:
            question = self.question(goal, order)
            if self._sample.keys() >= {*question.variables}:
                values = {var: self._sample[var] for var in question.variables}
                return self.completed(Refuted(named(values), values, "points"), question)
        if self._first and len(order) <= LARGE:
            # Most questions end here, so nothing else is prepared for them.
            if fails:
                question = self.question(goal, order)
                refuted = decide(question, SOLUTIONS if self._conditions else POINTS)
                self.trail += question.trail
                if isinstance(refuted, Refuted):
                    return refuted
            self.trail.append("normal form")
            if self.shared.proves(goal, order, self.work):
                return self.shared.proved("normal form", goal, order, self.work)
            return self._finished(
                self.question(goal, order), SEARCH if self._conditions or fails is None else LIKELY
            )
        return self._finished(self.question(goal, order), TACTICS)

    def _fails(self, order: list[PrimExpr]) -> bool | None:
        """Whether a condition is false at one of a few points; None if that is not known."""
        if self._doubtful:
            return None
        return fails_somewhere(order, self.state.range_of, self._sample)

    def _finished(self, question: Question, tactics: Sequence[Tactic]) -> Verdict:
        """The answer of the tactics, with what the whole state adds to it."""
        verdict = decide(question, tactics)
        self.trail += question.trail
        match verdict:
            case Proved(means=means):
                return self.shared.proved(means, question.goal, question.order, self.work)
            case Refuted():
                return self.completed(verdict, question)
        return verdict

    def question(self, goal: PrimExpr, order: list[PrimExpr] | None = None) -> Question:
        """The goal with the facts connected to it."""

        def near() -> Sequence[PrimExpr]:
            if not self._conditions:
                return ()
            connected, _ = self._components.split(tir.free_vars(goal))
            return connected

        return Question(goal, self.state, near, self.work, order, self.shared)

    def whole(self, goal: PrimExpr) -> Question:
        """The goal with all facts."""
        return Question(goal, self.state, lambda: [*self._conditions], self.work)

    def simplify(self, expr: PrimExpr) -> PrimExpr:
        """The normal form as an expression with sums as they are, if it is shorter; otherwise the
        same of the branches of choices.
        """
        order = tir.postorder(expr)
        whole = self.simplified(expr, order, factored=False)
        if whole is not expr or not prim_exprs.has_choice(order):
            return whole

        def inside(node: PrimExpr) -> PrimExpr | None:
            if not prim_exprs.conditional(node):
                return None
            chosen, *branches = tir.children(node)
            short = [self.simplified(b, tir.postorder(b), factored=False) for b in branches]
            return tir.with_operands(node, [chosen, *short])

        (changed,) = tir.transform([expr], inside)
        return self.simplified(changed, tir.postorder(changed), factored=False)

    def simplified(self, expr: PrimExpr, order: list[PrimExpr], factored: bool = True) -> PrimExpr:
        """The normal form of a whole expression, if it is shorter. `factored`: whether a factor that
        several terms have is written once.
        """
        new, lengths = self.normalized(expr, order, factored), self._lengths
        if new is None or prim_exprs.length(new, lengths) >= prim_exprs.length(expr, lengths):
            return expr
        return new

    def normalized(
        self, expr: PrimExpr, order: list[PrimExpr], factored: bool = True
    ) -> PrimExpr | None:
        """The normal form of an expression; None if it would be long, or if it has no value where
        the expression has one.
        """
        expanded = expr
        if prim_exprs.has_call(order):
            (expanded,) = prim_exprs.expand([expr])
            order = tir.postorder(expanded)
        if prim_exprs.stranger(order) is not None:
            return None
        self._kept += len(order)
        with undisturbed():
            new = self.shared.simplified(expanded, order, self.work, factored)
        if new is not None and prim_exprs.has_choice(order) and _unguarded(new, expanded):
            return None
        return new

    # Counterexamples

    def completed(self, refuted: Refuted, question: Question) -> Verdict:
        """The refutation, if the unconnected facts are also satisfiable."""
        _, far = self._components.split(question.variables)
        for group in far:
            witness = self._witness(group)
            if isinstance(witness, Proved):
                return Proved(CONTRADICTORY)
            if isinstance(witness, Unknown):
                return Unknown("the assumptions may contradict each other")
        return refuted

    def complete(self, refuted: Refuted) -> Refuted:
        """The refutation, extended by values for the variables of unconnected facts."""
        values = dict(refuted.values)
        _, far = self._components.split(values)
        for group in far:
            witness = self._witness(group)
            if isinstance(witness, Refuted):
                values |= {
                    v: x for v, x in witness.values.items() if not (v in values or too_long(x))
                }
        return Refuted(named(values), values, refuted.means, refuted.overflow)

    def _witness(self, group: list[PrimExpr]) -> Verdict:
        first, *_ = group
        found = self._witnesses.get(first)
        if found is None:
            key = self._group(group)
            found = self._groups.get(key)
            if found is None:
                opposite = tir.Not(prim_exprs.conjunction(group))
                found = decide(Question(opposite, self.state, tuple, self.work))
                if not isinstance(found, Unknown):
                    self._groups[key] = found
            self._witnesses[first] = found
        return found

    def _group(self, group: list[PrimExpr]) -> object:
        """A key for connected facts: they have the same witness under more facts, as long as these are about
        others.
        """
        return tuple(group), tuple(map(self.state.range_of, tir.free_vars(*group)))

    def witness(self, condition: PrimExpr) -> Verdict:
        """Refuted by values that make a condition true; Proved if there are none."""
        return self.always(tir.Not(condition))

    # Relations

    def where(self, conditions: Sequence[PrimExpr]) -> Session:
        """The same state with more facts."""
        if not conditions:
            return self
        old = self.state
        state = type(old)(old.ranges, (*old.facts, *conditions), old.definitions)
        session = Session(state, Statistics())
        session.work = self.work
        # What is tried out is asked about in pairs: a goal and its opposite.
        session._contradictory = False
        return session

    def with_ranges(self, ranges: dict[tir.Var, Range]) -> Session:
        """The same state with the ranges of more variables."""
        old = self.state
        session = Session(type(old)(old.ranges | ranges, old.facts, old.definitions), Statistics())
        session.work = self.work
        session._contradictory = False
        return session

    def proves_quickly(self, condition: PrimExpr) -> bool:
        """Whether a condition is proved without SMT."""
        (expanded,) = prim_exprs.expand([condition])
        order = tir.postorder(expanded)
        if prim_exprs.stranger(order) is not None:
            return False
        if self._fails(order):
            return False
        if self.shared.proves(expanded, order, self.work):
            return True
        return holds_simply(self.question(expanded, order))

    def limit_that_is(self, condition: PrimExpr) -> PrimExpr | None:
        """A condition on one variable, as a limit of this variable."""
        order = tir.postorder(condition)
        return self.shared.limit_that_is(condition, order, self.work)


def _certificate(
    claimed: Callable[[PrimExpr], PrimExpr], condition: PrimExpr, state: ContextState, means: str
) -> dict[str, Any]:
    from rlx.solver.proofs.producer import certificate  # few ask for one

    return certificate(claimed(condition), state, means)


def _unguarded(new: PrimExpr, old: PrimExpr) -> bool:
    """Whether a new expression divides, loads or calls what the old one does in a branch only."""

    def risks(nodes: Iterable[PrimExpr]) -> set[PrimExpr]:
        found: set[PrimExpr] = set()
        for node in nodes:
            if isinstance(node, INTEGER_DIVISIONS):
                if not isinstance(node.b, tir.IntImm):
                    found.add(tir.interned(node.b))
            elif isinstance(node, (tir.BufferLoad, tir.Call)) and not prim_exprs.conditional(node):
                found.add(node)
        return found

    always = tir.reached(
        [old], lambda e: tir.children(e)[: 1 if prim_exprs.conditional(e) else None]
    )
    return not risks(tir.postorder(new)) <= risks(always)
