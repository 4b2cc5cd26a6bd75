"""Questions at the edges: what is no integer, narrow and unsigned types, int64 mode, assumptions that contradict each other."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from benchmarks.prover.random_goals import RandomGoal, describe, wrong
from rlx.commands.prove import main
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64, dtype
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import Context, Proved, Prover, Refuted, explain, prim_exprs, prove, smt, to_smtlib
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.question_parser import parse, show
from rlx.solver.verdict import CONTRADICTORY

N, M = tir.Var("n"), tir.Var("m")

# What is no integer

FOREIGN = (
    *("float16", "float32", "bfloat16", "float8_e4m3fn", "int32x4", "bool x4", "uint8x2"),
    "handle",
)
STRANGERS: list[PrimExpr] = [
    *(tir.Var("f", dtype(name.replace(" ", ""))) for name in FOREIGN),
    tir.FloatImm(1.5),
    tir.Cast(dtype("float32"), N),
    tir.Cast(dtype("int64x2"), N),
    tir.IntImm(1, dtype("int32x4")),
    tir.Call("exp", (N,), dtype("float32")),
    tir.Call("unheard_of", (N,)),
    tir.Call("call_extern", (tir.StringImm("random"),), INT64),
    tir.Div(N, M),
    tir.StringImm("n"),
    tir.Let(N, M, tir.Add(N, M)),
]


@pytest.mark.parametrize("strange", STRANGERS, ids=lambda expr: show(expr))
def test_what_is_no_integer_is_left_unknown(strange: PrimExpr) -> None:
    """By itself, inside of an integer, and among assumptions: nothing is proved or refuted of it."""
    g = tir.Var("g", tir.type_of(strange))
    inside = tir.Cast(INT64, strange)
    goals = [
        tir.EQ(strange, strange),
        tir.EQ(tir.Sub(tir.Add(strange, g), g), strange),
        tir.LE(tir.Sub(strange, strange), tir.IntImm(0)),
        tir.EQ(tir.Mul(strange, tir.IntImm(0)), tir.IntImm(0)),
        tir.NE(strange, strange),
        tir.EQ(tir.Add(inside, N), tir.Add(N, inside)),
    ]
    for goal in goals:
        for int64 in (False, True):
            prover = Prover(int64=int64)
            assert prover.always(goal).unknown, show(goal)
            assert prover.never(goal).unknown, show(goal)
            assert prover.equal(goal.a, goal.b).unknown, show(goal)
            assert prover.relate(goal.a, goal.b).kind == "unknown"
            assert prover.assumption(goal) is None
            assert prover.simplify(goal.a) is goal.a
        assert prove(goal).unknown and "unknown" in explain(goal)
        context = Context()
        context.assume(goal)
        assert Prover(context).always(tir.EQ(N, N)).proved
        assert Prover(context).always(tir.GE(N, tir.IntImm(1))).unknown
        with pytest.raises(TypeError, match="expected integer arithmetic, found"):
            to_smtlib(goal)


# Narrow and unsigned types

NARROW = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64", "bool", "int1", "uint4")


class Typed(RandomGoal):
    """A goal over variables of any integer type."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        kinds = {v: dtype(rng.choice(NARROW)) for v in self.variables}
        new = {v: tir.Var(v.name, kind) for v, kind in kinds.items()}
        mapping: dict[tir.Var, PrimExpr] = {**new}
        facts = [tir.substitute(fact, mapping) for fact in self.context.state.facts]
        self.condition = tir.substitute(self.condition, mapping)
        self.variables = list(new.values())
        self.context = Context()
        for var in self.variables:
            self.context.declare(var, rng.choice((0, None)))
        for fact in facts:
            self.context.assume(fact)


def test_variables_of_every_integer_type() -> None:
    """Arithmetic is exact, the variables keep the limits of their types."""
    tally: Counter[str] = Counter()
    for number in range(200):
        goal = Typed(random.Random(number))
        verdict = Prover(goal.context).always(goal.condition)
        tally[verdict.status] += 1
        assert (error := wrong(goal, verdict)) is None, f"{number}: {describe(goal)}: {error}"
    assert min(tally["proved"], tally["refuted"]) > 32


@pytest.mark.parametrize("kind", [name for name in NARROW if name != "bool"])
def test_the_limits_of_types(kind: str) -> None:
    low, high = prim_exprs.dtype_range(dtype(kind))
    u = tir.Var("u", dtype(kind))
    free = {"u": None}
    assert prove(tir.LE(u, tir.IntImm(high)), lower=free).proved
    assert prove(tir.GE(u, tir.IntImm(low)), lower=free).proved
    assert prove(tir.LT(u, tir.IntImm(high)), lower=free).counterexample == {"u": high}
    assert prove(tir.EQ(tir.Cast(dtype(kind), u), u), lower=free).proved
    # Exact: one more than the largest value is larger than it.
    assert prove(tir.LE(tir.Add(u, prim_exprs.ONE), tir.IntImm(high))).counterexample == {"u": high}


def test_unsigned_values_of_64_bits_are_no_int64() -> None:
    u = tir.Var("u", dtype("uint64"))
    assert prove(tir.LT(u, tir.IntImm(2**63)), int64=True).status != "proved"
    assert prove(tir.LE(u, tir.IntImm(2**64 - 1))).proved
    signed = tir.Cast(INT64, u)
    assert prove(tir.EQ(signed, u)).counterexample == {"u": 2**63}


# int64 mode


@pytest.mark.parametrize(
    "goal",
    [
        "n != 1 or n != 18446744073709551617",
        "n < n + 9223372036854775808",
        "n - 9223372036854775808 < n",
        "n*n >= 0",
        "n + 1 > n",
        "abs(n) >= 0",
        "n // -1 == 0 - n",
    ],
)
def test_overflow_is_told(goal: str) -> None:
    assert prove(goal, lower={"n": None}).proved
    found = prove(goal, lower={"n": None}, int64=True)
    assert isinstance(found, Refuted) and found.overflow is not None
    (read,) = prim_exprs.expand([parse(goal, {v.name: v for v in found.values})])
    assert evaluate(read, found.values)
    with pytest.raises(UndefinedError, match="does not fit into int64"):
        evaluate(prim_exprs.lazily(read), found.values, int64=True)


def test_two_limits_together_keep_a_value_small() -> None:
    """No value is known to fit by itself, but the two conditions together keep it small."""
    assert prove("n >= 3000000000 or n*n >= 0", int64=True).proved
    assert prove("n > 100 or n*n*n <= 1000000", int64=True).proved


# Contradictory assumptions

APART = (
    ["k < k"],
    ["k >= 3", "k <= 2"],
    ["k % 2 == 1", "k % 4 == 0"],
    ["k*k == 2"],
    ["k == j + 1", "j == k + 1"],
    ["k // 0 == 1"],
    ["1 == 2"],
    ["k // j == 3", "j == 0"],
)
GOALS = (
    *("n == n", "n == m", "n >= 0", "n < 0", "n*m//m == n", "n//0 == 1", "n*n*n >= n"),
    "n != 4099",
)


@pytest.mark.parametrize("facts", APART, ids=" and ".join)
@pytest.mark.parametrize("name", ["k", "n"])
def test_contradictory_assumptions_are_always_told(
    facts: list[str], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether or not they share a variable with the goal, in the verdict, by the command and in the script."""
    assume = [fact.replace("k", name) for fact in facts]
    for goal in GOALS:
        for int64 in (False, True):
            verdict = prove(goal, assume, int64=int64)
            assert isinstance(verdict, Proved) and verdict.means == CONTRADICTORY, (goal, assume)
            script = to_smtlib(goal, assume, int64=int64)
            answer = smt.solve(script.removesuffix("(check-sat)\n"), 2_000_000)
            assert answer.status == "unsat", (goal, assume)
        options = [part for fact in assume for part in ("--assume", fact)]
        assert main([goal, *options]) == 0
        assert capsys.readouterr().out == "proved (contradictory assumptions)\n"
    context = Context()
    names: dict[str, tir.Var] = {"n": N}
    for fact in assume:
        context.assume(parse(fact, names))
    assert Prover(context).equal(N, N).means == CONTRADICTORY  # type: ignore[attr-defined]


# The script and the verdict


def test_the_script_agrees_with_the_verdict() -> None:
    """Proved goals are ``unsat`` and refuted ones ``sat``, wherever Z3 settles it; in every style."""
    tally: Counter[str] = Counter()
    for number in range(120):
        goal = RandomGoal(random.Random(31_000_000 + number))
        if number % 4 == 0:
            k = tir.Var("k")
            goal.context.assume(tir.EQ(tir.FloorMod(k, tir.IntImm(3)), tir.IntImm(1)))
        state = goal.context.state
        # A text or an expression has no ranges: they become assumptions here.
        facts = [*state.facts]
        for var, (low, high) in state.ranges.items():
            facts += [tir.GE(var, tir.IntImm(low))] if low is not None else []
            facts += [tir.LE(var, tir.IntImm(high))] if high is not None else []
        lower = {v.name: None for v in tir.free_vars(goal.condition, *facts)}
        if len(lower) < len(tir.free_vars(goal.condition, *facts)):
            continue
        int64 = number % 3 == 0
        try:
            verdict = prove(goal.condition, facts, lower, int64=int64)
        except TypeError:
            continue
        script = to_smtlib(goal.condition, facts, lower, smt.STYLES[number % 3], int64=int64)
        answer = smt.solve(script.removesuffix("(check-sat)\n"), 400_000).status
        tally[f"{verdict.status} {answer}"] += 1
    assert tally["proved sat"] == 0 and tally["refuted unsat"] == 0, tally
    assert tally["proved unsat"] > 30 and tally["refuted sat"] > 15, tally


@pytest.mark.parametrize("count", [10, 3_000])
def test_a_fact_of_many_alternatives(count: int) -> None:
    """A counterexample satisfies one of the alternatives, for any number of them."""
    fact: PrimExpr = tir.EQ(N, tir.IntImm(1_000_003))
    for k in range(count):
        fact = tir.Or(fact, tir.EQ(tir.Mul(N, M), tir.IntImm(1_000_003 + k)))
    context = Context()
    for var in (N, M):
        context.declare(var)
    context.assume(fact)
    found = Prover(context).always(tir.EQ(M, tir.IntImm(5)))
    assert isinstance(found, Refuted)
    assert evaluate(fact, {N: 0, M: 0, **found.values})
