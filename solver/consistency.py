"""Consistency of assumptions: contradictions are reported before anything else, and values that
satisfy all assumptions refute many goals at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import differences, prim_exprs
from rlx.solver.context import ContextState
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.prim_exprs import Range
from rlx.solver.search import Tape

_SIMPLE = ((1, 0), (4, 0), (0, 0), (0, 1), (48, -1), (0, 48))
"""Values that satisfy most assumptions: that of the first variable, and what each next one has
more.
"""

_EVALUATIONS = 20_000
"""About how many conditions are evaluated in search of values."""
_SIZE = 2
"""The value of all variables before those that stand alone in a comparison are moved."""


def empty_range(state: ContextState) -> bool:
    """Whether a declared variable has no values."""
    ranges = map(state.range_of, state.ranges)
    return any(low is not None and high is not None and low > high for low, high in ranges)


def simple_values(
    state: ContextState, conditions: Sequence[PrimExpr], order: Sequence[PrimExpr]
) -> dict[tir.Var, int] | None:
    """Simple values, or the nearest ones in the ranges, for which conditions hold; None if none of
    those that are tried are such. ``order`` has the nodes of the conditions, operands first.
    """
    variables = prim_exprs.variables_among(order)
    limits = [*map(state.range_of, variables)]
    tape = Tape(conditions, variables, order)
    for first, step in _SIMPLE if tape.usable else ():
        point = tuple([nearest(first + step * at, each) for at, each in enumerate(limits)])
        results = tape.run(point)
        if results is not None and all(results):
            return dict(zip(variables, point, strict=True))
    return None


def _failing(conditions: Sequence[PrimExpr], point: dict[tir.Var, int]) -> PrimExpr | None:
    """The first condition that does not hold for these values, or is undefined."""
    for condition in conditions:
        try:
            if not evaluate(condition, point):
                return condition
        except UndefinedError:
            return condition
    return None


def moved_values(state: ContextState, conditions: Sequence[PrimExpr]) -> dict[tir.Var, int] | None:
    """Values for which conditions hold, when the variables that stand alone on one side of those that
    fail, or are a factor there, are moved to the other side: an axis into its range, say. None if
    some still fail.
    """
    variables = tir.free_vars(*conditions)
    point = {variable: nearest(_SIZE, state.range_of(variable)) for variable in variables}
    if len(conditions) >= differences.CHAIN:
        point |= differences.values(conditions, state.range_of) or {}
    for _ in range(min(2 * len(conditions), _EVALUATIONS // len(conditions))):
        failing = _failing(conditions, point)
        if failing is None:
            return point
        if not _move(state, failing, point):
            return None
    return None


def _move(state: ContextState, failing: PrimExpr, point: dict[tir.Var, int]) -> bool:
    """Move a variable so that a comparison, or one of several, holds; whether one was moved."""
    return any(_move_in(state, part, point) for part in prim_exprs.nested(tir.Or, failing))


def _move_in(state: ContextState, failing: PrimExpr, point: dict[tir.Var, int]) -> bool:
    comparison = failing.a if isinstance(failing, tir.Not) else failing
    if not isinstance(comparison, tir.LT | tir.LE | tir.GT | tir.GE | tir.EQ):
        return False
    for side, other in ((comparison.a, comparison.b), (comparison.b, comparison.a)):
        # Of a product the last variable is moved: it may depend on those before it.
        for variable, times in _factors(side, point):
            try:
                border, left = divmod(evaluate(other, point), times)
            except UndefinedError:
                continue
            for value in (border,) if left else (border, border - 1, border + 1):
                moved = {**point, variable: nearest(value, state.range_of(variable))}
                if _failing((failing,), moved) is None:
                    point.update(moved)
                    return True
    return False


def _factors(product: PrimExpr, point: dict[tir.Var, int]) -> Iterator[tuple[tir.Var, int]]:
    """The variables that a product has as factors, the last one first, each with the value of the others
    where that is not 0.
    """
    factors = prim_exprs.nested(tir.Mul, product)
    if not any(isinstance(each, tir.Var) for each in factors):
        return
    try:
        values = [evaluate(each, point) for each in factors]
    except UndefinedError:
        return
    whole, zeros = prod(filter(None, values)), values.count(0)
    for each, value in zip(reversed(factors), reversed(values), strict=True):
        if isinstance(each, tir.Var) and zeros == (value == 0):
            yield each, whole // (value or 1)


def nearest(value: int, limits: Range) -> int:
    """The value between some limits that is nearest to another one."""
    low, high = limits
    if low is not None and value < low:
        return low
    return high if high is not None and value > high else value
