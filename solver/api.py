"""The one-call form: questions as text or as expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rlx.grammar import tir
from rlx.grammar.tir import PrimExpr
from rlx.solver import walk
from rlx.solver.context import Context
from rlx.solver.prover import Prover
from rlx.solver.verdict import Refuted, Verdict

Goal = object
"""Text, a :class:`rlx.grammar.tir.PrimExpr`, or a PrimExpr of TVM."""


def prove(
    goal: Goal,
    assume: Iterable[Goal] = (),
    lower: Mapping[str, int | None] | None = None,
    *,
    int64: bool = False,
) -> Verdict:
    """Decide whether a condition holds for all values of its variables.

    Parameters
    ----------
    goal
        A condition, as text (``"n % 4 == 0"``; see :mod:`rlx.solver.text`), as an expression or, where TVM is
        importable, as a TVM PrimExpr.
    assume
        Conditions that hold.
    lower
        Smallest value of a variable, by name; None for a variable without limit. All others are >= 0.
    int64
        Whether a value beyond 64 bits counts as a failure of the goal.

    Raises
    ------
    ValueError
        If a text cannot be read.
    TypeError
        If goal or assumption is no expression.
    """
    prover, condition = question(goal, assume, lower, int64=int64)
    verdict = prover.always(condition)
    return prover.complete(verdict) if isinstance(verdict, Refuted) else verdict


def question(
    goal: Goal,
    assume: Iterable[Goal] = (),
    lower: Mapping[str, int | None] | None = None,
    *,
    int64: bool = False,
) -> tuple[Prover, PrimExpr]:
    """A prover that assumes what is said, and the goal as an expression."""
    reader = _Reader()
    condition = reader.read(goal)
    assumed = [assume] if isinstance(assume, str) else list(assume)
    facts = [reader.read(fact) for fact in assumed]
    context = Context()
    if lower:
        for var in walk.variables([condition, *facts]):
            if var.name in lower:
                context.declare(var, lower=lower[var.name])
    for fact in facts:
        context.assume(fact)
    return Prover(context, int64), condition


class _Reader:
    """Reads the parts of one question; equal names are equal variables."""

    def __init__(self) -> None:
        self._variables: dict[str, tir.Var] = {}
        self._foreign: dict[object, tir.Var] = {}

    def read(self, goal: Goal) -> PrimExpr:
        if isinstance(goal, str):
            from rlx.solver import text

            return text.parse(goal, self._variables)
        if isinstance(goal, PrimExpr):
            for var in walk.variables([goal]):
                self._variables.setdefault(var.name, var)
            return goal
        if isinstance(goal, bool):
            return walk.conjunction([]) if goal else tir.Not(walk.conjunction([]))
        from rlx.solver import interop

        return interop.from_tvm(goal, self._foreign)


def explain(
    goal: Goal,
    assume: Iterable[Goal] = (),
    lower: Mapping[str, int | None] | None = None,
    *,
    int64: bool = False,
) -> str:
    """How a question is settled: the steps, or what would have to be assumed.

    Raises
    ------
    ValueError, TypeError
        As :func:`prove`.
    """
    from rlx.solver.explanation import explained

    prover, condition = question(goal, assume, lower, int64=int64)
    return explained(prover, condition)


def to_smtlib(
    goal: Goal,
    assume: Iterable[Goal] = (),
    lower: Mapping[str, int | None] | None = None,
    style: str = "purified",
) -> str:
    """The question as an SMT-LIB 2 script: ``unsat`` means proved.

    Parameters
    ----------
    style
        ``"purified"`` (quotients and remainders as variables), ``"raw"`` (``div`` and ``mod`` of SMT-LIB) or ``"split"``.

    Raises
    ------
    ValueError, TypeError
        As :func:`prove`; TypeError also for operations that are no integer arithmetic.
    """
    from rlx.solver.session import Session
    from rlx.solver.smt import script

    prover, condition = question(goal, assume, lower)
    (expanded,) = walk.expand([condition])
    session = Session(prover.context.state, prover.statistics, int64=False)
    return script(session.question(expanded).query(), style)
