"""Comments that are not above a definition: before a statement, or at the top of a file.

The docstring of a class or PrimFunc counts as a comment.

The syntax tree contains comments above definitions. The others do not belong to nodes, so a
formatter finds them in the text and passes them to the printer. The printer prints each before the
statement that follows it, or after the statement on the same line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from rlx.grammar.lines import line_end, line_start, next_line
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.lexer import words_of
from rlx.grammar.read.outline import HEAD, logical_lines
from rlx.grammar.read.source_tokens import parts_of

PRINTED = re.compile(
    r"#\s*(from\s+(typing|tvm)[\w.]*\s+import\s+\w+(\s+as\s+\w+)?|import\s+tvm|"
    r"Metadata omitted\..*|with T\.s?block\(\"root\"\):?)\s*"
)
"""Comments that a printer itself writes."""


def comments(text: str) -> Iterator[tuple[int, str]]:
    """The comments of a text, outside strings, with their offsets."""
    if "#" not in text:
        return
    end = 0
    behind = (len(text), len(text))
    for start, stop in chain((token.span for token in parts_of(text, (0, len(text)))), [behind]):
        for found in _BETWEEN.finditer(text[end:start]):
            yield end + found.start("comment"), found["comment"]
        end = stop


_BETWEEN = re.compile(r"^[^\"'#\n]*(?P<comment>#.*)", re.MULTILINE)
"""A comment between two tokens, where a string that is not closed may stand, too."""


class Remarks:
    """Comments in the order of the text, removed when they are printed.

    Parameters
    ----------
    text
        The source text; none gives no comments.
    """

    def __init__(self, text: str = "") -> None:
        self.text = text
        found = [(at, comment.rstrip()) for at, comment in comments(text)]
        found += [(start, text[start:end]) for start, end in _documentation(text)]
        found.sort()
        self._left: list[tuple[int, int, str]] = []
        above = False  # whether the comment below this one is above a definition
        for at, comment in reversed(found):
            line = line_start(text, at)
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

    def inside(self, end: int, at: int) -> list[str]:
        """Take the comments before an offset that stand no less deep than the line at another."""
        depth = self._depth(at)
        taken = []
        while self._left and self._left[-1][0] < end and self._depth(self._left[-1][1]) >= depth:
            taken.append(self._left.pop()[2])
        return taken

    def _depth(self, at: int) -> int:
        head = self.text[line_start(self.text, at) : at].expandtabs(8)
        return len(head) - len(head.lstrip())

    def behind(self, span: Span | None, whole: bool = True) -> str | None:
        """Take the comment after a statement, on its last line.

        ``whole`` says that the stretch is all of the statement: nothing else stands before the
        comment.
        """
        if span is None or not self._left:
            return None
        stop = line_end(self.text, span[1])
        for place in range(len(self._left) - 1, -1, -1):
            _, at, comment = self._left[place]
            if at >= stop:
                return None
            if at >= span[1]:
                alone = not (whole and self.text[span[1] : at].strip()) and comment.startswith("#")
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
            end = start + len(text[start:end].rstrip(";").rstrip())
            if [token.span for token in words_of(text, (start, end))] == [(start, end)]:
                yield start, end
        head = HEAD.match(text, start) is not None


def _next_line(text: str, at: int) -> str:
    line = next_line(text, at)
    return text[line : line_end(text, line)].strip()


def attach(lines: list[str], at: int, comment: str | None, pad: str) -> None:
    """Put a comment after the statement that was printed from a line on, or above it if it has
    several lines.
    """
    if comment is not None and len(lines) == at + 1:
        lines[at] += f"  {comment}"
    elif comment is not None:
        lines.insert(at, pad + comment)
