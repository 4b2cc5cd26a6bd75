"""Parallel checks of files. Every file gets a report, and a long run shows its progress."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rlx.checker.driver.mistakes import keep_traceback
from rlx.checker.driver.sources import PYTHON, displayed, size, source_of, unreadable
from rlx.checker.driver.time_limit import HELP, Lost, each_limited
from rlx.checker.render.files import FileReport, definitions_of
from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.nodes.node import replace
from rlx.grammar.streams import CARRIAGE_RETURN, CLEAR_LINE, complain, own

if TYPE_CHECKING:
    from rlx.checker.check import Report
    from rlx.checker.dynamic_checks.listing import Listed


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
    """Read and check a file; never raises an Exception.

    Parameters
    ----------
    listing, statistics, derivations
        What the report has besides the diagnostics: the run-time checks of a file without errors,
        the statistics of the prover, the derivation trees.
    operators, allowed
        The user's own operators: see :func:`rlx.operators.external.load`.
    name_of_stdin
        The name that the report gives to standard input.
    by
        Checks a text with its path; None is :func:`rlx.checker.check.check_text`.
    """
    if operators or allowed:  # a process of its own may not have them yet
        from rlx.operators.external import load

        load(operators, allowed)
    shown = displayed(path, name_of_stdin)
    try:
        source, problem = source_of(path, shown)
    except OSError as error:
        return unreadable(path, error)
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
    if source.path.endswith(PYTHON) and report.ok:
        found = (*_not_imported(report), *found)
    shown = source.excerpt(span for d in found for span in d.spans) if found else None
    found = tuple(replace(d, source=shown) for d in found)
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


def _not_imported(report: Report) -> tuple[Diagnostic, ...]:
    """Names that a Python file uses without an import. For a text that is no file, the place that
    reads it reports them.
    """
    from rlx.grammar.read.undecorated import not_imported

    source = report.source
    spans = [module.span for module in report.modules if module.span is not None]
    return tuple(replace(d, source=source) for d in not_imported(source.text, spans))


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


PAYS_FROM = 100_000
"""Bytes of text from which several processes cost less than they save."""

Check = Callable[[str], FileReport]


def check_all(paths: list[str], check: Check = check_one) -> Iterator[FileReport]:
    """Check files, in processes of their own; reports come as they are ready.

    Raises
    ------
    TimeLimitError
        If the environment variable with the time limit is not a positive number.
    """
    several = len(paths) > 1 and sum(map(size, paths)) >= PAYS_FROM
    if len(paths) > 1:
        from rlx.checker.check import check_text

        check_text("", "")  # what a check loads is loaded once, and the processes share it
    if several:
        paths = sorted(paths, key=size, reverse=True)
    found = each_limited(paths, check, _cores() if several else 1)
    return map(report_of, found)


def report_of(found: FileReport | Lost) -> FileReport:
    """The report on a file, though its process has made none."""
    if isinstance(found, FileReport):
        return found
    path = displayed(found.path)
    match found.cause:
        case "late":
            said = Diagnostic("TIME", "error", f"this file was {found.reason}", None, help=HELP)
        case "killed":
            said = Diagnostic("KILLED", "error", f"this file was not checked: {found.reason}", None)
        case _:
            return crashed(path, found.reason, found.traceback)
    return FileReport(path, None, (said,), outcome=found.cause)


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
                line = f"checked {done} of {total} files, {wrong} with errors"
                complain(f"{own(CARRIAGE_RETURN)}{own(CLEAR_LINE)}{line}")
                sys.stderr.flush()
                written = True
            yield report
    finally:
        if written:
            complain(f"{own(CARRIAGE_RETURN)}{own(CLEAR_LINE)}")
            sys.stderr.flush()
