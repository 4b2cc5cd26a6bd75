"""Functions for single questions, given as texts or as expressions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.stack import roomy
from rlx.solver import prim_exprs, usage_errors
from rlx.solver.budget import undisturbed
from rlx.solver.context import Context
from rlx.solver.proof_text import explained
from rlx.solver.prover import Prover
from rlx.solver.reading import Expression, Vocabulary
from rlx.solver.verdict import Refuted, Verdict

Goal = Expression
"""A condition."""

Assumptions = Iterable[Goal] | str | PrimExpr
"""A list of conditions, or a single one."""


@roomy
def prove(
    goal: Goal,
    assume: Assumptions = (),
    lower: Mapping[str, int | None] | None = None,
    *,
    int64: bool = False,
) -> Verdict:
    """Decide whether a condition holds for all values of its variables.

    Parameters
    ----------
    goal
        A condition, as text (``"n % 4 == 0"``; see :mod:`rlx.solver.question_parser`), as an
        expression or, where TVM is importable, as a TVM PrimExpr.
    assume
        Conditions that hold, as a list or a single one.
    lower
        Smallest value of a variable, by name; None for one that may be as small as its data type
        allows. All others are >= 0.
    int64
        Whether a value beyond 64 bits refutes the goal.

    Raises
    ------
    ValueError
        If a text cannot be parsed, is not a condition, or has a name that several variables of the
        expressions share; if no value of a variable's type is as large as its lower bound.
    TypeError
        If a goal or an assumption is not a condition (an integer, or the bool of ``a == b`` for two
        nodes), or another argument has the wrong type.

    Warns
    -----
    UserWarning
        If ``lower`` has a variable that the question does not have.
    """
    prover, condition = question(goal, assume, lower, int64=int64)
    verdict = prover.always(condition)
    return prover.complete(verdict) if isinstance(verdict, Refuted) else verdict


def question(
    goal: Goal,
    assume: Assumptions = (),
    lower: Mapping[str, int | None] | None = None,
    *,
    int64: bool = False,
) -> tuple[Prover, PrimExpr]:
    """A prover with the assumptions, and the goal as an expression."""
    usage_errors.flag("int64", int64)
    limits = _limits(lower)
    with undisturbed():
        condition, *facts = _read([goal, *_assumptions(assume)])
    context = Context()
    if limits:
        _declare(context, tir.free_vars(condition, *facts), limits)
    for fact in facts:
        context.assume(fact)
    return Prover(context, int64), condition


def _assumptions(assume: Assumptions) -> list[Goal]:
    """A list of assumptions; one that stands alone is the only one."""
    if isinstance(assume, str | PrimExpr):
        return [assume]
    if isinstance(assume, Iterable) and not isinstance(assume, Mapping | bytes):
        return list(assume)
    if assume is None or isinstance(assume, Mapping | bytes | bool | int | float):
        raise TypeError(
            f"assume: expected a list of conditions, found {usage_errors.described(assume)}"
        )
    return [assume]


def _limits(lower: Mapping[str, int | None] | None) -> dict[str, int | None]:
    """Smallest values by name."""
    if lower is None:
        return {}
    if not isinstance(lower, Mapping):
        raise TypeError(
            "lower: expected a mapping from names to integers, found"
            f" {usage_errors.described(lower)}"
        )
    for name in lower:
        if not isinstance(name, str):
            found = usage_errors.described(name)
            raise TypeError(f"lower: expected the name of a variable, found {found}")
    return {name: usage_errors.limit("lower", value, name) for name, value in lower.items()}


def _declare(
    context: Context, variables: Sequence[tir.Var], lower: Mapping[str, int | None]
) -> None:
    """Smallest values, by the names of the question's variables."""
    names = dict.fromkeys(var.name for var in variables)
    for name in lower:
        if name not in names:
            # Limits of more variables than a question has are no mistake as such, but may come of
            # one.
            known = f"its variables are {', '.join(names)}" if names else "it has none"
            message = (
                f"lower: the question has no variable {name!r}; {_nearest(name, names) or known}"
            )
            warnings.warn(message, stacklevel=4)
    for var in variables:
        if var.name in lower:
            context.declare(var, lower=lower[var.name])


def _nearest(name: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches

    by_case = {known.lower(): known for known in names}
    for found in get_close_matches(name.lower(), by_case):
        return f"did you mean {by_case[found]!r}?"
    return ""


def _read(goals: Sequence[Goal]) -> list[PrimExpr]:
    """The parts of one question; a name in a text is the variable of that name in the
    expressions.
    """
    vocabulary = Vocabulary()
    read = [goal if isinstance(goal, str) else _expression(goal, vocabulary) for goal in goals]
    vocabulary.meet(tir.free_vars(*(goal for goal in read if not isinstance(goal, str))))
    return [_text(goal, vocabulary) if isinstance(goal, str) else goal for goal in read]


def _expression(goal: Goal, vocabulary: Vocabulary) -> PrimExpr:
    found = vocabulary.expression(goal)
    usage_errors.condition(found)
    usage_errors.conditions_inside(found)
    return found


def _text(goal: str, vocabulary: Vocabulary) -> PrimExpr:
    found = vocabulary.expression(goal)
    if not prim_exprs.may_be_condition(found):
        raise ValueError(usage_errors.no_condition(found))
    return found


@roomy
def explain(
    goal: Goal,
    assume: Assumptions = (),
    lower: Mapping[str, int | None] | None = None,
    *,
    int64: bool = False,
) -> str:
    """The proof of a question as text: the steps, or a missing assumption.

    Raises
    ------
    ValueError, TypeError
        As :func:`prove`.
    """

    prover, condition = question(goal, assume, lower, int64=int64)
    with undisturbed():
        return explained(prover, condition)


@roomy
def to_smtlib(
    goal: Goal,
    assume: Assumptions = (),
    lower: Mapping[str, int | None] | None = None,
    style: str = "purified",
    *,
    int64: bool = False,
) -> str:
    """The question as an SMT-LIB 2 script: ``unsat`` means proved, ``sat`` that it is not.

    With ``int64`` the variables are within 64 bits, and the goal includes that all values are.

    Parameters
    ----------
    style
        ``"purified"`` (quotients and remainders as variables), ``"raw"`` (``div`` and ``mod`` of
        SMT-LIB) or ``"split"``; bit operations are written as bit vectors in every style.

    Raises
    ------
    ValueError, TypeError
        As :func:`prove`; TypeError also for operations that are not integer arithmetic.
    """
    usage_errors.flag("int64", int64)
    prover, condition = question(goal, assume, lower)
    return script_of(prover, condition, style, int64)


def script_of(
    prover: Prover, condition: PrimExpr, style: str = "purified", int64: bool = False
) -> str:
    """The SMT-LIB script of a question under a prover's assumptions; see :func:`to_smtlib`."""
    from rlx.solver.bit_vectors import script
    from rlx.solver.definedness import defined
    from rlx.solver.overflow import MachineSession, obligation
    from rlx.solver.session import Session
    from rlx.solver.smt import STYLES

    usage_errors.one_of("style", style, STYLES)
    expanded, *facts = prim_exprs.expand([condition, *prover.context.state.facts])
    foreign = prim_exprs.uninterpreted(tir.postorder(expanded, *facts))
    if foreign is not None:
        raise TypeError(f"expected integer arithmetic, found {prim_exprs.named(foreign)}")
    kind = MachineSession if int64 else Session
    session = kind(prover.context.state, prover.statistics)
    wanted = obligation(condition) if int64 else expanded
    query = session.whole(wanted).query()
    query = query.where([defined(part) for part in (expanded, *facts)])
    text = script(query, style, session.whole(wanted).word_ranges)
    if int64:
        return "; int64: the goal includes that every value fits into 64 bits\n" + text
    return text
