"""Checking files, several of them on all cores: whatever happens to one, it has a report, and a
long run shows how far it is.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rlx.checker.driver.sources import decode, displayed, read, size, unreadable
from rlx.checker.render.files import FileReport, definitions_of
from rlx.grammar.diagnostic import Diagnostic, Source

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from rlx.checker.check import Report
    from rlx.checker.dynamic_checks.listing import Listed


SHOW_TRACEBACK = "RLX_TRACEBACK"
"""With this environment variable set, tracebacks of the checker go to stderr too."""


def check_one(path: str) -> FileReport:
    """Read and check a file; never raises an Exception."""
    return check_file(path)


def check_file(
    path: str,
    *,
    listing: bool = False,
    statistics: bool = False,
    derivations: bool = False,
    operators: Sequence[str] = (),
    allowed: Sequence[str] = (),
    name_of_stdin: str | None = None,
    by: Callable[[str, str], Report] | None = None,
) -> FileReport:
    """The same; ``listing`` the run-time checks of a file without errors, ``statistics`` of the
    prover, ``derivations``.

    ``name_of_stdin`` is what standard input is called. ``by`` checks a text with its path; None is
    :func:`rlx.checker.check.check_text`. ``operators`` and ``allowed`` are the user's
    own: see :func:`rlx.operators.external.load`.
    """
    if operators or allowed:  # a process of its own may not have them yet
        from rlx.operators.external import load

        load(operators, allowed)
    try:
        data = read(path)
    except OSError as error:
        return unreadable(path, error)
    shown = displayed(path, name_of_stdin)
    source, problem = decode(data, shown)
    del data
    if problem is not None:
        return FileReport(shown, source, (problem,))
    try:
        return _check(source, listing, statistics, derivations, by)
    except Exception as error:  # noqa: BLE001 - one file never stops the others
        return _failed(shown, error)


def _check(
    source: Source,
    listing: bool,
    statistics: bool,
    derivations: bool,
    by: Callable[[str, str], Report] | None,
) -> FileReport:
    from rlx.checker.check import check_text
    from rlx.checker.questions import questions

    trees = None
    if derivations:
        report, trees = _derived(source)
    else:
        report = (by or check_text)(source.text, source.path)
    found = tuple(report.diagnostics)
    shown = source if found else None
    checks = _listed(report) if listing else None
    asked = questions(report.statistics, source) if statistics else None
    return FileReport(
        source.path,
        shown,
        found,
        report.obligations,
        dynamic_checks=checks,
        questions=asked,
        derivations=trees,
        read=definitions_of(report.modules),
    )


def _derived(source: Source) -> tuple[Report, dict[str, Any]]:
    """The check of a text, recorded, and the derivations as JSON has them."""
    from rlx.checker.why.explain import everything
    from rlx.checker.why.json import as_json

    report, found = everything(source.text, source.path)
    return report, as_json(found.roots, found.source)


def _listed(report: Report) -> tuple[Listed, ...]:
    """The run-time checks of a text; of one with errors nothing is said."""
    from rlx.checker.dynamic_checks.listing import listed

    if any(found.is_error for found in report.diagnostics):
        return ()
    return listed(report.modules, report.source)


def _failed(path: str, error: Exception) -> FileReport:
    """The report on a file at which the checker failed: by its own mistake, or by one in a rule of
    the user's.
    """
    from rlx.operators.external import blamed

    said, place = f"{type(error).__name__}: {error}", blamed(error)
    if place is None:
        return crashed(path, said, keep_traceback())
    found = Diagnostic(
        "OPERATORS",
        "error",
        f"the rule of an operator that you declared failed: {said}",
        None,
        notes=(f"it failed at {place}",),
    )
    return FileReport(path, None, (found,), outcome="unreadable")


def crashed(path: str, reason: str, traceback: str | None = None) -> FileReport:
    """The report on a file at which the checker itself failed."""
    first = reason.splitlines()[0][:200] if reason else "no reason given"
    evidence = f"the traceback in {traceback}" if traceback else "the command line"
    found = Diagnostic(
        "INTERNAL",
        "error",
        f"the checker crashed on this file: {first}",
        None,
        notes=("this is a bug in rlx; no file should cause it",),
        help=f"please report it with the file and {evidence}",
    )
    return FileReport(path, None, (found,), outcome="crashed")


def keep_traceback() -> str | None:
    """Write the traceback of the exception being handled to a file; its path."""
    import tempfile
    import traceback

    text = traceback.format_exc()
    if os.environ.get(SHOW_TRACEBACK):
        sys.stderr.write(text)
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="rlx-traceback-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(text)
    except OSError:
        return None
    return file.name


PAYS_FROM = 100_000
"""Bytes of text from which starting processes costs less than it saves."""

PATIENCE = "RLX_FILE_TIMEOUT"
"""Environment variable: seconds after which a file of several is given up (default 300)."""

Check = Callable[[str], FileReport]


def check_all(paths: list[str], check: Check = check_one) -> Iterator[FileReport]:
    """Check files; reports come as they are ready."""
    if len(paths) > 1 and sum(map(size, paths)) >= PAYS_FROM:
        return _Crew(paths, check).run()
    return map(check, paths)


class _Worker:
    """A process that checks one file at a time."""

    def __init__(self, context: Any, check: Check) -> None:
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, check), daemon=True)
        self.process.start()
        theirs.close()
        self.path = ""
        self.started = 0.0

    def give(self, path: str) -> None:
        """Hand it a file."""
        self.path, self.started = path, time.monotonic()
        self.pipe.send(path)

    def end(self) -> None:
        """Stop it."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


class _Crew:
    """As many workers as there are cores, and the files still to do, the largest first."""

    def __init__(self, paths: list[str], check: Check) -> None:
        import multiprocessing

        from rlx.checker.check import check_text

        check_text("")  # what a check loads is loaded before the fork, so that workers share it
        method = "fork" if sys.platform == "linux" else "spawn"
        self.context = multiprocessing.get_context(method)
        self.check = check
        self.waiting = sorted(paths, key=size)
        self.busy: dict[Any, _Worker] = {}
        self.patience = float(os.environ.get(PATIENCE, "300"))

    def run(self) -> Iterator[FileReport]:
        """Reports, as they come in; the workers end with the iteration."""
        from multiprocessing.connection import wait

        try:
            for _ in range(min(_cores(), len(self.waiting))):
                self._start()
            while self.busy:
                ready = wait(list(self.busy), timeout=min(1.0, self.patience / 4))
                for pipe in ready:
                    yield self._receive(self.busy.pop(pipe))
                for worker in self._overdue():
                    yield self._give_up(worker, f"no answer within {self.patience:g} s")
        finally:
            for worker in self.busy.values():
                worker.end()

    def _start(self) -> None:
        self._employ(_Worker(self.context, self.check))

    def _employ(self, worker: _Worker) -> None:
        """Give an idle worker the next file, or let it go."""
        if self.waiting:
            worker.give(self.waiting.pop())
            self.busy[worker.pipe] = worker
        else:
            worker.end()

    def _receive(self, worker: _Worker) -> FileReport:
        """The report of a worker that has answered, or died."""
        try:
            report: FileReport = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join()
            code = worker.process.exitcode
            reason = f"signal {-code}" if code is not None and code < 0 else f"exit status {code}"
            return self._give_up(worker, f"its process ended with {reason}")
        self._employ(worker)
        return report

    def _overdue(self) -> list[_Worker]:
        limit = time.monotonic() - self.patience
        late = [worker for worker in self.busy.values() if worker.started < limit]
        for worker in late:
            del self.busy[worker.pipe]
        return late

    def _give_up(self, worker: _Worker, reason: str) -> FileReport:
        """Replace a worker that will not answer."""
        worker.end()
        if self.waiting:
            self._start()
        return crashed(displayed(worker.path), reason)


def _serve(pipe: Connection, check: Check) -> None:
    """The life of a worker: a path in, a report out, until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    parent = os.getppid()
    while True:
        try:
            while not pipe.poll(5):
                if os.getppid() != parent:  # it was killed, and siblings may hold its end open
                    return
            path = pipe.recv()
        except EOFError:
            return
        report = check(path)
        try:
            pipe.send(report)
        except Exception as error:  # noqa: BLE001 - whatever keeps a report from being carried over
            pipe.send(crashed(displayed(path), f"{type(error).__name__}: {error}"))


def _cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


SILENCE = 0.5
"""Seconds before the line appears: short runs end without one."""

EVERY = 0.1
"""Seconds between two writings."""


def with_progress(reports: Iterable[FileReport], total: int) -> Iterator[FileReport]:
    """Pass reports on; at a terminal, keep a line on stderr that counts them."""
    if total < 2 or not sys.stderr.isatty():
        yield from reports
        return
    due = time.monotonic() + SILENCE
    done = wrong = 0
    written = False
    try:
        for report in reports:
            done += 1
            wrong += any(d.is_error for d in report.diagnostics)
            if time.monotonic() >= due:
                due = time.monotonic() + EVERY
                sys.stderr.write(f"\r\x1b[Kchecked {done} of {total} files, {wrong} with errors")
                sys.stderr.flush()
                written = True
            yield report
    finally:
        if written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
