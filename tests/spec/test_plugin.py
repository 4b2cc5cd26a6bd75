"""The plugin that counts which rules tests apply: workers hand on, the main process writes and judges."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rlx.spec import plugin
from rlx.spec.coverage import RuleCounts


class Reporter:
    """pytest's reporter, which prints its summary."""

    def __init__(self, gate: bool) -> None:
        self.config = config(gate)
        self.told: list[str] = []

    def section(self, title: str) -> None:
        self.told.append(f"== {title}")

    def line(self, text: str) -> None:
        self.told.append(text)


def config(gate: bool) -> Any:
    return SimpleNamespace(getoption=lambda name: {"--rules-gate": gate}[name])


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Counts of a process in which two rules were applied, and the file that they are written to."""
    fresh = {kind: Counter[str]() for kind in ("applied", "failed", "held")}
    monkeypatch.setattr(plugin, "totals", fresh)
    monkeypatch.setattr(plugin, "problems", [])
    own = RuleCounts()
    own.applied.update({"A": 2, "B": 1})
    own.failed.update({"A-one": 1})
    own.held.update({"A-one": 3})
    monkeypatch.setattr(plugin, "counts", own)
    monkeypatch.setattr(plugin, "RESULT", tmp_path / "build" / "rules.json")
    return tmp_path / "build" / "rules.json"


COUNTED = {"applied": {"A": 2, "B": 1}, "failed": {"A-one": 1}, "held": {"A-one": 3}}


def test_a_worker_hands_its_counts_on(counts: Path) -> None:
    worker = SimpleNamespace(config=SimpleNamespace(workeroutput={}))
    plugin.pytest_sessionfinish(worker, 0)
    assert worker.config.workeroutput == {"rlx_rules": COUNTED}
    assert not counts.exists()
    for _ in range(2):
        plugin.pytest_testnodedown(SimpleNamespace(workeroutput={"rlx_rules": COUNTED}), None)
    plugin.pytest_testnodedown(SimpleNamespace(), None)
    plugin.pytest_testnodedown(SimpleNamespace(workeroutput={}), None)
    assert plugin.totals == {
        "applied": {"A": 4, "B": 2},
        "failed": {"A-one": 2},
        "held": {"A-one": 6},
    }


@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize("missing", [[], ["rule C is not applied"]])
@pytest.mark.parametrize("status", [0, 1])
def test_the_main_process_writes_and_judges(
    counts: Path, gate: bool, missing: list[str], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def judged(coverage: Any) -> list[str]:
        asked.append((coverage.applied, coverage.failed, coverage.held))
        return missing

    monkeypatch.setattr(plugin, "gate", judged)
    session = SimpleNamespace(config=config(gate), exitstatus=status)
    plugin.pytest_testnodedown(SimpleNamespace(workeroutput={"rlx_rules": COUNTED}), None)
    plugin.pytest_sessionfinish(session, status)
    both = {"applied": {"A": 4, "B": 2}, "failed": {"A-one": 2}, "held": {"A-one": 6}}
    assert json.loads(counts.read_text("utf-8")) == both
    assert asked == ([tuple(both.values())] if gate else [])
    assert session.exitstatus == (1 if gate and missing else status)
    reporter = Reporter(gate)
    plugin.pytest_terminal_summary(reporter)
    assert reporter.told == (["== coverage of rules", *missing] if gate else [])
