"""Comments that are not above a definition: before a statement, or at the top of a file.

The docstring of a class or PrimFunc counts as a comment.

The syntax tree contains comments above definitions. The others do not belong to nodes, so a
formatter finds them in the text and passes them to the printer. The printer prints each before the
statement that follows it, or after the statement on the same line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlx.grammar.node import Span
from rlx.grammar.outline import HEAD, logical_lines

_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"""|'
    r"'''(?:[^'\\]|\\.|'(?!''))*+'''|"
    r'"(?:[^"\\\n]|\\.)*+"|'
    r"'(?:[^'\\\n]|\\.)*+'|"
    r"(?P<comment>\#[^\n]*+)",
    re.DOTALL,
)
PRINTED = re.compile(
    r"#\s*(from\s+(typing|tvm)[\w.]*\s+import\s+\w+(\s+as\s+\w+)?|import\s+tvm|"
    r"Metadata omitted\..*|with T\.s?block\(\"root\"\):?)\s*"
)
"""Comments that a printer itself writes."""


def comments(text: str) -> Iterator[tuple[int, str]]:
    """The comments of a text, outside strings, with their offsets."""
    for found in _TOKEN.finditer(text):
        if found["comment"]:
            yield found.start(), found["comment"]


class Remarks:
    """Comments in the order of the text, removed when they are printed.

    Parameters
    ----------
    text
        The source text; none gives no comments.
    """

    def __init__(self, text: str = "") -> None:
        self.text = text
        documentation = set(_documentation(text))
        found = [
            (m.start(), m[0].rstrip())
            for m in _TOKEN.finditer(text)
            if m["comment"] or m.span() in documentation
        ]
        self._left: list[tuple[int, int, str]] = []
        above = False  # whether the comment below this one is above a definition
        for at, comment in reversed(found):
            line = text.rfind("\n", 0, at) + 1
            alone = not text[line:at].strip()
            below = _next_line(text, at)
            above = alone and (below.startswith("@") or (above and below.startswith("#")))
            above = above and comment.startswith("#")
            if not above and not PRINTED.fullmatch(comment):
                # One behind a statement comes before it: in front of all that its line holds.
                self._left.append((at if alone else line - 1, at, comment))

    @property
    def left(self) -> int:
        """The number of comments that are not printed yet."""
        return len(self._left)

    def before(self, offset: int) -> list[str]:
        """Take the comments before an offset of the source."""
        taken = []
        while self._left and self._left[-1][0] < offset:
            taken.append(self._left.pop()[2])
        return taken

    def behind(self, span: Span | None) -> str | None:
        """Take the comment after a statement, on its last line."""
        if span is None or not self._left:
            return None
        stop = self.text.find("\n", span[1])
        stop = len(self.text) if stop < 0 else stop
        for place in range(len(self._left) - 1, -1, -1):
            _, at, comment = self._left[place]
            if at >= stop:
                return None
            if at >= span[1]:
                alone = not self.text[span[1] : at].strip() and comment.startswith("#")
                return self._left.pop(place)[2] if alone else None
        return None

    def drop(self, span: Span) -> None:
        """Drop the comments in a stretch of the source that is printed unchanged."""
        self._left = [each for each in self._left if not span[0] <= each[1] < span[1]]


def _documentation(text: str) -> Iterator[Span]:
    """Where the strings stand that come first under the head of a class or function."""
    head = False
    for start, end in logical_lines(text):
        if head and text[start] in "\"'":
            yield (start, start + len(text[start:end].rstrip(";").rstrip()))
        head = HEAD.match(text, start) is not None


def _next_line(text: str, at: int) -> str:
    line = text.find("\n", at) + 1
    end = text.find("\n", line)
    return text[line : end if end >= 0 else len(text)].strip() if line else ""


def attach(lines: list[str], at: int, comment: str | None, pad: str) -> None:
    """Put a comment after the statement that was printed from a line on, or above it if it has
    several lines.
    """
    if comment is not None and len(lines) == at + 1:
        lines[at] += f"  {comment}"
    elif comment is not None:
        lines.insert(at, pad + comment)
