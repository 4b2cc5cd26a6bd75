"""The names that an unreadable statement would have bound; later uses of them are not errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Token, unquote
from rlx.grammar.read.lexer import KEYWORDS, words_of
from rlx.grammar.read.reports import ReadContext
from rlx.grammar.read.source_tokens import statements

_LETTERS = frozenset("RTI")


def lose(context: ReadContext, span: Span) -> None:
    """Bind the names of an unreadable statement to placeholders."""
    scope, reports = context.scope, context.reports
    casts = False
    names: list[str] = []
    for statement in statements(context.text, span):
        for name in _targets(statement) | _glued(statement):
            if name not in scope.modules and name not in _LETTERS:
                scope.bind(name, reports.hole(name, span))
        casts = casts or any(t.type == "HEAD" and "match_" in t.value for t in statement)
        names += _names(context.text, statement)
    if casts:  # a cast would have bound shape variables
        for name in dict.fromkeys(names):
            if name not in scope.names:
                reports.holes.add(scope.shape_var(name, span))


def _targets(statement: list[Token]) -> set[str]:
    """What stands in front of `=` or `:`; of a damaged statement, what can be made of it."""
    words: list[str] = []
    for token in statement:
        match token.type:
            case "NAME" | "DOTTED":
                words += token.value.split(".")
            case "TARGET":
                words.append(token.value)
                return {*words, "".join(words)}
            case "COLON" | "EQUAL":
                return {*words, "".join(words)} - {""}
            case "HEAD" | "LPAR" | "INFO":
                break
            case word if token is statement[0] and word in KEYWORDS.values():
                break
    # `y R.exp(x)`: the sign between them is missing, or another stands there
    first, *rest = statement
    return {first.value} if first.type == "NAME" and rest else set()


def _glued(statement: list[Token]) -> set[str]:
    """What stands in front of a `:` or `=` further on, where the end of a line is missing."""
    pairs = pairwise(statement)
    names = {a.value for a, b in pairs if a.type == "NAME" and b.type == "COLON"}
    return names | {t.value for t in statement[1:] if t.type == "TARGET"}


def _names(text: str, tokens: Iterable[Token]) -> Iterator[str]:
    """The names in tokens, quoted ones and those inside of annotations included."""
    for token in tokens:
        match token.type:
            case "NAME":
                yield token.value
            case "STRING":
                word = unquote(token.value)
                if word.isidentifier():
                    yield word
            case "INFO":
                yield from _names(text, words_of(text, token.span))
