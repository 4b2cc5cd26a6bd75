"""The normal form of one state of a context, which all questions under it share."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar import tir
from rlx.grammar.tir import PrimExpr
from rlx.solver import facts, intervals, normal_form, prim_exprs
from rlx.solver.budget import FUEL, Work
from rlx.solver.context import ContextState, divisors
from rlx.solver.engine import Engine
from rlx.solver.poly import TooMuchWorkError
from rlx.solver.verdict import NEVER_DEFINED, Proved


class SharedNormalForm:
    """What is assumed in normal form, and with it the expressions that occurred in questions.

    Parameters
    ----------
    state
        What is assumed.
    conditions
        The assumptions that are integer arithmetic.
    """

    def __init__(self, state: ContextState, conditions: Sequence[PrimExpr]) -> None:
        self.state = state
        self._conditions = conditions
        self._engine: Engine | None = None
        self._consistent = True

    def forget(self) -> None:
        """Drop the expressions of questions."""
        self._engine = None

    def engine(self, work: Work) -> Engine:
        """The normal form of the assumptions; what it costs is taken from the work."""
        if self._engine is None:
            engine = Engine(FUEL)
            work.lend(engine, len(self._conditions))
            used = dict.fromkeys(prim_exprs.variables(self._conditions))
            for var in (*self.state.ranges, *self.state.definitions):
                used.setdefault(var)
            try:
                ranges = [(v, self.state.range_of(v)) for v in used]
                defined = [tir.NE(d, prim_exprs.ZERO) for d in divisors(self._conditions)]
                self._consistent = facts.load(engine, ranges, (), [*defined, *self._conditions])
            except (TooMuchWorkError, RecursionError):
                engine = Engine(FUEL)
            self._engine = engine
        return self._engine

    def _ready(self, order: list[PrimExpr], work: Work, hasty: bool = False) -> Engine:
        """The engine, with the ranges of all variables that occur."""
        engine = self.engine(work)
        work.lend(engine, len(order), hasty)
        memo = engine.memo
        for var in order:
            if type(var) is tir.Var and var not in memo:
                index = engine.atom("var", (), var).index
                if index not in engine.ranges:
                    engine.ranges[index] = self.state.range_of(var)
        return engine

    def proves(
        self, goal: PrimExpr, order: list[PrimExpr], work: Work, hasty: bool = False
    ) -> bool:
        """Whether the normal form of a condition is true; ``order`` are its nodes, operands
        first.
        """
        engine = self._ready(order, work, hasty)
        try:
            return normal_form.condition(engine, goal, order) is engine.true
        except (TooMuchWorkError, RecursionError):
            # What was under way when the fuel ran out left limits that say less than they could.
            engine.forget_limits()
            return False

    def proved(self, means: str, goal: PrimExpr, order: list[PrimExpr], work: Work) -> Proved:
        """The verdict, with the divisors of the goal that are not known to be different from
        zero.
        """
        needed: dict[object, PrimExpr] = {}
        for divisor in divisors([goal], order):
            try:
                engine = self._ready(prim_exprs.topological(divisor), work)
                poly = normal_form.polynomial(engine, divisor)
                low, high = intervals.interval(engine, poly)
                if low == high == 0 and self._consistent:
                    means = NEVER_DEFINED
                if not ((low is not None and low > 0) or (high is not None and high < 0)):
                    needed.setdefault(poly, divisor)
            except (TooMuchWorkError, RecursionError):
                needed[divisor] = divisor
        return Proved(means, tuple(needed.values()))

    def simplified(self, expr: PrimExpr, order: list[PrimExpr], work: Work) -> PrimExpr | None:
        """The normal form as an expression; None where there is none."""
        from rlx.solver.rebuild import rebuilt

        try:
            engine = self._ready(order, work)
            return rebuilt(engine, normal_form.normalize(engine, expr))
        except (TooMuchWorkError, RecursionError):
            return None

    def limit_that_is(
        self, condition: PrimExpr, order: list[PrimExpr], work: Work
    ) -> PrimExpr | None:
        """A condition on one variable, as a limit of that variable."""
        try:
            engine = self._ready(order, work)
            cond = normal_form.condition(engine, condition, order)
        except (TooMuchWorkError, RecursionError):
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
