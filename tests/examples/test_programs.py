"""The programs under examples/: the good ones are clean, each broken one shows one mistake."""

from pathlib import Path

import pytest

from rlx.checker.check import check_text

EXAMPLES = Path(__file__).parents[2] / "examples"
BROKEN = sorted((EXAMPLES / "broken").glob("*.rlx"))
GOOD = sorted(set(EXAMPLES.rglob("*.rlx")) - set(BROKEN))

CODES = {
    "argument": [("error", "D14-binding")],
    "arity": [("error", "D14-arity")],
    "branch_in_dataflow": [("error", "WF07-if")],
    "broadcast": [("warning", "OBL-broadcast-dims")],
    "condition": [("error", "D09-condition")],
    "convolution": [("error", "OBL-channels-input")],
    "effect": [("error", "D14-impure")],
    "kernel": [("error", "OBL-joint-dims")],
    "leak": [("error", "WF01-escape")],
    "recursion": [("error", "WF08-annotation")],
    "reshape": [("error", "OBL-reshape-count")],
    "result": [("warning", "D15-result")],
    "shape_variable": [("error", "WF06-unbound")],
    "syntax": [("error", "PARSE"), ("error", "PARSE"), ("error", "PARSE")],
    "unbound": [("error", "WF02-undefined")],
}
"""What each broken program is an example of: severity and code of everything reported."""


def name_of(path: Path) -> str:
    return str(path.relative_to(EXAMPLES))


@pytest.mark.parametrize("path", GOOD, ids=name_of)
def test_good(path: Path) -> None:
    report = check_text(path.read_text(encoding="utf-8"), str(path))
    assert [(d.code, d.message) for d in report.diagnostics] == []


@pytest.mark.parametrize("path", BROKEN, ids=name_of)
def test_broken(path: Path) -> None:
    report = check_text(path.read_text(encoding="utf-8"), str(path))
    assert [(d.severity, d.code) for d in report.diagnostics] == CODES[path.stem]


@pytest.mark.parametrize("path", GOOD + BROKEN, ids=name_of)
def test_the_first_line_says_what_it_is(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert max(map(len, text.splitlines())) <= 240


def test_there_are_enough() -> None:
    assert len(GOOD) >= 12
    assert sorted(CODES) == [path.stem for path in BROKEN]
