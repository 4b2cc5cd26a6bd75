"""What one file's check gave, and what all of them add up to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.node import Record

if TYPE_CHECKING:
    from rlx.checker.dynamic_checks.listing import Listed
    from rlx.checker.questions import Questions


class Obligations(Record):
    """How many proof obligations were proved, refuted, and left unknown."""

    proved: int = 0
    refuted: int = 0
    unknown: int = 0


class FileReport(Record):
    """What checking one file gave.

    Attributes
    ----------
    path
        As the command names it.
    source
        The text that the diagnostics point into; None where it could not be read, or nothing points
        into it.
    diagnostics
        In order of position.
    outcome
        ``"checked"``; ``"unreadable"`` where the file could not be read; ``"crashed"`` where the
        checker failed.
    dynamic_checks
        The run-time checks by place, none of a file with errors; None if they were not asked for.
    questions
        What the prover was asked; None if it was not asked for.
    derivations
        Why everything is what it is, as :mod:`rlx.checker.why.json` describes; None where nobody
        asked.
    """

    path: str
    source: Source | None
    diagnostics: tuple[Diagnostic, ...] = ()
    obligations: Obligations = Obligations()
    outcome: str = "checked"
    dynamic_checks: tuple[Listed, ...] | None = None
    questions: Questions | None = None
    derivations: Mapping[str, object] | None = None


class Summary(Record):
    """Totals over files."""

    files: int
    errors: int
    warnings: int
    notes: int
    obligations: Obligations


def summarise(files: Iterable[FileReport]) -> Summary:
    """Add up files."""
    count = proved = refuted = unknown = 0
    severities = {"error": 0, "warning": 0, "note": 0}
    for file in files:
        count += 1
        proved += file.obligations.proved
        refuted += file.obligations.refuted
        unknown += file.obligations.unknown
        for diagnostic in file.diagnostics:
            severities[diagnostic.severity] += 1
    errors, warnings, notes = severities.values()
    return Summary(count, errors, warnings, notes, Obligations(proved, refuted, unknown))


def counterexample(diagnostic: Diagnostic) -> str:
    """The values for which it goes wrong, ``n = 1, m = 2``; nothing if there are none, or a note
    says them.
    """
    values = ", ".join(f"{k} = {v}" for k, v in (diagnostic.counterexample or {}).items())
    return "" if any(values in note for note in diagnostic.notes) else values


def counted(number: int, noun: str) -> str:
    """``1 error``, ``2 errors``"""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
