"""Questions under one state of a context; answers are remembered."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from rlx.grammar import tir
from rlx.grammar.tir import PrimExpr
from rlx.solver import canonical, facts, intervals, normal_form, prim_exprs, relation
from rlx.solver.budget import FUEL, LARGE, NODES, Work, undisturbed
from rlx.solver.consistency import empty_range, simply_possible
from rlx.solver.context import MachineState, State
from rlx.solver.engine import Engine
from rlx.solver.overflow import without_overflow
from rlx.solver.poly import OutOfFuelError
from rlx.solver.question import Question, named
from rlx.solver.statistics import Statistics
from rlx.solver.verdict import (
    CONTRADICTORY,
    NEVER_DEFINED,
    Proved,
    Refuted,
    Relation,
    Unknown,
    Verdict,
)

_TRIES = 24
"""How many assumptions are tried for an explanation."""
_KEPT = 40_000
"""Nodes of questions whose answers are remembered, with the normal form of what occurs in them."""


class Session:
    """A state of a context with its normal form and the answers given so far."""

    def __init__(self, state: State, statistics: Statistics, int64: bool) -> None:
        if int64:
            state = MachineState(state.ranges, state.facts, state.definitions)
        self.state = state
        self.int64 = int64
        self.statistics = statistics
        known = canonical.constraints(state)
        self._conditions = [
            c for c in known if prim_exprs.stranger(prim_exprs.topological(c)) is None
        ]
        self._strange = len(self._conditions) < len(known)
        self._contradictory = None if self._conditions or state.ranges else False
        self._components = canonical.Components(self._conditions)
        self._answers: dict[object, Verdict] = {}
        self._relations: dict[object, Relation] = {}
        self._witnesses: dict[PrimExpr, Verdict] = {}
        self._plain: Engine | None = None
        self._consistent = True
        self._kept = 0
        self.work = Work()

    def begin(self) -> None:
        """A new question begins: work is counted from here.

        Answers and normal forms are forgotten when many were collected, so that a prover which is asked and asked
        stays as small as it is.
        """
        self.work = Work()
        if self._kept > _KEPT:
            self._kept = 0
            self._answers.clear()
            self._relations.clear()
            self._plain = None

    # Questions

    def equal(self, a: PrimExpr, b: PrimExpr) -> Verdict:
        """Whether two expressions agree."""
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
            found = self._answers[condition] = self._always(condition)
        else:
            self.statistics.count("remembered")
        return found

    def _always(self, condition: PrimExpr) -> Verdict:
        started = perf_counter()
        try:
            with undisturbed():
                verdict = self._decided(condition)
        except prim_exprs.TooLargeError as reason:
            verdict = Unknown(str(reason))
        means = verdict.means if isinstance(verdict, (Proved, Refuted)) else verdict.status
        self.statistics.count(means)
        self.statistics.time(perf_counter() - started, condition)
        return verdict

    def _decided(self, condition: PrimExpr) -> Verdict:
        expanded = condition
        order = prim_exprs.topological(condition, limit=NODES)
        self._kept += len(order)
        strange = prim_exprs.stranger(order)
        if strange is not None:
            return self._told(Unknown(f"{prim_exprs.named(strange)} is no integer arithmetic"))
        if prim_exprs.has_call(order):
            (expanded,) = prim_exprs.expand([condition])
            order = prim_exprs.topological(expanded)
        self.work.measure(len(order))
        verdict = self._told(self._conjunction(expanded, order))
        if self.int64 and isinstance(verdict, Proved) and verdict.means != CONTRADICTORY:
            return without_overflow(self, expanded, verdict)
        return verdict

    def _told(self, verdict: Verdict) -> Verdict:
        """The verdict; that the assumptions contradict each other goes before all else."""
        if not isinstance(verdict, Refuted) and self.contradictory():
            return Proved(CONTRADICTORY)
        if self._strange and isinstance(verdict, Refuted):
            return Unknown("an assumption is no integer arithmetic")
        return verdict

    def contradictory(self) -> bool:
        """Whether no values satisfy the assumptions, as far as that is found out."""
        if self._contradictory is None:
            _, groups = self._components.split(())
            self._contradictory = empty_range(self.state) or any(map(self._impossible, groups))
        return self._contradictory

    def _impossible(self, group: list[PrimExpr]) -> bool:
        """Whether no values satisfy some assumptions."""
        if simply_possible(self.state, group):
            return False
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
        for part in prim_exprs.conjuncts(condition):
            below = prim_exprs.topological(part)
            if self._by_normal_form(part, below):
                proved.append(self._proved("normal form", part, below))
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
            verdict = self._searched(part, prim_exprs.topological(part))
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
            order = prim_exprs.topological(goal)
        large = len(order) > LARGE
        if self._by_normal_form(goal, order, hasty=large):
            return self._proved("normal form", goal, order)
        if not large:
            return self._searched(goal, order)
        question = self.question(goal)
        refuted = question.at_first_sight()
        if refuted is not None:
            return self.completed(refuted, question)
        if self._by_normal_form(goal, order):
            return self._proved("normal form", goal, order)
        return self._searched(goal, order, question)

    def _searched(
        self, goal: PrimExpr, order: list[PrimExpr], question: Question | None = None
    ) -> Verdict:
        """The answer to a condition that the normal form does not prove."""
        if self.work.exhausted:
            return Unknown("the question needs too much work")
        if question is None:
            question = self.question(goal)
        verdict = question.decide()
        match verdict:
            case Proved(means=means):
                return self._proved(means, goal, order)
            case Refuted():
                return self.completed(verdict, question)
        return verdict

    def question(self, goal: PrimExpr) -> Question:
        """The goal with the facts connected to it."""
        near, _ = self._components.split(prim_exprs.variables([goal]))
        return Question(goal, self.state, near, self.work)

    def whole(self, goal: PrimExpr) -> Question:
        """The goal with all facts."""
        return Question(goal, self.state, self._conditions, self.work)

    # Normal form

    def plain(self) -> Engine:
        """The normal form of this state, shared by all questions."""
        if self._plain is None:
            engine = Engine(FUEL)
            self.work.lend(engine, len(self._conditions))
            used = dict.fromkeys(prim_exprs.variables(self._conditions))
            for var in (*self.state.ranges, *self.state.definitions):
                used.setdefault(var)
            try:
                ranges = [(v, self.state.range_of(v)) for v in used]
                defined = [tir.NE(d, prim_exprs.ZERO) for d in canonical.divisors(self._conditions)]
                self._consistent = facts.load(engine, ranges, (), [*defined, *self._conditions])
            except (OutOfFuelError, RecursionError):
                engine = Engine(FUEL)
            self._plain = engine
        return self._plain

    def _ready(self, order: list[PrimExpr], hasty: bool = False) -> Engine:
        """The shared normal form, with the ranges of all variables that occur."""
        engine = self.plain()
        self.work.lend(engine, len(order), hasty)
        memo = engine.memo
        for var in order:
            if type(var) is tir.Var and var not in memo:
                index = engine.atom("var", (), var).index
                if index not in engine.ranges:
                    engine.ranges[index] = self.state.range_of(var)
        return engine

    def _by_normal_form(self, goal: PrimExpr, order: list[PrimExpr], hasty: bool = False) -> bool:
        engine = self._ready(order, hasty)
        try:
            return normal_form.condition(engine, goal, order) is engine.true
        except (OutOfFuelError, RecursionError):
            # What was under way when the fuel ran out left limits that say less than they could.
            engine.forget_limits()
            return False

    def _proved(self, means: str, goal: PrimExpr, order: list[PrimExpr]) -> Proved:
        """The verdict, with the divisors of the goal that are not known to be different from zero."""
        needed: dict[object, PrimExpr] = {}
        for divisor in canonical.divisors([goal], order):
            try:
                engine = self._ready(prim_exprs.topological(divisor))
                poly = normal_form.polynomial(engine, divisor)
                low, high = intervals.interval(engine, poly)
                if low == high == 0 and self._consistent:
                    means = NEVER_DEFINED
                if not ((low is not None and low > 0) or (high is not None and high < 0)):
                    needed.setdefault(poly, divisor)
            except (OutOfFuelError, RecursionError):
                needed[divisor] = divisor
        return Proved(means, tuple(needed.values()))

    def simplify(self, expr: PrimExpr) -> PrimExpr:
        """The normal form as an expression, where it is shorter."""
        from rlx.solver.rebuild import rebuilt

        (expanded,) = prim_exprs.expand([expr])
        order = prim_exprs.topological(expanded)
        if prim_exprs.stranger(order) is not None:
            return expr
        self._kept += len(order)
        try:
            engine = self._ready(order)
            new = rebuilt(engine, normal_form.normalize(engine, expanded))
        except (OutOfFuelError, RecursionError):
            return expr
        if new is None or prim_exprs.weight(new) >= prim_exprs.weight(expr):
            return expr
        return new

    # Counterexamples

    def completed(self, refuted: Refuted, question: Question) -> Verdict:
        """The refutation, if the facts that have nothing to do with the goal can hold as well."""
        _, far = self._components.split(question.variables)
        for group in far:
            witness = self._witness(group)
            if isinstance(witness, Proved):
                return Proved(CONTRADICTORY)
            if isinstance(witness, Unknown):
                return Unknown("the assumptions may contradict each other")
        return refuted

    def complete(self, refuted: Refuted) -> Refuted:
        """The refutation with values also for the variables of facts that it has nothing to do with."""
        values = dict(refuted.values)
        _, far = self._components.split(values)
        for group in far:
            witness = self._witness(group)
            if isinstance(witness, Refuted):
                values |= {v: x for v, x in witness.values.items() if v not in values}
        return Refuted(named(values), values, refuted.means, refuted.overflow)

    def _witness(self, group: list[PrimExpr]) -> Verdict:
        found = self._witnesses.get(group[0])
        if found is None:
            opposite = tir.Not(prim_exprs.conjunction(group))
            found = self._witnesses[group[0]] = Question(
                opposite, self.state, (), self.work
            ).decide()
        return found

    def witness(self, condition: PrimExpr) -> Verdict:
        """Refuted, by values that make a condition true; Proved where there are none."""
        return self.always(tir.Not(condition))

    # Relations

    def where(self, conditions: Sequence[PrimExpr]) -> Session:
        """The same state with more facts."""
        if not conditions:
            return self
        state = State(self.state.ranges, (*self.state.facts, *conditions), self.state.definitions)
        session = Session(state, Statistics(), int64=False)
        session.work = self.work
        # What is tried out is asked about in pairs: a goal and its opposite.
        session._contradictory = False
        return session

    def proves_quickly(self, condition: PrimExpr) -> bool:
        """Whether a condition is proved without SMT."""
        (expanded,) = prim_exprs.expand([condition])
        order = prim_exprs.topological(expanded)
        if prim_exprs.stranger(order) is not None:
            return False
        if self._by_normal_form(expanded, order):
            return True
        return self.question(expanded).holds_simply()

    def relate(self, pairs: Sequence[tuple[PrimExpr, PrimExpr]]) -> Relation:
        """How lists of dimensions compare."""
        key = tuple(e for pair in pairs for e in pair)
        found = self._relations.get(key)
        if found is None:
            found = self._relations[key] = relation.relate(self, pairs)
        else:
            self.statistics.count("remembered")
        return found

    def assumption(self, condition: PrimExpr) -> PrimExpr | None:
        """What would have to be assumed for a condition to be proved."""
        if not relation.simple_enough(condition):
            return None
        limits = relation.limits_of(self, condition, prim_exprs.topological(condition))
        return relation.first_that_helps(self, limits, condition, _TRIES)

    def limit_that_is(self, condition: PrimExpr, order: list[PrimExpr]) -> PrimExpr | None:
        """A condition on one variable, as a limit of that variable."""
        try:
            engine = self._ready(order)
            cond = normal_form.condition(engine, condition, order)
        except (OutOfFuelError, RecursionError):
            return None
        poly = cond.poly
        if poly is None or cond.kind != "ge" or any(len(mono) > 1 for mono in poly.terms):
            return None
        varying = [(engine.atoms[mono[0]], coef) for mono, coef in poly.terms.items() if mono]
        if len(varying) != 1 or not isinstance(varying[0][0].key, tir.Var):
            return None
        ((atom, coef),) = varying
        kind, constant = (
            (tir.GE, -poly.terms.get((), 0)) if coef > 0 else (tir.LE, poly.terms.get((), 0))
        )
        assert isinstance(atom.key, tir.Var)
        return kind(atom.key, tir.IntImm(constant))
