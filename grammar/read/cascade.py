"""Detection of layout errors that follow from an earlier error: one mistake gives one error."""

from __future__ import annotations

from bisect import bisect_right

from rlx.grammar.lines import line_start
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Token
from rlx.grammar.read.lexer import CONTINUED, HEADS, OPENING, is_decorator, words_of, words_of_line
from rlx.grammar.read.source_tokens import long_strings


class Cascade:
    """Remembers the last layout error of a text, and the last unread statement.

    Parameters
    ----------
    text
        The text that offsets point into.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._broken: int | None = None
        self._unread: int | None = None
        # A first line, and the line up to which all that follows is indented under it.
        self._run = -1, 0

    def note(self, at: int, layout: bool) -> None:
        """Remember an error."""
        if layout:
            self._broken = at
        else:
            self._unread = at

    def follows(self, at: int) -> bool:
        """Whether a layout error follows from an earlier error.

        A layout error affects its whole function, up to the next decorator. An unread statement
        affects the lines indented under it, and the bracket that closes it.
        """
        if self._broken is not None and not self._defines(
            (min(self._broken, at), max(self._broken, at))
        ):
            return True
        return self._unread is not None and self._unread <= at and self._continues(self._unread, at)

    def continues_a_statement(self, at: int) -> bool:
        """Whether a position is in the rest of an unread statement without a block: in lines
        indented under its first line.
        """
        if self._unread is None or self._unread > at:
            return False
        first = next(iter(self._tokens(self._statement(self._unread))), None)
        is_head = first is not None and (first.type in HEADS or first.value == "def")
        return not is_head and self._continues(self._unread, at)

    def _defines(self, span: Span) -> bool:
        """Whether the decorator of a definition begins in a stretch of text."""
        depth, mark = 0, None
        for token in words_of(self.text, span):
            if mark is not None and (depth <= 0 or is_decorator(token.value)):
                return True
            line = self._line(token.start)
            alone = span[0] < line and not self.text[line : token.start].strip()
            mark = token if token.type == "AT" and alone else None
            depth += OPENING.get(token.type, 0)
        return False

    def _line(self, at: int) -> int:
        """Where the line of a place begins; that of a long string, where the string begins."""
        line = line_start(self.text, at)
        strings = long_strings(self.text)
        place = bisect_right(strings, (line, 0)) - 1
        if place >= 0 and strings[place][0] < line < strings[place][1]:
            return self._line(strings[place][0])
        return line

    def _tokens(self, line: int) -> tuple[Token, ...]:
        return words_of_line(self.text, line)

    def _statement(self, at: int) -> int:
        """Where the first line of the statement around a place begins, by the look of the lines in
        front of it.
        """
        found = line = self._line(at)
        while line:
            line = self._line(line - 1)
            tokens = self._tokens(line)
            if tokens and tokens[-1].type not in CONTINUED:
                break
            if tokens:
                found = line
        return found

    def _continues(self, start: int, at: int) -> bool:
        """Whether a place stands in a later line than the statement around another one begins in,
        and everything from there on is indented under it, or closes its brackets.
        """
        first, last = self._statement(start), self._line(at)
        if last <= first:
            return False
        known, line = self._run
        if known != first:
            line = self._behind(first)
        while 0 < line < last and self._may_stand_under(line, first):
            line = self._behind(line)
        self._run = first, line
        return line >= last and self._is_under(last, first)

    def _behind(self, line: int) -> int:
        """Where the line behind another one begins; 0 where there is none."""
        return self.text.find("\n", line) + 1

    def _may_stand_under(self, line: int, first: int) -> bool:
        """Whether a line is indented under another one, or its indentation says nothing: it is
        blank, a comment alone, or inside a string.
        """
        says = self._letter(line) not in ("", "\n", "#") and self._line(line) == line
        return not says or self._is_under(line, first)

    def _is_under(self, line: int, first: int) -> bool:
        return self._width(line) > self._width(first) or self._letter(line) in (")", "]", "}")

    def _letter(self, line: int) -> str:
        """The first character of a line behind its white space; none at the end of the text."""
        begins = self._begins(line)
        return self.text[begins : begins + 1]

    def _begins(self, line: int) -> int:
        """Where the text of a line begins behind its white space."""
        text = self.text
        while line < len(text) and text[line] in " \t\f":
            line += 1
        return line

    def _width(self, line: int) -> int:
        return len(self.text[line : self._begins(line)].expandtabs(8))
