"""What is said of random conditions without a prover: their parts, where they are defined, their values, what repeats in them.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/solver/arith/test_same_expressions.py` writes the digests anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from rlx.grammar import tir
from rlx.grammar.dtype import dtype
from rlx.grammar.tir import PrimExpr
from rlx.solver import consistency, definedness, overflow, prim_exprs
from rlx.solver.budget import Work
from rlx.solver.context import ContextState, Int64State, Range
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.generalize import generalizations
from rlx.solver.question import Question
from rlx.solver.question_parser import parse, show
from rlx.solver.search import Tape
from tests.snapshots import assert_digest
from tests.solver.arith.random_questions import condition
from tests.solver.arith.test_same_picked import of_expression, said

KEPT = Path(__file__).parent / "snapshots" / "expressions.txt"
TYPES = (
    "int64",
    "int64",
    "int32",
    "uint8",
    "bool",
    "uint64",
    "int128",
    "int1",
    "float32",
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


def questions(exprs: list[PrimExpr], state: ContextState) -> Iterator[Callable[[], object]]:
    (plain,) = prim_exprs.expand([exprs[0]])
    yield lambda: prim_exprs.weight(plain)
    for replaced in generalizations(exprs):
        yield lambda r=replaced: (  # type: ignore[misc]
            [show(e) for e in r[0]],
            [(v.name, show(e)) for v, e in r[1].items()],
        )
    yield lambda: consistency.simply_possible(state, exprs)
    yield lambda: consistency.simply_possible(state, [plain])
    yield lambda: consistency.empty_range(state)
    yield lambda: [show(part) for part in prim_exprs.conjuncts(exprs[1])]
    yield lambda: definedness.partial(plain)
    yield lambda: show(definedness.everywhere(plain, overflow._fits, lazy=True))
    yield lambda: show(definedness.everywhere(plain, overflow._fits, lazy=False))
    yield lambda: prim_exprs.alike(exprs[0], exprs[1])
    yield lambda: prim_exprs.alike(exprs[0], prim_exprs.substitute(exprs[0], {}))
    for node in prim_exprs.topological(*exprs):
        yield lambda n=node: (  # type: ignore[misc]
            prim_exprs.is_boolean(n),
            prim_exprs.may_be_condition(n),
            prim_exprs.interpreted(n),
            prim_exprs.conditional(n),
            prim_exprs.stranger([n]) is None,
            prim_exprs.named(n),
            prim_exprs.has_call([n]),
            overflow._unsigned(n),
            prim_exprs.wraps_to(n) if isinstance(n, tir.Cast) else None,
        )


def tape(expr: PrimExpr, random: Random) -> Iterator[str]:
    """The compiled expression at points, which the evaluator decides as well where both do."""
    variables = prim_exprs.variables([expr])
    compiled = Tape([expr], variables)
    yield f"{len(compiled)} {compiled.degree} {compiled.usable}"
    if compiled.usable:
        for _ in range(8):
            point = tuple(random.choice(POINTS) for _ in variables)
            found = compiled.run(point)
            try:
                value: int | None = evaluate(expr, dict(zip(variables, point, strict=True)))
            except UndefinedError:
                value = None
            if found is not None:
                assert [int(v) for v in found] == [value]
            yield f"{point} {found}"


@pytest.mark.parametrize("seed", range(120))
def test_what_is_said_of_conditions(seed: int) -> None:
    random = Random(seed)
    exprs = asked(random)
    variables = prim_exprs.variables(exprs)
    kind = random.choice((ContextState, Int64State))
    state = kind({var: random.choice(LIMITS) for var in variables}, (), {})
    lines = [said(ask) for ask in questions(exprs, state)]
    for expr in exprs:
        lines += of_expression(expr)
        (expanded,) = prim_exprs.expand([expr])
        if prim_exprs.stranger(prim_exprs.topological(expanded)) is None:
            lines += tape(expanded, random)
    assert_digest(KEPT, str(seed), "\n".join(lines))


def holds(expr: PrimExpr, values: dict[tir.Var, int]) -> bool | None:
    """Whether a condition holds at a point; None where it has no value."""
    try:
        return bool(evaluate(expr, values))
    except UndefinedError:
        return None


@pytest.mark.parametrize("seed", range(60))
def test_a_counterexample_is_evaluated_again(seed: int) -> None:
    """It counts if all facts hold there, the goal is defined and false, and the values are in their ranges."""
    random = Random(seed)
    goal, fact, _ = asked(random)
    (goal, fact) = prim_exprs.expand([goal, fact])
    variables = prim_exprs.variables([goal, fact])
    state = ContextState({var: random.choice(LIMITS[:8]) for var in variables}, (), {})
    facts = random.choice(([], [fact], [goal]))
    question = Question(goal, state, facts.copy, Work())
    for _ in range(12):
        values = {var: random.choice(POINTS) for var in variables}
        wanted = (
            all(holds(known, values) for known in facts)
            and holds(goal, values) is False
            and all(inside(values[var], state.range_of(var)) for var in question.variables)
        )
        found = question.refute(values, "points")
        assert (found is not None) == wanted
        if found is not None:
            assert found.values == values and found.means == "points"


def inside(value: int, limits: Range) -> bool:
    low, high = limits
    return (low is None or low <= value) and (high is None or value <= high)
