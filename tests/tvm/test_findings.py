"""Each finding is still one: what its own test runs fails, in a process of its own."""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
import tvm  # noqa: F401 - processes that are forked have it
from tvm import relax  # noqa: F401

from rlx.generate.campaign.finding import KINDS, read
from rlx.generate.campaign.index import page

FOLDER = Path(__file__).parents[2] / "findings"
HOMES = sorted(path.parent for path in FOLDER.glob("*/finding.json"))
SECONDS = 20.0
"""So long one may take; one that takes longer hangs."""


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.name)
def test_it_still_diverges(home: Path) -> None:
    test = _loaded(home / "test_finding.py")
    assert test.EXPECTED in _end(test.STEPS, test.PROGRAM)


def test_the_page_names_all_of_them() -> None:
    findings = read(FOLDER)
    assert findings and {f.kind for f in findings} <= set(KINDS)
    assert {f.slug for f in findings} == {home.name for home in HOMES}
    text = (FOLDER / "README.md").read_text("utf-8")
    assert page(findings).strip() in text


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("finding", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _end(steps: str, program: Path) -> str:
    """How a forked process ends that runs the steps: a fork has TVM already, which takes seconds to import."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _run(steps, program, writing)
    os.close(writing)
    try:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                code = os.waitstatus_to_exitcode(status)
                return str(code) if code < 0 else os.read(reading, 1 << 12).decode()
            time.sleep(0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return "TimeoutExpired"
    finally:
        os.close(reading)


def _run(steps: str, program: Path, writing: int) -> None:
    """Run the steps; what they raise is written to a descriptor, a few words."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    sys.argv = ["steps", str(program)]
    try:
        exec(steps, {"__name__": "__main__"})  # noqa: S102 - our own file
    except BaseException as error:  # noqa: BLE001 - the divergence
        os.write(writing, type(error).__name__.encode())
    os._exit(0)
