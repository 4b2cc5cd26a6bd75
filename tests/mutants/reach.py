"""Which tests reach which blocks: `RLX_REACH=FOLDER pytest -p tests.mutants.reach` writes it to the folder.

A probe stands at the head of each block of each function of `rlx`; it costs much less than tracing does. Only tests
that passed are written. Loading this module puts the probes in, so it must come before any part of `rlx`. What a test does in processes that it starts is not seen.
"""

from __future__ import annotations

import builtins
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from . import hook
from .blocks import PROBE, with_probes

_reached: set[str] = set()
_seconds: dict[str, float] = {}
_blocks: dict[str, set[str]] = {}
_bad: set[str] = set()


setattr(builtins, PROBE, _reached.add)
hook.install(with_probes)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """Note the blocks that one test reaches."""
    _reached.clear()
    started = time.process_time()
    yield
    _seconds[item.nodeid] = time.process_time() - started
    _blocks[item.nodeid] = set(_reached)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Leave out what does not pass."""
    if report.outcome != "passed":
        _bad.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write it down."""
    folder = Path(os.environ["RLX_REACH"])
    folder.mkdir(parents=True, exist_ok=True)
    names = sorted(set().union(*_blocks.values()))
    place = {name: at for at, name in enumerate(names)}
    tests = {
        test: [round(_seconds[test], 3), sorted(map(place.__getitem__, blocks))]
        for test, blocks in _blocks.items()
        if test not in _bad
    }
    name = f"{os.environ.get('PYTEST_XDIST_WORKER', 'main')}-{os.getpid()}.json"
    (folder / name).write_text(json.dumps({"blocks": names, "tests": tests}), "utf-8")
