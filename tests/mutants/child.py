"""A process of its own for each mutant: it loads `rlx` with the mistake and runs tests until one fails."""

from __future__ import annotations

import faulthandler
import os
import resource
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import numpy
import pytest
import z3  # type: ignore[import-untyped]

from . import hook

HEAVY = (hypothesis, numpy, pytest, z3)
"""Loaded once, before the processes part."""

MEMORY = 8 << 30
OUTPUT = 64 << 20
FIRST = 12
"""Tests that are collected at first; most mutants need no more."""


class Job(NamedTuple):
    """What a process does.

    Attributes
    ----------
    text
        The file's new text; nothing leaves it as it is.
    tests
        With their time limits in seconds.
    folder
        For what the process writes: `last`, the test it was at; `failed`, those that failed; `out` and `stack`.
    to_the_end
        Go on after a test that fails.
    """

    file: str
    text: str | None
    tests: Sequence[tuple[str, float]]
    folder: Path
    to_the_end: bool = False


class Watch:
    """Ends the process when a test takes too long, even inside of C; and writes which test was the last."""

    def __init__(self, job: Job) -> None:
        self.limits = dict(job.tests)
        self.last = (job.folder / "last").open("w")
        self.stack = (job.folder / "stack").open("w")
        self.failed = (job.folder / "failed").open("w")

    def note(self, test: str) -> None:
        self.last.seek(0)
        self.last.truncate()
        self.last.write(test)
        self.last.flush()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self.note(item.nodeid)
        limit = self.limits.get(item.nodeid, 60.0)
        faulthandler.dump_traceback_later(limit, exit=True, file=self.stack)
        yield
        faulthandler.cancel_dump_traceback_later()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            print(report.nodeid, file=self.failed, flush=True)


def start(job: Job) -> int:
    """Start the process; its number."""
    job.folder.mkdir(parents=True, exist_ok=True)
    number = os.fork()
    if number:
        return number
    status = 70
    try:
        _prepare(job)
        status = _run(job)
    finally:
        if sys.exc_info()[0] is not None:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _prepare(job: Job) -> None:
    os.setsid()
    out = os.open(job.folder / "out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, target in ((nothing, 0), (out, 1), (out, 2)):
        os.dup2(descriptor, target)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(job.folder / "hypothesis")
    os.environ["RLX_CACHE"] = str(job.folder / "kernels")
    os.environ["TMPDIR"] = str(job.folder)
    # The options of the run around (a gate over all tests, say) are not those of a few tests.
    os.environ.pop("PYTEST_ADDOPTS", None)
    sys.dont_write_bytecode = True
    os.chdir(hook.ROOT)

    def change(path: Path, text: str) -> str | None:
        return job.text if str(path) == job.file else None

    hook.install(change)


def _run(job: Job) -> int:
    """0 when all pass, 1 when one fails, 2 and more when the tests cannot be collected."""
    watch = Watch(job)
    names = [name for name, _ in job.tests]
    options = ["-q", "--no-header", "--hypothesis-seed=0"] + ["-x"] * (not job.to_the_end)
    options += ["-o", f"cache_dir={job.folder / 'pytest'}"]
    for some in (names[:FIRST], names[FIRST:]):
        if not some:
            continue
        watch.note("(collection)")
        faulthandler.dump_traceback_later(120.0, exit=True, file=watch.stack)
        status = int(pytest.main([*options, *some], plugins=[watch]))
        if status and not (job.to_the_end and status == 1):
            return status
    faulthandler.cancel_dump_traceback_later()
    watch.note("")
    return 0
