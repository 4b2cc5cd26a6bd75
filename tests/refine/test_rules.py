"""The rewrites of `rules.toml`."""

from __future__ import annotations

import pytest

from tests.refine.rules import PAGE, page, problem, rules


@pytest.mark.parametrize("group", dict.fromkeys(rule.group for rule in rules()))
def test_rules(group: str) -> None:
    """Each is proved with its side condition, and refuted without."""
    found = {rule.name: problem(rule) for rule in rules() if rule.group == group}
    assert {name: said for name, said in found.items() if said} == {}


def test_the_table() -> None:
    """Names are unique, each rule says what it needs, and the page is made from the table."""
    names = [rule.name for rule in rules()]
    assert len(names) == len(set(names)) >= 60
    assert all(bool(rule.assume) != bool(rule.wrong and rule.needs) for rule in rules())
    assert PAGE.read_text() == page()
