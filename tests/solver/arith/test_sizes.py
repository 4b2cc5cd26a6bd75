"""Size is no limit: an answer, possibly unknown, in bounded work."""

from __future__ import annotations

from rlx.grammar import tir
from rlx.grammar.tir import PrimExpr
from rlx.solver import Prover, prove

LARGEST = 2**63 - 1


def test_sums_of_ten_thousand_terms() -> None:
    names = [f"x{i}" for i in range(10_000)]
    there, back = "+".join(names), "+".join(reversed(names))
    assert prove(f"{there} == {back}").status == "proved"
    assert prove(f"{there} == {back} + 1").status == "refuted"
    assert prove("+".join(["n"] * 10_000) + " == 10000*n").status == "proved"
    mods = "+".join(f"(n + {i}) % {i % 17 + 2}" for i in range(10_000))
    assert prove(f"{mods} == n").status == "refuted"
    assert prove(f"{mods} >= 0").status == "proved"


def test_two_hundred_variables() -> None:
    names = [f"x{i}" for i in range(200)]
    assert prove("*".join(names) + " == " + "*".join(reversed(names))).status == "proved"
    assert prove(f"min({','.join(names[:12])}) <= x7").status == "proved"
    chain = [f"x{i} <= x{i + 1}" for i in range(199)]
    assert prove("x0 <= x199", chain).status == "proved"
    equal = [f"x{i} == x{i + 1}" for i in range(199)]
    assert prove("x0 == x199", equal).status == "proved"
    quotients = "+".join(f"{name}//7" for name in names)
    assert prove(f"({'+'.join(names)})//7 == {quotients}").status == "refuted"


def test_constants_of_64_bits_and_more() -> None:
    assert prove(f"(n*{LARGEST} + {LARGEST - 1})//{LARGEST} == n").status == "proved"
    assert prove(f"n % {LARGEST} < {LARGEST}").status == "proved"
    assert prove(f"(n % {LARGEST}) % {LARGEST - 58} == n % {LARGEST - 58}").status == "refuted"
    huge = "9" * 3999
    assert prove(f"n*{huge}//{huge} == n").status == "proved"


def nested(levels: int) -> PrimExpr:
    expr: PrimExpr = tir.Var("n")
    for level in range(levels):
        expr = tir.FloorDiv(tir.Add(expr, tir.IntImm(level)), tir.IntImm(3))
    return expr


def test_deep_and_shared_expressions() -> None:
    prover = Prover()
    deep = nested(3000)
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
    for level in range(5000):
        condition = tir.Not(tir.And(condition, tir.GE(tir.Var("k"), tir.IntImm(level))))
    assert prover.always(condition).status in ("refuted", "unknown")


def test_a_fact_that_defines_a_variable_by_itself() -> None:
    facts = ["m == m//n"]
    assert prove("(n*m + m) % n == m % n", facts).status == "proved"
    assert prove("m % n == n", facts).status == "refuted"
