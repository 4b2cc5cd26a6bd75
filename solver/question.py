"""One question with what matters for it: points, normal form, case distinctions, then SMT."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlx.grammar import tir
from rlx.grammar.prim_operators import INTEGER_DIVISIONS
from rlx.grammar.tir import PrimExpr
from rlx.solver import canonical, facts, intervals, normal_form, prim_exprs, smt, tactics
from rlx.solver.budget import FUEL, Work
from rlx.solver.context import Range, State
from rlx.solver.engine import Engine
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.generalize import generalizations
from rlx.solver.poly import OutOfFuelError
from rlx.solver.rebuild import rebuilt
from rlx.solver.samples import Samples
from rlx.solver.search import Tape
from rlx.solver.verdict import CONTRADICTORY, NEVER_DEFINED, Proved, Refuted, Unknown, Verdict

_FIRST, _MORE = 48, 600
_SMT_NODES = 1500
_GENERALIZED = 400
_SMT_DEGREE = 8
_SMT_LIMITS = (60_000, 200_000)
"""The work Z3 may do on each encoding, in rounds; what it decides at all costs the half at most."""
_SMT_TEXT = 10_000
_SMT_POWER = 4
"""Longer texts and higher powers get proportionally less: there a unit of work takes longer."""


_GENERAL = "generalized"
"""The encoding of a stronger question: values against it need not be values against this one."""


class Question:
    """A goal under the part of a context that is connected to it.

    Parameters
    ----------
    goal
        A condition.
    state
        What is assumed.
    near
        The facts that share variables with the goal, directly or not.
    work
        What it may cost.
    """

    def __init__(self, goal: PrimExpr, state: State, near: Sequence[PrimExpr], work: Work) -> None:
        self.goal = goal
        self._work = work
        self.state = state
        nodes = prim_exprs.topological(goal, *near)
        self.variables: tuple[tir.Var, ...]
        self.facts: list[PrimExpr]
        if near:
            variables, self.facts = canonical.order(goal, near, state)
            self.variables = tuple(variables)
        else:
            self.variables, self.facts = prim_exprs.variables_among(nodes), []
        self.ranges: tuple[Range, ...] = tuple(state.range_of(v) for v in self.variables)
        self.divisors = canonical.divisors([goal, *near], nodes)
        self.tried: list[str] = []
        self._engine: Engine | None = None
        self._consistent = True
        self.size = len(nodes)
        self.foreign = next((node for node in nodes if not prim_exprs.interpreted(node)), None)
        self._tape: Tape | None = None
        self._lazy: PrimExpr | None = None
        self._seen = False

    def decide(self) -> Verdict:
        """The answer, by the cheapest means that finds one."""
        for step in _STEPS:
            try:
                verdict = step(self)
            except (OutOfFuelError, RecursionError) as reason:
                self.tried.append(str(reason))
                continue
            if verdict is not None:
                return verdict
        return Unknown("; ".join(dict.fromkeys(self.tried)))

    # Points

    def tape(self) -> Tape:
        """Facts and goal, compiled for evaluation."""
        if self._tape is None:
            self._tape = Tape([*self.facts, self.goal], self.variables)
        return self._tape

    def at_first_sight(self) -> Refuted | None:
        """The refutation by small points, where no fact excludes most of them; the second time there is none."""
        if self.facts or self._seen:
            return None
        self._seen = True
        return self._points(_FIRST)

    def _more_points(self) -> Verdict | None:
        if self._seen and self._affordable(_MORE) == self._affordable(_FIRST):
            # These are the points that were tried at first sight.
            return None
        return self._points(_MORE)

    def _affordable(self, budget: int) -> int:
        """How many points to try: fewer of a large question."""
        return max(8, min(budget, 40_000 // len(self.tape())))

    def _points(self, budget: int) -> Refuted | None:
        if self.foreign is not None:
            return None
        tape = self.tape()
        if not tape.usable:
            self.tried.append("values too large to try points")
            return None
        samples = Samples(tape, self.ranges, self._engine)
        point = samples.find(self._affordable(budget))
        if point is None:
            self.tried.append("no counterexample among small and awkward values")
            return None
        return self.refute(dict(zip(self.variables, point, strict=True)), "points")

    def refute(self, values: dict[tir.Var, int], means: str) -> Refuted | None:
        """The refutation by these values, replayed by the evaluator; None where that disagrees."""
        try:
            for var, (low, high) in zip(self.variables, self.ranges, strict=True):
                value = values[var]
                if (low is not None and value < low) or (high is not None and value > high):
                    return None
            if not all(evaluate(fact, values) for fact in self.facts):
                return None
            if evaluate(self.goal, values):
                return None
        except UndefinedError:
            return None
        return Refuted(named(values), dict(values), means)

    def lazy_goal(self) -> PrimExpr:
        """The goal as it is evaluated where no branch is that is not taken."""
        if self._lazy is None:
            self._lazy = prim_exprs.lazily(self.goal)
        return self._lazy

    # Normal form

    def engine(self) -> Engine:
        """The normal form under the facts, and under the divisors of the goal not being zero."""
        if self._engine is None:
            engine = Engine(FUEL)
            self._work.lend(engine, self.size)
            defined: list[PrimExpr] = [tir.NE(d, prim_exprs.ZERO) for d in self.divisors]
            ranges = list(zip(self.variables, self.ranges, strict=True))
            self._consistent = facts.load(engine, ranges, (), [*defined, *self.facts])
            self._work.lend(engine, self.size)
            self._engine = engine
        return self._engine

    def _tactics(self) -> Verdict | None:
        engine = self.engine()
        if not self._consistent:
            return Proved(self._vacuous(), tuple(self.divisors))
        means = tactics.prove(engine, normal_form.condition(engine, self.goal))
        self.tried.append("normal form, bounds, residues and cases")
        return None if means is None else Proved(means, tuple(self.divisors))

    def _vacuous(self) -> str:
        """Why there are no values to be looked at."""
        engine = Engine(FUEL)
        self._work.lend(engine, self.size)
        defined = [tir.NE(d, prim_exprs.ZERO) for d in canonical.divisors(self.facts)]
        ranges = list(zip(self.variables, self.ranges, strict=True))
        possible = facts.load(engine, ranges, (), [*defined, *self.facts])
        return NEVER_DEFINED if possible else CONTRADICTORY

    def _generalized(self) -> Verdict | None:
        """The tactics on the goal with what occurs repeatedly as a variable."""
        for question in self._generalizations():
            found = question._tactics()
            if found is not None:
                return found
        return None

    def _generalizations(self) -> Iterator[Question]:
        """Stronger questions: what proves one of them proves this one."""
        if self.size > _GENERALIZED or self.foreign is not None:
            return
        engine = self.engine()
        ranges: dict[tir.Var, Range] = dict(zip(self.variables, self.ranges, strict=True))
        for (goal, *near), images in generalizations([self.goal, *self.facts]):
            limits = {
                var: intervals.interval(engine, normal_form.polynomial(engine, expr))
                for var, expr in images.items()
            }
            yield Question(goal, State(ranges | limits, tuple(near), {}), near, self._work)

    def holds_simply(self) -> bool:
        """Whether the goal is proved without SMT."""
        try:
            return self._tactics() is not None
        except (OutOfFuelError, RecursionError):
            return False

    # SMT

    def query(self, normalized: bool = False) -> smt.Query:
        """The question for an SMT solver, with the goal as it is or in normal form."""
        goal = self._normalized() if normalized else self.goal
        defined: list[PrimExpr] = [tir.NE(d, prim_exprs.ZERO) for d in self.divisors]
        return smt.Query(
            self.variables,
            self.ranges,
            (*self.facts, *defined),
            goal,
            frozenset(self._positive_divisors(goal)),
        )

    def _normalized(self) -> PrimExpr:
        try:
            engine = self.engine()
            found = rebuilt(engine, normal_form.condition(engine, self.goal))
        except (OutOfFuelError, RecursionError):
            return self.goal
        return self.goal if found is None else found

    def _positive_divisors(self, goal: PrimExpr) -> Iterator[PrimExpr]:
        try:
            engine = self.engine()
        except (OutOfFuelError, RecursionError):
            engine = Engine(FUEL)
        self._work.lend(engine)
        for node in prim_exprs.topological(goal, *self.facts):
            if isinstance(node, INTEGER_DIVISIONS):
                if isinstance(node.b, tir.IntImm):
                    if node.b.value > 0:
                        yield node.b
                    continue
                try:
                    if intervals.nonneg(engine, normal_form.polynomial(engine, node.b)):
                        yield node.b
                except (OutOfFuelError, RecursionError):
                    continue

    def _smt(self) -> Verdict | None:
        if self.foreign is not None:
            self.tried.append(f"{prim_exprs.named(self.foreign)} is no integer arithmetic")
            return None
        if self.size > _SMT_NODES:
            self.tried.append(f"{self.size} nodes are too many for SMT")
            return None
        if self.tape().degree > _SMT_DEGREE:
            self.tried.append("a power is too high for SMT")
            return None
        texts = self._texts()
        names = [f"v{i}" for i in range(len(self.variables))]
        power = max(self.tape().degree, _SMT_POWER)
        for limit in _SMT_LIMITS:
            for style, text in texts.items():
                length = max(len(text), _SMT_TEXT)
                granted = self._work.for_smt(limit * _SMT_TEXT * _SMT_POWER // (length * power))
                if not granted:
                    self.tried.append("no work is left for SMT")
                    return None
                answer = smt.solve(text, granted, names)
                if answer.status == "unsat":
                    return Proved(f"smt: {style}", tuple(self.divisors))
                if answer.status == "sat" and style != _GENERAL:
                    refuted = self._from_model(answer, names, style)
                    if refuted is not None:
                        return refuted
                self.tried.append(f"smt {style}: {answer.reason or answer.status}")
                if answer.reason == smt.LEFT:
                    return None
        return None

    def _texts(self) -> dict[str, str]:
        """The encodings by name."""
        texts = {"normalized": smt.encode(self.query(normalized=True), "purified")}
        texts |= {style: smt.encode(self.query(), style) for style in smt.STYLES}
        try:
            general = next(self._generalizations(), None)
        except (OutOfFuelError, RecursionError):
            general = None
        if general is not None:
            texts[_GENERAL] = smt.encode(general.query(normalized=True), "purified")
        return texts

    def _from_model(self, answer: smt.Answer, names: list[str], style: str) -> Refuted | None:
        point = tuple(answer.model[name] for name in names)
        if self.refute(dict(zip(self.variables, point, strict=True)), "smt") is None:
            return None
        tape = self.tape()
        if tape.usable:
            point = Samples(tape, self.ranges, None).shrink(point)
        return self.refute(dict(zip(self.variables, point, strict=True)), f"smt: {style}")


_STEPS = (
    Question.at_first_sight,
    Question._tactics,
    Question._more_points,
    Question._generalized,
    Question._smt,
)


def named(values: dict[tir.Var, int]) -> dict[str, int]:
    """Values by name; a second variable of the same name gets a prime."""
    result: dict[str, int] = {}
    for var, value in values.items():
        name = var.name
        while name in result:
            name += "'"
        result[name] = value
    return result
