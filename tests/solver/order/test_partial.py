"""Laws of the order over dimensions that have no value for some values of the variables."""

from __future__ import annotations

from itertools import product

import pytest

from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.order import compatibility, glb, lub, subtype
from rlx.solver.prim_exprs import lazily
from rlx.solver.prover import Prover
from rlx.solver.question_parser import parse
from tests.solver.order.build import func, prim, prover, shape, tensor, tup
from tests.solver.order.universe import M, N
from tests.solver.values import value_at

TEXTS = (
    *("1", "n", "min(m, 1)", "m//m", "m//m*1", "(m + m)//(2*m)", "m//(m//m)", "m", "n*m//m"),
    "m*n//m + n % m - n % m",
    "n % m + n//m*m",
    "0*(n//m)",
    "0",
    "0*(m//n)",
    "0*(n//m + m//n)",
    "n//(m - m)",
    "if_then_else(m == 0, 1, m//m)",
    "if_then_else(n == 0, 1, m//m)",
    "select(m == 0, 1, m//m)",
    "ceildiv(m, m)",
    "0*(n >> min(m - 1, 3))",
)
NAMES = {"n": N, "m": M}
DIMS: list[PrimExpr] = [parse(text, NAMES) for text in TEXTS]
POINTS = [{N: n, M: m} for n, m in product((0, 1, 2, 3, 5), repeat=2)]
ALL = range(len(DIMS))


@pytest.fixture(scope="module", name="p")
def _prover() -> Prover:
    return prover()


def follows(wanted: PrimExpr, given: PrimExpr) -> bool:
    """Whether one dimension has the value of another wherever that has one, however choices are evaluated."""
    readings = ((given, wanted), (lazily(given), lazily(wanted)))
    values = [(value_at(x, p), value_at(y, p)) for p in POINTS for x, y in readings]
    return all(x is None or x == y for x, y in values)


def infos(dim: PrimExpr) -> list[StructInfo]:
    """Annotations of every kind that mention a dimension."""
    return [tensor((dim,)), shape((dim,)), prim(value=dim)]


def test_a_subtype_is_one_wherever_it_has_a_value(p: Prover) -> None:
    for a, b in product(DIMS, repeat=2):
        said = [subtype(x, y, p).proved for x, y in zip(infos(a), infos(b), strict=True)]
        assert said == [follows(b, a)] * len(said), (a, b)
        # Parts of tuples and results as the whole, parameters the other way round.
        x, y = (tup(func((), tensor((dim,)))) for dim in (a, b))
        assert subtype(x, y, p).proved == follows(b, a)
        assert subtype(func((tensor((a,)),), tup()), func((tensor((b,)),), tup()), p).proved == (
            follows(a, b)
        )


def test_transitive(p: Prover) -> None:
    below = {
        (i, j) for i in ALL for j in ALL if subtype(infos(DIMS[i])[0], infos(DIMS[j])[0], p).proved
    }
    for i, j, k in product(ALL, repeat=3):
        if (i, j) in below and (j, k) in below:
            assert (i, k) in below, (TEXTS[i], TEXTS[j], TEXTS[k])


def test_compatible_exactly_where_subtype(p: Prover) -> None:
    for a, b in product(DIMS, repeat=2):
        for x, y in zip(infos(a), infos(b), strict=True):
            found = compatibility(x, y, p)
            assert (found.kind == "compatible") == subtype(x, y, p).proved, (x, y)


def test_what_may_have_no_value_is_told_with_an_example(p: Prover) -> None:
    found = compatibility(tensor((parse("1", {}),)), tensor((parse("m//m", NAMES),)), p)
    assert found.kind == "possible"
    assert found.counterexample == {"m": 0}
    assert found.assumption is not None
    assert found.message == "dimension 0 is 1 where m // m is expected"


def test_bounds(p: Prover) -> None:
    for a, b in product(DIMS, repeat=2):
        for x, y in zip(infos(a), infos(b), strict=True):
            join, meet = lub(x, y, p), glb(x, y, p)
            assert subtype(x, join, p).proved and subtype(y, join, p).proved, (x, y, join)
            other = lub(y, x, p)
            assert subtype(other, join, p).proved and subtype(join, other, p).proved
            if follows(a, b) or follows(b, a):
                assert meet is not None
            if meet is not None:
                assert subtype(meet, x, p).proved and subtype(meet, y, p).proved, (x, y, meet)
