"""The one-call form: questions as text or as expressions."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import index

from rlx.grammar import tir
from rlx.grammar.tir import PrimExpr
from rlx.solver import walk
from rlx.solver.context import Context
from rlx.solver.prover import Prover
from rlx.solver.verdict import Refuted, Verdict
from rlx.solver.work import undisturbed

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
        Smallest value of a variable, by name; None for one that may be as small as its data type allows. All
        others are >= 0.
    int64
        Whether a value beyond 64 bits counts as a failure of the goal.

    Raises
    ------
    ValueError
        If a text cannot be read, or names a variable of which the expressions hold several.
    TypeError
        If goal or assumption is no expression, or a smallest value no integer.

    Warns
    -----
    UserWarning
        If ``lower`` names a variable that the question does not have.
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
    assumed = [assume] if isinstance(assume, str) else list(assume)
    with undisturbed():
        condition, *facts = _read([goal, *assumed])
    context = Context()
    if lower:
        _declare(context, walk.variables([condition, *facts]), lower)
    for fact in facts:
        context.assume(fact)
    return Prover(context, int64), condition


def _declare(
    context: Context, variables: Sequence[tir.Var], lower: Mapping[str, int | None]
) -> None:
    """Smallest values, by the names of the question's variables."""
    names = dict.fromkeys(var.name for var in variables)
    for name, value in lower.items():
        if value is not None and not hasattr(value, "__index__"):
            raise TypeError(
                f"lower: expected an integer or None for {name!r}, found {type(value).__name__} {value!r}"
            )
        if name not in names:
            # Limits of more variables than a question has are no mistake as such, but may come of one.
            known = f"its variables are {', '.join(names)}" if names else "it has none"
            message = (
                f"lower: the question has no variable {name!r}; {_nearest(name, names) or known}"
            )
            warnings.warn(message, stacklevel=4)
    for var in variables:
        if var.name in lower:
            value = lower[var.name]
            context.declare(var, lower=None if value is None else index(value))


def _nearest(name: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches

    by_case = {known.lower(): known for known in names}
    found = get_close_matches(name.lower(), by_case, n=1)
    return f"did you mean {by_case[found[0]]!r}?" if found else ""


def _read(goals: Sequence[Goal]) -> list[PrimExpr]:
    """The parts of one question; a name in a text is the variable of that name in the expressions."""
    foreign: dict[object, tir.Var] = {}
    read = [goal if isinstance(goal, str) else _expression(goal, foreign) for goal in goals]
    named: dict[str, tir.Var] = {}
    shared: set[str] = set()
    for var in walk.variables(goal for goal in read if not isinstance(goal, str)):
        if named.setdefault(var.name, var) is not var:
            shared.add(var.name)
    return [_text(goal, named, shared) if isinstance(goal, str) else goal for goal in read]


def _expression(goal: Goal, foreign: dict[object, tir.Var]) -> PrimExpr:
    if isinstance(goal, PrimExpr):
        return goal
    if isinstance(goal, bool):
        return walk.conjunction([]) if goal else tir.Not(walk.conjunction([]))
    from rlx.solver import interop

    return interop.from_tvm(goal, foreign)


def _text(goal: str, named: dict[str, tir.Var], shared: Collection[str]) -> PrimExpr:
    from rlx.solver import text

    read = text.parse(goal, named)
    for var in walk.variables([read]) if shared else ():
        if var.name in shared:
            raise ValueError(
                f"{var.name} is ambiguous: several variables of the question are called so"
            )
    return read


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
    with undisturbed():
        return explained(prover, condition)


def to_smtlib(
    goal: Goal,
    assume: Iterable[Goal] = (),
    lower: Mapping[str, int | None] | None = None,
    style: str = "purified",
    *,
    int64: bool = False,
) -> str:
    """The question as an SMT-LIB 2 script: ``unsat`` means proved.

    With ``int64`` the variables are within 64 bits, and that all values are is part of the goal.

    Parameters
    ----------
    style
        ``"purified"`` (quotients and remainders as variables), ``"raw"`` (``div`` and ``mod`` of SMT-LIB) or ``"split"``.

    Raises
    ------
    ValueError, TypeError
        As :func:`prove`; TypeError also for operations that are no integer arithmetic.
    """
    from rlx.solver.overflow import obligation
    from rlx.solver.session import Session
    from rlx.solver.smt import script

    prover, condition = question(goal, assume, lower)
    (expanded,) = walk.expand([condition])
    session = Session(prover.context.state, prover.statistics, int64)
    if not int64:
        return script(session.question(expanded).query(), style)
    text = script(session.question(obligation(expanded)).query(), style)
    return "; int64: that no value leaves 64 bits is part of the goal\n" + text
