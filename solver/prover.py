"""The prover: questions about integer expressions under a context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlx.grammar import tir
from rlx.grammar.tir import PrimExpr
from rlx.solver import walk
from rlx.solver.context import Context, State
from rlx.solver.statistics import Statistics
from rlx.solver.verdict import Proved, Refuted, Relation, Verdict

if TYPE_CHECKING:
    from rlx.solver.session import Session

_SESSIONS = 8


class Prover:
    """Answers questions under a context, which may change between them.

    Integers are exact. A condition is proved if it holds wherever it is defined: for all values of
    the variables in their ranges that satisfy the facts and make no divisor zero.

    Parameters
    ----------
    context
        What is assumed; a fresh one where none is given.
    int64
        Whether a value beyond 64 bits counts as a failure of the goal: verdicts then show where
        intermediate values overflow.

    Attributes
    ----------
    statistics
        How many questions, by which means, the slowest ones.
    """

    __slots__ = ("_sessions", "context", "int64", "statistics")

    def __init__(self, context: Context | None = None, int64: bool = False) -> None:
        self.context = Context() if context is None else context
        self.int64 = int64
        self.statistics = Statistics()
        self._sessions: dict[State, Session] = {}

    def equal(self, a: PrimExpr, b: PrimExpr) -> Verdict:
        """Whether two expressions have the same value wherever both are defined.

        Raises
        ------
        TypeError
            Here as for all questions: if an argument is no :class:`~rlx.grammar.tir.PrimExpr`, such as a text.
        """
        if type(a) is tir.IntImm and type(b) is tir.IntImm and a.value == b.value:
            self.statistics.sight += 1
            return IDENTICAL
        if not self.int64 and (a is b or walk.alike(a, b)):
            self.statistics.sight += 1
            return IDENTICAL
        walk.expect_expressions(a, b)
        return self._session().equal(a, b)

    def always(self, condition: PrimExpr) -> Verdict:
        """Whether a condition holds for all values."""
        walk.expect_expressions(condition)
        return self._session().always(condition)

    def never(self, condition: PrimExpr) -> Verdict:
        """Whether a condition holds for no value; a counterexample makes it true."""
        walk.expect_expressions(condition)
        return self._session().always(tir.Not(condition))

    def complete(self, refuted: Refuted) -> Refuted:
        """A refutation with a value for every variable of every fact."""
        return self._session().complete(refuted)

    def simplify(self, expr: PrimExpr) -> PrimExpr:
        """An expression of the same value wherever ``expr`` is defined, in normal form if that is shorter."""
        walk.expect_expressions(expr)
        if isinstance(expr, (tir.Var, tir.IntImm)) and expr not in self.context.state.definitions:
            return expr
        return self._session().simplify(expr)

    def relate(self, a: PrimExpr, b: PrimExpr) -> Relation:
        """How two dimensions compare."""
        return self.relate_all(((a, b),))

    def relate_all(self, pairs: Sequence[tuple[PrimExpr, PrimExpr]]) -> Relation:
        """How two lists of dimensions compare, all pairs under the same values."""
        open_pairs = [(a, b) for a, b in pairs if self.int64 or not walk.alike(a, b)]
        if not open_pairs:
            self.statistics.sight += 1
            return _ALWAYS
        walk.expect_expressions(*(side for pair in open_pairs for side in pair))
        return self._session().relate(open_pairs)

    def assumption(self, condition: PrimExpr) -> PrimExpr | None:
        """A simple condition that can hold and under which another one is proved; None where none was found."""
        walk.expect_expressions(condition)
        return self._session().assumption(condition)

    def _session(self) -> Session:
        state = self.context.state
        session = self._sessions.get(state)
        if session is None:
            from rlx.solver.session import Session

            if len(self._sessions) >= _SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            session = self._sessions[state] = Session(state, self.statistics, self.int64)
        session.begin()
        return session


IDENTICAL = Proved("identical")
_ALWAYS = Relation("always")


def equation(pairs: Sequence[tuple[PrimExpr, PrimExpr]]) -> PrimExpr:
    """All pairs equal, as one condition."""
    return walk.conjunction(tir.EQ(a, b) for a, b in pairs)
