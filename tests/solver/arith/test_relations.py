"""Relations hold at every point of a grid, which is evaluated independently."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import Prover, Relation
from rlx.solver.context import Context
from rlx.solver.evaluate import evaluate
from rlx.solver.question_parser import parse
from tests.solver.values import value_at

NAMES = {name: tir.Var(name) for name in "nmk"}
TEXTS = (
    *("n", "m", "0", "1", "4", "n + 1", "n + m", "2*n", "4*m", "n*m", "(k + 2)*m"),
    *("n//2*2", "n % 3", "min(n, m)", "max(n, 2)", "6 - n"),
)
TERMS = {text: parse(text, NAMES) for text in TEXTS}
GRID = [
    dict(zip(NAMES.values(), point, strict=True)) for point in itertools.product(range(8), repeat=3)
]


def equal(pairs: list[tuple[PrimExpr, PrimExpr]], point: Mapping[tir.Var, int]) -> bool:
    return all(evaluate(a, point) == evaluate(b, point) for a, b in pairs)


def at(values: Mapping[str, int] | None) -> dict[tir.Var, int]:
    """The point of an example; a variable that it does not name may have any value."""
    assert values is not None
    return {var: values.get(name, 1) for name, var in NAMES.items()}


def check(found: Relation, pairs: list[tuple[PrimExpr, PrimExpr]], low: int) -> None:
    """Compare a relation with the grid, whose variables are at least ``low``."""
    grid = [point for point in GRID if point[NAMES["n"]] >= low]
    same = [point for point in grid if equal(pairs, point)]
    positive = [point for point in same if min(point.values()) >= 1]
    assert (found.kind == "always") == (len(same) == len(grid))
    if found.kind == "always":
        return
    assert not equal(pairs, at(found.counterexample))
    if found.kind == "never":
        assert not positive and found.zero_saves == bool(same)
    else:
        assert found.kind == "sometimes"
        literal_zero = any(type(e) is tir.IntImm and e.value == 0 for pair in pairs for e in pair)
        assert positive or (literal_zero and same) or evaluated_far(found, pairs)
    if found.witness is not None:
        assert equal(pairs, at(found.witness))
    if found.assumption is not None:
        assert all(equal(pairs, point) for point in grid if value_at(found.assumption, point))


def evaluated_far(found: Relation, pairs: list[tuple[PrimExpr, PrimExpr]]) -> bool:
    """Whether they are equal at a positive point beyond the grid."""
    point = at(found.witness)
    return max(point.values()) >= 8 and min(point.values()) >= 1 and equal(pairs, point)


def two_pairs() -> Iterator[tuple[str, str, str, str]]:
    texts = list(itertools.combinations(TEXTS, 2))
    for (a, b), (c, d) in zip(texts[::5], texts[3::4], strict=False):
        yield a, b, c, d


@pytest.mark.parametrize("low", [0, 3])
@pytest.mark.parametrize("text", TEXTS)
def test_a_relation_is_what_the_grid_says(text: str, low: int) -> None:
    context = Context()
    context.declare(NAMES["n"], low)
    prover = Prover(context)
    for other in TEXTS[TEXTS.index(text) :]:
        pairs = [(TERMS[text], TERMS[other])]
        check(prover.relate(*pairs[0]), pairs, low)


def test_a_relation_of_two_pairs_is_of_one_point() -> None:
    for a, b, c, d in two_pairs():
        pairs = [(TERMS[a], TERMS[b]), (TERMS[c], TERMS[d])]
        check(Prover().relate_all(pairs), pairs, 0)


@pytest.mark.parametrize(("a", "b"), [("n*n*n", "2*m*m*m"), ("n*n*n + m*m*m", "k*k*k")])
def test_what_is_not_decided_is_not_said_to_be_never(a: str, b: str) -> None:
    found = Prover().relate(parse(a, NAMES), parse(b, NAMES))
    assert found.kind == "unknown" and found.witness is None and found.reason
