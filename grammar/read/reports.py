"""The diagnostics of a text, one for each mistake, and the shared state of the actions."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from rlx.grammar.diagnostic import Diagnostic, Label
from rlx.grammar.lines import line_end, line_start
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.coerce import Coerce
from rlx.grammar.read.entries import END, Entry, Token
from rlx.grammar.read.lexer import (
    CONTINUED,
    HEADS,
    LAYOUT,
    OPENING,
    PUNCTUATION,
    is_decorator,
    words_of,
    words_of_line,
)
from rlx.grammar.read.outline import logical_lines
from rlx.grammar.read.scope import Scope
from rlx.grammar.read.source_tokens import end_of_target, long_strings
from rlx.grammar.suggest import did_you_mean

if TYPE_CHECKING:
    from rlx.grammar.read.surroundings import PythonAround


_LAYOUT = {
    "_NEWLINE": "the end of the line",
    "_INDENT": "an indented block",
    "_DEDENT": "the end of the block",
    END: "the end of the text",
}
_SPELLED = {name: f"'{spelling}'" for spelling, name in PUNCTUATION.items()}
_WORDS = {
    **_LAYOUT,
    **_SPELLED,
    "ARROW": "'->'",
    "DEF": "a function definition",
    "STRING": "a string",
}
_EXPRESSION = {"NAME", "HEAD", "INT"}
_OPERATOR = {"OP", "SIGN"}
_HIDDEN = {
    *("DOTTED", "FLOAT", "INFO", "INTS", "OPAQUE", "STRING", "TARGET", "AUGMENTED"),
    *("NOT", "TILDE", "LBRACE", "OP", "SIGN", "AT", "DOT", "NAME", "HEAD", "INT"),
}
_STATEMENT = {"RETURN", "PASS", "IF", "WITH"}


def explain_unexpected(token: Token, expected: frozenset[str]) -> tuple[str, str | None]:
    """A sentence for an unexpected token, and a hint if there is a clear one."""
    if token.type == "DEF" and expected >= _STATEMENT:
        name = token.value.split()[-1]
        return (
            f"the function {name!r} has no decorator",
            "write @R.function or @T.prim_func above it",
        )
    found = _found(token)
    wanted = _wanted(expected)
    message = f"expected {wanted}, found {found}" if wanted else f"unexpected {found}"
    return message, _hint(token, expected)


_STATEMENTS = re.compile(
    r"\s*(async|del|except|finally|from|global|import|match|nonlocal|raise|try|yield)\b(?!\s*[=.(\[,])"
)


def python_statement(text: str, at: int) -> tuple[str, Span] | None:
    """What is said of a statement of Python that TVM does not read, and the place of its word; None
    for any other.
    """
    found = _STATEMENTS.match(text, line_start(text, at), at)
    return found and (f"TVM does not read `{found[1]}` statements", found.span(1))


def _found(token: Token) -> str:
    if token.type in _LAYOUT:
        return _LAYOUT[token.type]
    value = f"{token.value} =" if token.type == "TARGET" else token.value
    shown = value if len(value) <= 40 else value[:37] + "…"
    return f"'{shown}'"


def _wanted(expected: frozenset[str]) -> str:
    if expected >= _STATEMENT:
        return "a statement"
    words: list[str] = []
    if expected >= _EXPRESSION:
        words.append("an expression")
    elif "NAME" in expected:
        words.append("a name")
    rest = expected - _HIDDEN
    if "_NEWLINE" in rest and len(rest) > 1 and not words:
        rest &= {"_NEWLINE", "RPAR", "RSQB", "COMMA", "EQUAL", "COLON"}
    brackets = rest & {"LPAR", "LSQB"}
    words += sorted((_word(name) for name in rest - brackets), key=_by_spelling)
    if not words and expected >= _OPERATOR:
        words.append("an operator")
    if not words:
        words += sorted(map(_word, brackets))
    if len(words) > 5:
        words = [*words[:4], "…"]
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _word(terminal: str) -> str:
    return _WORDS.get(terminal, f"'{terminal.lower()}'")


def _by_spelling(word: str) -> tuple[bool, str]:
    """Spellings first, then what is described."""
    return not word.startswith("'"), word


def _hint(token: Token, expected: frozenset[str]) -> str | None:
    kind = token.type
    if kind in ("_NEWLINE", "_INDENT") and "RPAR" in expected:
        return "a bracket is not closed"
    if kind == "_NEWLINE" and "COLON" in expected and "_NEWLINE" not in expected:
        return "end the line with ':' to start a block"
    if kind == "IF":
        return "Relax has no conditional expression: write an `if` statement with two branches"
    if kind == "FOR":
        return "Relax has no comprehension: write the values one by one"
    if kind == "EQUAL" and "_NEWLINE" in expected:
        return "write == to compare"
    return None


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
        first = self._statement(start)
        return self._line(at) > first and all(
            self._width(line) > self._width(first) or self._letter(line) in (")", "]", "}")
            for line in self._lines(first, at)
        )

    def _lines(self, first: int, at: int) -> Iterator[int]:
        """Where the lines behind the first one begin, up to that of a place; blank ones, and those
        that hold a comment alone, are none.
        """
        last = self._line(at)
        line = self.text.find("\n", first, at) + 1
        while line:
            if (self._letter(line) not in ("", "\n", "#") or line == last) and self._line(
                line
            ) == line:
                yield line
            line = self.text.find("\n", line, at) + 1

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


MAX_ERRORS = 200
"""The maximum number of syntax errors that are reported in a function."""

NOT_UNDERSTOOD = "rlx does not understand this part of a PrimFunc; it is kept as text"

_FOLLOWS = ("expected a statement, found", "an if of Relax needs an else")
"""The message for a statement whose head or adjacent statement could not be read."""


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
        self._cascade: Cascade | None = None
        self._numbers: dict[Span | None, int] = {}

    def lexical_error(self, message: str, start: int, end: int) -> None:
        """Report text that is not a token."""
        layout = message in LAYOUT
        if layout or not self.has_errors_in_line(start):
            self.error(message, (start, end), layout=layout)
            line = words_of_line(self.text, line_start(self.text, start))
            sign = None if layout else end_of_target(self.text, line)
            if sign is None or sign > start:
                self.scope.missing += 1
                self.scope.doubtful = (start, end)

    def error(
        self,
        message: str,
        span: Span | None,
        help: str | None = None,
        related: Span | None = None,
        layout: bool = False,
    ) -> None:
        """Report a syntax error; a layout error only if it does not follow from an earlier one."""
        labels = () if related is None else (Label(related, "first defined here"),)
        if self._cascade is None:
            self._cascade = Cascade(self.text)
        follows = span is not None and (
            self._cascade.continues_a_statement(span[0])
            or (layout and self._cascade.follows(span[0]))
        )
        if not follows:
            self._add(Diagnostic("PARSE", "error", message, span, related=labels, help=help))
        if span is not None:
            self._cascade.note(span[0], layout)
            if layout:
                self.scope.excuse_dataflow()
            insort(self._starts, span[0])

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

    def has_errors_in_line(self, at: int) -> bool:
        """Whether an error was already reported in this line before an offset: one mistake gives
        one error.
        """
        return self.has_errors_in((line_start(self.text, at), at))

    def not_understood(self, token: Token, expected: frozenset[str]) -> None:
        """Report an unexpected token in a PrimFunc, whose statement is kept as text."""
        self._unexpected.append((token, expected))
        self.note(NOT_UNDERSTOOD, shown_span(token))

    def refuse_what_is_no_python(self, span: Span) -> None:
        """Report a function that is not valid Python."""
        if not _any_in(self._note_starts, span) or self.has_errors_in(span):
            return
        from rlx.grammar.read.python_syntax import python_refuses, unread_statement

        refused = python_refuses(self.text, span)
        if refused is not None and refused[0].endswith("Python: invalid syntax"):
            line = line_start(self.text, refused[1][0])
            end = line_end(self.text, line)
            for token, expected in self._unexpected:
                if line <= token.start <= end:  # what was expected there says more than Python
                    message, help = explain_unexpected(token, expected)
                    self._not_kept(span, message, shown_span(token), help)
                    return
        found = refused or unread_statement(self.text, span)
        if found is not None:
            self._not_kept(span, *found)

    def _not_kept(self, function: Span, message: str, span: Span, help: str | None = None) -> None:
        """Report an error in a function instead of the note that its text is kept."""
        start, end = function
        self.diagnostics[:] = [
            d
            for d in self.diagnostics
            if d.code != "PARSE-opaque" or d.span is None or not start <= d.span[0] <= end
        ]
        self.error(message, span, help)

    def drop_what_follows(self) -> None:
        """In a function that is not valid Python, keep one error for an unclosed bracket, and only
        those errors of other statements that no other error explains.
        """
        wrong = [d for d in self.diagnostics if d.is_error and d.span is not None]
        if len(wrong) < 2:
            return
        groups: dict[Span, list[Diagnostic]] = {}
        for found in sorted(wrong, key=lambda d: d.span or (0, 0)):
            groups.setdefault(self.function_around(found.span) or (0, 0), []).append(found)
        for stretch, errors in groups.items():
            for found in self._following(stretch, errors) if len(errors) > 1 else ():
                self.diagnostics.remove(found)

    def _following(self, stretch: Span, errors: list[Diagnostic]) -> list[Diagnostic]:
        """Those of the errors in a function that follow from others."""
        from rlx.grammar.read.python_syntax import python_refuses

        refused = python_refuses(self.text, stretch)
        if refused is None:
            return []
        if "was never closed" in refused[0]:  # nothing behind the bracket can be told apart
            return errors[1:]
        follow = [d for d in errors if d.message.startswith(_FOLLOWS)]
        return follow if len(follow) < len(errors) else errors[1:]

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


@lru_cache(maxsize=2)
def _decorators(text: str) -> list[int]:
    """The starts of the lines with decorators; all definitions of a text ask for them."""
    lines = logical_lines(text)
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
        self.around: PythonAround | None = None
        self.metadata: Metadata = {}

    def text_of(self, span: Span) -> str:
        """The source in a stretch of the text."""
        return self.text[span[0] : span[1]]

    def misspelt(self, words: list[str], span: Span) -> None:
        """Report a word that is parsed as a similar known one."""
        shown = self.text_of(span)
        self.reports.error(f"unknown word `{shown}`", span, did_you_mean(words, "`"))
