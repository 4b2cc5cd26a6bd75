"""The coverage of rules: what a test run counts, and when the gate shuts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlx.spec import rules
from rlx.spec.coverage import Coverage, gate, table

PREMISES = [code for rule in rules().values() for code in rule.premises]
FULL = {"rules": len(rules()), "premises": len(PREMISES)}


def _coverage(without: str = "") -> Coverage:
    """Everything once, but one rule or premise."""
    return Coverage(
        {name: 1 for name in rules() if name != without},
        {code: 1 for code in PREMISES if code != without},
        {name: 1 for name in rules() if name != without},
    )


def test_the_gate_is_open_when_all_is_covered() -> None:
    assert _coverage().counts() == FULL
    assert gate(_coverage()) == []


@pytest.mark.parametrize(
    ("without", "problem"),
    [
        ("WF05", "no test applies WF05"),
        ("WF05-unbound", "no test makes WF05-unbound fail"),
    ],
)
def test_the_gate_names_what_is_left_out(without: str, problem: str) -> None:
    assert gate(_coverage(without)) == [problem]


def test_the_table_counts_by_rule() -> None:
    lines = table(Coverage({"WF06": 3}, {"WF06-unbound": 2}, {"WF06": 1})).splitlines()
    (row,) = (line for line in lines if line.startswith("WF06 "))
    assert row.split() == ["WF06", "3", "1", "unbound", "2,", "order", "0"]
    (row,) = (line for line in lines if line.startswith("WF09 "))
    assert row.split() == ["WF09", "0", "0", "value", "0"]
    assert lines[-1] == (
        f"1 of {FULL['rules']} rules applied, 1 of {FULL['premises']} premises failed in some test"
    )


def test_a_rule_has_to_hold_in_some_test_unless_its_code_is_the_refusal() -> None:
    found = Coverage({"D12": 2, "D14": 2, "WF09": 1}, {"D12-tuple": 2}, {"D14": 1})
    assert found.not_held() == ["D12"]
    assert "no test shows D12 holding" in gate(found)


TEST = """
from rlx.checker.check import check_text

def test_one():
    text = "@R.function\\ndef main(x: R.Tensor):\\n    y = x[0]\\n    return y\\n"
    assert [d.code for d in check_text(text).diagnostics] == ["D12-tuple"]

def test_two():
    assert check_text("@R.function\\ndef main(x: R.Any):\\n    return x\\n").diagnostics == ()
"""


def test_a_run_counts_and_the_gate_shuts_it(tmp_path: Path) -> None:
    """With workers, which hand on what they count; `test_plugin.py` has a run without."""
    (tmp_path / "test_it.py").write_text(TEST)
    options = ["-q", "-p", "rlx.spec.plugin", "--rules-gate", "-n", "2"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path / "test_it.py")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stdout + run.stderr
    assert "2 passed" in run.stdout
    assert "no test makes WF01-escape fail" in run.stdout
    assert "no test makes D12-tuple fail" not in run.stdout
    assert "no test shows D12 holding" in run.stdout
    assert "no test shows D15 holding" not in run.stdout
    found = Coverage.read(tmp_path / "build" / "rule-coverage.json")
    assert found.failed == {"D12-tuple": 1}
    assert found.applied["D12"] == 1 and found.held["D15"] == 2
