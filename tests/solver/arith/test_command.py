"""``rlx prove``: output and exit codes."""

from __future__ import annotations

import json

import pytest

from rlx.commands.prove import main
from rlx.solver import smt


@pytest.mark.parametrize(
    ("arguments", "code", "output"),
    [
        (["(n*m)//m == n"], 0, "proved (normal form), wherever m != 0\n"),
        (["n//4*4 == n", "--assume", "n % 4 == 0"], 0, "proved (normal form)\n"),
        (["n // 0 == 1"], 0, "proved (never defined): it divides by zero\n"),
        (
            ["n << (0-m-1) == 1"],
            0,
            "proved (never defined): it shifts by a negative number, or by one that is too large\n",
        ),
        (["n//0 == n//0"], 0, "proved (never defined): it divides by zero\n"),
        (
            ["tmod(n, m - m) > n"],
            0,
            "proved (never defined): it divides by m - m, which is always zero\n",
        ),
        (
            ["n//m == 1", "--assume", "m == 0"],
            0,
            "proved (never defined): it divides by m, which is always zero\n",
        ),
        (
            ["n//m == 1", "--assume", "m == 0", "--assume", "m >= 1"],
            0,
            "proved (contradictory assumptions)\n",
        ),
        (["n == 1", "--assume", "n//0 == 1"], 0, "proved (contradictory assumptions)\n"),
        (["n//4*4 == n"], 1, "refuted: false for n = 1\n"),
        (["x >= 0", "--lower", "x=none"], 1, "refuted: false for x = -1\n"),
        (["x >= 2", "--lower", "x=2"], 0, "proved (normal form)\n"),
        (
            ["n*n >= 0", "--int64"],
            1,
            "refuted: n * n does not fit into int64 for n = 4294967296\n",
        ),
    ],
)
def test_answers(
    arguments: list[str], code: int, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == code
    assert capsys.readouterr().out == output


def test_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["x*x*x + y*y*y != z*z*z", "--assume", "x >= 1", "--assume", "y >= 1"]) == 3
    assert capsys.readouterr().out.startswith("unknown: ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["n +"],
        ["n == m", "--lower", "n"],
        ["n == m", "--lower", "n=x"],
        ["n == m", "--lower", "N=1"],
    ],
)
def test_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["n == m", "--format", "json"])
    assert json.loads(capsys.readouterr().out) == {
        "version": 1,
        "goal": "n == m",
        "status": "refuted",
        "means": "points",
        "counterexample": {"n": 0, "m": 1},
    }
    main(["(n*m)//m == n", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["divisors"] == ["m"]


def test_smtlib(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["n//m*m <= n", "--smtlib"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("; unsat")
    assert text.endswith("(check-sat)\n")


@pytest.mark.parametrize(
    "goal",
    [
        "n*m == m*n",
        "n//4*4 <= n",
        "n >= 0 or n*n >= 0",
        "n < 0 and n*n >= 0",
        "select(n < 10, n*n, 0) >= 0",
        "n % 7 + 9223372036854775800 >= 0",
        "n % 9 + 9223372036854775800 >= 0",
        "n % 9223372036854775808 == n",
    ],
)
def test_smtlib_of_int64_is_the_question_that_is_answered(
    goal: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([goal, "--int64"])
    capsys.readouterr()
    assert main([goal, "--int64", "--smtlib"]) == 0
    script = capsys.readouterr().out
    answer = smt.solve(script.removesuffix("(check-sat)\n"), 1_000_000).status
    # Of a select more may hold than is claimed.
    assert answer == {0: "unsat", 1: "sat", 3: "unsat"}[code]


def test_smtlib_and_explanations_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["n//m*m <= n", "--smtlib", "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["goal"] == "n//m*m <= n"
    assert record["smtlib"].endswith("(check-sat)\n")
    assert main(["n >= 1", "--explain", "--format", "json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["status"] == "refuted"
    assert record["explanation"][-1] == "it would hold if n >= 1"
    assert main(["n >= 1", "--explain", "--smtlib"]) == 2


def test_explain_gives_steps_and_the_missing_assumption(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["n//4*4 == n", "--explain"])
    output = capsys.readouterr().out
    assert "there the left side is 0, the right side 1" in output
    assert "it would hold if n % 4 == 0" in output
    main(["(n*m)//m == n", "--explain"])
    output = capsys.readouterr().out
    assert "left side: n * m // m = n" in output
    assert "wherever it is defined: m != 0" in output


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["n >= 0", "--lower", "n=-" + "9" * 5000], 2, "--lower n: the number has too many digits"),
        (["n >= 0", "--lower", "n=" + "9" * 4200], 2, "the number for 'n' has more than 4000"),
        (["n < 0x" + "f" * 3900], 2, "a number has more than 4000 digits"),
        (
            ["n*m < K*K", "--assume", "n > K*K", "--assume", "m > 1"],
            3,
            "unknown: a counterexample has a number of more than 4000 digits",
        ),
        (["n < 3", "--assume", "m > K*K"], 1, "refuted: false for n = 3"),
    ],
    ids=["bound", "long bound", "hexadecimal", "counterexample", "another variable"],
)
def test_numbers_of_too_many_digits(
    words: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`K` stands for a number that is short enough, and its square is not."""
    for form in ("human", "json"):
        asked = [word.replace("K", "7" * 2500) for word in words]
        assert main([*asked, "--format", form]) == status
        shown = capsys.readouterr()
        if form == "human":
            assert said in shown.out + shown.err and len(shown.out + shown.err) < 200
