"""The format for people: what is wrong, the lines it is about, what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rlx.checker.render.files import (
    FileReport,
    Summary,
    counted,
    counterexample,
    summarise,
)
from rlx.checker.render.frame import PLAIN, SourceFrame, Underline, paint, safe, show
from rlx.grammar.diagnostic import Diagnostic, Edit, Source, region

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
    parts.append(_verdict(summarise(files), theme))
    return "\n\n".join(parts) + "\n"


def render_diagnostic(
    diagnostic: Diagnostic, file: FileReport, theme: Mapping[str, str] = PLAIN, width: int = WIDTH
) -> str:
    """One diagnostic, without a final newline."""
    role = diagnostic.severity
    head = paint(theme, role, f"{diagnostic.severity}[{diagnostic.code}]")
    message = "\n".join(safe(line) for line in diagnostic.message.splitlines())
    lines = [f"{head}{paint(theme, 'strong', f': {message}')}"]
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
        place = f"{safe(file.path)}:{line}:{column}"
        lines += [" " * gutter + paint(theme, "gutter", "--> ") + place, *drawn]
    else:
        lines.append(" " + paint(theme, "gutter", "--> ") + safe(file.path))
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
        words = indent.join(safe(line) for line in text.splitlines())
        named = paint(theme, "help" if kind == "help" else "strong", f"{kind}:")
        yield f"{' ' * gutter} {sign} {named} {words}"


def _mended(
    edit: Edit, source: Source, gutter: int, theme: Mapping[str, str], width: int
) -> Iterator[str]:
    """The lines that an edit touches, before and after."""
    first, column = source.position(edit.span[0])
    last, end = source.position(max(edit.span))
    old = [source.line(number) for number in range(first, last + 1)]
    new = (old[0][: column - 1] + edit.text + old[-1][end - 1 :]).split("\n")
    yield " " * gutter + paint(theme, "gutter", " |")
    for sign, role, lines in (("-", "removed", old), ("+", "added", new)):
        for at, line in enumerate(lines):
            text = show(line, column - 1, column + len(edit.text), width).text
            number = paint(theme, "gutter", f"{first + at:>{gutter}}")
            yield f"{number} {paint(theme, role, f'{sign} {text}'.rstrip())}"


def _verdict(summary: Summary, theme: Mapping[str, str]) -> str:
    """The closing line."""
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
    return f"{counted(summary.files, 'file')} checked: {outcome}{proofs}"
