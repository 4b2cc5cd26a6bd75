"""One question with its connected facts, samples, normal form, and SMT text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.prim_operators import INTEGER_DIVISIONS
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import assumptions, intervals, normal_form, prim_exprs, search, smt
from rlx.solver.assumptions import SharedNormalForm
from rlx.solver.atom_values import poly_value
from rlx.solver.budget import FUEL, LARGE, Work
from rlx.solver.context import ContextState, demands, divisors, order, within_word
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.normal_form import Engine
from rlx.solver.poly import TooMuchWorkError
from rlx.solver.prim_exprs import Range
from rlx.solver.rebuild import rebuilt
from rlx.solver.search import Point, Tape
from rlx.solver.verdict import CONTRADICTORY, NEVER_DEFINED, Refuted


class Question:
    """A goal under the connected part of a context; the data of tactics are computed on demand.

    Parameters
    ----------
    goal
        A condition.
    state
        The assumptions.
    near
        Returns the facts that share variables with the goal, directly or indirectly.
    work
        The work limit.
    order
        The nodes of the goal, operands first.
    shared
        The normal form of all assumptions, if the goal is first tried in it.

    Attributes
    ----------
    hasty
        Whether the normal form had little fuel, so that a second attempt is useful.
    tried
        Descriptions of the failed attempts.
    trail
        The names of the tried tactics, in order.
    known_engine
        The normal form under the facts, once a tactic has computed it.
    consistent
        Whether no contradiction of the facts was found then.
    """

    consistent: bool

    def __init__(
        self,
        goal: PrimExpr,
        state: ContextState,
        near: Callable[[], Sequence[PrimExpr]],
        work: Work,
        order: list[PrimExpr] | None = None,
        shared: SharedNormalForm | None = None,
    ) -> None:
        self.goal = goal
        self.state = state
        self.work = work
        self.shared = shared
        self.order = tir.postorder(goal) if order is None else order
        self.hasty = False
        self.seen = False
        self.tried: list[str] = []
        self.trail: list[str] = []
        self._near = near
        self.known_engine: Engine | None = None

    @property
    def large(self) -> bool:
        """Whether the goal is large enough for a cheap first attempt."""
        return len(self.order) > LARGE

    @cached_property
    def near(self) -> Sequence[PrimExpr]:
        """The facts connected to the goal."""
        return self._near()

    @cached_property
    def _nodes(self) -> list[PrimExpr]:
        return tir.postorder(self.goal, *self.near) if self.near else self.order

    @cached_property
    def _ordered(self) -> tuple[tuple[tir.Var, ...], list[PrimExpr]]:
        """The variables and facts in an order that does not depend on how they were told."""
        if not self.near:
            return prim_exprs.variables_among(self._nodes), []
        variables, known = order(self.goal, self.near, self.state)
        return tuple(variables), known

    @property
    def variables(self) -> tuple[tir.Var, ...]:
        """The variables of the goal and of the facts."""
        return self._ordered[0]

    @property
    def facts(self) -> list[PrimExpr]:
        """The facts in canonical order."""
        return self._ordered[1]

    @cached_property
    def bitwise(self) -> bool:
        """Whether there are operations on bits, so that variables hold int64 values."""
        return any(map(prim_exprs.bitwise, self._nodes))

    @cached_property
    def ranges(self) -> tuple[Range, ...]:
        """The limits of the variables."""
        return tuple(self.state.range_of(v) for v in self.variables)

    @cached_property
    def word_ranges(self) -> tuple[Range, ...]:
        """The limits of the variables within 64 bits."""
        return tuple(within_word(v, *self.state.range_of(v)) for v in self.variables)

    @cached_property
    def divisors(self) -> list[PrimExpr]:
        """The divisors, which must not be zero."""
        return divisors([self.goal, *self.near], self._nodes)

    @cached_property
    def demands(self) -> list[PrimExpr]:
        """The conditions under which goal and facts are defined."""
        return demands([self.goal, *self.near])

    @property
    def size(self) -> int:
        """The number of nodes of the goal and the facts."""
        return len(self._nodes)

    @cached_property
    def foreign(self) -> PrimExpr | None:
        """A node that is not integer arithmetic."""
        return next((node for node in self._nodes if not prim_exprs.interpreted(node)), None)

    # Points

    @cached_property
    def tape(self) -> Tape:
        """Facts and goal, compiled for evaluation."""
        facts = self.facts
        return Tape([*facts, self.goal], self.variables, None if facts else self.order)

    def refute(self, values: dict[tir.Var, int], means: str) -> Refuted | None:
        """The refutation by these values, replayed by the evaluator; None if the evaluator
        disagrees.
        """
        try:
            limits = self.word_ranges if self.bitwise else self.ranges
            for var, (low, high) in zip(self.variables, limits, strict=True):
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

    @cached_property
    def lazy_goal(self) -> PrimExpr:
        """The goal with only taken branches evaluated."""
        return prim_exprs.lazily(self.goal)

    # Normal form

    def engine(self) -> Engine:
        """The normal form under the facts and the assumption that the divisors of the goal are
        nonzero.
        """
        shared = self.shared
        if self.known_engine is None and shared is not None and shared.bare and not self.demands:
            self.known_engine = shared.ready(self.order, self.work)
            self.consistent = True
        if self.known_engine is None:
            engine = Engine(FUEL)
            self.work.lend(engine, self.size)
            ranges = list(zip(self.variables, self.ranges, strict=True))
            sample = None if shared is None else shared.sample
            facts = [*self.demands, *self.facts]
            self.consistent = assumptions.load(engine, ranges, facts, sample=sample)
            self.work.lend(engine, self.size)
            self.known_engine = engine
        return self.known_engine

    def vacuous(self) -> str:
        """The reason why there are no values to consider."""
        engine = Engine(FUEL)
        self.work.lend(engine, self.size)
        defined = demands(self.facts)
        ranges = list(zip(self.variables, self.ranges, strict=True))
        possible = assumptions.load(engine, ranges, [*defined, *self.facts])
        return NEVER_DEFINED if possible else CONTRADICTORY

    # SMT

    def query(self, normalized: bool = False) -> smt.Query:
        """The question for an SMT solver, with the original or the normalised goal."""
        goal = self._normalized() if normalized else self.goal
        return smt.Query(
            self.variables,
            self.ranges,
            (*self.facts, *self.demands),
            goal,
            frozenset(self._positive_divisors(goal)),
        )

    def _normalized(self) -> PrimExpr:
        try:
            engine = self.engine()
            found = rebuilt(engine, normal_form.condition(engine, self.goal))
        except (TooMuchWorkError, RecursionError):
            return self.goal
        return self.goal if found is None else found

    def _positive_divisors(self, goal: PrimExpr) -> Iterator[PrimExpr]:
        try:
            engine = self.engine()
        except (TooMuchWorkError, RecursionError):
            engine = Engine(FUEL)
        self.work.lend(engine)
        for node in tir.postorder(goal, *self.facts):
            if isinstance(node, INTEGER_DIVISIONS):
                if isinstance(node.b, tir.IntImm):
                    if node.b.value > 0:
                        yield node.b
                    continue
                try:
                    if intervals.nonneg(engine, normal_form.polynomial(engine, node.b)):
                        yield node.b
                except (TooMuchWorkError, RecursionError):
                    continue


def named(values: dict[tir.Var, int]) -> dict[str, int]:
    """Values by name; a second variable of the same name gets a prime."""
    result: dict[str, int] = {}
    for var, value in values.items():
        name = var.name
        while name in result:
            name += "'"
        result[name] = value
    return result


_EFFORT = 30_000


class Samples:
    """The points of a question. The last root of its tape is the goal; the others are facts."""

    def __init__(self, tape: Tape, ranges: Sequence[Range], engine: Engine | None) -> None:
        self._tape = tape
        self._ranges = ranges
        self._engine = engine if engine is not None and engine.solved else None

    def find(self, budget: int) -> Point | None:
        """A minimised point at which the goal is false, or None."""
        points: Iterable[Point]
        if self._engine is None:
            points = search.points(self._ranges, budget, [*self._tape.literals])
        else:
            points = self._solved_points(self._engine, budget)
        for point in points:
            if self.refutes(point):
                # Small points come first and in order of size: only later ones can be improved.
                small = self._engine is None and sum(map(abs, point)) <= search.SMALL
                return point if small else self.shrink(point)
        return None

    def refutes(self, point: Point) -> bool:
        """Whether all facts hold and the goal is false."""
        results = self._tape.run(point)
        return results is not None and not results[-1] and all(results[:-1])

    def shrink(self, point: Point) -> Point:
        """A smaller point of the same kind."""
        return search.smaller(
            point,
            self._ranges,
            lambda smaller: self._in_range(smaller) and self.refutes(smaller),
            _EFFORT // len(self._tape),
        )

    def _in_range(self, point: Point) -> bool:
        return all(
            (low is None or value >= low) and (high is None or value <= high)
            for value, (low, high) in zip(point, self._ranges, strict=True)
        )

    def _solved_points(self, engine: Engine, budget: int) -> Iterator[Point]:
        """Choose values of the free variables, compute the solved ones."""
        wanted = [engine.atom("var", (), v) for v in self._tape.variables]
        polys = [engine.solved.get(a.index) or engine.of_atom(a) for a in wanted]
        free = [a for a in engine.atoms_in(*polys) if a.is_variable]
        limits = [intervals.atom_interval(engine, a) for a in free]
        for values in search.points(limits, budget):
            known = {a.index: v for a, v in zip(free, values, strict=True)}
            try:
                point = tuple(poly_value(engine, p, known) for p in polys)
            except ArithmeticError:
                continue
            if self._in_range(point):
                yield point
