"""Size is no limit: an answer, possibly unknown, in bounded work."""

from __future__ import annotations

import gc
from collections.abc import Sequence

import pytest

from benchmarks.prover.sizes import LARGEST, Large, large
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import Prover, Refuted, explain, prim_exprs, prove, smt
from rlx.solver.budget import NODES, Work
from rlx.solver.normal_form import Engine
from rlx.solver.poly import DEPTH_LIMIT, Cond, PolyStore, TooMuchWorkError
from rlx.solver.question_parser import parse


@pytest.mark.parametrize("question", large(terms=50), ids=lambda q: q.name)
def test_large_questions(question: Large) -> None:
    assert question.ask() in question.answers


def test_two_hundred_variables() -> None:
    chain = [f"x{i} <= x{i + 1}" for i in range(199)]
    assert prove("x0 <= x199", chain).status == "proved"
    equal = [f"x{i} == x{i + 1}" for i in range(199)]
    assert prove("x0 == x199", equal).status == "proved"
    names = [f"x{i}" for i in range(200)]
    quotients = "+".join(f"{name}//7" for name in names)
    assert prove(f"({'+'.join(names)})//7 == {quotients}").status == "refuted"


def test_constants_of_64_bits() -> None:
    assert prove(f"(n*{LARGEST} + {LARGEST - 1})//{LARGEST} == n").status == "proved"
    assert prove(f"(n % {LARGEST}) % {LARGEST - 58} == n % {LARGEST - 58}").status == "refuted"


def nested(levels: int) -> PrimExpr:
    expr: PrimExpr = tir.Var("n")
    for level in range(levels):
        expr = tir.FloorDiv(tir.Add(expr, tir.IntImm(level)), tir.IntImm(3))
    return expr


def test_deep_and_shared_expressions() -> None:
    prover = Prover()
    deep = nested(1500)
    assert prover.equal(deep, deep).status == "proved"
    assert prover.always(tir.GE(deep, tir.IntImm(0))).status in ("proved", "unknown")
    shared: PrimExpr = tir.Var("n")
    power: PrimExpr = tir.Var("n")
    for _ in range(60):
        shared = tir.Add(shared, shared)
        power = tir.Mul(power, power)
    assert prover.equal(shared, tir.Mul(shared, tir.IntImm(1))).status == "proved"
    assert prover.equal(power, tir.Add(power, tir.IntImm(1))).status in ("refuted", "unknown")
    condition: PrimExpr = tir.EQ(tir.Var("n"), tir.IntImm(0))
    for level in range(2000):
        condition = tir.Not(tir.And(condition, tir.GE(tir.Var("k"), tir.IntImm(level))))
    assert prover.always(condition).status in ("refuted", "unknown")


def test_a_fact_that_defines_a_variable_by_itself() -> None:
    facts = ["m == m//n"]
    assert prove("(n*m + m) % n == m % n", facts).status == "proved"
    assert prove("m % n == n", facts).status == "refuted"


def test_int64_mode_of_large_sums() -> None:
    many = [f"x{i}" for i in range(1_000)]
    there, back = "+".join(many), "+".join(reversed(many))
    found = prove(f"{there} == {back}", int64=True)
    assert isinstance(found, Refuted)
    assert found.overflow is not None
    few = [f"y*x{i}" for i in range(60)]
    limits = ["y < 1000", *(f"x{i} < 100" for i in range(60))]
    goal = f"{'+'.join(few)} == {'+'.join(reversed(few))}"
    assert prove(goal, limits, int64=True).status == "proved"


def test_large_questions_are_explained_and_related() -> None:
    many = [f"x{i}" for i in range(1_000)]
    goal = f"{'+'.join(many)} == {'+'.join(reversed(many))}"
    assert explain(goal).endswith("proved: both sides have the same normal form")
    names: dict[str, tir.Var] = {}
    pairs = [
        (parse(f"a{i}*b{i} % c{i}", names), parse(f"b{i}*a{i}*(d{i}//3)", names)) for i in range(30)
    ]
    assert Prover().relate_all(pairs).kind in ("sometimes", "unknown")


def test_a_large_question_is_refuted_before_all_of_it_is_in_normal_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries: list[bool] = []
    original = Work.lend

    def lend(self: Work, engine: Engine, size: int = 0, hasty: bool = False) -> None:
        original(self, engine, size, hasty)
        tries.append(hasty)

    monkeypatch.setattr(Work, "lend", lend)
    slow = next(q for q in large() if q.name == "remainders of minima")
    assert slow.ask() == "refuted"
    assert tries == [False, True]


def test_a_sum_as_large_as_is_looked_at() -> None:
    many = [f"x{i}" for i in range(NODES // 3)]
    assert prove(f"{'+'.join(many)} == {'+'.join(reversed(many))}").status == "proved"


def test_collecting_goes_on_after_a_question() -> None:
    assert gc.isenabled()
    prove("n*m == m*n + 1")
    assert gc.isenabled()
    gc.disable()
    try:
        prove("n*m == m*n + 1")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_more_nodes_than_are_looked_at() -> None:
    total: PrimExpr = tir.Var("n")
    for term in range(NODES):
        total = tir.Add(total, tir.IntImm(term))
    prover = Prover()
    assert prover.equal(total, total).status == "proved"
    assert "expected at most" in str(prover.always(tir.GE(total, prim_exprs.ZERO)))
    assert prover.relate(total, prim_exprs.ZERO).kind == "unknown"


@pytest.fixture
def granted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The budgets of all questions to Z3, which leaves them undecided."""
    found: list[int] = []

    def solve(text: str, rlimit: int, names: Sequence[str] = ()) -> smt.Answer:
        found.append(rlimit)
        return smt.Answer("unknown")

    monkeypatch.setattr(smt, "solve", solve)
    return found


def test_a_conjunction_of_hard_parts_costs_no_more_than_one(granted: list[int]) -> None:
    """All parts draw on the work of one question; none of it is decided by the clock."""
    hard = [f"x{i}*x{i}*x{i} != 2*y{i}*y{i}*y{i} or y{i} == 0" for i in range(40)]
    assert prove(" and ".join(hard)).status == "unknown"
    assert 0 < sum(granted) <= Work().smt


def test_conditions_are_nested_as_deep_as_the_limit() -> None:
    store = PolyStore(10_000)

    def limit(level: int) -> Cond:
        return store.at_least_zero(store.of_atom(store.atom("var", (), level)))

    nested = limit(0)
    for level in range(1, DEPTH_LIMIT):
        assert nested.depth == level
        nested = store.join("and" if level % 2 else "or", [limit(level), nested])
    with pytest.raises(TooMuchWorkError, match="conditions are nested too deeply"):
        store.join("and" if DEPTH_LIMIT % 2 else "or", [limit(DEPTH_LIMIT), nested])


@pytest.mark.parametrize("easy", ["", "x + x == 2*x and ", "x + x == 2*x and y*x == x*y and "])
def test_parts_that_are_proved_at_once_take_nothing_from_the_others(
    easy: str, granted: list[int]
) -> None:
    hard = "(x*x*x != 2*y*y*y or y == 0)"
    assert prove(hard).status == "unknown"
    alone = granted[:]
    granted.clear()
    assert prove(easy + hard).status == "unknown"
    assert granted == alone != []


def test_chains_of_a_thousand_facts() -> None:
    facts = [f"x{i} < x{i + 1}" for i in range(1_000)]
    assert prove("x0 + 1000 <= x1000", facts).proved
    assert prove("x7 + 3 <= x9 + 1", [*facts, "x9 == y"]).proved
    assert not prove("x0 + 1001 <= x1000", facts).proved


def test_maxima_of_fifty_operands() -> None:
    names = [f"x{i}" for i in range(50)]
    assert prove(f"max({', '.join(names)}) == max({', '.join(names[::-1] + names)})").proved
    assert prove(f"min({', '.join(names)}) <= x33").proved
