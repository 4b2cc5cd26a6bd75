"""The recorded check of a text, and the trees of what stands at a place."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.checker.check import Report, check_text
from rlx.checker.why.build import StepBuilder
from rlx.checker.why.place import Construct, PlaceError, at_column, constructs, on_line
from rlx.checker.why.recorder import DerivationRecorder, recording
from rlx.checker.why.step import ERROR, Step, every, settle
from rlx.grammar.diagnostic import Diagnostic, Source, region
from rlx.grammar.nodes.node import Record
from rlx.grammar.stack import recursion_room
from rlx.grammar.streams import visible


class Derivations(Record):
    """The derivation trees of a place.

    Attributes
    ----------
    roots
        One for each construct, and one for each error there that belongs to none of them.
    source
        The text that steps point into.
    """

    roots: tuple[Step, ...]
    source: Source

    def __str__(self) -> str:
        """What `rlx why` prints of them."""
        from rlx.checker.why.tree_text import render

        return "\n".join(map(visible, render(self.roots, self.source, {})))

    def _repr_html_(self) -> str:
        from rlx.grammar.nodes.notebook import preformatted

        return preformatted(str(self))

    @property
    def has_error(self) -> bool:
        """Whether a tree has a premise that certainly fails."""
        return any(step.kind == "premise" and step.status == ERROR for step in every(self.roots))


def why(text: str, path: str, line: int, column: int | None = None) -> Derivations:
    """The derivation of what stands at a place.

    Parameters
    ----------
    line, column
        From 1, in characters. With a column the innermost expression there is meant, without one
        the whole statements of the line.

    Raises
    ------
    PlaceError
        If there is no such place, or nothing there that has struct info.
    """
    report, recorder = _recorded(text, path)
    return at_place(StepBuilder(report, recorder), report, line, column)


def _recorded(text: str, path: str) -> tuple[Report, DerivationRecorder]:
    with recording() as recorder:
        report = check_text(text, path)
    return report, recorder


def at_place(builder: StepBuilder, report: Report, line: int, column: int | None) -> Derivations:
    """The trees of a place, of a check that was recorded.

    Raises
    ------
    PlaceError
        As :func:`why`.
    """
    source = report.source
    known = constructs(report.modules, source)
    here = diagnostics_at(report, line, column)
    with recursion_room():
        try:
            found = (
                on_line(known, source, line)
                if column is None
                else [at_column(known, source, line, column)]
            )
        except PlaceError as nothing:
            if not here:
                raise PlaceError(f"{nothing}{_unread(report)}") from None
            found = []
        return Derivations(tuple(_trees(builder, found, here)), source)


def everything(text: str, path: str) -> tuple[Report, Derivations]:
    """The check of a text, and the derivations of all its functions with whatever is wrong."""
    report, recorder = _recorded(text, path)
    with recursion_room():
        known = constructs(report.modules, report.source)
        tops = [c for c in known if c.kind in ("function", "primfunc")]
        roots = _trees(StepBuilder(report, recorder), tops, report.diagnostics)
    return report, Derivations(tuple(roots), report.source)


def _trees(
    builder: StepBuilder, found: Sequence[Construct], here: Sequence[Diagnostic]
) -> list[Step]:
    """The trees of constructs, with each diagnostic at the place in one of them."""
    roots = builder.tree(found)
    told = {(step.code, step.span) for step in every(roots) if step.kind == "premise"}
    rest = [d for d in here if (d.code, d.span) not in told]
    every_root = list(dict.fromkeys(roots + builder.alone(rest)))
    settle(every_root)
    return every_root


def diagnostics_at(report: Report, line: int, column: int | None) -> list[Diagnostic]:
    """What is wrong at a place: on a line what begins there, at a column what covers it."""
    found: list[Diagnostic] = []
    for diagnostic in report.diagnostics:
        start, end = diagnostic.span or (0, 0)
        at, from_column = report.source.position(start)
        if column is None:
            if at == line:
                found.append(diagnostic)
            continue
        begins = (at, from_column) <= (line, column)
        if begins and (line, column) < report.source.position(max(end, start + 1)):
            found.append(diagnostic)
    return found


def _unread(report: Report) -> str:
    """That a part of the text could not be read, where that may be why nothing is there."""
    unread = next((d for d in report.diagnostics if d.code == "PARSE"), None)
    if unread is None:
        return ""
    line, column, _, _ = region(report.source, unread.span)
    return f"; the text does not parse at {line}:{column}: {unread.message}"
