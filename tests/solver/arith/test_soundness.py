"""Verdicts against evaluation: no wrong answer, ever. `python -m benchmarks.prover.random_goals` asks as many as one likes."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.prover.random_goals import RandomGoal, describe, points, wrong
from rlx.grammar.nodes import tir
from rlx.solver import Proved, Prover, Refuted
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.prim_exprs import expand, lazily
from rlx.solver.search import Tape

GOALS = 400


def test_random_goals() -> None:
    """Casts, negative divisors, zeros, facts, rebinding, huge constants."""
    tally: Counter[str] = Counter()
    for number in range(GOALS):
        goal = RandomGoal(random.Random(number))
        verdict = Prover(goal.context).always(goal.condition)
        tally[verdict.status] += 1
        error = wrong(goal, verdict, tries=25)
        assert error is None, f"{number}: {describe(goal)}: {error}"
    # The bench means something only while it proves and refutes a good part of the goals.
    assert tally["proved"] > GOALS // 3
    assert tally["refuted"] > GOALS // 6
    assert tally["unknown"] < GOALS // 50


@given(st.integers(0, 2**60))
def test_random_goals_of_hypothesis(seed: int) -> None:
    goal = RandomGoal(random.Random(seed))
    error = wrong(goal, Prover(goal.context).always(goal.condition))
    assert error is None, f"{describe(goal)}: {error}"


def test_random_choices_under_both_readings() -> None:
    """Verdicts hold whether or not the branches of ``select`` that are not taken are evaluated."""
    tally: Counter[str] = Counter()
    for number in range(150):
        rng = random.Random(number)
        goal = RandomGoal(rng)
        n, m = goal.variables[0], goal.variables[-1]
        choice = tir.Select(tir.LE(n, goal.integer(1)), goal.integer(2), tir.FloorDiv(m, n))
        if number % 2:
            choice = tir.Select(tir.EQ(n, tir.IntImm(0)), goal.integer(1), tir.FloorMod(m, n))
        kind = rng.choice((tir.LE, tir.NE, tir.EQ))
        goal.condition = kind(choice, goal.integer(1))
        for facts in ([], [tir.EQ(m, tir.IntImm(0))]):
            for fact in facts:
                goal.context.assume(fact)
            verdict = Prover(goal.context).always(goal.condition)
            tally[verdict.status] += 1
            for reading in (goal.condition, lazily(goal.condition)):
                goal.condition = reading
                error = wrong(goal, verdict, tries=20)
                assert error is None, f"{number}: {describe(goal)}: {error}"
    assert min(tally["proved"], tally["refuted"]) > 15


def test_random_goals_in_int64() -> None:
    """Proved goals overflow nowhere; a reported overflow exists."""
    tally: Counter[str] = Counter()
    for number in range(240):
        goal = RandomGoal(random.Random(7_000_000 + number))
        for var in goal.variables:
            # Most intermediate values fit, some do not.
            goal.context.assume(tir.LE(var, tir.IntImm((100, 2**31, 2**62)[number % 3])))
            goal.context.assume(tir.GE(var, tir.IntImm((-100, 0, -(2**33))[number % 3])))
        verdict = Prover(goal.context, int64=True).always(goal.condition)
        tally[verdict.status] += 1
        if isinstance(verdict, Proved):
            for values in points(goal, 15):
                assert not overflows(goal, values), describe(goal)
        elif isinstance(verdict, Refuted) and verdict.overflow is not None:
            values = {v: verdict.values.get(v, 0) for v in tir.free_vars(goal.condition)}
            assert overflows(goal, values), describe(goal)
            tally["overflow"] += 1
    assert tally["proved"] > 60
    assert tally["overflow"] > 1


def overflows(goal: RandomGoal, values: dict[tir.Var, int]) -> bool:
    """Whether a value leaves 64 bits at a point."""
    try:
        evaluate(goal.condition, values)
        evaluate(goal.condition, values, int64=True)
    except UndefinedError as fault:
        return fault.overflow
    return False


@given(st.integers(0, 2**60))
def test_simplified_expressions_have_the_same_value(seed: int) -> None:
    rng = random.Random(seed)
    goal = RandomGoal(rng)
    expr = goal.integer(3)
    simple = Prover(goal.context).simplify(expr)
    state = goal.context.state
    for _ in range(20):
        point = {}
        for var in tir.free_vars(expr, *state.facts, *goal.variables):
            low, high = state.range_of(var)
            value = rng.choice((-7, -1, 0, 1, 2, 5, 8, 130, 2**33))
            value = value if low is None else max(low, value)
            point[var] = value if high is None else min(high, value)
        try:
            if not all(evaluate(fact, point) for fact in state.facts):
                continue
            expected = evaluate(expr, point)
        except UndefinedError:
            continue
        assert evaluate(simple, point) == expected


@given(st.integers(0, 2**60))
def test_the_tape_agrees_with_the_evaluator(seed: int) -> None:
    rng = random.Random(seed)
    goal = RandomGoal(rng)
    (condition,) = expand([goal.condition])
    used = tir.free_vars(condition)
    tape = Tape([condition], used)
    for _ in range(10):
        point = {v: rng.choice((-5, -2, -1, 0, 1, 2, 3, 200)) for v in used}
        results = tape.run(tuple(point.values()))
        try:
            expected = evaluate(goal.condition, point)
        except UndefinedError:
            assert results is None
        else:
            assert results is not None
            assert bool(results[0]) == bool(expected)


def test_evaluation_is_exact() -> None:
    n = tir.Var("n")
    huge = 3**200
    tripled = tir.FloorDiv(tir.Mul(n, tir.IntImm(3)), tir.IntImm(3))
    assert evaluate(tripled, {n: huge}) == huge
    assert evaluate(tir.TruncDiv(n, tir.IntImm(2)), {n: -huge}) == -(huge // 2)
    assert evaluate(tir.FloorDiv(n, tir.IntImm(2)), {n: -huge}) == -(huge // 2) - 1
