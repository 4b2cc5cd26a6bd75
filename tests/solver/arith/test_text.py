"""The text form: what is read, what is refused, and nothing is evaluated."""

from __future__ import annotations

import pytest

from rlx.solver import prove
from rlx.solver.question_parser import NESTING_LIMIT, parse, show


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a+b*c-d", "a + b * c - d"),
        ("a-(b-c)", "a - (b - c)"),
        ("a<b<=c and d == 1 or not e!=f", "a < b and b <= c and d == 1 or not e != f"),
        ("-n//4", "-n // 4"),
        ("-(n//4)", "-(n // 4)"),
        ("n % -4 - -3", "n % -4 - -3"),
        ("min(a, b, c)", "min(min(a, b), c)"),
        ("select(a < b, tdiv(a, 2), tmod(b, 3))", "select(a < b, truncdiv(a, 2), truncmod(b, 3))"),
        ("(a == b) == (b == a)", "(a == b) == (b == a)"),
        ("True and n < 1_000", "True and n < 1000"),
    ],
)
def test_reading_and_writing(text: str, shown: str) -> None:
    assert show(parse(text, {})) == shown
    assert show(parse(shown, {})) == shown


@pytest.mark.parametrize(
    "text",
    [
        *("", "n +", "n 3", "1.5", "0x10", "n ** 2", "n / 2", "n = 2", "f(n)", "min(n)", "n.m"),
        *("[n]", "'n'", "lambda: 1"),
        '__import__("os").system("true")',
        "a if b else c",
        "and n",
        "n and",
        "n\0",
        "(" * 100_000 + "n" + ")" * 100_000,
        "-" * 100_000 + "n",
        "9" * 10_000,
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|nested|digits|not known"):
        prove(text)


@pytest.mark.parametrize(
    ("before", "after"),
    [("(", ")"), ("-", ""), ("- (", ")"), ("min(m, ", ")"), ("(1 + ", ")"), ("(", "//2)")],
)
def test_nesting_up_to_the_limit(before: str, after: str) -> None:
    assert NESTING_LIMIT >= 512
    levels = NESTING_LIMIT // (before.count("(") + before.count("-"))
    text = before * levels + "n" + after * levels
    assert prove(f"{text} == {text} + m").status in ("refuted", "unknown")
    with pytest.raises(ValueError, match="nested more than"):
        prove(before * 100_000 + "n" + after * 100_000 + " == n")


def test_nested_conditions() -> None:
    text = "not " * (NESTING_LIMIT // 2 * 2) + "n >= 0"
    assert prove(text).status == "proved"
    chosen = "select(n > 3, " * 300 + "n" + ", 2)" * 300
    assert show(parse(chosen, {})) == chosen


def test_what_is_no_expression_is_refused() -> None:
    with pytest.raises(TypeError):
        prove(3.5)


@pytest.mark.parametrize(
    ("before", "after"), [("(", ")"), ("-", ""), ("min(1, ", ")"), ("~(", ")")]
)
def test_what_stands_beside_each_other_is_not_nested(before: str, after: str) -> None:
    beside = f"{before}n{after} + " * (2 * NESTING_LIMIT)
    deepest = NESTING_LIMIT // (before.count("(") + before.count("-") + before.count("~"))
    parse(f"{beside}{before * deepest}n{after * deepest}", {})
    with pytest.raises(ValueError, match="nested more than"):
        parse(f"{beside}{before * (deepest + 1)}n{after * (deepest + 1)}", {})
