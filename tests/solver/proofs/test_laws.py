"""Proofs check without the prover, and damaged ones do not."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from collections import Counter
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from rlx.grammar.nodes import tir
from rlx.solver import Context, Proved, Prover, prove
from rlx.solver.proofs import checker
from rlx.solver.proofs.checker import RefusedError, check, read
from rlx.solver.question_parser import parse
from tests.solver.proofs.damage import DAMAGE, damaged
from tests.solver.proofs.laws import certified, proved, true_questions

CHECKER = Path(checker.__file__)

UNCHECKED_AT_MOST = 0
"""Of the questions below; `python -m tests.solver.proofs.laws` asks all of them."""


def certificate(goal: str, *assume: str, int64: bool = False) -> dict[str, object]:
    verdict = prove(goal, list(assume), int64=int64)
    assert isinstance(verdict, Proved)
    return verdict.certificate


def test_nearly_all_proofs_of_the_benchmark_check() -> None:
    unchecked = [c.goal for c in true_questions(37) if not certified(proved(c).certificate)]
    assert len(unchecked) <= UNCHECKED_AT_MOST, unchecked


def nested(word: str, count: int) -> str:
    """The largest or smallest of many."""
    return reduce(lambda inner, i: f"{word}({inner}, x{i})", range(1, count), "x0")


KINDS = [
    (f"{nested('max', 50)} >= x16", ()),
    (f"{nested('min', 50)} <= x16", ()),
    (f"{nested('max', 9)} == max(x8, {nested('max', 8)})", ()),
    ("n*m + n == n*(m + 1)", ()),
    ("n//4*4 + n % 4 == n", ()),
    ("n//2//3 == n//6", ()),
    ("(n*m)//m == n", ()),
    ("n//4*4 == n", ("n % 4 == 0",)),
    ("n*n >= n", ()),
    ("2*n >= 3", ("3*n >= 4",)),
    ("max(n, m) + min(n, m) == n + m", ()),
    ("select(n < 3, n, 3) == min(n, 3)", ()),
    ("(n*(n + 1)) % 2 == 0", ()),
    ("truncdiv(n, 3) == n//3", ()),
    ("truncdiv(truncdiv(n, 2), 3) == truncdiv(n, 6)", ()),
    ("truncmod(truncdiv((x*4 + y)*8 + z, 8), 4) == y", ("y < 4", "z < 8")),
    ("truncdiv(n, -m) == -truncdiv(n, m)", ()),
    ("max(max(n, m), k) == max(n, max(m, k))", ()),
    ("(k < min(n, m)) == (k < n and k < m)", ()),
    ("n == m", ("n % k == m % k", "n//k == m//k")),
    ("((n - m)*k == 0) == (n == m or k == 0)", ()),
    ("int8(n) == n", ("n < 128",)),
    ("uint8(n) == n % 256", ()),
    ("a == b", ("a <= b", "b <= a")),
    ("n < 5 or n > 3", ()),
    ("not (n < 3 and n > 5)", ()),
    ("(a & b) <= a", ()),
    ("(a & (b | c)) == ((a & b) | (a & c))", ()),
    ("(x & -x) >= 1", ("x >= 1",)),
    ("(i ^ j) < 8", ("i < 8", "j < 8")),
    ("(i*8 ^ j*8) == (i ^ j)*8", ()),
    ("((hi << 4) | lo) >> 4 == hi", ("lo < 16",)),
    ("(x & ((1 << k) - 1)) == x % (1 << k)", ()),
    ("a % n == (a & (n - 1))", ("(n & (n - 1)) == 0", "n >= 1")),
    ("(x >> a) >> b == x >> (a + b)", ()),
    ("(((i*a + j)*b + k)*c + l)//(a*b*c) == i", ("j < a", "k < b", "l < c")),
    ("((n + a - 1)//a)*((m + b - 1)//b)*(a*b) >= n*m", ("a >= 1", "b >= 1")),
    ("(x//c) % (a*b)//b == (x//(b*c)) % a", ()),
    ("(((i ^ j) & 3) ^ (j & 3)) == (i & 3)", ()),
    ("(x ^ ((x & 0x380) >> 3)) % 16 == x % 16", ()),
    ("(i & 16) & ((1 << k) - 1) == 0", ("k <= 4",)),
    ("(1 << k) > k", ()),
    ("(1 << k) <= 1024", ("k <= 10",)),
    ("64 % (1 << k) == 0", ("k <= 6",)),
    ("(1 << k) <= n", ("k <= 4", "n >= 16")),
    ("((i ^ j) & 7) == ((i & 7) ^ (j & 7))", ()),
    ("(n - 1)//2 + 1 == (n + 1)//2 and (n - 1)//2 + 1 == (n + 1)//2", ()),
    ("1 == 2", ("n < 0",)),
    ("1//(n - n) == 3", ()),
    ("if_then_else(n != 0, 8//n, 0) <= 8", ()),
    ("n == 0", ("n < 5", "n % 6 == 0")),
    ("n*n > 16", ("n % n > n % 3",)),
    ("1 == 2", ("max(n, 2) >= 5", "min(4, n) <= min(3, n)")),
    ("k % min(n, m) == k % select(n <= m, n, m)", ()),
    ("int8(m*min(m, n)) == int8(m*select(m <= n, m, n))", ()),
    ("max(n % m, k) == select(n*2//2 % m >= k, n*2//2 % m, k)", ()),
    ("(row*8 + (col ^ (row % 8))) % 8 == (col ^ (row % 8))", ("col < 8",)),
    ("(((x & 255) ^ 128) - 128) >= -128", ()),
    ("(x*x & 7) == 1", ("x % 2 == 1",)),
    ("uint64(12 % n) == uint64(12 % (n*2//2))", ()),
    ("s*i + a != s*j + b", ("a < s", "b < s", "a != b")),
    ("2*s*i + a != 2*s*j + s + b", ("a < s", "b < s")),
    ("(n - m)*(n - m - 1) >= 0", ()),
    ("n*n + 6 >= 5*n", ()),
    ("n % 3 == 0", ("n*n % 3 == 0",)),
    ("n % 5 == 2 or n % 5 == 3", ("n*n % 5 == 4",)),
    ("1 == 2", ("n*n % 4 == 3",)),
    ("a % 6 == c % 6", ("a % 2 == c % 2", "a % 3 == c % 3")),
    ("(3*n + 5*m) % d == 0", ("(n + m) % d == 0", "(2*n + 4*m) % d == 0")),
    ("n*n != 2", ()),
    ("n*n + m*m != 3", ()),
    ("n*m != 7 or n == 1 or n == 7", ()),
    ("n + m <= 14", ("n*n + m*m <= 100",)),
    ("n*n*n + m*m*m >= n*n*m + n*m*m", ()),
    ("6 % n != 3", ()),
    ("truncdiv(truncdiv(n - m, a), b) == truncdiv(n - m, a*b)", ()),
    ("(((i ^ j) & 31) ^ (j & 31)) == (i & 31)", ()),
    ("((r*8 + (c ^ (r % 8))) % 8) ^ (r % 8) == c", ("c < 8",)),
    ("(r*w + (c ^ (r % w))) % w == (c ^ (r % w))", ("w == 8", "c < w")),
    ("x % (x & -x) == 0", ("x > 0",)),
    ("((x ^ ((x & 448) >> 3)) ^ (((x ^ ((x & 448) >> 3)) & 448) >> 3)) == x", ()),
    ("((r*128 + c*16) ^ ((r & 7) << 4)) == r*128 + ((c ^ (r & 7)) << 4)", ("c < 8",)),
    ("((a*8 + 5) ^ (b*8 + 3)) == (a ^ b)*8 + 6", ()),
    ("(n % d == m % d) == ((n - m) % d == 0)", ("d >= 1",)),
    ("(a >> 1) + (b >> 1) + ((a & b) & 1) == (a + b) >> 1", ()),
]


@pytest.mark.parametrize(("goal", "assume"), KINDS)
def test_each_kind_of_reasoning_checks(goal: str, assume: tuple[str, ...]) -> None:
    assert certified(certificate(goal, *assume))


def test_a_table_has_no_more_residues_than_matter() -> None:
    """The last three bits of a number decide those of its square, twice."""
    goal = "n*n % 8 // 2 * (n*n % 8 // 2 - 2) == 0"
    (table,) = (s for s in certificate(goal)["proof"] if s["rule"] == "table")  # type: ignore[attr-defined]
    assert len(table["proofs"]) == 8


SHORT: list[tuple[str, tuple[str, ...]]] = [
    ("i == j", ("(i ^ s) == (j ^ s)",)),
    ("i == (k ^ s)", ("(i ^ s) == k",)),
    ("i == k and j == l", ("i*s + j == k*s + l", "j < s", "l < s")),
    ("i*4 + j != k*4 + l", ("i < k", "j < 4", "l < 4")),
    ("((c ^ ((r & 7) << 3)) ^ ((r & 7) << 3)) == c", ()),
    ("int8(x) == select((x & 128) != 0, (x & 255) - 256, x & 255)", ()),
    ("((x & 255) ^ 128) - 128 >= -128", ()),
    ("((t % 32)//4 ^ (t % 4)) < 8", ()),
    ("((z & 1) | ((z >> 1) & 2) | ((z >> 2) & 4)) < 8", ()),
    ("((a << k) | b) >> k == a", ("b < (1 << k)",)),
    ("i % c != j % c", ("i < j", "j < i + c")),
    ("(a*x)//(a*y) == x//y", ("y >= 1",)),
    ("(row*8 + (col ^ (row % 8))) % 8 == (col ^ (row % 8))", ("col < 8",)),
    ("(((i ^ j) & 7) ^ (j & 7)) == (i & 7)", ()),
    (
        "min(max(min(max(x, a), b), c), d) == min(max(x, max(a, c)), min(b, d))",
        ("a <= b", "c <= d", "max(a, c) <= min(b, d)"),
    ),
    ("max(min(n, k), min(m, k)) == min(max(n, m), k)", ()),
]


@pytest.mark.parametrize(("goal", "assume"), SHORT)
def test_digits_bits_signs_and_maxima_need_no_long_proof(
    goal: str, assume: tuple[str, ...]
) -> None:
    found = certificate(goal, *assume)
    assert certified(found)
    assert len(json.dumps(found)) < 8000


def test_a_proof_does_not_depend_on_what_was_asked_before() -> None:
    """Z3 finds another solution of several when its shared terms were made for other questions."""
    forward = [certificate(goal, *assume) for goal, assume in SHORT]
    backward = [certificate(goal, *assume) for goal, assume in reversed(SHORT)]
    assert forward == [*reversed(backward)]


def test_deep_and_shared_goals_are_left_unchecked() -> None:
    """Neither is one text that Python's parser reads."""
    deep: tir.PrimExpr = tir.Var("n")
    shared: tir.PrimExpr = tir.Var("n")
    for number in range(300):
        deep = tir.FloorDiv(tir.Add(deep, tir.IntImm(number)), tir.IntImm(3))
        shared = tir.Add(shared, shared)
    for goal in (tir.GE(deep, tir.IntImm(0)), tir.EQ(shared, tir.Mul(shared, tir.IntImm(1)))):
        verdict = prove(goal)
        assert isinstance(verdict, Proved)
        assert verdict.certificate["proof"].endswith("unchecked")


def test_far_assumptions_that_no_text_can_hold_are_left_out() -> None:
    n = tir.Var("n")
    shared: tir.PrimExpr = tir.Var("m")
    for _ in range(200):
        shared = tir.Add(shared, shared)
    context = Context()
    context.assume(tir.GE(n, tir.IntImm(3)))
    context.assume(tir.GE(shared, tir.IntImm(0)))
    verdict = Prover(context).always(tir.GT(tir.Mul(n, n), tir.IntImm(8)))
    assert isinstance(verdict, Proved)
    assert certified(verdict.certificate)
    assert verdict.certificate["assume"] == ["n >= 3"]


def test_that_all_values_fit_is_part_of_the_proof() -> None:
    found = certificate("n + 1 > n", "n < 100", int64=True)
    assert certified(found)
    assert str(2**63 - 1) in str(found["goal"])


def test_variables_of_one_name_are_told_apart() -> None:
    from rlx.grammar.nodes import tir

    first, second = tir.Var("n"), tir.Var("n")
    context = Context()
    context.declare(second, lower=None)
    verdict = Prover(context).always(tir.GE(tir.Add(first, tir.Mul(second, second)), first))
    if isinstance(verdict, Proved):
        assert len(verdict.certificate["variables"]) == 2


def test_what_several_cases_need_is_derived_once_before_them() -> None:
    goal = "truncdiv(truncdiv(n - 50, 4), 8) == truncdiv(n - 50, 32)"

    def repeated(steps: list[dict[str, Any]]) -> int:
        count = 0
        for below in (step["proofs"] for step in steps if step["rule"] in ("cases", "table")):
            facts = Counter(
                step["gives"] for proof in below for step in proof if "proofs" not in step
            )
            own = [
                {step["gives"] for step in proof if not step.get("uses", [1])} for proof in below
            ]
            count += sum(facts[fact] > 1 for fact in set().union(*own))
            count += sum(map(repeated, below))
        return count

    assert repeated(certificate(goal)["proof"]) == 0  # type: ignore[arg-type]


def test_a_quotient_by_minus_one_has_no_residues() -> None:
    """A proof is looked for by tables of residues, of which -1 leaves none; it is left unchecked."""
    n, m = tir.Var("n"), tir.Var("m")
    context = Context()
    context.declare(n, -7, 7)
    context.declare(m, -2, 3)
    goal = parse("select(n < 1, -n, m) // -1 % (m // 2) != 1", {"n": n, "m": m})
    verdict = Prover(context).always(goal)
    assert isinstance(verdict, Proved) and verdict.certificate["goal"]


def test_dimensions_that_look_alike_have_a_proof() -> None:
    names: dict[str, object] = {}
    a, b = (parse("n*4 + m", names) for _ in range(2))  # type: ignore[arg-type]
    verdict = Prover().equal(a, b)
    assert isinstance(verdict, Proved)
    assert certified(verdict.certificate)


def test_a_certificate_is_always_the_same() -> None:
    goal = "(n + m - 1)//m*m >= n"
    assert certificate(goal, "m >= 1") == certificate(goal, "m >= 1")


DAMAGED = [
    "n//2//3 == n//6",
    "(a & b) <= a",
    "(a & (b | c)) == ((a & b) | (a & c))",
    "(x & ((1 << k) - 1)) == x % (1 << k)",
    "(1 << (a + b)) == (1 << a)*(1 << b)",
    "(n*m)//m == n",
    "(n % 2)*(n % 2) == n % 2",
    "max(n, m) == max(m, n)",
]


@pytest.mark.parametrize("goal", DAMAGED)
def test_damage_to_any_step_is_refused(goal: str) -> None:
    kinds = set()
    for name, other in damaged(certificate(goal), at_most=4):
        kinds.add(name.partition(":")[0])
        with pytest.raises(RefusedError):
            check(other)
    assert len(kinds) >= 20 - 4 * (goal == DAMAGED[0])
    assert kinds <= DAMAGE.keys()


HOSTILE = [
    "",
    "[]",
    "null",
    "NaN",
    "[" * 100_000,
    '{"version": 1}',
    '{"version": 1, "version": 1}',
    "9" * 5_000,
]
CLAIM = {
    "version": 1,
    "goal": "n == n",
    "assume": [],
    "variables": {"n": [0, None]},
    "names": {},
    "proof": [],
}
CLAIMS = [
    ("goal", "n == 3"),
    ("goal", "(" * 5_000 + "n" + ")" * 5_000 + " == n"),
    ("goal", "-" * 5_000 + "n == n"),
    ("goal", "not " * 5_000 + "n"),
    ("goal", "*".join(["(n + m + 1)"] * 400) + " == 0"),
    ("goal", "n".join(["*"] * 4)),
    ("goal", "*".join(["9" * 3_000] * 9) + " == n"),
    ("goal", "uint9999(n) == n"),
    ("goal", "__import__('os').system('true') == n"),
    ("goal", "(lambda: n)() == n"),
    ("goal", "n == n\0"),
    ("goal", 5),
    ("goal", "n // 0 == n // 0 + 1"),
    ("assume", ["n"] * 3 + [None]),
    ("variables", {"n": [0, "1"]}),
    ("variables", {"n": [True, None]}),
    ("variables", {"n + 1": [0, None]}),
    ("variables", {"n": [5, None], "lambda": [0, None]}),
    ("names", {"q": "n"}),
    ("names", {"q": "n // 2 // 3"}),
    ("proof", [[]]),
    ("proof", "by SMT, unchecked"),
    ("proof", [{"rule": ["sum"], "gives": "False"}]),
    ("proof", [{"rule": "sum", "terms": ["1"], "uses": [[True]], "gives": "False"}]),
    ("proof", [{"rule": "sum", "terms": ["1"], "uses": [[-1]], "gives": "False"}]),
    ("proof", [{"rule": "sum", "terms": ["1"], "uses": [[{}]], "gives": "False"}]),
    ("version", True),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_that_are_no_certificates_are_refused(text: str) -> None:
    with pytest.raises(RefusedError):
        check(read(text))


@pytest.mark.parametrize(("field", "value"), CLAIMS)
def test_claims_that_nothing_proves_are_refused(field: str, value: object) -> None:
    check(CLAIM)
    with pytest.raises(RefusedError):
        check({**CLAIM, field: value})


def test_deep_proofs_end_in_a_refusal() -> None:
    proof: list[object] = []
    for _ in range(5_000):
        proof = [{"rule": "lemma", "proofs": [proof], "gives": "n >= 0"}]
    with pytest.raises(RefusedError):
        check({**CLAIM, "goal": "n >= 5", "proof": proof})


def test_the_checker_is_one_short_file_that_imports_nothing_of_rlx() -> None:
    text = CHECKER.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 500
    modules = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module or "")
    assert modules <= sys.stdlib_module_names | {"__future__"}


def test_the_checker_runs_without_the_package(tmp_path: Path) -> None:
    shutil.copy(CHECKER, tmp_path / "alone.py")
    command = [sys.executable, "-I", str(tmp_path / "alone.py")]
    for goal, status in (("n//4*4 <= n", 0), ("n//4*4 < n", 1)):
        given = json.dumps({**certificate("n//4*4 <= n"), "goal": goal})
        run = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
        assert run.returncode == status, run.stderr


@pytest.mark.skipif(shutil.which("coqc") is None, reason="Coq is not installed")
def test_coq_accepts_the_soundness_of_the_rules(tmp_path: Path) -> None:
    shutil.copy(CHECKER.with_name("soundness.v"), tmp_path)
    run = subprocess.run(
        ["coqc", "-q", "soundness.v"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
