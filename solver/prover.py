"""The prover: questions about integer expressions under a context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlx.grammar import tir
from rlx.grammar.tir import PrimExpr
from rlx.solver import expected, prim_exprs
from rlx.solver.context import Context, State
from rlx.solver.statistics import Statistics
from rlx.solver.verdict import Proved, Refuted, Relation, Verdict

if TYPE_CHECKING:
    from rlx.solver.session import Session

_SESSIONS = 8


class Prover:
    """Answers questions under a context, which may change between them.

    Integers are exact, those of narrow types too; only casts wrap. What is no scalar integer or Boolean is unknown. A condition is proved if it holds wherever it is defined: for all values of
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
        if context is not None and not isinstance(context, Context):
            raise TypeError(f"expected a Context, found {expected.described(context)}")
        expected.flag("int64", int64)
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
        expected.expressions(a, b)
        state = self.context.state
        # In int64 mode values may overflow, and facts may contradict each other.
        if not (self.int64 or state.facts or state.definitions) and prim_exprs.alike(a, b):
            self.statistics.sight += 1
            return IDENTICAL
        return self._session().equal(a, b)

    def always(self, condition: PrimExpr) -> Verdict:
        """Whether a condition holds for all values."""
        expected.condition(condition)
        return self._session().always(condition)

    def never(self, condition: PrimExpr) -> Verdict:
        """Whether a condition holds for no value; a counterexample makes it true."""
        expected.condition(condition)
        return self._session().always(tir.Not(condition))

    def complete(self, refuted: Refuted) -> Refuted:
        """A refutation with a value for every variable of every fact.

        Raises
        ------
        TypeError
            If it is another verdict.
        """
        if not isinstance(refuted, Refuted):
            raise TypeError(f"expected a Refuted, found {expected.described(refuted)}")
        return self._session().complete(refuted)

    def simplify(self, expr: PrimExpr) -> PrimExpr:
        """An expression of the same value wherever ``expr`` is defined, in normal form if that is shorter."""
        expected.expressions(expr)
        if isinstance(expr, (tir.Var, tir.IntImm)) and expr not in self.context.state.definitions:
            return expr
        return self._session().simplify(expr)

    def relate(self, a: PrimExpr, b: PrimExpr) -> Relation:
        """How two dimensions compare."""
        return self.relate_all(((a, b),))

    def relate_all(self, pairs: Sequence[tuple[PrimExpr, PrimExpr]]) -> Relation:
        """How two lists of dimensions compare, all pairs under the same values.

        Raises
        ------
        TypeError
            If that are no pairs of expressions.
        """
        _expect_pairs(pairs)
        open_pairs = [(a, b) for a, b in pairs if self.int64 or not prim_exprs.alike(a, b)]
        if not open_pairs:
            self.statistics.sight += 1
            return _ALWAYS
        return self._session().relate(open_pairs)

    def assumption(self, condition: PrimExpr) -> PrimExpr | None:
        """A simple condition that can hold and under which another one is proved; None where none was found."""
        expected.condition(condition)
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


def _expect_pairs(pairs: object) -> None:
    if isinstance(pairs, list | tuple):
        for pair in pairs:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise TypeError(f"expected pairs of expressions, found {expected.described(pair)}")
            if not (isinstance(pair[0], PrimExpr) and isinstance(pair[1], PrimExpr)):
                expected.expressions(*pair)
    else:
        raise TypeError(f"expected a list of pairs, found {expected.described(pairs)}")


IDENTICAL = Proved("identical")
_ALWAYS = Relation("always")


def equation(pairs: Sequence[tuple[PrimExpr, PrimExpr]]) -> PrimExpr:
    """All pairs equal, as one condition."""
    return prim_exprs.conjunction(tir.EQ(a, b) for a, b in pairs)
