"""The format for people: the marked source lines, the mistake, and the help."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import IO

from rlx.checker.render.files import FileReport, counterexample, summarise
from rlx.grammar.diagnostic import Diagnostic, Edit, Source, region
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.streams import own, visible, without_own
from rlx.grammar.wording import counted

SHOWN_LINES = 6
"""A span over more lines than this is cut in the middle."""


class Underline(Record):
    """A mark under a line: from character ``start`` to ``end`` (from 0, exclusive), and its label."""

    start: int
    end: int
    words: str
    role: str
    sign: str


class SourceFrame:
    """Draws one diagnostic's lines.

    Parameters
    ----------
    source
        The text.
    theme
        SGR parameters by role.
    limit
        Columns that a source line may take.
    """

    def __init__(self, source: Source, theme: Mapping[str, str], limit: int) -> None:
        self.source = source
        self.theme = theme
        self.limit = limit
        self.gutter = 1

    def draw(
        self, primary: Underline, span: Span, related: Sequence[tuple[Span, Underline]]
    ) -> list[str]:
        """The frame of a diagnostic at ``span``, with the other places it points at."""
        (first, _), (last, end) = self.source.position(span[0]), self.source.end(span)
        marks: dict[int, list[Underline]] = {}
        for place, mark in related:
            number, placed = self._on_first_line(place, mark)
            marks.setdefault(number, []).append(placed)
        number, placed = self._on_first_line(span, primary)
        if last == first:
            marks.setdefault(number, []).insert(0, placed)
        numbers = sorted(set(marks) | _visible(first, last))
        self.gutter = len(str(numbers[-1]))
        lines = [self.edge()]
        previous = numbers[0]
        for number in numbers:
            if number > previous + 1:
                lines.append(paint(self.theme, "gutter", "..."))
            previous = number
            margin = self._margin(number, first, last, placed)
            lines += self._line(number, marks.get(number, []), margin)
            if number == first < last and margin.isspace():
                lines.append(self._corner(number, " ", placed.start, placed.role, ""))
            if number == last > first:
                words = f" {visible(primary.words)}" if primary.words else ""
                lines.append(self._corner(number, "|", end - 2, placed.role, words))
        return lines

    def edge(self) -> str:
        """The empty gutter."""
        return paint(self.theme, "gutter", " " * self.gutter + " |")

    def numbered(self, number: int, sign: str = "|") -> str:
        """The gutter of a source line."""
        return paint(self.theme, "gutter", f"{number:>{self.gutter}} {sign}")

    def _on_first_line(self, span: Span, mark: Underline) -> tuple[int, Underline]:
        """The line on which a span starts, and the mark cut to it and placed on it."""
        number, column = self.source.position(span[0])
        size = len(self.source.line(number))
        start = min(column - 1, size)
        end = min(max(start + 1, start + span[1] - span[0]), max(size, start + 1))
        return number, Underline(start, end, mark.words, mark.role, mark.sign)

    def _margin(self, number: int, first: int, last: int, primary: Underline) -> str:
        """The margin to the left of a line: the bar of a span of several lines."""
        if first == last:
            return ""
        sign = "|" if first < number <= last else " "
        if number == first and not self.source.line(number)[: primary.start].strip():
            sign = "/"
        return (sign if sign == " " else paint(self.theme, primary.role, sign)) + " "

    def _line(self, number: int, marks: list[Underline], margin: str) -> Iterator[str]:
        """A source line and what is marked on it, repeated for marks too far apart to be seen at
        once.
        """
        text = self.source.line(number)
        for group in self._groups(text, marks):
            low = min((m.start for m in group), default=0)
            shown = show(text, low, max((m.end for m in group), default=0), self.limit)
            yield f"{self.numbered(number)} {margin}{shown.text}".rstrip()
            for under in _underlines(shown, group, self.theme):
                yield f"{self.edge()} {margin.replace('/', '|')}{under}".rstrip()

    def _groups(self, text: str, marks: list[Underline]) -> list[list[Underline]]:
        """Marks that fit in one window of the line stay together."""
        if not marks:
            return [[]]
        reach = max(m.end for m in marks) - min(m.start for m in marks)
        if len(text) <= self.limit or reach <= self.limit // 2:
            return [marks]
        return [[m] for m in sorted(marks, key=lambda m: m.start)]

    def _corner(self, number: int, bar: str, at: int, role: str, words: str) -> str:
        """The line that marks where a span of several lines starts or ends, at character ``at``."""
        column = show(self.source.line(number), 0, 0, self.limit).column(at)
        line = bar + "_" * (column + 1) + "^" + words
        return f"{self.edge()} {paint(self.theme, role, line)}"


def _visible(first: int, last: int) -> set[int]:
    """The lines of a span that are printed."""
    if last - first < SHOWN_LINES:
        return set(range(first, last + 1))
    return {*range(first, first + SHOWN_LINES - 2), last - 1, last}


def _underlines(shown: Shown, marks: list[Underline], theme: Mapping[str, str]) -> Iterator[str]:
    """The line of carets, then one line for each set of words that does not fit beside them."""
    if not marks:
        return
    cells: dict[int, tuple[str, str]] = {}
    for mark in sorted(marks, key=lambda m: m.sign == "^"):
        start = shown.column(mark.start)
        for at in range(start, max(shown.column(mark.end), start + 1)):
            cells[at] = (mark.sign, mark.role)
    spoken = sorted((m for m in marks if m.words), key=lambda m: -shown.column(m.start))
    beside = ""
    if spoken and (len(spoken) == 1 or _clear_of(shown, spoken[0], spoken[1:])):
        tail = spoken.pop(0)
        if max(cells) < max(shown.column(tail.end), shown.column(tail.start) + 1):
            beside = " " + paint(theme, tail.role, visible(tail.words))
        else:
            spoken.insert(0, tail)
    yield _painted(cells, theme) + beside
    hanging = {shown.column(m.start): ("|", m.role) for m in spoken}
    if hanging:
        yield _painted(hanging, theme)
    for mark in spoken:
        column = shown.column(mark.start)
        hanging.pop(column, None)  # two marks may start in one column
        yield _painted(hanging, theme, column) + paint(theme, mark.role, visible(mark.words))


def _clear_of(shown: Shown, last: Underline, others: Sequence[Underline]) -> bool:
    """Whether no other mark reaches into the right-most one."""
    return all(shown.column(m.end) <= shown.column(last.start) for m in others)


def _painted(cells: Mapping[int, tuple[str, str]], theme: Mapping[str, str], size: int = 0) -> str:
    """Signs at their columns, neighbours of one role painted together, padded to ``size``
    columns.
    """
    out, at = [], 0
    columns = sorted(cells)
    index = 0
    while index < len(columns):
        start = columns[index]
        sign, role = cells[start]
        length = 1
        while cells.get(start + length) == (sign, role):
            length += 1
        out.append(" " * (start - at) + paint(theme, role, sign * length))
        at, index = start + length, index + length
    return "".join(out) + " " * (size - at)


TAB = 4
ELLIPSIS = "..."


class Shown(Record):
    """A line, or a window of it, as it is printed.

    Attributes
    ----------
    text
        What is printed.
    first, last
        The window: characters ``first`` to ``last`` (exclusive) of the line.
    offsets
        The column of every character of the window, and of its end.
    """

    text: str
    first: int
    last: int
    offsets: list[int]

    def column(self, index: int) -> int:
        """The printed column, from 0, of a character of the line, clamped to the window."""
        return self.offsets[min(max(index, self.first), self.last) - self.first]


def width(character: str) -> int:
    """The number of columns of a character."""
    if character < "\u0300":
        return 1
    from unicodedata import category, east_asian_width

    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def show(line: str, start: int, end: int, limit: int) -> Shown:
    """Lay out a line so that characters ``start`` to ``end`` are seen, within about ``limit``
    columns.
    """
    first, last = 0, len(line)
    if last > limit:
        room = limit - 2 * len(ELLIPSIS)
        before = max(room - (end - start), room // 4) // 2
        first = max(0, min(start - before, last - room))
        last = min(last, first + room)
    prefix = ELLIPSIS if first else ""
    text, offsets = [prefix], []
    at = len(prefix)
    for character in line[first:last]:
        offsets.append(at)
        written = " " * TAB if character == "\t" else visible(character)
        text.append(written)
        at += width(written) if len(written) == 1 else len(written)
    offsets.append(at)
    if last < len(line):
        text.append(ELLIPSIS)
    return Shown("".join(text), first, last, offsets)


PLAIN: Mapping[str, str] = {}
"""No colour."""

ANSI: Mapping[str, str] = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "help": "1;32",
    "gutter": "1;34",
    "related": "1;34",
    "strong": "1",
    "faint": "2",
    "added": "32",
    "removed": "31",
}
"""SGR parameters for each role, understood by every terminal with eight colours."""


def paint(theme: Mapping[str, str], role: str, text: str) -> str:
    """The text in the colour of its role."""
    code = theme.get(role)
    return f"{own(f'{code}m')}{text}{own('0m')}" if code and text else text


def without_colours(text: str) -> str:
    """The text without its colours."""
    return without_own(text)


def theme_for(stream: IO[str]) -> Mapping[str, str]:
    """Colours only at a terminal, or where FORCE_COLOR asks for them, and never where NO_COLOR
    forbids them.
    """
    if os.environ.get("NO_COLOR"):
        return PLAIN
    forced = os.environ.get("FORCE_COLOR", "").lower()
    if forced:
        return PLAIN if forced in ("0", "false") else ANSI
    return ANSI if stream.isatty() and os.environ.get("TERM") != "dumb" else PLAIN


WIDTH = 120
"""Columns that a source line takes at most, where no terminal says otherwise."""


def render(
    files: Sequence[FileReport], theme: Mapping[str, str] = PLAIN, width: int = WIDTH
) -> str:
    """All diagnostics in order, then one line that adds them up."""
    parts = [
        render_diagnostic(diagnostic, file, theme, width)
        for file in files
        for diagnostic in file.diagnostics
    ]
    parts.append(_verdict(files, theme))
    return "\n\n".join(parts) + "\n"


def render_diagnostic(
    diagnostic: Diagnostic, file: FileReport, theme: Mapping[str, str] = PLAIN, width: int = WIDTH
) -> str:
    """One diagnostic, without a final newline."""
    role = diagnostic.severity
    head = paint(theme, role, f"{diagnostic.severity}[{diagnostic.code}]")
    lines = [f"{head}{paint(theme, 'strong', f': {visible(diagnostic.message)}')}"]
    gutter = 1
    if file.source is not None and diagnostic.span is not None:
        frame = SourceFrame(file.source, theme, width)
        drawn = frame.draw(
            Underline(0, 0, diagnostic.label, role, "^"),
            diagnostic.span,
            [(r.span, Underline(0, 0, r.message, "related", "-")) for r in diagnostic.related],
        )
        gutter = frame.gutter
        line, column, _, _ = region(file.source, diagnostic.span)
        place = f"{visible(file.path)}:{line}:{column}"
        lines += [" " * gutter + paint(theme, "gutter", "--> ") + place, *drawn]
    else:
        lines.append(" " + paint(theme, "gutter", "--> ") + visible(file.path))
    tail = list(_tail(diagnostic, gutter, theme))
    if tail and diagnostic.span is not None:
        lines.append(" " * gutter + paint(theme, "gutter", " |"))
    lines += tail
    if diagnostic.edit is not None and file.source is not None:
        lines += _mended(diagnostic.edit, file.source, gutter, theme, width)
    return "\n".join(lines)


def _tail(diagnostic: Diagnostic, gutter: int, theme: Mapping[str, str]) -> Iterator[str]:
    """Notes, the counterexample and the help, each after a ``=``."""
    facts = [("note", note) for note in diagnostic.notes]
    values = counterexample(diagnostic)
    if values:
        facts.append(("counterexample", values))
    if diagnostic.help:
        facts.append(("help", diagnostic.help))
    sign = paint(theme, "gutter", "=")
    for kind, text in facts:
        indent = "\n" + " " * (gutter + len(kind) + 5)
        named = paint(theme, "help" if kind == "help" else "strong", f"{kind}:")
        words = indent.join(visible(line) for line in text.split("\n"))
        yield f"{' ' * gutter} {sign} {named} {words}"


def _mended(
    edit: Edit, source: Source, gutter: int, theme: Mapping[str, str], width: int
) -> Iterator[str]:
    """The lines that an edit changes, before and after."""
    first, column = source.position(edit.span[0])
    last, end = source.position(max(edit.span))
    old = [source.line(number) for number in range(first, last + 1)]
    new = (old[0][: column - 1] + edit.text + old[-1][end - 1 :]).split("\n")
    before = _alike(old, new)
    behind = _alike(old[before:][::-1], new[before:][::-1])
    old, new = (lines[before : len(lines) - behind] for lines in (old, new))
    seen = (column - 1, column + len(edit.text)) if not before else (0, 0)
    yield " " * gutter + paint(theme, "gutter", " |")
    for sign, role, lines in (("-", "removed", old), ("+", "added", new)):
        for at, line in enumerate(lines):
            text = show(line, *seen, width).text
            number = paint(theme, "gutter", f"{first + before + at:>{gutter}}")
            yield f"{number} {paint(theme, role, f'{sign} {text}'.rstrip())}"


def _alike(some: Sequence[str], others: Sequence[str]) -> int:
    """The number of equal lines at the start."""
    pairs = zip(some, others, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _verdict(files: Sequence[FileReport], theme: Mapping[str, str]) -> str:
    """The closing line. In Python files other code is skipped, so it says how much was read."""
    summary = summarise(files)
    found = [
        paint(theme, role, counted(number, role))
        for role, number in (
            ("error", summary.errors),
            ("warning", summary.warnings),
            ("note", summary.notes),
        )
        if number
    ]
    held = summary.obligations
    asked = held.proved + held.refuted + held.unknown
    proofs = f"; {counted(asked, 'proof obligation')}" if asked else ""
    if asked:
        parts = (("proved", held.proved), ("refuted", held.refuted), ("open", held.unknown))
        proofs += ": " + ", ".join(f"{n} {word}" for word, n in parts if n)
    outcome = ", ".join(found) or paint(theme, "help", "no problems")
    read = ""
    if any(file.read is not None and file.path.endswith(".py") for file in files):
        number = summary.read.total
        read = f", {counted(number, 'function')}" if number else ", no functions"
    return f"{counted(summary.files, 'file')} checked{read}: {outcome}{proofs}"
