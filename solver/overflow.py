"""int64 mode: detection of intermediate values that do not fit into 64 bits."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import coarse_intervals, intervals, prim_exprs
from rlx.solver.budget import Statistics
from rlx.solver.consistency import nearest
from rlx.solver.context import ContextState, Int64State
from rlx.solver.definedness import both, everywhere
from rlx.solver.evaluate import INT64_MAX, INT64_MIN, INT64_VALUES, UndefinedError, evaluate
from rlx.solver.prim_exprs import Range
from rlx.solver.question import Question, named
from rlx.solver.search import smaller
from rlx.solver.session import Session
from rlx.solver.tactics import SEARCH, decide
from rlx.solver.verdict import CONTRADICTORY, Proved, Refuted, Unknown, Verdict

_WIDTHS = (*range(1, 33), 40, 48, 56, 62)
_EVALUATIONS = 200_000
"""The number of nodes evaluated in search of an overflow."""


class MachineSession(Session):
    """Questions in 64 bits: a goal proved in exact integers must not overflow in intermediate
    values.
    """

    def __init__(self, state: ContextState, statistics: Statistics) -> None:
        super().__init__(Int64State(state.ranges, state.facts, state.definitions), statistics)

    @staticmethod
    def claimed(condition: PrimExpr) -> PrimExpr:
        return obligation(condition)

    def _checked(self, condition: PrimExpr, verdict: Verdict) -> Verdict:
        if isinstance(verdict, Proved) and verdict.means != CONTRADICTORY:
            self.trail.append("limits of int64")
            return without_overflow(self, _computed(condition), verdict)
        return verdict


def without_overflow(session: Session, goal: PrimExpr, proved: Proved) -> Verdict:
    """The verdict on a goal that holds in exact integers.

    Refuted by the smallest overflow found; still proved if all values fit into int64; otherwise
    unknown.
    """
    question = session.question(goal)
    if any(_unsigned(node) for node in tir.postorder(goal, *question.facts)):
        return Unknown("an unsigned type of 64 bits holds values beyond int64")
    witness = _witness(question)
    if witness is not None:
        return session.completed(witness, question)
    for node in _doubtful(session, goal):
        if session.work.exhausted:
            return Unknown("the question needs too much work")
        verdict = decide(session.question(prim_exprs.expanded(_in_int64(node))), SEARCH)
        if isinstance(verdict, Refuted):
            found = _overflow(question, {v: verdict.values.get(v, 0) for v in question.variables})
            if found is not None:
                return session.completed(found, question)
        if not isinstance(verdict, Proved):
            return _at_once(session, goal, question, proved)
    return proved


def _at_once(session: Session, goal: PrimExpr, question: Question, proved: Proved) -> Verdict:
    """The verdict where not each value by itself stays within int64: all that is evaluated, as one
    question.
    """
    # Both branches of a Select may be evaluated; a witness has to be one either way.
    strict = both(goal, everywhere(goal, _fits, lazy=False))
    match decide(session.question(prim_exprs.expanded(strict)), SEARCH):
        case Proved():
            return proved
        case Refuted(values=values):
            found = _overflow(question, {v: values.get(v, 0) for v in question.variables})
            if found is not None:
                return session.completed(found, question)
    return Unknown("an intermediate value may leave int64")


def _unsigned(node: PrimExpr) -> bool:
    """Whether a node may hold values that int64 does not, though its type does."""
    if isinstance(node, (tir.Var, tir.IntImm, tir.Cast)):
        return node.dtype.code == "uint" and node.dtype.bits >= 64
    return False


def _doubtful(session: Session, goal: PrimExpr) -> Iterator[PrimExpr]:
    """Integer sub-expressions whose limits, from those of their operands, are not within int64."""
    engine = session.shared.engine(session.work)
    known: dict[PrimExpr, coarse_intervals.Limits] = {}
    for node in tir.postorder(goal):
        found: Range | None
        if isinstance(node, tir.Var) and not prim_exprs.is_boolean(node):
            atom = engine.atom("var", (), node)
            engine.ranges.setdefault(atom.index, session.state.range_of(node))
            found = intervals.atom_interval(engine, atom)
        else:
            found = coarse_intervals.of_node(node, [known[child] for child in tir.children(node)])
        low, high = found or (None, None)
        if low is None or high is None or low < INT64_MIN or high > INT64_MAX:
            # The caller goes on only if it is proved to be within.
            low, high = INT64_MIN, INT64_MAX
            if not isinstance(node, tir.Var):
                yield node
        known[node] = (low, high)


def _witness(question: Question) -> Refuted | None:
    """All variables a power of two, from small ones on; then one large and the others small."""
    tries = max(1, _EVALUATIONS // question.size)
    limited = [*zip(question.variables, question.ranges, strict=True)]
    for width in _WIDTHS[-tries:]:
        values = {v: nearest(1 << width, limits) for v, limits in limited}
        found = _overflow(question, values)
        if found is not None:
            return found
    for large in question.variables[: max(0, tries - len(_WIDTHS))]:
        values = {v: nearest(INT64_MAX if v is large else 1, limits) for v, limits in limited}
        found = _overflow(question, values)
        if found is not None:
            return _smaller(question, found)
    return None


def _smaller(question: Question, found: Refuted) -> Refuted:
    point = tuple(found.values[v] for v in question.variables)

    def holds(trial: tuple[int, ...]) -> bool:
        values = dict(zip(question.variables, trial, strict=True))
        return _overflow(question, values) is not None

    best = smaller(point, question.ranges, holds)
    again = _overflow(question, dict(zip(question.variables, best, strict=True)))
    return found if again is None else again


def _overflow(question: Question, values: dict[tir.Var, int]) -> Refuted | None:
    """The refutation by these values, if they are admissible and the goal overflows there."""
    try:
        if not all(evaluate(fact, values) for fact in question.facts):
            return None
        for var, (low, high) in zip(question.variables, question.ranges, strict=True):
            value = values[var]
            if value not in INT64_VALUES:
                return None
            least, most = -inf if low is None else low, inf if high is None else high
            if not least <= value <= most:
                return None
        evaluate(question.goal, values)
    except UndefinedError:
        return None
    try:
        # An overflow in a branch that is not taken is one only for who evaluates both.
        evaluate(question.lazy_goal, values, int64=True)
    except UndefinedError as fault:
        if fault.overflow:
            return Refuted(named(values), dict(values), "overflow", fault.node)
    return None


def obligation(goal: PrimExpr) -> PrimExpr:
    """The condition over exact integers that a goal holds and all intermediate values fit into
    int64.
    """
    goal = _computed(goal)
    return prim_exprs.expanded(both(goal, everywhere(goal, _fits, lazy=True)))


def _computed(condition: PrimExpr) -> PrimExpr:
    """A condition in the operations that a program computes: a shift is one of them."""
    (found,) = prim_exprs.expand([condition], shifts=False)
    return found


def _fits(node: PrimExpr) -> PrimExpr:
    if isinstance(node, tir.Var) or prim_exprs.is_boolean(node):
        return prim_exprs.TRUE
    if isinstance(node, tir.IntImm) and node.value in INT64_VALUES:
        return prim_exprs.TRUE
    if isinstance(node, tir.Call) and node.op == "shift_right":
        return prim_exprs.TRUE  # it is nearer to 0 than its operand
    return _in_int64(node)


def _in_int64(node: PrimExpr) -> PrimExpr:
    return tir.And(tir.LE(tir.IntImm(INT64_MIN), node), tir.LE(node, tir.IntImm(INT64_MAX)))
