"""Every operation, with every small operand of either sign: simplified terms keep their values, and verdicts are true.

Independent of the normal form and of the encodings: all points of a small grid are evaluated one by one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from rlx.grammar.nodes import tir
from rlx.solver import Proved, Prover, Refuted
from rlx.solver.context import Context, ContextState
from rlx.solver.question_parser import show
from tests.solver.values import value_at

N, M = tir.Var("n"), tir.Var("m")
GRID = [dict(zip((N, M), point, strict=True)) for point in itertools.product(range(-7, 8), (-2, 3))]

BINARY: tuple[type[tir.Binary], ...] = (
    *(tir.Add, tir.Sub, tir.Mul, tir.FloorDiv, tir.FloorMod, tir.TruncDiv, tir.TruncMod),
    *(tir.Min, tir.Max),
)
COMPARISONS: tuple[type[tir.Comparison], ...] = (tir.EQ, tir.NE, tir.LT, tir.LE, tir.GT, tir.GE)


def number(value: int) -> tir.IntImm:
    return tir.IntImm(value)


SMALL = [number(value) for value in (-4, -3, -1, 0, 1, 2, 6)]
OPERANDS: list[tir.PrimExpr] = [
    N,
    tir.Sub(N, number(3)),
    tir.Mul(N, number(-2)),
    tir.Add(tir.Mul(N, number(4)), tir.Mul(M, number(2))),
    tir.Select(tir.LT(N, number(1)), tir.Sub(number(0), N), M),
    tir.Cast(tir.type_of(N), tir.LE(N, M)),
]


def terms() -> Iterator[tir.PrimExpr]:
    """One operation on an operand and a small number, from both sides, and then a second one around it."""
    for operation, operand, small in itertools.product(BINARY, OPERANDS, SMALL):
        yield operation(operand, small)
        yield operation(small, operand)
    outer = itertools.cycle(itertools.product(BINARY, SMALL))
    for operation, operand, small in itertools.product(BINARY, OPERANDS, SMALL):
        around, other = next(outer)
        yield around(operation(operand, small), other)
        yield around(operation(operand, small), tir.FloorDiv(M, number(2)))


TERMS = list(terms())


@pytest.mark.parametrize("part", range(4))
def test_a_simplified_term_has_the_same_value(part: int) -> None:
    context = Context()
    for var in (N, M):
        context.declare(var, None, None)
    prover = Prover(context)
    for term in TERMS[part::4]:
        simple = prover.simplify(term)
        for point in GRID:
            wanted = value_at(term, point)
            assert wanted is None or value_at(simple, point) == wanted, (
                show(term),
                show(simple),
                point,
            )


def _least(state: ContextState, var: tir.Var) -> int:
    low, _ = state.range_of(var)
    assert low is not None
    return low


def unlimited() -> Context:
    return Context()


def limited() -> Context:
    """The variables have the values of the grid, and those between."""
    context = Context()
    context.declare(N, -7, 7)
    context.declare(M, -2, 3)
    return context


@pytest.mark.parametrize("context", [unlimited, limited])
@pytest.mark.parametrize("comparison", COMPARISONS)
def test_a_verdict_is_true_at_every_small_point(
    comparison: type[tir.Comparison], context: Callable[[], Context]
) -> None:
    prover = Prover(context())
    state = prover.context.state
    points = [point for point in GRID if all(_least(state, var) <= point[var] for var in (N, M))]
    at = COMPARISONS.index(comparison)
    for term, bound in zip(TERMS[at::12], itertools.cycle((-6, -1, 0, 1, 3)), strict=False):
        goal = comparison(term, number(bound))
        verdict = prover.always(goal)
        if isinstance(verdict, Proved):
            false = [point for point in points if value_at(goal, point) == 0]
            assert not false, (show(goal), false[0])
        else:
            assert isinstance(verdict, Refuted), show(goal)
            values = {var: verdict.values.get(var, 0) for var in (N, M)}
            assert value_at(goal, values) == 0, (show(goal), values)
