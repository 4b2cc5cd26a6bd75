"""The shipped tables are those of the grammar, the lexer makes its terminals, and every rule has one action."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from rlx.grammar.read.automaton import TABLES, tables
from rlx.grammar.read.entries import END
from rlx.grammar.read.lexer import KEYWORDS, PUNCTUATION, TOKEN
from rlx.grammar.read.parser import parse
from rlx.grammar.read.stretch_reader import OWNERS
from rlx.grammar.read.tables import build


def test_tables_are_those_of_the_grammar() -> None:
    assert TABLES.read_text(encoding="utf-8") == build(), "run `make tables`"


def test_tables_do_not_depend_on_the_hash_seed() -> None:
    code = "from rlx.grammar.read.tables import build; import sys; sys.stdout.write(build())"
    made = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(made) == 1


def test_no_conflict_is_decided_by_order(caplog: pytest.LogCaptureFixture) -> None:
    """Lark says where it prefers reading on to reducing; the grammar leaves it no such choice."""
    with caplog.at_level(logging.DEBUG, "lark"):
        build(debug=True)
    assert [r.message for r in caplog.records if "conflict" in r.message.lower()] == []


def test_the_lexer_makes_every_terminal() -> None:
    made = {
        END,
        "_NEWLINE",
        "_INDENT",
        "_HEADLESS",
        "_DEDENT",
        *KEYWORDS.values(),
        *PUNCTUATION.values(),
    }
    made |= TOKEN.groupindex.keys()
    read = {name for row in tables().actions for name in row}
    assert read <= made


def test_every_rule_has_one_action() -> None:
    names = {f"do_{rule.action}" for rule in tables().productions if rule.action}
    known = [name for owner in OWNERS for name in vars(owner) if name.startswith("do_")]
    assert sorted(known) == sorted(names)


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("@R.function\ndef f(x: R.Tensor):\n    return x\n", True),
        ("@I.ir_module\nclass M:\n    @R.function\n    def f():\n        return (1, 2)\n", True),
        ("@R.function\ndef f(x: R.Tensor):\n    y = x; z = y;\n    return (z, y,)", True),
        (
            "@R.function\ndef f(x):\n    if x:\n        y = x\n    else:\n        y = x\n    return y",
            True,
        ),
        ("@R.function\ndef f(x: R.Tensor:\n    return x\n", False),
        ("@R.function\ndef f(x)\n    return x\n", False),
        ("@R.function\ndef f(x):\n    return x +\n", False),
        ("@R.function\ndef f(x):\n    return (,)\n", False),
        ("@R.function\ndef f(x):\n    return R.add(x,, x)\n", False),
    ],
)
def test_what_the_grammar_accepts(text: str, accepted: bool) -> None:
    assert (not parse(text).diagnostics) is accepted
