"""Which complaints about the layout of a text follow from a mistake before them:
one mistake is one error.
"""

from __future__ import annotations

import re

NO_BLOCK = "this line is indented, but no block starts here"
NO_MATCH = "the indentation of this line matches no enclosing block"
MIXED = "tabs and spaces are mixed: the indentation of this line depends on the width of a tab"
LAYOUT = frozenset([NO_BLOCK, NO_MATCH, MIXED])
"""What is said of indentation itself."""

_DEFINITION = re.compile(r"\n[ \t]*@[ \t]*\w")
_HEAD = re.compile(r"[ \t]*(?:def|with|if|elif|else|for|while|class)\b|[ \t]*@")
_OPEN = ("(", "[", "{", ",")
"""How a line ends that goes on in the next one."""


class Cascade:
    """Remembers where the layout of a text broke last, and which statement was not read.

    Parameters
    ----------
    text
        The text that offsets point into.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._broken: int | None = None
        self._unread: int | None = None

    def note(self, at: int, layout: bool) -> None:
        """Remember a mistake."""
        if layout:
            self._broken = at
        else:
            self._unread = at

    def follows(self, at: int) -> bool:
        """Whether a complaint about the layout follows from an earlier mistake.

        A broken layout breaks all of its function, up to the next decorator; a statement that was
        not read breaks the lines that are indented under it, and the bracket that closes it.
        """
        if self._broken is not None and not _DEFINITION.search(
            self.text, min(self._broken, at), max(self._broken, at)
        ):
            return True
        return self._unread is not None and self._unread <= at and self._continues(self._unread, at)

    def continues_a_statement(self, at: int) -> bool:
        """Whether a place lies in the rest of a statement that was not read and is no head: in
        lines that are indented under its first one.
        """
        if self._unread is None or self._unread > at:
            return False
        head = self._statement(self._unread)
        return not _HEAD.match(self.text, head) and self._continues(self._unread, at)

    def _statement(self, at: int) -> int:
        """Where the first line of the statement around a place begins, by the look of the lines in
        front of it.
        """
        line = self.text.rfind("\n", 0, at) + 1
        while line:
            before = self.text.rfind("\n", 0, line - 1) + 1
            if not self.text[before : line - 1].rstrip().endswith(_OPEN):
                return line
            line = before
        return line

    def _continues(self, start: int, at: int) -> bool:
        head, *rest = self.text[self._statement(start) : at].split("\n")
        width = _width(head)
        end = self.text.find("\n", at)
        last = self.text[self.text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(self.text)]
        between = [line for line in rest[:-1] if line.strip()]
        return bool(rest) and (
            all(_width(line) > width or line.lstrip()[0] in ")]}" for line in between)
            and (_width(last) > width or last.lstrip()[:1] in tuple(")]}"))
        )


def _width(line: str) -> int:
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip())
