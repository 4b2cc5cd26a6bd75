"""The logical lines of a text: bracketed ones and strings over several lines are one."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE = re.compile(
    r"""
      (?P<skip>[ \t\f]++|\\\r?\n|\#[^\n]*+)
    | (?P<string>[rRbBuUfF]{0,2}(?:
        \"\"\"(?:[^"\\]|\\.|"(?!""))*+(?:\"\"\"|\Z)|'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)
        |"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?))
    | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<newline>\n)
    | [^\n"'()\[\]{}\#\\]++ | .
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTE_IN_LINE = r"\"(?!\"\")[^\"\\\n]*+\"|'(?!'')[^'\\\n]*+'"
_IN_LINE = rf"(?:[^\n\"'()\[\]{{}}#\\]++|{_QUOTE_IN_LINE})*+"
for _ in range(4):
    _IN_LINE = rf"(?:[^\n\"'()\[\]{{}}#\\]++|{_QUOTE_IN_LINE}|[(\[{{]{_IN_LINE}[)\]}}])*+"
_WHOLE_LINE = re.compile(rf"[ \t\f]*+({_IN_LINE})(?:#[^\n]*+)?\n")
"""A line whose brackets are closed in it, with at most four in one another: almost every one."""

_WORD = r"[^\W\d]\w*"


def indentation(text: str, at: int) -> int:
    """The width of the white space in front of a line that starts with its text at an offset."""
    return width(text[text.rfind("\n", 0, at) + 1 : at])


def width(lead: str) -> int:
    """The width of white space at the start of a line; a tab goes to the next multiple of 8."""
    return len(lead.expandtabs(8))


def logical_lines(text: str, at: int = 0) -> Iterator[tuple[int, int]]:
    """Start and end of each logical line from an offset on,
    without its indentation and what is behind it.
    """
    depth, start = 0, -1
    whole, match, size = _WHOLE_LINE.match, _LINE.match, len(text)
    while at < size:
        if start < 0 and (line := whole(text, at)) is not None:
            at = line.end()
            if line[1]:
                yield line.start(1), at - 1
            continue
        found = match(text, at)
        assert found is not None
        kind, begin = found.lastgroup, at
        at = found.end()
        if kind == "skip":
            continue
        if kind == "newline":
            # A bracket that is never closed ends where something that can only be a new definition
            # starts.
            if start >= 0 and (not depth or _NEW.match(text, at)):
                yield start, begin
                start, depth = -1, 0
            continue
        if start < 0:
            start = begin
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
    if start >= 0:
        yield start, size


_NEW = re.compile(
    rf"[ \t]+(?:@[RTI]\.\w|def[ \t]+{_WORD}[ \t]*\()"  # in a class
    rf"|(?:@|def[ \t]+{_WORD}[ \t]*\(|class[ \t]+{_WORD}|import[ \t]|from[ \t]+\S+[ \t]+import)"
)
