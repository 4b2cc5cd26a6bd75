"""A pytest plugin (`-p rlx.spec.plugin`) that records which rules the tests apply and which
premises fail.

With `--rules-gate` a run that leaves one out fails.

Workers of pytest-xdist hand their counts to the main process, which writes them.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from rlx.spec import registry
from rlx.spec.coverage import RESULT, Coverage, RuleCounts, gate
from rlx.writing import make_folder, write

counts = RuleCounts()
"""The counts of this process."""
totals: dict[str, Counter[str]] = {"applied": Counter(), "failed": Counter(), "held": Counter()}
"""How often each rule was applied, and each premise failed and held, in all processes so far."""
problems: list[str] = []
"""The problems that the gate found."""


def pytest_addoption(parser: Any) -> None:
    """`--rules-gate`"""
    parser.addoption(
        "--rules-gate",
        action="store_true",
        help="fail unless every rule is applied and every premise fails in some test",
    )


def pytest_configure(config: Any) -> None:
    """Observe the rules from here on."""
    registry.begin(counts)


def pytest_unconfigure(config: Any) -> None:
    """Observe nothing more."""
    registry.end(counts)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what the gate found, above the last line."""
    if not terminalreporter.config.getoption("--rules-gate"):
        return
    terminalreporter.section("coverage of rules")
    for line in problems:
        terminalreporter.line(line)


def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over what a worker counted."""
    for kind, counted in getattr(node, "workeroutput", {}).get("rlx_rules", {}).items():
        totals[kind].update(counted)


def pytest_sessionfinish(session: Any, exitstatus: int) -> None:
    """Hand the counts on (a worker) or write them."""
    own = {kind: dict(getattr(counts, kind)) for kind in totals}
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["rlx_rules"] = own
        return
    for kind, counted in own.items():
        totals[kind].update(counted)
    make_folder(RESULT.parent)
    write(RESULT, json.dumps(totals, sort_keys=True))
    if session.config.getoption("--rules-gate"):
        problems.extend(gate(Coverage(**totals)))
        if problems and not exitstatus:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
