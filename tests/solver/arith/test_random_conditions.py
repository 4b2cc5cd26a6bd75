"""Random conditions at points: the compiled condition and a counterexample agree with the evaluator."""

from __future__ import annotations

from random import Random

import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs
from rlx.solver.budget import Work
from rlx.solver.context import ContextState
from rlx.solver.prim_exprs import Range
from rlx.solver.question import Question
from rlx.solver.question_parser import parse
from rlx.solver.search import Tape
from tests.solver.arith.random_questions import condition
from tests.solver.values import value_at

TYPES = (
    *("int64", "int64", "int32", "uint8", "bool", "uint64", "int128", "int1", "float32"),
    "handle",
)
LIMITS: tuple[Range, ...] = (
    *((0, None), (1, None), (None, None), (None, 3), (-3, None), (2, 2), (5, 900), (-9, -4)),
    *((3, 1), (None, -1)),
)
POINTS = (0, 1, -1, 2, 3, -5, 7, 300)


def asked(random: Random) -> list[PrimExpr]:
    """Some conditions over the same variables; parts of the first stand in the second again."""
    named = {name: tir.Var(name, dtype(random.choice(TYPES[:6]))) for name in "nmkb"}
    found: list[PrimExpr] = []
    while len(found) < 2:
        try:
            found.append(parse(condition(random, random.choice((1, 2, 3))), named))
        except ValueError:
            continue
    first, second = found
    odd = tir.Call("exp", (tir.Var("f", dtype(random.choice(TYPES))),), dtype("int32"))
    both: list[PrimExpr] = [
        tir.And(second, tir.Or(first, tir.Not(first))),
        tir.EQ(odd, tir.Cast(dtype(random.choice(TYPES[:8])), first)),
    ]
    return [first, second, random.choice(both)]


@pytest.mark.parametrize("seed", range(120))
def test_compiled_conditions_have_the_values_of_the_evaluator(seed: int) -> None:
    random = Random(seed)
    for each in asked(random):
        (expr,) = prim_exprs.expand([each])
        if prim_exprs.stranger(tir.postorder(expr)) is not None:
            continue
        variables = tir.free_vars(expr)
        compiled = Tape([expr], variables)
        for _ in range(8 if compiled.usable else 0):
            point = tuple(random.choice(POINTS) for _ in variables)
            found = compiled.run(point)
            value = value_at(expr, dict(zip(variables, point, strict=True)))
            if found is not None:
                assert [int(v) for v in found] == [value]


@pytest.mark.parametrize("seed", range(60))
def test_a_counterexample_is_evaluated_again(seed: int) -> None:
    """It counts if all facts hold there, the goal is defined and false, and the values are in their ranges."""
    random = Random(seed)
    goal, fact, _ = asked(random)
    (goal, fact) = prim_exprs.expand([goal, fact])
    variables = tir.free_vars(goal, fact)
    state = ContextState({var: random.choice(LIMITS[:8]) for var in variables}, (), {})
    facts = random.choice(([], [fact], [goal]))
    question = Question(goal, state, facts.copy, Work())
    for _ in range(12):
        values = {var: random.choice(POINTS) for var in variables}
        wanted = (
            all(value_at(known, values) for known in facts)
            and value_at(goal, values) == 0
            and all(inside(values[var], state.range_of(var)) for var in question.variables)
        )
        found = question.refute(values, "points")
        assert (found is not None) == wanted
        if found is not None:
            assert found.values == values and found.means == "points"


def inside(value: int, limits: Range) -> bool:
    low, high = limits
    return (low is None or low <= value) and (high is None or value <= high)
