"""The SMT-LIB text of every operation means what evaluation says, in each encoding, at every point of a small grid."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
import z3  # type: ignore[import-untyped]

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import dtype
from rlx.solver import smt
from rlx.solver.prim_exprs import conjunction, expand
from rlx.solver.question_parser import parse
from tests.solver.arith.test_small_terms import COMPARISONS, GRID, TERMS, M, N, number
from tests.solver.values import value_at

KINDS = ("bool", "int4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64")


def terms() -> Iterator[tir.PrimExpr]:
    yield from TERMS[::9]
    for kind, factor in itertools.product(KINDS, (1, -43, 70_001, 1 << 31, -(1 << 62), 1 << 63)):
        yield tir.Cast(dtype(kind), tir.Mul(N, number(factor)))
        yield tir.Cast(dtype(kind), tir.Add(tir.Mul(M, number(factor)), N))
    conditions = [comparison(N, tir.Mul(M, number(2))) for comparison in COMPARISONS]
    for a, b in itertools.pairwise(conditions):
        yield from (tir.And(a, b), tir.Or(a, b), tir.Not(a), tir.Select(a, b, tir.Not(b)))
        yield tir.Select(tir.And(a, b), N, tir.Sub(M, N))
        yield tir.Add(tir.Cast(dtype("int64"), a), tir.Cast(dtype("int64"), tir.Or(a, b)))


TOGETHER = 12
EXPANDED = [(term, *expand([term])) for term in terms()]


def is_truth(term: tir.PrimExpr) -> bool:
    return tir.type_of(term) == dtype("bool")


def said(term: tir.PrimExpr, wanted: int) -> tir.PrimExpr:
    """The condition that a term has a value."""
    if is_truth(term):
        return term if wanted else tir.Not(term)
    return tir.EQ(term, number(wanted))


def ask(goal: tir.PrimExpr, point: dict[tir.Var, int], style: str) -> str:
    """Z3's answer to the opposite of a goal at these values of the variables."""
    limits = tuple((x, x) for x in point.values())
    positive = frozenset(
        node.b
        for node in tir.postorder(goal)
        if isinstance(node, tir.FloorDiv | tir.FloorMod | tir.TruncDiv | tir.TruncMod)
        and (value_at(node.b, point) or 0) > 0
    )
    query = smt.Query(tuple(point), limits, (), goal, positive)
    return smt.solve(smt.encode(query, style), 10_000_000).status


@pytest.mark.parametrize("style", smt.STYLES)
@pytest.mark.parametrize("point", GRID[1::9])
def test_terms_have_the_value_that_evaluation_gives(style: str, point: dict[tir.Var, int]) -> None:
    """Several at once, since Z3 takes longer to start than to answer."""
    found = [(term, value_at(whole, point)) for whole, term in EXPANDED]
    goals = [said(term, wanted) for term, wanted in found if wanted is not None]
    assert len(goals) > len(found) / 2
    for at in range(0, len(goals), TOGETHER):
        assert ask(conjunction(goals[at : at + TOGETHER]), point, style) == "unsat"


@pytest.mark.parametrize("style", smt.STYLES)
def test_and_no_other_value(style: str) -> None:
    """So the text does not contradict itself, which would prove everything."""
    for (whole, term), point in zip(EXPANDED[::7], itertools.cycle(GRID), strict=False):
        wanted = value_at(whole, point)
        if wanted is not None:
            other = 1 - wanted if is_truth(term) else wanted + 1
            assert ask(said(term, other), point, style) == "sat", (term, point)


def test_what_may_take_seconds_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A question at which Z3 by itself tries them: its own counts of work say what it tried."""
    variables: dict[str, tir.Var] = {}
    goal = parse("(n*m) % k == ((n % k)*(m % k)) % k", variables)
    limits = ((1, None),) * len(variables)
    text = smt.encode(smt.Query(tuple(variables.values()), limits, (), goal, frozenset()))
    # a context of its own: what other tests left in the shared one changes what Z3 tries
    by_itself = z3.SimpleSolver(ctx=z3.Context())
    by_itself.set("rlimit", 1_000_000)
    by_itself.from_string(text)
    by_itself.check()
    asked = []

    def solver(**options: Any) -> Any:
        asked.append(original(**options))
        return asked[-1]

    original = z3.SimpleSolver
    monkeypatch.setattr(z3, "SimpleSolver", solver)
    smt.solve(text, 1_000_000)
    dear = {"arith-grobner-calls", "arith-horner-calls", "arith-hnf-calls"}
    assert not dear.isdisjoint(by_itself.statistics().keys())
    assert dear.isdisjoint(asked[0].statistics().keys())
