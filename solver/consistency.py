"""Consistency of assumptions: contradictions are reported before anything else."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.context import ContextState, Range
from rlx.solver.evaluate import UndefinedError, evaluate

_SIMPLE = ((1, 0), (4, 0), (0, 0), (0, 1), (48, -1), (0, 48))
"""Values that satisfy most assumptions: that of the first variable, and what each next one has
more.
"""


def empty_range(state: ContextState) -> bool:
    """Whether a declared variable has no values."""
    ranges = map(state.range_of, state.ranges)
    return any(low is not None and high is not None and low > high for low, high in ranges)


def simply_possible(state: ContextState, conditions: Sequence[PrimExpr]) -> bool:
    """Whether conditions hold for some simple values, or the nearest ones in the ranges."""
    variables = tir.free_vars(*conditions)
    for first, step in _SIMPLE:
        point = {
            v: nearest(first + step * place, state.range_of(v)) for place, v in enumerate(variables)
        }
        try:
            if all(evaluate(condition, point) for condition in conditions):
                return True
        except UndefinedError:
            continue
    return False


def nearest(value: int, limits: Range) -> int:
    """The value between some limits that is nearest to another one."""
    low, high = limits
    if low is not None and value < low:
        return low
    return high if high is not None and value > high else value
