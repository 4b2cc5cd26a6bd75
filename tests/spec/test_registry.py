"""The rules in words and the rules in code are the same rules."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rlx.spec import premise_rule, rules
from rlx.spec.registry import implementations, register_all

ROOT = Path(__file__).parents[2]

register_all()


@pytest.mark.parametrize("name", list(rules()))
def test_every_heading_has_one_implementation(name: str) -> None:
    found = implementations.get(name, [])
    assert len(found) == 1, f"{name} is implemented {len(found)} times"


def test_every_implementation_has_a_heading() -> None:
    assert not implementations.keys() - rules().keys()


def test_nobody_else_needs_to_import_the_rules() -> None:
    """A process of its own is needed: other tests may have imported the rules here."""
    code = "from rlx.spec.registry import *; register_all(); print(*sorted(implementations))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == sorted(rules())


@pytest.mark.parametrize("name", list(rules()))
def test_a_rule_says_what_it_must(name: str) -> None:
    rule = rules()[name]
    assert rule.statement and rule.why and rule.source
    for code in rule.premises:
        assert code.startswith(name + "-"), f"{code} is no code of {name}"
    assert all(1 <= number <= 999 for number in rule.ledger)


def test_lines_of_a_premise_are_folded() -> None:
    from rlx.spec.reader import Rule

    lines = ["A variable is bound once.", "", "Premises:", "- `X1-twice`: it is bound", "  once."]
    assert Rule("X1", "Once", "x.md", lines).premises == {"X1-twice": "it is bound once."}


def test_codes_in_the_source_are_premises() -> None:
    """Every diagnostic code that the code writes is one that the specification knows."""
    pattern = re.compile(r'"((?:WF\d\d|NF\d|D\d\d|OBL-[a-z]+|VDEV-[a-z]+|E-[a-z]+)-[a-z-]+)"')
    written = {
        code
        for room in ("checker", "operators", "semantics", "solver")
        for path in (ROOT / room).rglob("*.py")
        for code in pattern.findall(path.read_text(encoding="utf-8"))
    }
    assert written
    assert not [code for code in sorted(written) if premise_rule(code) is None]


def test_the_machine_names_a_rule_only_where_it_is_registered() -> None:
    """An id that is written a second time could be another one than that of the code."""
    for path in (ROOT / "semantics" / "machine").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        unregistered = re.sub(r'@rule\(\s*"[\w-]+"', "", text)
        written = set(re.findall(r'"(E-[a-z-]+)"', unregistered))
        assert not written & rules().keys(), path.name
