"""A sample of `rules.toml`: a rewrite of each group, and those that need a condition on sizes."""

from __future__ import annotations

import pytest

from tests.refine.rules import PAGE, Rule, page, problem, rules

FIRST = {rule.group: rule for rule in reversed(rules())}
SAMPLE = [*FIRST.values(), next(rule for rule in rules() if rule.assume == "n >= 3")]


@pytest.mark.parametrize("rule", SAMPLE, ids=lambda rule: rule.name)
def test_rule(rule: Rule) -> None:
    """Proved with its side condition, and refuted without."""
    assert problem(rule) == ""


def test_the_table() -> None:
    """Names are unique, each rule says what it needs, and the page is made from the table."""
    names = [rule.name for rule in rules()]
    assert len(names) == len(set(names)) >= 60
    assert all(bool(rule.assume) != bool(rule.wrong and rule.needs) for rule in rules())
    assert PAGE.read_text() == page()
