"""Fixes of a program: the edits of its diagnostics, kept if the program then has fewer errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlx.checker.check import Report, check_text
from rlx.grammar.diagnostic import Diagnostic, Edit
from rlx.grammar.nodes.node import Record

ROUNDS = 20
"""The most rounds of edits. Fixing one mistake may reveal others, which the next round fixes."""

ALONE = 60
"""The most edits that are tried one by one if all of them together do harm."""

Check = Callable[[str, str], Report]


class Mended(Record):
    """A text after fixing.

    Attributes
    ----------
    text
        The fixed text.
    applied
        The diagnostics whose edits were kept, in order.
    report
        The checker's report about the new text.
    """

    text: str
    applied: tuple[Diagnostic, ...]
    report: Report


def mended(
    text: str, path: str = "<text>", check: Check = check_text, unsafe: bool = True
) -> Mended:
    """Apply the edits that help: afterwards there are fewer errors, or as many errors and fewer
    warnings.

    Edits that conflict, or that do harm together, are tried one by one.

    Parameters
    ----------
    unsafe
        Whether edits that are not safe are applied, too.
    """
    best = now = Mended(text, (), check(text, path))
    for _ in range(ROUNDS):
        after = _round(now, path, check, unsafe)
        if after is None:
            break
        now = after
        if _badness(now.report) < _badness(best.report):
            best = now
    return best


def _round(now: Mended, path: str, check: Check, unsafe: bool) -> Mended | None:
    """The text after one round of edits; None if no edit helps."""
    proposals = [
        d for d in now.report.diagnostics if d.edit is not None and (unsafe or d.edit.is_safe)
    ]
    if not proposals:
        return None
    for chosen in (_apart(proposals), *([each] for each in proposals[:ALONE])):
        after = _applied(now, chosen, path, check)
        if _good(now.report, after.report, chosen):
            return after
    return None


def _applied(now: Mended, chosen: Sequence[Diagnostic], path: str, check: Check) -> Mended:
    text = with_edits_applied(now.text, [d.edit for d in chosen if d.edit is not None])
    return Mended(text, (*now.applied, *chosen), check(text, path))


def with_edits_applied(text: str, edits: Sequence[Edit]) -> str:
    """A text after edits that do not overlap."""
    for edit in sorted(edits, key=lambda e: e.span, reverse=True):
        start, end = edit.span
        text = f"{text[:start]}{edit.text}{text[end:]}"
    return text


def _apart(proposals: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics whose edits do not touch each other, the first of each group that does."""
    chosen: list[Diagnostic] = []
    taken: list[Edit] = []
    for proposal in proposals:
        edit = proposal.edit
        assert edit is not None
        if not any(_touch(edit, other) for other in taken):
            taken.append(edit)
            chosen.append(proposal)
    return chosen


def _touch(one: Edit, other: Edit) -> bool:
    (a, b), (c, d) = one.span, other.span
    return a <= d and c <= b


def _badness(report: Report) -> tuple[int, int]:
    return len(report.errors), len(report.warnings)


def _good(before: Report, after: Report, mended: Sequence[Diagnostic]) -> bool:
    """Whether the edits removed their diagnostics and caused no worse ones."""
    left = {(d.code, d.message) for d in after.diagnostics}
    gone = any((d.code, d.message) not in left for d in mended)
    return gone and _badness(after) <= _badness(before)
