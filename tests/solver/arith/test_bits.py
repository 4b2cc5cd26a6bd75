"""Bit operations: Python evaluates each question on integers."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.prover.bits import oracle
from benchmarks.prover.families import BITS, FamilyQuestion, cases
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import dtype
from rlx.solver import Context, Proved, Prover, Refuted, prove, to_smtlib
from tests.solver.arith.bit_goals import wrong

QUESTIONS = cases(BITS)


@pytest.mark.parametrize("case", QUESTIONS[::3], ids=lambda case: case.goal)
def test_the_questions_of_passes_are_decided(case: FamilyQuestion) -> None:
    assert prove(case.goal, case.assume).status == ("proved" if case.truth else "refuted")


def test_the_oracle_agrees_with_the_files() -> None:
    for case in QUESTIONS[::7]:
        assert oracle(case, 300) == case.truth, case.goal


def test_random_answers_are_right() -> None:
    """`python -m tests.solver.arith.bit_goals` asks more."""
    for seed in range(40):
        assert not wrong(seed, Counter())


def test_negative_numbers_have_all_their_bits() -> None:
    below = {"x": None}
    assert prove("(x & 255) == x % 256", lower=below).proved
    assert prove("(x >> 3) == x//8", lower=below).proved
    assert prove("(x >> 3) == truncdiv(x, 8)", lower=below).counterexample == {"x": -1}
    assert prove("(x | 7) >= x", lower=below).proved
    assert prove("(x & y) >= 0", lower={"x": None, "y": None}).refuted


def test_a_shift_beyond_the_width_has_no_value() -> None:
    assert prove("(1 << k) >= 1").proved
    assert prove("(1 << k) <= 9223372036854775808").proved
    assert prove("if_then_else(k < 3, 1 << k, 0) <= 4").proved


def test_the_largest_shift_is_within_int64_where_its_result_is() -> None:
    assert prove("n >> 63 == 0", int64=True).proved
    assert prove("n >> 63 >= 0", lower={"n": None}, int64=True).refuted
    assert prove("n << 63 <= 0", lower={"n": -1}, int64=True).counterexample == {"n": 1}
    assert prove("1 << 63 >= 1", int64=True).refuted


@pytest.mark.parametrize(
    ("goal", "written_out"),
    [
        ("n >> k >= 0", "n // (1 << k) >= 0"),
        ("n >> k <= n", "n // (1 << k) <= n"),
        ("n >> k << k <= n", "n // (1 << k) * (1 << k) <= n"),
        ("0 << k == 0", "0 * (1 << k) == 0"),
    ],
)
def test_a_shift_computes_no_power_of_two(goal: str, written_out: str) -> None:
    """``1 << 63`` is no int64, but only the second program computes it."""
    assert prove(goal, int64=True).proved
    assert prove(written_out).proved
    assert prove(written_out, int64=True).counterexample == {
        **({"n": 0} if "n" in goal else {}),
        "k": 63,
    }


def test_a_shift_that_leaves_int64_is_shown_as_it_is_written() -> None:
    verdict = prove("(n & 1) << k >= 0", int64=True)
    assert isinstance(verdict, Refuted) and verdict.counterexample == {"n": 1, "k": 63}
    assert str(verdict.overflow) == "(n & 1) << k"


@pytest.mark.parametrize("bits", ["k & 5", "k ^ 5", "k | 10", "k & 37"])
def test_a_product_of_bits_has_a_normal_form(bits: str) -> None:
    """Its quotient by 256 has no end if what is folded is unfolded again."""
    verdict = prove(f"({bits}) * n % 256 % 256 == ({bits}) * n % 256")
    assert isinstance(verdict, Proved) and verdict.means == "normal form"
    assert prove(f"uint8(uint8(({bits}) * n)) == uint8(({bits}) * n)").proved
    assert prove(f"({bits}) * n % 256 // 256 == 0").proved


def test_a_power_with_a_negative_exponent_is_no_error_of_a_proof() -> None:
    verdict = prove("m << 3 << 3 + ceildiv(m, m) - max(m, 16) == n", lower={"m": None})
    assert isinstance(verdict, Proved) and verdict.certificate["version"] == 1


def test_the_complement_of_an_unsigned_number_has_its_width() -> None:
    byte = tir.Var("u", dtype("uint8"))
    flipped = tir.Call("bitwise_not", (byte,), dtype("uint8"))
    assert Prover(Context()).always(tir.EQ(tir.Add(flipped, byte), tir.IntImm(255))).proved
    assert prove("~uint8(n) == 255 - uint8(n)").proved
    assert prove("~n == -n - 1").proved


def test_a_proof_by_bit_vectors_claims_64_bits() -> None:
    verdict = prove(f"(n ^ m) + (n & m) < {2**64} and n < {2**63}")
    assert isinstance(verdict, Proved) and "vectors" in verdict.means
    assert verdict.certificate["variables"] == {"n": [0, 2**63 - 1], "m": [0, 2**63 - 1]}


@pytest.mark.parametrize(
    "goal",
    [
        "(r*w + (c ^ (r % w)))//w == r",
        "(r*w + (c ^ (r % w))) % w ^ (r % w) == c",
        "(r*w + (c | (r % w)))//w == r",
    ],
)
def test_a_swizzle_keeps_rows_and_columns(goal: str) -> None:
    assert prove(goal, ["w == 8", "c < w"]).proved
    assert prove(goal, ["w == 8", "c <= w"]).refuted


def test_the_lowest_bit_of_a_positive_number_divides_it() -> None:
    assert prove("x % (x & -x) == 0", ["x > 0"]).proved
    assert prove("x // (x & -x) * (x & -x) == x", ["x > 0"]).proved
    assert prove("x // (x & -x) == 1", ["x > 0"]).counterexample == {"x": 3}


def test_a_proof_by_bit_vectors_says_how_wide_they_are() -> None:
    assert "vectors of 66 bits" in str(prove("(1 << k) > k"))


def test_a_question_about_bits_is_a_script_of_bit_vectors() -> None:
    text = to_smtlib("(n & 7) == n % 8")
    assert "(_ BitVec " in text
    assert text.endswith("(check-sat)\n")


@pytest.mark.parametrize("text", ["0x1F", "0b11111", "0X1f"])
def test_masks_may_be_written_in_hexadecimal(text: str) -> None:
    assert prove(f"(n & {text}) == n % 32").proved
