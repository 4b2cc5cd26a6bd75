"""Checking one file: whatever happens, there is a report."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rlx.checker.driver.sources import STDIN, decode, displayed, read, unreadable
from rlx.checker.render.files import FileReport, Obligations
from rlx.grammar.diagnostic import Diagnostic, Source

if TYPE_CHECKING:
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
    shown = name_of_stdin if path == STDIN and name_of_stdin else displayed(path)
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
    held = report.obligations
    obligations = Obligations(held.proved, held.refuted, held.unknown)
    found = tuple(report.diagnostics)
    shown = source if found else None
    checks = _listed(report) if listing else None
    asked = questions(report.statistics, source) if statistics else None
    return FileReport(
        source.path,
        shown,
        found,
        obligations,
        dynamic_checks=checks,
        questions=asked,
        derivations=trees,
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

    if any(found.severity == "error" for found in report.diagnostics):
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
        f"the rule of an operator of your own failed: {said}",
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
        f"the checker failed on this file: {first}",
        None,
        notes=("this is a bug in rlx, whatever the file contains",),
        help=f"report it with the file and {evidence}",
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
