"""Diagnostics, and the source texts that they point into."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import accumulate

from rlx.grammar.lines import line_end
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.streams import visible
from rlx.grammar.suggest import Suggestion


class Source:
    """A text with its path; converts offsets to lines and columns."""

    def __init__(self, text: str, path: str = "<text>") -> None:
        self.text = text
        self.path = path

    @cached_property
    def line_starts(self) -> list[int]:
        lengths = map(len, self.text.split("\n")[:-1])
        return [*accumulate(map((1).__add__, lengths), initial=0)]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line, counted from 1, without its line end."""
        start = self.line_starts[number - 1]
        return self.text[start : line_end(self.text, start)].rstrip("\r")

    def end(self, span: Span) -> tuple[int, int]:
        """Line and column of the end of a span without the white space that it ends with."""
        (first, start), (number, column) = self.position(span[0]), self.position(max(span))
        while not (line := self.line(number)[: column - 1].rstrip()) and number > first:
            number -= 1
            column = len(self.line(number)) + 1
        return number, max(len(line) + 1, start) if number == first else len(line) + 1

    def excerpt(self, spans: Iterable[Span]) -> Source:
        """The same without the text of other lines than those of some spans, for another process:
        most of a text may be weights.
        """
        return _Excerpt(self, spans)


class _Excerpt(Source):
    def __init__(self, source: Source, spans: Iterable[Span]) -> None:
        super().__init__("", source.path)
        self.line_starts = source.line_starts
        kept = {
            number: None
            for span in spans
            for number in range(source.position(span[0])[0], source.position(max(span))[0] + 1)
        }
        self._lines = {number: source.line(number) for number in kept}

    def line(self, number: int) -> str:
        return self._lines.get(number, "")


Region = tuple[int, int, int, int]
"""Line, column, end line, end column, all counted from 1; the end is exclusive."""


def region(source: Source | None, span: Span | None) -> Region:
    """The region of a span; the first character of the file if there is no span."""
    if source is None or span is None:
        return 1, 1, 1, 1
    return *source.position(span[0]), *source.position(max(span))


class Label(Record):
    """Another location of a diagnostic, with its description."""

    span: Span
    message: str


class Edit(Record):
    """A replacement of source text that fixes a diagnostic.

    Attributes
    ----------
    is_safe
        Whether what the program does and offers stays as its author meant it; others are applied
        only on request.
    """

    span: Span
    text: str
    is_safe: bool = True


class Diagnostic(Record):
    """One error, warning or note about a program.

    Attributes
    ----------
    code
        The rule's id, with a suffix where the rule has several premises: ``D14-arity``; ``PARSE``
        for syntax.
    severity
        ``"error"``: the rule is certainly violated. ``"warning"``: it may be violated, or the
        program can fail at run time. ``"note"``: additional information.
    message
        One sentence that names the values involved.
    span
        The location; None for a whole file.
    label
        A few words next to the carets.
    related
        Other locations, such as definitions.
    notes, help, edit
        Further facts, advice, and a replacement that follows the advice.
    counterexample
        Values of shape variables for which the program fails.
    source
        The text that the spans point into; None until a report holds the diagnostic.
    mistake
        The same for all diagnostics of one mistake: a report keeps the first that no comment
        silences. None where there is only one.
    """

    code: str
    severity: str
    message: str
    span: Span | None
    label: str = ""
    related: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    edit: Edit | None = None
    counterexample: Mapping[str, int] | None = None
    source: Source | None = None
    mistake: tuple[object, ...] | None = None

    @property
    def is_error(self) -> bool:
        """Whether a rule is certainly violated."""
        return self.severity == "error"

    @property
    def spans(self) -> Iterator[Span]:
        """Everything in the text that it points at."""
        yield from (label.span for label in self.related)
        if self.span is not None:
            yield self.span
        if self.edit is not None:
            yield self.edit.span

    def __str__(self) -> str:
        """``file:line:column: severity[CODE]: message``"""
        place = ""
        if self.source is not None:
            place = f"{visible(self.source.path)}:"
            if self.span is not None:
                line, column = self.source.position(self.span[0])
                place += f"{line}:{column}:"
            place += " "
        return f"{place}{self.severity}[{self.code}]: {visible(self.message)}"

    @property
    def meant(self) -> tuple[str, ...]:
        """The words that the help suggests as replacements of the text at the span."""
        return self.help.words if isinstance(self.help, Suggestion) else ()

    @property
    def rule(self) -> str:
        """The id of the rule: the code without the suffix that names a premise.

        The rule of ``D14-arity`` is ``D14``, that of ``OBL-reshape-count`` is ``OBL-reshape``.
        """
        head, *rest = self.code.split("-")
        return head if not rest or head[-1].isdigit() else f"{head}-{rest[0]}"
