"""The recorded check of a text, and the trees of what stands at a place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from rlx.checker.check import Report, check_text
from rlx.checker.why.build import StepBuilder
from rlx.checker.why.place import Construct, PlaceError, at_column, constructs, on_line
from rlx.checker.why.recorder import DerivationRecorder, recording
from rlx.checker.why.step import ERROR, Step, every, settle
from rlx.grammar.diagnostic import Diagnostic, Source, region
from rlx.grammar.stack import recursion_room
from rlx.grammar.streams import visible


class Derivations:
    """The derivation trees of a place.

    Attributes
    ----------
    source
        The text that steps point into.
    """

    def __init__(self, roots: Iterable[Step], source: Source, faulty: bool) -> None:
        self._roots, self.source, self._faulty = tuple(roots), source, faulty

    @cached_property
    def roots(self) -> tuple[Step, ...]:
        """One for each construct, and one for each error there that belongs to none of them."""
        with recursion_room():
            settle(self._roots)
        return self._roots

    def lines(
        self, theme: Mapping[str, str], depth: int | None = None, limit: int | None = None
    ) -> Iterator[str]:
        """The trees as `rlx why` prints them; only the shown parts are built.

        Parameters
        ----------
        theme, depth, limit
            As :func:`rlx.checker.why.tree_text.render`.
        """
        from rlx.checker.why.tree_text import render

        with recursion_room():
            yield from render(self._roots, self.source, theme, depth, limit)

    def __str__(self) -> str:
        return "\n".join(map(visible, self.lines({})))

    def _repr_html_(self) -> str:
        from rlx.grammar.streams import preformatted

        return preformatted(str(self))

    @property
    def has_error(self) -> bool:
        """Whether a tree has a premise that certainly fails."""
        return self._faulty and any(
            step.kind == "premise" and step.status == ERROR for step in every(self.roots)
        )


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
        return _derivations(builder, report, found, here)


def everything(text: str, path: str) -> tuple[Report, Derivations]:
    """The check of a text, and the derivations of all its functions with whatever is wrong."""
    report, recorder = _recorded(text, path)
    with recursion_room():
        known = constructs(report.modules, report.source)
        tops = [c for c in known if c.kind in ("function", "primfunc")]
        builder = StepBuilder(report, recorder)
        return report, _derivations(builder, report, tops, report.diagnostics)


def _derivations(
    builder: StepBuilder, report: Report, found: Sequence[Construct], here: Sequence[Diagnostic]
) -> Derivations:
    """The trees of constructs, with each diagnostic at the place in one of them."""
    roots = builder.tree(found)
    if here:
        told = {(step.code, step.span) for step in every(roots) if step.kind == "premise"}
        roots += builder.alone(d for d in here if (d.code, d.span) not in told)
    faulty = any(d.is_error for d in report.diagnostics)
    return Derivations(dict.fromkeys(roots), report.source, faulty)


def diagnostics_at(report: Report, line: int, column: int | None) -> list[Diagnostic]:
    """The diagnostics at a place: on a line those that begin there, at a column those that cover
    it.
    """
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
    """A note that a part of the text could not be read, if that may be why nothing is there."""
    unread = next((d for d in report.diagnostics if d.code == "PARSE"), None)
    if unread is None:
        return ""
    line, column, _, _ = region(report.source, unread.span)
    return f"; the text does not parse at {line}:{column}: {unread.message}"
