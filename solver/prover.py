"""The prover: questions about integer expressions under a context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlx.grammar import tir
from rlx.grammar.tir import PrimExpr
from rlx.solver import prim_exprs, usage_errors
from rlx.solver.budget import Statistics
from rlx.solver.context import Context, ContextState
from rlx.solver.verdict import Proved, Refuted, Relation, Verdict

if TYPE_CHECKING:
    from rlx.solver.session import Session

_SESSIONS = 8


class Prover:
    """Answers questions under a context, which may change between them.

    Integers are exact, those of narrow types too; only casts wrap. What is no scalar integer or
    Boolean is unknown. A condition is proved if it holds wherever it is defined: for all values of
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
            raise TypeError(f"expected a Context, found {usage_errors.described(context)}")
        usage_errors.flag("int64", int64)
        self.context = Context() if context is None else context
        self.int64 = int64
        self.statistics = Statistics()
        self._sessions: dict[ContextState, Session] = {}

    def equal(self, a: PrimExpr, b: PrimExpr) -> Verdict:
        """Whether two expressions have the same value wherever both are defined.

        Raises
        ------
        TypeError
            Here as for all questions: if an argument is no :class:`~rlx.grammar.tir.PrimExpr`, such
            as a text.
        """
        usage_errors.expressions(a, b)
        state = self.context.state
        # In int64 mode values may overflow, and facts may contradict each other.
        if not (self.int64 or state.facts or state.definitions) and prim_exprs.alike(a, b):
            self.statistics.sight += 1
            return IDENTICAL
        return self._session().equal(a, b)

    def always(self, condition: PrimExpr) -> Verdict:
        """Whether a condition holds for all values."""
        usage_errors.condition(condition)
        return self._session().always(condition)

    def tried(self, condition: PrimExpr) -> tuple[str, ...]:
        """The names of the tactics (:data:`rlx.solver.tactics.TACTICS`) that :meth:`always` tried,
        in order.
        """
        session = self._sessions.get(self.context.state)
        return () if session is None else session.tried(condition)

    def never(self, condition: PrimExpr) -> Verdict:
        """Whether a condition holds for no value; a counterexample makes it true."""
        usage_errors.condition(condition)
        return self._session().always(tir.Not(condition))

    def complete(self, refuted: Refuted) -> Refuted:
        """A refutation with a value for every variable of every fact.

        Raises
        ------
        TypeError
            If it is another verdict.
        """
        if not isinstance(refuted, Refuted):
            raise TypeError(f"expected a Refuted, found {usage_errors.described(refuted)}")
        return self._session().complete(refuted)

    def simplify(self, expr: PrimExpr) -> PrimExpr:
        """An expression of the same value wherever ``expr`` is defined, in normal form if that is
        shorter.
        """
        usage_errors.expressions(expr)
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
        session = self._session()
        from rlx.solver import relation

        return relation.relate(session, open_pairs)

    def assumption(self, condition: PrimExpr) -> PrimExpr | None:
        """A simple condition that can hold and under which another one is proved; None where none
        was found.
        """
        usage_errors.condition(condition)
        session = self._session()
        from rlx.solver import relation

        return relation.assumption(session, condition)

    def _session(self) -> Session:
        state = self.context.state
        session = self._sessions.get(state)
        if session is None:
            if len(self._sessions) >= _SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            session = self._sessions[state] = self._new_session(state)
        session.begin()
        return session

    def _new_session(self, state: ContextState) -> Session:
        if self.int64:
            from rlx.solver.overflow import MachineSession

            return MachineSession(state, self.statistics)
        from rlx.solver.session import Session

        return Session(state, self.statistics)


def _expect_pairs(pairs: object) -> None:
    if isinstance(pairs, list | tuple):
        for pair in pairs:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise TypeError(
                    f"expected pairs of expressions, found {usage_errors.described(pair)}"
                )
            if not (isinstance(pair[0], PrimExpr) and isinstance(pair[1], PrimExpr)):
                usage_errors.expressions(*pair)
    else:
        raise TypeError(f"expected a list of pairs, found {usage_errors.described(pairs)}")


IDENTICAL = Proved("identical")
_ALWAYS = Relation("always")


def equation(pairs: Sequence[tuple[PrimExpr, PrimExpr]]) -> PrimExpr:
    """All pairs equal, as one condition."""
    return prim_exprs.conjunction(tir.EQ(a, b) for a, b in pairs)
