"""A premise counts as covered only if a test says its code: being hit by chance is not being tested."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rlx.solver.order import bind
from rlx.spec import registry, rules
from tests.solver.order.build import prover, shape, tensor, var

ROOT = Path(__file__).parents[2]
TEXTS = [
    path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "tests").rglob("*"))
    if path.suffix in (".py", ".md") and path != Path(__file__)
]
BY_OTHER_MEANS = {"BIND-conflict-agree": "test_values_of_one_variable_agree"}
"""Codes that no diagnostic bears; the tests that show them."""


@pytest.mark.parametrize("code", [code for rule in rules().values() for code in rule.premises])
def test_the_code_stands_in_a_test(code: str) -> None:
    # What compatibility says is tested by one table with what subtyping says.
    written = code if "joint" in code else code.replace("COMPAT-", "SUB-")
    if code in BY_OTHER_MEANS:
        assert BY_OTHER_MEANS[code] in globals()
        return
    places = f'"{written}', f" {written}", f"[{written}]"
    assert any(place in text for place in places for text in TEXTS)


def test_values_of_one_variable_agree() -> None:
    n = var("n")
    params = (tensor((n,)), shape((n,)))
    assert bind(params, (tensor((4,)), shape((4,))), (n,), prover()).conflicts == ()
    (conflict,) = bind(params, (tensor((4,)), shape((5,))), (n,), prover()).conflicts
    assert conflict.var is n
    assert conflict.relation is not None and conflict.relation.kind == "never"


@pytest.fixture
def own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing registered, applied or failed yet."""
    monkeypatch.setattr(registry, "implementations", {})
    monkeypatch.setattr(registry, "applied", Counter())
    monkeypatch.setattr(registry, "failed", Counter())


def _judge(value: int) -> int:
    registry.refuted("X1-even")
    return value + 1


def test_rules_cost_nothing_unless_traced(
    own_registry: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "TRACING", False)
    assert registry.rule("X1", "0123abcd", "module")(_judge) is _judge
    assert _judge(1) == 2
    assert registry.implementations == {"X1": [("0123abcd", "module", _judge)]}
    assert not registry.applied and not registry.failed


def test_traced_rules_are_counted(own_registry: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "TRACING", True)
    traced = registry.rule("X1", "0123abcd", "module")(_judge)
    assert (traced(1), traced(2)) == (2, 3)
    assert registry.applied == {"X1": 2}
    assert registry.failed == {"X1-even": 2}
