"""Tokens of a stretch of text, for those who change it: no word in a string or comment is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from rlx.grammar.entries import Token
from rlx.grammar.lexer import OPENING, Lexer
from rlx.grammar.node import Span

_NAMED = frozenset(["NAME", "DOTTED", "HEAD", "INFO", "TARGET"])
_LAYOUT = frozenset(["_NEWLINE", "_INDENT", "_DEDENT", "$END"])


def statements(text: str, span: Span) -> Iterator[list[Token]]:
    """The tokens of a stretch of text, statement by statement."""
    found: list[Token] = []
    for token in Lexer(text, *span, _ignore):
        if token.type not in _LAYOUT:
            found.append(token)
        elif found:
            yield found
            found = []


def words_of(text: str, span: Span) -> Iterator[Token]:
    """The tokens of an annotation, word by word."""
    lexer = Lexer(text, *span, _ignore, layout=False)
    lexer.whole_info = False
    return (token for token in lexer if token.type not in _LAYOUT)


def names_in(text: str, span: Span) -> Iterator[str]:
    """The names in a stretch of text, dotted ones whole."""
    for found in words_of(text, span):
        if found.type in _NAMED:
            yield found.value.partition("(")[0].rstrip(" \t=")


@lru_cache(maxsize=2)
def long_strings(text: str) -> tuple[Span, ...]:
    """The strings of a text that span several lines: what they hold is no line of the program."""
    if '"""' not in text and "'''" not in text and "\\\n" not in text:
        return ()
    tokens = words_of(text, (0, len(text)))
    return tuple(t.span for t in tokens if t.type == "STRING" and "\n" in t.value)


def closing(tokens: Sequence[Token], at: int) -> int | None:
    """Where among tokens the bracket ends that one of them opens; None where it stays open."""
    depth = 0
    for place in range(at, len(tokens)):
        depth += OPENING.get(tokens[place].type, 0)
        if depth == 0:
            return place
    return None


def _ignore(message: str, start: int, end: int) -> None:
    """What can't be a token is said when the text is read."""
