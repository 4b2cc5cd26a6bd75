"""Verdicts on single questions, contexts, casts, int64 mode, relations."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import (
    Context,
    Proved,
    Prover,
    Refuted,
    Relation,
    Unknown,
    explain,
    prim_exprs,
    prove,
)
from rlx.solver import context as contexts
from rlx.solver.context import divisors
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.question_parser import parse, show

HARD = [
    "(x % (a*b)) % b == x % b",
    "(x % (a*b))//b == (x//b) % a",
    "(n + k*t) % t == n % t",
    "(n % t + m % t) % t == (n + m) % t",
    "((n % t)*(m % t)) % t == (n*m) % t",
    "((i*b + j % b)*c + k % c)//(b*c) == i",
    "x//a//b//c == x//(a*b*c)",
    "((n + t - 1)//t*t + t - 1)//t*t == (n + t - 1)//t*t",
    "(-n) % t == (t - n % t) % t",
    "n*(n + 1)*(n + 2) % 6 == 0",
    "n*(n + 1)*(n + 2)*(n + 3)*(n + 4)*(n + 5)*(n + 6) % 5040 == 0",
    "((n + a - 1)//a + b - 1)//b == (n + a*b - 1)//(a*b)",
    "max(max(a, b), c) == max(a, max(c, b))",
    "min(max(x, lo), max(lo, hi)) == max(min(x, max(lo, hi)), lo)",
    "n*n + m*m >= 2*n*m",
    "tdiv(n - m, c) == -tdiv(m - n, c)",
]


@pytest.mark.parametrize("goal", HARD)
def test_hard_identities_are_proved(goal: str) -> None:
    assert isinstance(prove(goal), Proved)


@pytest.mark.parametrize(
    ("goal", "example"),
    [
        ("n//4*4 == n", {"n": 1}),
        ("n == m", {"n": 0, "m": 1}),
        ("(n + m)//2 == n//2 + m//2", {"n": 1, "m": 1}),
        ("n != 4099", {"n": 4099}),
        ("n < 70000", {"n": 70000}),
        ("n*n == n", {"n": 2}),
        ("1 == 2", {}),
    ],
)
def test_refutations_come_with_the_smallest_counterexample(
    goal: str, example: dict[str, int]
) -> None:
    verdict = prove(goal)
    assert verdict.status == "refuted"
    assert verdict.counterexample == example


def test_assumptions_and_lower_limits() -> None:
    assert prove("n//4*4 == n", assume=["n % 4 == 0"]).status == "proved"
    assert prove("x*y >= y", assume=["x >= 1"]).status == "proved"
    assert prove("x >= 0", lower={"x": None}).counterexample == {"x": -1}
    assert prove("x >= -3", lower={"x": -3}).status == "proved"
    assert prove("x//2 == tdiv(x, 2)", lower={"x": None}).counterexample == {"x": -1}
    assert prove("m >= 1", assume=["n % m == 0"]).status == "proved"


def test_divisions_of_both_signs() -> None:
    signed = {"x": None, "a": None, "b": None}
    nonzero = ["a != 0", "b != 0"]
    # Quotients that are rounded towards zero nest with divisors of any sign, and others do not.
    towards_zero = "truncdiv(truncdiv(x, a), b) == truncdiv(x, a*b)"
    assert prove(towards_zero, nonzero, signed).proved
    down = prove("x//a//b == x//(a*b)", nonzero, signed)
    assert isinstance(down, Refuted)
    x, a, b = (down.example[name] for name in "xab")
    assert x // a // b != x // (a * b)
    guarded = "if_then_else(a == 0, 0, x % a)*a >= 0"
    assert prove(guarded, lower={"x": None, "a": None}).proved
    assert prove(guarded.replace(">= 0", ">= 1"), lower={"x": None, "a": None}).refuted


def test_the_counterexample_satisfies_all_assumptions() -> None:
    assert prove("n == m", assume=["k >= 3", "j == k + 1"]).counterexample == {
        "n": 0,
        "m": 1,
        "k": 3,
        "j": 4,
    }


def test_divisors_that_must_not_be_zero_are_listed() -> None:
    verdict = prove("(n*m)//m == n")
    assert isinstance(verdict, Proved)
    assert [show(d) for d in verdict.divisors] == ["m"]
    known = prove("(n*m)//m == n", assume=["m >= 1"])
    assert isinstance(known, Proved)
    assert known.divisors == ()


@pytest.mark.parametrize("divisor", range(-4, 5))
@pytest.mark.parametrize("operator", ["//", "%"])
def test_of_constant_divisors_only_zero_counts(operator: str, divisor: int) -> None:
    goal = parse(f"n {operator} ({divisor}) == m", {})
    found = [show(d) for d in divisors([goal])]
    assert found == (["0"] if divisor == 0 else [])


@pytest.mark.parametrize("count", [65, 300, 1000])
def test_the_order_of_many_facts_takes_few_looks_at_each(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """The remaining facts are not sorted anew after each fact."""
    looked: list[PrimExpr] = []
    original = contexts.order_key

    def key(expr: PrimExpr, *rest: Any) -> tuple[int, int]:
        looked.append(expr)
        return original(expr, *rest)

    monkeypatch.setattr(contexts, "order_key", key)
    chain = [tir.Var(f"x{at}") for at in range(count + 1)]
    facts = [tir.LE(a, b) for a, b in pairwise(chain)]
    variables, ordered = contexts.order(tir.GE(chain[0], tir.IntImm(0)), facts, Context().state)
    assert set(variables) == set(chain) and len(ordered) == count
    assert len(looked) <= 3 * count


def test_zero_divisors_are_no_counterexamples() -> None:
    assert prove("n % m < m").status == "proved"
    assert prove("n//0 == 1").status == "proved"
    assert prove("m == 0 or n//m*m + n % m == n").status == "proved"
    assert prove("n//m >= 0 and m >= 0").status == "proved"
    assert prove("select(m == 0, n, n//m) <= n").status == "proved"


def test_contradictory_assumptions_prove_everything() -> None:
    assert prove("n == m", assume=["n < 3", "n > 5"]).status == "proved"
    assert prove("n == m", assume=["k < 3", "k > 5"]).status == "proved"


def test_unknown_says_what_was_tried() -> None:
    verdict = prove("x*x*x + y*y*y != z*z*z", assume=["x >= 1", "y >= 1"])
    assert isinstance(verdict, Unknown)
    assert "smt" in verdict.reason


def test_operations_outside_integer_arithmetic_are_never_guessed() -> None:
    n = tir.Var("n")
    read = tir.Call("exp", (n,), dtype("int64"))
    prover = Prover()
    assert prover.equal(read, read).status == "proved"
    assert prover.equal(tir.Sub(read, read), tir.IntImm(0)).status == "proved"
    assert prover.equal(read, tir.Call("exp", (n,), dtype("int64"))).status == "unknown"
    assert prover.equal(tir.Add(read, n), read).status == "unknown"
    first, second = (tir.Mul(tir.Call("exp", (n,), dtype("int64")), n) for _ in range(2))
    assert prover.equal(tir.Add(first, n), tir.Add(second, n)).status == "unknown"


@pytest.mark.parametrize(
    ("to", "value"),
    [("int8", 128), ("uint8", 256), ("int32", 2**31), ("uint32", 2**32)],
)
def test_narrowing_casts_wrap(to: str, value: int) -> None:
    n = tir.Var("n")
    cast = tir.Cast(dtype("int64"), tir.Cast(dtype(to), n))
    verdict = Prover().equal(cast, n)
    assert verdict.counterexample == {"n": value}
    context = Context()
    context.assume(tir.LT(n, tir.IntImm(value)))
    assert Prover(context).equal(cast, n).status == "proved"


def test_narrow_variables_have_the_limits_of_their_type() -> None:
    n = tir.Var("n", dtype("uint8"))
    assert Prover().always(tir.LT(n, tir.IntImm(256))).status == "proved"
    assert Prover().equal(tir.Cast(dtype("int16"), n), n).status == "proved"


def test_scopes() -> None:
    n, m = tir.Var("n"), tir.Var("m")
    context = Context()
    prover = Prover(context)
    even = tir.EQ(tir.Mul(tir.FloorDiv(n, tir.IntImm(2)), tir.IntImm(2)), n)
    context.push()
    context.assume(tir.EQ(tir.FloorMod(n, tir.IntImm(2)), tir.IntImm(0)))
    assert prover.always(even).status == "proved"
    copy = Prover(context.copy())
    context.pop()
    assert prover.always(even).status == "refuted"
    assert copy.always(even).status == "proved"
    context.define(m, tir.Mul(n, tir.IntImm(2)))
    assert prover.always(tir.EQ(tir.FloorMod(m, tir.IntImm(2)), tir.IntImm(0))).status == "proved"
    with pytest.raises(IndexError):
        context.pop()


def test_a_variable_bound_again_keeps_nothing_of_the_old_one() -> None:
    n, k = tir.Var("n"), tir.Var("k")
    context = Context()
    context.declare(n, lower=5, upper=9)
    context.define(k, tir.Add(n, tir.IntImm(1)))
    context.assume(tir.GE(n, tir.IntImm(7)))
    context.declare(n)
    prover = Prover(context)
    assert prover.always(tir.GE(n, tir.IntImm(5))).counterexample == {"n": 0}
    assert prover.equal(k, tir.Add(n, tir.IntImm(1))).status == "refuted"
    assert prover.always(tir.GE(k, tir.IntImm(8))).status == "proved"
    context.define(n, tir.Add(n, tir.IntImm(3)))
    assert prover.always(tir.GE(n, tir.IntImm(3))).status == "proved"


def test_a_variable_that_is_defined_by_itself_keeps_its_range() -> None:
    for low, high in ((0, 3), (-5, 3)):
        context = Context()
        context.declare("n", low, high)
        context.define("n", "n + 1")
        assert Prover(context).always("n <= 4").proved
        assert Prover(context).always("n >= 1").proved == (low == 0)


def test_int64_mode_shows_overflow() -> None:
    verdict = prove("n*m*k == k*m*n", int64=True)
    assert isinstance(verdict, Refuted)
    assert verdict.example == {"n": 2**21, "m": 2**21, "k": 2**21}
    assert verdict.overflow is not None
    assert show(verdict.overflow) == "n * m * k"
    limits = ["n < 1000", "m < 1000", "k < 1000"]
    assert prove("n*m*k == k*m*n", assume=limits, int64=True).status == "proved"
    assert prove("n == n", int64=True).status == "proved"
    assert prove("n <= 9223372036854775807", int64=True).status == "proved"
    assert prove("n + 1 > n", int64=True).counterexample == {"n": 2**63 - 1}


@pytest.mark.parametrize(
    ("goal", "least"),
    [
        ("0 - 9223372036854775807 - n <= 0", 1),
        ("n - n*2 - 9223372036854775807 <= 0", 1),
        ("n*(-4611686018427387904) <= 0", 2),
    ],
)
def test_int64_mode_knows_the_smallest_integer(goal: str, least: int) -> None:
    """-2 ** 63 is an integer of 64 bits, and the next smaller one is none."""
    assert prove(goal, assume=[f"n <= {least}"], int64=True).status == "proved"
    verdict = prove(goal, assume=[f"n <= {least + 1}"], int64=True)
    assert isinstance(verdict, Refuted) and verdict.overflow is not None
    assert verdict.counterexample == {"n": least + 1}


def test_int64_mode_knows_how_far_a_limited_value_reaches() -> None:
    """The least value is -2 ** 63 - 1, which is one too small."""
    verdict = prove("min(n, 3) - 1 <= 2", lower={"n": -(2**63)}, int64=True)
    assert isinstance(verdict, Refuted) and verdict.overflow is not None
    assert prove("min(n, 3) - 1 <= 2", lower={"n": -(2**63) + 1}, int64=True).status == "proved"


def test_equal_conditions_follow_from_each_other() -> None:
    """Under a divisor that is no constant, where there is no table of residues."""
    assert prove("(x % d == y % d) == ((x - y) % d == 0)", "d >= 1").proved
    assert prove("(x % d == y % d) == (x == y)", "d >= 1").refuted
    assert prove("(x % d == 0) == (x*x % d == 0)", "d >= 1").refuted


def test_never() -> None:
    n = tir.Var("n")
    assert Prover().never(tir.LT(n, tir.IntImm(0))).status == "proved"
    assert Prover().never(tir.LT(n, tir.IntImm(2))).counterexample == {"n": 0}


@pytest.mark.parametrize(
    ("expr", "simple"),
    [
        ("n + 1 - 1", "n"),
        ("n*2//2", "n"),
        ("min(n, n + 1)", "n"),
        ("n % 1", "0"),
        ("(n*m)//m", "n"),
        ("a*c + b*c", "(a + b) * c"),
        ("n*4 + m*4", "(n + m) * 4"),
        ("n*m + n", "n * m + n"),
        ("h - h//2*2", "h % 2"),
        ("x - x//3*3 + 5", "x % 3 + 5"),
        ("min(a, b)*max(a, b)", "a * b"),
        ("select(n < m, a*c + b*c, h - h//2*2)", "select(n < m, (a + b) * c, h % 2)"),
        ("(n & 7) | (n & 8)", "n % 16"),
        ("max(a - b, 0) + b", "max(a, b)"),
        ("max(a + 3, b + 3)", "max(a, b) + 3"),
        ("max(a*4, b*4) + 8", "max(a, b) * 4 + 8"),
        ("max(a//2, b//2)", "max(a, b) // 2"),
        ("min(o*3 + 2, n) - o*3", "min(2, n - o * 3)"),
        ("min(max(a, c), max(b, c))", "max(min(a, b), c)"),
        ("max(a, b) + max(a, b)", "max(a, b) * 2"),
        ("(a + b*8)//8 % 4", "(b + a // 8) % 4"),
        ("(a + 15)//16*16 - a", "-a % 16"),
        ("n//4 + (n + 1)//4 + (n + 2)//4 + (n + 3)//4", "n"),
        ("a - min(b, a - c)", "max(a - b, c)"),
        ("max(a - b, 0) - a", "-min(a, b)"),
        ("max(0 - a*6, 0 - b*6)", "min(a, b) * -6"),
        ("max(min(max(a, b), c), b)", "max(min(a, c), b)"),
        ("max(max((b + 5)//31, a)*31, b + 31)", "max(a * 31, b + 31)"),
        ("max((a + 7)//3*3, a)", "(a + 7) // 3 * 3"),
        ("a//8*8 < a + b - 3", "b + a % 8 >= 4"),
        ("select(a < 2, b, 0) + select(a < 2, c, 1)", "select(a < 2, b + c, 1)"),
        ("max(select(a == 17, 1, a), a)", "a"),
        ("b < select(a > 3, b + 5, c)", "a > 3 or b < c"),
        ("n*2 + 1 - p*2", "(n - p) * 2 + 1"),
        ("truncdiv(truncdiv(a - b, 2), 3)", "truncdiv(a - b, 6)"),
        ("a*4 < b*4", "a < b"),
        ("a + 3 >= b + 5", "b + 2 <= a"),
        ("a//4 < 2", "a <= 7"),
        ("not (a < b and c < d)", "b <= a or d <= c"),
        ("a < 4 and 4 < a", "False"),
        ("i < j or i == j", "i <= j"),
        ("i < j or j < i", "i != j"),
        ("a >= 0 and a < b", "a < b"),
        ("select(a < b, select(a < b, 1, 2), 3)", "select(a < b, 1, 3)"),
        ("if_then_else(a < 4, a % 4, a)", "a"),
        (
            "if_then_else(a > 0, b//a, 0) + if_then_else(a > 0, b//a, 0)",
            "if_then_else(a > 0, b // a, 0) * 2",
        ),
    ],
)
def test_simplify(expr: str, simple: str) -> None:
    assert show(Prover().simplify(parse(expr, {}))) == simple


def test_a_positive_factor_of_both_sides_is_left_out() -> None:
    context, variables = Context(), dict[str, tir.Var]()
    condition = parse("a*c + c < b*c", variables)
    assert show(Prover(context).simplify(condition)) == "a * c + c < b * c"
    context.declare(variables["c"], lower=1)
    assert show(Prover(context).simplify(condition)) == "a + 2 <= b"


_LEAVES = ("a", "b", "c", "0", "1", "2", "3", "4", "8", "-1", "-2")
_NUMBERS = (
    "+",
    "+",
    "-",
    "*",
    "//",
    "%",
    "min",
    "max",
    "truncdiv",
    "select",
    "if_then_else",
    "&",
    "^",
    "int8",
)
_RELATIONS = ("<", "<=", ">", ">=", "==", "!=")


def random_text(rng: random.Random, depth: int) -> str:
    """A number as a text."""
    if not depth or rng.random() < 0.15:
        return rng.choice(_LEAVES)
    a, b = random_text(rng, depth - 1), random_text(rng, depth - 1)
    match rng.choice(_NUMBERS):
        case "int8":
            return f"int8({a})"
        case "select" | "if_then_else" as word:
            return f"{word}({random_condition(rng, depth - 1)}, {a}, {b})"
        case "min" | "max" | "truncdiv" as word:
            return f"{word}({a}, {b})"
        case op:
            return f"({a} {op} {b})"


def random_condition(rng: random.Random, depth: int) -> str:
    """A condition as a text."""
    if depth > 0 and rng.random() < 0.4:
        a, b = random_condition(rng, depth - 1), random_condition(rng, depth - 1)
        return rng.choice((f"({a} and {b})", f"({a} or {b})", f"(not {a})"))
    a, b = random_text(rng, min(depth, 2)), random_text(rng, min(depth, 2))
    return f"({a} {rng.choice(_RELATIONS)} {b})"


@pytest.mark.parametrize("seed", range(3))
def test_a_short_form_is_shorter_and_has_the_value(seed: int) -> None:
    """The answer holds wherever the expression has a value, with true facts and variables of both signs."""
    rng = random.Random(seed)
    for _ in range(100):
        variables: dict[str, tir.Var] = {name: tir.Var(name) for name in "abc"}
        text = random_condition(rng, 2) if rng.random() < 0.3 else random_text(rng, 3)
        expr = parse(text, variables)
        fact = parse(rng.choice(("a < b", "a % 4 == 0", "b == 2*c", "c >= 1", "a >= 0")), variables)
        context = Context()
        context.declare(variables["a"], None, None)
        context.assume(fact)
        simple = Prover(context).simplify(expr)
        assert prim_exprs.length(simple) <= prim_exprs.length(expr)
        for _ in range(60):
            values = {
                var: rng.randint(-9 if name == "a" else 0, 12) for name, var in variables.items()
            }
            try:
                if evaluate(fact, values):
                    value = evaluate(expr, values)
                    assert evaluate(simple, values) == value, (
                        text,
                        show(fact),
                        show(simple),
                        values,
                    )
            except UndefinedError:
                continue


def relation(*pairs: tuple[str, str]) -> Relation:
    variables: dict[str, tir.Var] = {}
    listed: list[tuple[PrimExpr, PrimExpr]] = [
        (parse(a, variables), parse(b, variables)) for a, b in pairs
    ]
    return Prover().relate_all(listed)


@pytest.mark.parametrize(
    ("pairs", "kind", "assumption"),
    [
        ([("n", "n")], "always", None),
        ([("n*m", "m*n"), ("4", "2 + 2")], "always", None),
        ([("n", "m")], "sometimes", "n == m"),
        ([("n//4*4", "n")], "sometimes", "n % 4 == 0"),
        ([("max(n, 1)", "n")], "sometimes", "n >= 1"),
        ([("n*m", "k*m")], "sometimes", "n == k"),
        ([("m*n", "m*k")], "sometimes", "n == k"),
        ([("(n + 1)*4", "(m + 1)*4")], "sometimes", "n + 1 == m + 1"),
        ([("n", "16"), ("n", "32")], "never", None),
        ([("n", "3"), ("2*n", "6")], "sometimes", "n == 3"),
        ([("n", "3"), ("2*n", "7")], "never", None),
        ([("n", "n + 1")], "never", None),
        ([("n + 1 >= 1", "True")], "always", None),
        ([("n < m", "True")], "sometimes", "n < m"),
        ([("n < 0", "True")], "never", None),
    ],
)
def test_relations(pairs: list[tuple[str, str]], kind: str, assumption: str | None) -> None:
    found = relation(*pairs)
    assert found.kind == kind
    shown = None if found.assumption is None else show(found.assumption)
    assert shown == assumption
    assert (found.counterexample is None) == (kind == "always")
    assert (found.witness is None) == (kind != "sometimes")


def test_never_is_judged_for_positive_values() -> None:
    found = relation(("n*2", "n*3"))
    assert found.kind == "never"
    assert found.zero_saves
    assert found.witness == {"n": 0}
    assert found.counterexample == {"n": 1}
    assert not relation(("n", "n + 1")).zero_saves


def test_beside_a_literal_zero_a_size_of_zero_counts() -> None:
    found = relation(("0", "n"))
    assert found.kind == "sometimes"
    assert found.witness == {"n": 0}
    assert found.counterexample == {"n": 1}
    assert found.assumption is not None
    assert relation(("0", "n + 1")).kind == "never"
    assert relation(("n*3 % 3", "1")).kind == "never"


def test_a_variable_that_is_known_to_be_zero() -> None:
    n, m = tir.Var("n"), tir.Var("m")
    context = Context()
    context.assume(tir.EQ(n, tir.IntImm(0)))
    found = Prover(context).relate(n, tir.Mul(n, m))
    assert found.kind == "always"
    assert Prover(context).relate(n, m).kind in ("sometimes", "never")


def test_equal_names_are_not_equal_variables() -> None:
    first, second = tir.Var("n"), tir.Var("n")
    verdict = Prover().equal(first, second)
    example: Mapping[str, int] | None = verdict.counterexample
    assert example == {"n": 0, "n'": 1}


def test_answers_are_remembered_and_counted() -> None:
    prover = Prover()
    n, m = tir.Var("n"), tir.Var("m")
    for _ in range(3):
        prover.equal(tir.Add(n, m), tir.Add(m, n))
    left, right = tir.Add(n, m), tir.Add(m, n)
    assert prover.equal(left, right) is prover.equal(left, right)
    prover.equal(n, n)
    assert prover.statistics.means["normal form"] == 4
    assert prover.statistics.means["remembered"] == 1
    assert prover.statistics.means["identical"] == 1
    assert len(prover.statistics.slowest) == 3


def test_what_holds_only_because_both_branches_of_a_select_are_evaluated_is_not_claimed() -> None:
    zero = ["m == 0"]
    assert prove("select(n == 0, 5, m // n) != 5", zero).status == "unknown"
    assert prove("if_then_else(n == 0, 5, m // n) != 5", zero).counterexample == {"n": 0, "m": 0}
    assert prove("select(n == 0, 0, m % n) < max(n, 1)").status == "proved"
    assert prove("select(n > 0, (m*n)//n, m) == m").status == "proved"
    assert prove("select(m % n == 0, 1, 2) >= 1").status == "proved"


def test_an_overflow_in_a_branch_that_is_not_taken_is_not_claimed() -> None:
    assert prove("select(n < 10, n*n, 0) >= 0", int64=True).status == "unknown"
    found = prove("select(n < 10, n*n, 0) + m*m >= 0", int64=True)
    assert isinstance(found, Refuted)
    assert found.overflow is not None
    assert show(found.overflow) == "m * m"


@pytest.mark.parametrize(
    ("goal", "needed"),
    [
        ("n >= 1", "n >= 1"),
        ("n + 3 >= 10", "n >= 7"),
        ("2*n <= 9", "n <= 4"),
        ("n*m >= m", "n >= 1"),
        ("n*m > 0", "n >= 1 and m >= 1"),
        ("n*n > n", "n >= 2"),
        ("n*m <= n", "m <= 1"),
        ("n - m >= 0", "m <= n"),
        ("n < m", "n < m"),
        ("n != m", "n < m"),
        ("n != 0", "n >= 1"),
        ("n == 0", "n == 0"),
        ("n % 4 <= 0", "n % 4 == 0"),
        ("n//4*4 == n", "n % 4 == 0"),
    ],
)
def test_an_explanation_says_what_would_have_to_be_assumed(goal: str, needed: str) -> None:
    assert explain(goal).endswith(f"it would hold if {needed}")
    assert prove(goal, [needed]).status == "proved"


def test_no_assumption_is_named_where_none_helps() -> None:
    assert "would hold" not in explain("n < n")
    assert "would hold" not in explain("n >= 5", ["n <= 4"])
    assert "would hold" not in explain("n*n >= 0", int64=True)


@pytest.mark.parametrize("goal", ["n // 4 <= 4", "n // 4 != 5"])
def test_two_limits_of_one_term_are_no_stronger_than_the_lower(goal: str) -> None:
    found = prove(goal, assume=["n // 4 <= 5", "n <= 20"])
    assert found.status == "refuted" and found.counterexample == {"n": 20}
