"""A pytest plugin (`-p rlx.spec.plugin`) that records which rules the tests apply and which
premises fail.

With `--rules-gate` a run that leaves one out fails.

It must be imported before any other part of rlx, since rules are traced from their registration on.
Workers of pytest-xdist hand their counts to the main process, which writes them.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any

import pytest

os.environ["RLX_TRACE_RULES"] = "1"

from rlx.spec import registry
from rlx.spec.coverage import RESULT, Coverage, gate
from rlx.writing import make_folder, write

_applied: Counter[str] = Counter()
_held: Counter[str] = Counter()
_failed: Counter[str] = Counter()
_problems: list[str] = []


def pytest_addoption(parser: Any) -> None:
    """`--rules-gate`"""
    parser.addoption(
        "--rules-gate",
        action="store_true",
        help="fail unless every rule is applied and every premise fails in some test",
    )


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what the gate found, above the last line."""
    if not terminalreporter.config.getoption("--rules-gate"):
        return
    terminalreporter.section("coverage of rules")
    for line in _problems:
        terminalreporter.line(line)


def _coverage() -> Coverage:
    return Coverage(dict(_applied), dict(_failed), dict(_held))


def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over what a worker counted."""
    match getattr(node, "workeroutput", {}).get("rlx_rules"):
        case applied, failed, held:
            _applied.update(applied)
            _failed.update(failed)
            _held.update(held)


def pytest_sessionfinish(session: Any, exitstatus: int) -> None:
    """Hand the counts on (a worker) or write them."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["rlx_rules"] = [
            dict(registry.applied),
            dict(registry.failed),
            dict(registry.held),
        ]
        return
    _applied.update(registry.applied)
    _failed.update(registry.failed)
    _held.update(registry.held)
    make_folder(RESULT.parent)
    write(
        RESULT,
        json.dumps(
            {"applied": dict(_applied), "failed": dict(_failed), "held": dict(_held)},
            sort_keys=True,
        ),
    )
    if session.config.getoption("--rules-gate"):
        _problems.extend(gate(_coverage()))
        if _problems and not exitstatus:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
