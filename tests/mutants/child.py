"""A process of its own for each mutant: it runs tests with the mistake until one fails.

Most mistakes are put into functions that are loaded already: one process loads `rlx` and the tests, and one that parts
from it for each mutant needs no time to start (`serve`). A mistake in what a module does when it is loaded needs a
process that loads it with the mistake (`start`).
"""

from __future__ import annotations

import faulthandler
import importlib
import os
import resource
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import hypothesis
import numpy
import pytest
import z3  # type: ignore[import-untyped]

from . import hook
from .inherited import bequeath
from .patch import Functions, changed

HEAVY = (numpy, z3)
"""Loaded once, before the processes part."""

MEMORY = 8 << 30
"""Bytes that a process may write to. Browsers and sanitisers reserve more addresses: what starts them may lift the limit."""
OUTPUT = 64 << 20
OPTIONS = (
    "-q",
    "--no-header",
    "--hypothesis-seed=0",
    "--capture=sys",
    "-o",
    "cache_dir=build/pytest",
)
KERNELS = hook.ROOT / ".pytest_cache" / "d" / "native"
"""What an earlier run of the tests has compiled."""

PATIENCE = 12.0
"""How many times its limit, which counts the processor's time, a test may take by the clock."""


class Job(NamedTuple):
    """What a process does.

    Attributes
    ----------
    old, new
        The file's text when the mutant was drawn, and with the mistake; no new text leaves the file as it is.
    tests
        With their time limits in seconds.
    folder
        For what the process writes: `last`, the test it was at; `failed`, those that failed; `out` and `stack`.
    to_the_end
        Go on after a test that fails.
    """

    file: str
    old: str
    new: str | None
    tests: Sequence[tuple[str, float]]
    folder: Path
    to_the_end: bool = False

    def code(self) -> CodeType | None:
        """The file's new code."""
        return None if self.new is None else hook.compiled(self.new, Path(self.file))

    def pairs(self) -> list[tuple[CodeType, CodeType]] | None:
        """The functions that change; nothing if more than functions does."""
        new = self.code()
        return [] if new is None else changed(hook.compiled(self.old, Path(self.file)), new)


class Watch:
    """Ends the process when a test takes too long, even inside of C; and writes which test was the last."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.limits = dict(job.tests)
        self.order = {name: at for at, (name, _) in enumerate(job.tests)}
        self.last = (job.folder / "last").open("w")
        self.stack = (job.folder / "stack").open("w")
        self.failed = (job.folder / "failed").open("w")

    def note(self, test: str) -> None:
        self.last.seek(0)
        self.last.truncate()
        self.last.write(test)
        self.last.flush()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Only the tests of the job, in its order: whole files are collected, so that a name that is gone does no harm."""
        items[:] = sorted(
            (item for item in items if item.nodeid in self.order),
            key=lambda item: self.order[item.nodeid],
        )

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self.note(item.nodeid)
        limit = self.limits.get(item.nodeid, 60.0)
        faulthandler.dump_traceback_later(PATIENCE * limit, exit=True, file=self.stack)
        signal.setitimer(signal.ITIMER_PROF, limit)
        yield
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.note(f"(collection of {report.nodeid})")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            print(report.nodeid, file=self.failed, flush=True)


def _forked(job: Job, run: Callable[[Job], int]) -> int:
    """Run in a process of its own; its number."""
    job.folder.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    number = os.fork()
    if number:
        return number
    status = 70
    try:
        _confine(job)
        status = run(job)
    finally:
        if sys.exc_info()[0] is not None:
            traceback.print_exc(file=sys.__stderr__)
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            if stream is not None:
                stream.flush()
        os._exit(status)


def _confine(job: Job) -> None:
    os.setsid()
    out = os.open(job.folder / "out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, target in ((nothing, 0), (out, 1), (out, 2)):
        os.dup2(descriptor, target)
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, most))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT, OUTPUT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(job.folder / "hypothesis")
    kernels = job.folder / "kernels"
    kernels.mkdir(mode=0o700, exist_ok=True)
    for kernel in KERNELS.glob("*.so"):  # linked: what a mistake adds is not kept
        if not (kernels / kernel.name).exists():
            os.link(kernel, kernels / kernel.name)
    os.environ["RLX_CACHE"] = os.environ["RLX_TEST_KERNELS"] = str(kernels)
    os.environ["TMPDIR"] = os.environ["PYTEST_DEBUG_TEMPROOT"] = str(job.folder)
    if job.new is not None:
        bequeath(job.folder / "inherited", (job.file, job.new), None)
    # The options of the run around (a gate over all tests, say) are not those of a few tests.
    os.environ.pop("PYTEST_ADDOPTS", None)
    sys.dont_write_bytecode = True
    os.chdir(hook.ROOT)


def _settle() -> None:
    """Tests are drawn alike each time, have no deadline, and examples that fail are not made smaller.

    Only in a process that runs mutants: those that import this file to test it shall shrink.
    """
    os.environ["CI"] = "true"
    hypothesis.settings.register_profile(
        "mutants",
        parent=hypothesis.settings.get_profile("ci"),
        phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
        report_multiple_bugs=False,
    )
    hypothesis.settings.load_profile("mutants")


def start(job: Job) -> int:
    """Start a process that loads all anew, from one in which no part of `rlx` is loaded; its number."""
    return _forked(job, _load_and_run)


def _load_and_run(job: Job) -> int:
    """0 when all pass, 1 when one fails, 2 and more when the tests cannot be collected."""

    def change(path: Path, text: str) -> CodeType | None:
        return job.code() if path.as_posix() == job.file else None

    _settle()
    hook.install(change)
    watch = Watch(job)
    watch.note("(collection)")
    faulthandler.dump_traceback_later(120.0, exit=True, file=watch.stack)
    options = [*OPTIONS] + ["-x"] * (not job.to_the_end)
    status = int(pytest.main([*options, *_files([job])], plugins=[watch]))
    faulthandler.cancel_dump_traceback_later()
    if status in (0, 5):  # 5: none of the tests is left
        watch.note("")
        return 0
    return status


def _files(some: Iterable[Job]) -> list[str]:
    names = (name.partition("::")[0] for job in some for name, _ in job.tests)
    return [name for name in dict.fromkeys(names) if (hook.ROOT / name).exists()]


class Server:
    """Runs jobs, some at a time, in processes that part from one that has collected their tests."""

    def __init__(
        self, jobs: Sequence[Job], at_once: int, answer: Callable[[int, int], None]
    ) -> None:
        self.jobs = jobs
        self.at_once = at_once
        self.answer = answer

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        for file in sorted({job.file for job in self.jobs if not job.file.endswith("__main__.py")}):
            importlib.import_module(_module(file))
        functions = Functions()

        def run(job: Job) -> int:
            return _run_items(job, session, items, functions)

        started = ((at, _forked(job, run)) for at, job in enumerate(self.jobs))
        for at, status in waited(started, self.at_once):
            self.answer(at, status)
        return True


def _module(file: str) -> str:
    """The name of a file's module."""
    parts = Path(file.removeprefix("rlx/")).with_suffix("").parts
    return ".".join(["rlx", *(part for part in parts if part != "__init__")])


def _run_items(
    job: Job, session: pytest.Session, items: dict[str, pytest.Item], functions: Functions
) -> int:
    pairs = job.pairs()
    if pairs is None or not functions.patch(pairs):
        return NOT_LOADED
    watch = Watch(job)
    session.config.pluginmanager.register(watch)
    mine = [items[name] for name, _ in job.tests if name in items]
    for item, following in zip(mine, [*mine[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed and not job.to_the_end:
            return 1
    watch.note("")
    return int(session.testsfailed > 0)


NOT_LOADED = 71
"""The status of a process that did not find the function to change."""


def waited(started: Iterator[tuple[int, int]], at_once: int) -> Iterator[tuple[int, int]]:
    """Start processes, not too many at a time, and give the number and the status of each when it ends."""
    active: dict[int, int] = {}
    more = True
    while more or active:
        while more and len(active) < at_once:
            found = next(started, None)
            if found is None:
                more = False
            else:
                active[found[1]] = found[0]
        if active:
            number, status = os.wait()
            _end_group(number)
            yield active.pop(number), os.waitstatus_to_exitcode(status)


def _end_group(number: int) -> None:
    """End what a process left behind."""
    try:
        os.killpg(number, signal.SIGKILL)
    except ProcessLookupError:
        pass


def serve(jobs: Sequence[Job], at_once: int, folder: Path) -> Iterator[tuple[int, int]]:
    """The place of each job, and the status of its process, as they end.

    Raises
    ------
    SystemExit
        If the tests cannot be collected without a mistake.
    """
    folder.mkdir(parents=True, exist_ok=True)
    reader, writer = os.pipe()
    number = os.fork()
    if not number:
        os.close(reader)
        status = 70
        try:
            status = _serve(jobs, at_once, folder, writer)
        finally:
            if sys.exc_info()[0] is not None:
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as lines:
        for line in lines:
            at, status = map(int, line.split())
            yield at, status
    _, status = os.waitpid(number, 0)
    if status:
        raise SystemExit(f"the tests cannot be collected: see {folder / 'collection'}")


def _serve(jobs: Sequence[Job], at_once: int, folder: Path, writer: int) -> int:
    out = os.open(folder / "collection", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.chdir(hook.ROOT)
    _settle()

    def answer(at: int, status: int) -> None:
        os.write(writer, f"{at} {status}\n".encode())

    status = int(pytest.main([*OPTIONS, *_files(jobs)], plugins=[Server(jobs, at_once, answer)]))
    return 0 if status in (0, 5) else status
