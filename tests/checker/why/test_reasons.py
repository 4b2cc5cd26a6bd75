"""The reasons that a tree gives about dimensions are true: evaluation checks them at the values in the tree."""

from __future__ import annotations

from itertools import combinations

import pytest

from rlx.checker.why.values import reasons
from rlx.grammar.nodes import tir
from rlx.grammar.read.parser import parse_prim_expr
from rlx.solver.evaluate import evaluate
from rlx.solver.prover import Prover

SCOPE: dict[str, tir.Var] = {}
DIMENSIONS = [
    parse_prim_expr(text, SCOPE)
    for text in (
        *("0", "1", "n", "m", "n + 1", "n * 2", "n * 2 + 1", "n * m", "n * 0", "n - m"),
        *("n // 2", "n % 2", "m * 2 + n", "T.max(n, 1)"),
    )
]
ZERO = "it may hold if a size is 0"


def equal_at(a: tir.PrimExpr, b: tir.PrimExpr, values: str) -> bool:
    """Whether two dimensions are equal for ``n = 1, m = 2``; what is not named is 1."""
    point = dict.fromkeys(SCOPE.values(), 1)
    for part in values.split(", "):
        name, value = part.split(" = ")
        point[SCOPE[name]] = int(value)
    return evaluate(a, point) == evaluate(b, point)


@pytest.mark.parametrize("first", range(len(DIMENSIONS)))
def test_values_that_are_named(first: int) -> None:
    a = DIMENSIONS[first]
    for b in DIMENSIONS[first + 1 :]:
        relation = Prover().relate(a, b)
        said = reasons(relation)
        for sentence in said:
            kind, _, values = sentence.partition(" for ")
            if kind in ("true", "false") and values != "all sizes":
                assert equal_at(a, b, values) is (kind == "true"), (a, b, sentence)
        kinds = [sentence.split()[0] for sentence in said]
        assert kinds.count("true") == (relation.kind == "sometimes"), (a, b, said)
        assert (said == ()) is (relation.kind == "always")
        assert ("false if all sizes are at least 1" in said) is (relation.kind == "never")
        assert (ZERO in said) is relation.zero_saves


def test_all_kinds_are_among_them() -> None:
    pairs = combinations(DIMENSIONS, 2)
    assert {Prover().relate(a, b).kind for a, b in pairs} >= {"always", "sometimes", "never"}
