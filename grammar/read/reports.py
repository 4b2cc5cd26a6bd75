"""The diagnostics of a text, one for each mistake, and the shared state of the actions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from rlx.grammar.diagnostic import Diagnostic, Label
from rlx.grammar.lines import line_end, line_start, next_line
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.coerce import Coerce
from rlx.grammar.read.entries import Entry, Rejected, Token
from rlx.grammar.read.lexer import LAYOUT, NO_QUOTE, words_of, words_of_line
from rlx.grammar.read.outline import indentation, logical_lines, width
from rlx.grammar.read.scope import Scope
from rlx.grammar.read.source_tokens import binds_nothing, end_of_target
from rlx.grammar.read.syntax_messages import explain_unexpected
from rlx.grammar.suggest import did_you_mean

if TYPE_CHECKING:
    from rlx.grammar.read.surroundings import PythonAround


MAX_ERRORS = 200
"""The maximum number of syntax errors that are reported in a function."""

_SIGNS = frozenset(["TARGET", "EQUAL"])
"""The sign behind the name that a statement binds."""

NOT_UNDERSTOOD = "rlx does not understand this part of a PrimFunc; it is kept as text"


class Reports:
    """The diagnostics of one text.

    Parameters
    ----------
    text
        The text that spans point into.
    scope
        The names; after a layout error, it moves variables out of their dataflow blocks.

    Attributes
    ----------
    """

    def __init__(self, text: str, scope: Scope) -> None:
        self.text = text
        self.scope = scope
        self.diagnostics: list[Diagnostic] = []
        self._starts: list[int] = []
        self._note_starts: list[int] = []
        self._unexpected: list[tuple[Token, frozenset[str]]] = []
        self.kept: set[Span] = set()
        self._broken: int | None = None  # the last layout error
        self._unread: int | None = None  # the last other error
        self._under = 0  # up to here, all that follows that error stands under its statement
        self._numbers: dict[Span | None, int] = {}

    def lexical_error(self, message: str, start: int, end: int) -> None:
        """Report text that is not a token."""
        layout = message in LAYOUT
        line_begins = line_start(self.text, start)
        if layout or not self.has_errors_in((line_begins, start)):
            self.error(message, (start, end), layout=layout)
            line = words_of_line(self.text, line_begins)
            sign = None if layout else end_of_target(self.text, line)
            known = self.scope.in_prim_body() or (sign is not None and sign <= start)
            if not known and not message.endswith(NO_QUOTE):
                self.scope.missing += not layout or not self._are_bindings(line_begins)
                self.scope.doubtful = (start, end)

    def _are_bindings(self, line: int) -> bool:
        """Whether a line and the one above it bind names, so that none is missing in front."""
        begins = (line_start(self.text, max(0, line - 1)), line)
        return all(end_of_target(self.text, words_of_line(self.text, at)) for at in begins)

    def error(
        self,
        message: str,
        span: Span | None,
        help: str | None = None,
        related: Span | None = None,
        layout: bool = False,
        alone: bool = False,
    ) -> None:
        """Report a syntax error; a layout error only if it does not follow from an earlier one, as
        none does from one that is ``alone``.
        """
        labels = () if related is None else (Label(related, "first defined here"),)
        if span is None or not self._follows(span[0], layout):
            self._add(Diagnostic("PARSE", "error", message, span, related=labels, help=help))
        if span is not None:
            if self.scope.in_prim_body() and not self.scope.in_head:
                self._lose_in_prim_func(span)
            if not layout:
                self._unread = self._under = span[0]
            elif not alone:
                self._broken = span[0]
            if layout and not self.text.startswith((")", "]", "}"), span[0]):  # these end no block
                self.scope.doubtful = span
            insort(self._starts, span[0])

    def read_on(self) -> None:
        """Read the text below the last statement with an error, too."""
        self._unread = None

    def _follows(self, at: int, layout: bool) -> bool:
        """Whether an error follows from an earlier one.

        A layout error affects all layout up to the next decorator. A statement that could not be
        read affects the lines indented under it, and the brackets that close it; the head of a
        block affects only their layout.
        """
        text, unread = self.text, self._unread
        if layout and self._broken is not None:
            first, last = sorted((self._broken, at))
            starts = _decorators(text)
            if bisect_right(starts, first) >= bisect_left(starts, line_start(text, last)):
                return True
        if unread is None or text.find("\n", unread, at) < 0:
            return False
        lines, ends = _lines(text)
        first, last = bisect_left(ends, unread), bisect_left(ends, at)
        if first == len(ends) or (not layout and (first == last or text[ends[first] - 1] == ":")):
            return False
        column = indentation(text, lines[first][0])
        while self._under < (line := next_line(text, self._under)) <= at:
            if not _is_under(text[line : line_end(text, line)], column):
                # The line that ends the block of an unreadable head may match no other block.
                leaves = self._under > unread or indentation(text, at) < column
                return layout and leaves and line == line_start(text, at)
            self._under = line
        return True

    def _add(self, found: Diagnostic) -> None:
        """Add an error, unless its function has too many."""
        function = self.function_around(found.span)
        number = self._numbers[function] = self._numbers.get(function, 0) + 1
        if number <= MAX_ERRORS:
            self.diagnostics.append(found)
        elif number == MAX_ERRORS + 1:
            words = f"more than {MAX_ERRORS} syntax errors in this function; the rest is not shown"
            self.diagnostics.append(Diagnostic("PARSE", "error", words, found.span))

    def note(
        self, message: str, span: Span, code: str = "PARSE-opaque", severity: str = "note"
    ) -> None:
        """Report a note, or a warning, once for all locations."""
        insort(self._note_starts, span[0])
        if not any(d.message == message for d in self.diagnostics):
            self.diagnostics.append(Diagnostic(code, severity, message, span))

    def has_errors_in(self, span: Span) -> bool:
        """Whether an error was reported inside a stretch of text."""
        return _any_in(self._starts, span)

    def not_understood(self, token: Token, expected: frozenset[str]) -> None:
        """Report an unexpected token in a PrimFunc, whose statement is kept as text."""
        self._unexpected.append((token, expected))
        self.note(NOT_UNDERSTOOD, shown_span(token))

    def refuse_what_is_no_python(self, span: Span) -> None:
        """Report a function that is not valid Python."""
        if not _any_in(self._note_starts, span):
            return
        from rlx.grammar.read.python_syntax import python_refuses, unread_statement

        refused = python_refuses(self.text, span)
        if refused is not None:
            self._drop_notes(span)
        if self.has_errors_in(span):  # one of them, or one that follows, unless all are above
            around = (0, 0) if refused is None else self._line_at(refused[1][0])
            places = [token.start for token, _ in self._unexpected]
            if self.has_errors_in((around[0], span[1])) or not _any_in(places, around):
                return
        if refused is not None and refused[0].endswith("Python: invalid syntax"):
            line, end = self._line_at(refused[1][0])
            for token, expected in self._unexpected:
                if line <= token.start <= end:  # what was expected there says more than Python
                    message, help = explain_unexpected(token, expected)
                    self._not_kept(span, message, shown_span(token), help)
                    return
        found = refused or unread_statement(self.text, span)
        if found is not None:
            self._not_kept(span, *found)

    def _line_at(self, at: int) -> Span:
        return line_start(self.text, at), line_end(self.text, at)

    def _not_kept(self, function: Span, message: str, span: Span, help: str | None = None) -> None:
        """Report an error in a function instead of the note that its text is kept."""
        self._drop_notes(function)
        self.error(message, span, help)
        self._lose_in_prim_func(span)

    def _drop_notes(self, function: Span) -> None:
        """Take back that text of a function is kept, which is wrong."""
        start, end = function
        self.diagnostics[:] = [
            d
            for d in self.diagnostics
            if d.code != "PARSE-opaque" or d.span is None or not start <= d.span[0] <= end
        ]

    def _lose_in_prim_func(self, span: Span) -> None:
        """Doubt the names of a PrimFunc if the statement with an error may bind one that its text,
        which is kept, does not show.
        """
        lines, ends = _lines(self.text)
        at = bisect_left(ends, span[0])
        start = lines[at][0] if at < len(lines) else span[0]
        words = [*words_of(self.text, (min(start, span[0]), line_end(self.text, span[0])))]
        kinds = [word.type for word in words]
        before = {word.type for word in words if word.end <= span[0]}
        is_call = kinds[:1] in (["HEAD"], ["DOTTED"]) and kinds[-1:] != ["COLON"]
        if kinds[:1] == ["FOR"]:
            shows_it = "IN" in before
        elif kinds[:1] in (["ELSE"], ["ELIF"]):
            shows_it = bool(before)  # where it is misplaced, the block above may be, too
        else:
            shows_it = is_call or kinds[:2] == ["NAME", "LSQB"] or not _SIGNS.isdisjoint(before)
            shows_it = shows_it or bool(words and binds_nothing(words))
        if not shows_it or any(word.value == "T.Let(" for word in words):
            self.scope.doubtful = span

    def function_around(self, span: Span | None) -> Span | None:
        """The lines from the decorator in front of a stretch to the next one."""
        if span is None:
            return None
        starts = _decorators(self.text)
        number = bisect_right(starts, span[0])
        end = starts[number] if number < len(starts) else len(self.text)
        return (starts[number - 1] if number else 0, end)

    def take_back(self, span: Span) -> None:
        """Remove the diagnostics in a stretch of text, but for those at a place in ``kept``.

        The stretch is still known to contain errors.
        """
        start, end = span
        self.diagnostics[:] = [
            d
            for d in self.diagnostics
            if d.span is None or d.span in self.kept or not start <= d.span[0] <= end
        ]


def _is_under(line: str, column: int) -> bool:
    """Whether a line is indented more than a column, closes a bracket, or says nothing."""
    words = line.lstrip(" \t\f")
    return words[:1] in ("", *"#)]}") or width(line[: -len(words)]) > column


@lru_cache(maxsize=2)
def _lines(text: str) -> tuple[list[Span], list[int]]:
    """The logical lines of a text, and their ends."""
    lines = list(logical_lines(text))
    return lines, [end for _, end in lines]


@lru_cache(maxsize=2)
def _decorators(text: str) -> list[int]:
    """The starts of the lines with decorators; all definitions of a text ask for them."""
    lines, _ = _lines(text)
    return [line_start(text, start) for start, _ in lines if text[start] == "@"]


def shown_span(token: Token) -> Span:
    """The span of a token; for a token without text, the character after it."""
    return (token.start, max(token.end, token.start + 1))


def _any_in(starts: list[int], span: Span) -> bool:
    """Whether one of some sorted offsets lies in a stretch of text."""
    at = bisect_left(starts, span[0])
    return at < len(starts) and starts[at] <= span[1]


Metadata = Mapping[str, Sequence[ast.Literal | None]]


class PartReader(Protocol):
    """Reads parts of the text on demand."""

    def read_info(self, start: int, end: int) -> Entry | None:
        """Parse the annotation that one INFO token covers."""

    def read_quoted(self, text: str) -> Entry | None:
        """Parse the text of a quoted dimension."""

    def unread_info(self, error: Rejected, span: Span) -> ast.StructInfo:
        """Report what is wrong with an annotation; what stands in its place."""


class ReadContext:
    """The state of parsing one text.

    Parameters
    ----------
    text
        The whole source text.
    scope
        The names; statements change it.
    parts
        Parses annotations and quoted dimensions.

    Attributes
    ----------
    around
        The Python code around the current definition, if any.
    metadata
        The constants that the text refers to by number.
    """

    def __init__(self, text: str, scope: Scope, parts: PartReader) -> None:
        self.text = text
        self.scope = scope
        self.reports = Reports(text, scope)
        self.coerce = Coerce(scope, text, parts.read_quoted)
        self.read_info: Callable[[int, int], Entry | None] = parts.read_info
        self.unread_info: Callable[[Rejected, Span], ast.StructInfo] = parts.unread_info
        self.around: PythonAround | None = None
        self.metadata: Metadata = {}

    def info(self, entry: Entry) -> ast.StructInfo:
        """The annotation of a parameter, a result or a variable of Relax; what is none is reported."""
        try:
            return self.coerce.info(entry)
        except Rejected as error:
            error.within = max(error.within, entry.start)
            self.scope.doubtful = entry.span  # dimensions were meant to stand there
            return self.unread_info(error, entry.span)

    def all_of(self, *parts: Callable[[], Any]) -> list[Any]:
        """The values of parts that are independent of each other: a mistake in one hides none in
        another.

        Raises
        ------
        Rejected
            The last of the mistakes; those in front of it are reported.
        """
        found: list[Any] = []
        errors: list[Rejected] = []
        for part in parts:
            try:
                found.append(part())
            except Rejected as error:
                errors.append(error)
        if errors:
            *first, last = sorted(errors, key=lambda error: error.span)
            for each in first:
                self.reports.error(each.message, each.span, each.help)
            last.within = last.span[0]
            raise last
        return found

    def is_around(self, name: str) -> bool:
        """Whether the surrounding Python code binds a name."""
        return self.around is not None and self.around.holds(name)

    def text_of(self, span: Span) -> str:
        """The source in a stretch of the text."""
        return self.text[span[0] : span[1]]

    def misspelt(self, words: list[str], span: Span) -> None:
        """Report a word that is parsed as a similar known one."""
        shown = self.text_of(span)
        self.reports.error(f"unknown word `{shown}`", span, did_you_mean(words, "`"))
