"""LAW: conditions over new variables are the old ones when what the variables stand for is put in their places."""

from __future__ import annotations

from rlx.grammar.nodes import tir
from rlx.solver.generalize import generalizations

N, M = tir.Var("n"), tir.Var("m")


def parts(again: bool) -> list[tir.PrimExpr]:
    """A goal in which a quotient, and a product with it, stand twice: as one object, or written again."""

    def quotient() -> tir.PrimExpr:
        return tir.FloorDiv(N, M)

    one = quotient()
    first = tir.Mul(one, M)
    second = tir.Mul(quotient() if again else one, M)
    return [tir.GE(first, tir.Sub(second, quotient() if again else one)), tir.LT(M, N)]


def put_back(expr: tir.PrimExpr, meaning: dict[tir.Var, tir.PrimExpr]) -> str:
    if isinstance(expr, tir.Var):
        return put_back(meaning[expr], meaning) if expr in meaning else expr.name
    below = [put_back(child, meaning) for child in tir.children(expr)]
    return f"{type(expr).__name__}({', '.join(below) or expr})"


def test_what_is_replaced_can_be_put_back() -> None:
    for again in (False, True):
        goal = parts(again)
        found = list(generalizations(goal))
        assert found and all(meaning for _, meaning in found)
        for conditions, meaning in found:
            assert [put_back(c, meaning) for c in conditions] == [put_back(c, {}) for c in goal]
            seen = set(tir.postorder(*conditions))
            assert meaning.keys() <= seen and all(
                type(made) is not tir.Var for made in meaning.values()
            )


def test_nothing_is_replaced_where_nothing_is_repeated() -> None:
    assert list(generalizations([tir.LT(tir.FloorDiv(N, M), tir.Mul(N, M))])) == []
