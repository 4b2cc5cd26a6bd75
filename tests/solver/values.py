"""Values of expressions at points."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.nodes import tir
from rlx.solver.evaluate import UndefinedError, evaluate


def value_at(expr: tir.PrimExpr, point: Mapping[tir.Var, int]) -> int | None:
    """The value of an expression at a point; None where it has none."""
    try:
        return evaluate(expr, point)
    except UndefinedError:
        return None
