"""Workflow commands, which GitHub shows beside the changed lines."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.checker.render.files import FileReport, counterexample
from rlx.grammar.diagnostic import Diagnostic, region
from rlx.grammar.streams import visible

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
_DATA = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY = {**_DATA, ":": "%3A", ",": "%2C"}


def render(files: Sequence[FileReport]) -> str:
    """One command a line."""
    return "".join(_command(d, file) + "\n" for file in files for d in file.diagnostics)


def _command(diagnostic: Diagnostic, file: FileReport) -> str:
    properties: dict[str, object] = {"title": diagnostic.code, "file": file.path}
    if file.source is not None and diagnostic.span is not None:
        line, column, end_line, end_column = region(file.source, diagnostic.span)
        properties |= {"line": line, "endLine": end_line}
        if line == end_line:  # columns are refused for a range of lines
            properties |= {"col": column, "endColumn": end_column}
    written = ",".join(f"{k}={_escape(str(v), _PROPERTY)}" for k, v in properties.items())
    return f"::{_COMMANDS[diagnostic.severity]} {written}::{_escape(_words(diagnostic), _DATA)}"


def _words(diagnostic: Diagnostic) -> str:
    """The message and what follows it, as one text of several lines."""
    lines = [diagnostic.message, *(f"note: {note}" for note in diagnostic.notes)]
    values = counterexample(diagnostic)
    if values:
        lines.append(f"counterexample: {values}")
    if diagnostic.help:
        lines.append(f"help: {diagnostic.help}")
    return "\n".join(lines)


def _escape(text: str, table: dict[str, str]) -> str:
    """The text by GitHub's rules, and with hidden characters shown as everywhere else."""
    lines = [[visible(part) for part in line.split("\r")] for line in text.split("\n")]
    kept = "\n".join("\r".join(parts) for parts in lines)
    return kept.translate({ord(character): code for character, code in table.items()})
