"""A refutation is replayed: values that break no fact, lie in all ranges, and make the goal false."""

from __future__ import annotations

from itertools import product

import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.budget import Work
from rlx.solver.context import ContextState
from rlx.solver.question import Question

n, m = tir.Var("n"), tir.Var("m")


def number(value: int) -> PrimExpr:
    return tir.IntImm(value)


GOAL = tir.LE(tir.Add(n, m), number(4))
FACTS: list[PrimExpr] = [
    tir.EQ(tir.FloorMod(n, number(2)), number(0)),
    tir.LT(m, tir.Add(n, number(3))),
]
RANGES = [
    ({n: (0, 6), m: (-1, 5)}, "both"),
    ({n: (None, 6), m: (-1, None)}, "half"),
    ({n: (None, None), m: (None, None)}, "none"),
]


@pytest.mark.parametrize(("ranges", "_"), RANGES, ids=[name for _, name in RANGES])
def test_only_what_refutes_refutes(
    ranges: dict[tir.Var, tuple[int | None, int | None]], _: str
) -> None:
    question = Question(GOAL, ContextState(ranges, tuple(FACTS), {}), FACTS.copy, Work())
    accepted = 0
    for a, b in product(range(-4, 10), repeat=2):
        values = {n: a, m: b}
        inside = all(
            (low is None or low <= values[var]) and (high is None or values[var] <= high)
            for var, (low, high) in ranges.items()
        )
        wanted = inside and a % 2 == 0 and b < a + 3 and a + b > 4
        found = question.refute(values, "points")
        assert (found is not None) is wanted, values
        if found is not None:
            accepted += 1
            assert (dict(found.values), dict(found.example)) == (values, {"n": a, "m": b})
    assert accepted


def test_where_the_goal_has_no_value_nothing_is_refuted() -> None:
    goal = tir.GT(tir.FloorDiv(number(8), n), number(0))
    question = Question(goal, ContextState({}, (), {}), tuple, Work())
    assert question.refute({n: 0}, "points") is None
    assert question.refute({n: 9}, "points") is not None
