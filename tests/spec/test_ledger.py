"""Every entry of the ledger has a witness that runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rlx.spec import ledger, rules

ROOT = Path(__file__).parents[2]
TESTS = {
    name
    for path in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"^def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE)
}


def test_entries_are_numbered_without_gap() -> None:
    assert list(ledger()) == list(range(1, len(ledger()) + 1))
    assert len(ledger()) >= 50


@pytest.mark.parametrize("number", list(ledger()))
def test_entry_has_a_witness(number: int) -> None:
    entry = ledger()[number]
    assert entry.text
    assert entry.witnesses, f"entry {number} names no witness"
    for name in entry.witnesses:
        assert name in TESTS, f"entry {number}: there is no test {name}"
        assert f"_{number}_" in name + "_", f"entry {number}: {name} is of another entry"


def test_rules_refer_to_entries_that_exist() -> None:
    for rule in rules().values():
        assert set(rule.ledger) <= ledger().keys(), rule.identifier


def test_every_witness_is_named() -> None:
    named = {name for entry in ledger().values() for name in entry.witnesses}
    assert not sorted(
        name for name in TESTS if re.match(r"test_(ledger|entry)_\d", name) and name not in named
    )
