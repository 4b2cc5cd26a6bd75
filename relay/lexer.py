"""The lexer of Relay texts, which reports invalid tokens and unbalanced brackets."""

from __future__ import annotations

import re
from typing import NamedTuple

from rlx.grammar.diagnostic import Diagnostic, Label
from rlx.grammar.nodes.node import Span

METADATA = re.compile(r"#\[metadata\]|METADATA:(?=\s*\{)")
"""The line in front of the metadata; the second form is that of Relay's first versions."""

_TOKEN = re.compile(
    r"""
    [ \t\r\f\v]*(?:
    (?P<MARK>[(){}\[\],;])
  | (?P<GRAPH>%\d+)
  | (?P<LINES>\n\s*|//[^\n]*|\Z)
  | (?P<COMMENT>/\*)
  | (?P<HEADER>\#\[[^\]\n]*\]|v0\.0\.\d+\b|METADATA:(?=\s*\{))
  | (?P<LOCAL>%[A-Za-z_][\w]*(?:(?:::|\.)\w+|[-/][A-Za-z_]\w*)*)
  | (?P<GLOBAL>@[A-Za-z_]\w*(?:[.-]\w+)*)
  | (?P<FIELD>\.\d+)
  | (?P<NUMBER>(?:\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+)(?:(?:bf|f|i|u)\d*)?(?![\w.]))
  | (?P<WORD>\d\w*(?![\w.]))
  | (?P<STRING>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<NAME>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)
  | (?P<SYMBOL>->|=>|==|!=|<=|>=|:=|[:=<>+\-*/?!^&|])
    )""",
    re.VERBOSE,
)
_BAD = re.compile(r"""["'][^\n]*|[\w.]+|.""", re.DOTALL)
"""Text that is skipped where there is no token: the rest of a line with a string, a word, a
character.
"""
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_CLOSES = {")": "(", "}": "{", "]": "["}
MAX_ERRORS = 100
"""After so many errors the rest of a text is not read."""


class RelayToken(NamedTuple):
    """A token: its kind (``LOCAL``, ``NUMBER``, …, or its own text for punctuation), where it
    stands, and whether a line begins between it and the token before.
    """

    kind: str
    text: str
    start: int
    end: int
    fresh_line: bool

    @property
    def span(self) -> Span:
        """The place of the token."""
        return self.start, self.end

    @property
    def nesting(self) -> int:
        """1 for a bracket that opens, -1 for one that closes, 0 for another token."""
        return (self.kind in ("(", "[", "{")) - (self.kind in _CLOSES)


class Lexed(NamedTuple):
    """The tokens of a text, its metadata as text, and what is wrong.

    Attributes
    ----------
    types
        What stands behind ``ty=`` in a comment, by the end of the token in front of it.
    """

    tokens: list[RelayToken]
    metadata: str
    diagnostics: list[Diagnostic]
    types: dict[int, str]


def lex(text: str) -> Lexed:
    """The tokens of a text; the last one has the kind ``END``."""
    tokens: list[RelayToken] = []
    found: list[Diagnostic] = []
    types: dict[int, str] = {}
    at, fresh = 0, True
    while at < len(text) and len(found) < MAX_ERRORS:
        at, fresh = _stretch(text, at, tokens, fresh)
        if METADATA.match(text, at):
            break
        if text.startswith("/*", at):
            start, at = at, _comment_end(text, at, found)
            fresh = fresh or "\n" in text[start:at]
            if text.startswith("/* ty=", start) and tokens:
                types[tokens[-1].end] = text[start + 6 : at - 2]
        elif at < len(text):
            found.append(_no_token(text, at))
            at = _behind_bad(text, at)
    end = min(at, len(text))
    section = METADATA.match(text, end)
    metadata = text[section.end() :] if section else ""
    tokens.append(RelayToken("END", "", end, end, True))
    if not found:
        _match_brackets(tokens, found)
    return Lexed(tokens, metadata, found, types)


def _stretch(text: str, at: int, tokens: list[RelayToken], fresh: bool) -> tuple[int, bool]:
    """Add the tokens from a place on to the next comment, the metadata, what is no token, or the
    end; where that is, and whether a line begins there.
    """
    make, add = tuple.__new__, tokens.append
    for found in _TOKEN.finditer(text, at):
        kind = found.lastgroup or ""
        start, end = found.span(kind)
        if found.start() != at:
            break
        match kind:
            case "MARK" | "SYMBOL":
                add(make(RelayToken, (found[kind], found[kind], start, end, fresh)))
                fresh = False
            case "LINES":
                fresh = True
            case "COMMENT":
                return start, fresh
            case "HEADER":
                if METADATA.match(text, start):
                    return start, fresh
            case _:
                add(make(RelayToken, (kind, found[kind], start, end, fresh)))
                fresh = False
        at = end
    return _spaces_end(text, at), fresh


def _spaces_end(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\f\v":
        at += 1
    return at


def _no_token(text: str, at: int) -> Diagnostic:
    character = text[at]
    if character in "\"'":
        return Diagnostic("PARSE", "error", "the string is not closed on its line", (at, at + 1))
    if character in "%@":
        words = f"expected a name after '{character}'"
        return Diagnostic("PARSE", "error", words, (at, at + 1))
    bad = text[at : _behind_bad(text, at)]
    words = "not a number, name or symbol of Relay"
    return Diagnostic("PARSE", "error", f"{bad[:40]!r} is {words}", (at, at + len(bad)))


def _behind_bad(text: str, at: int) -> int:
    """The place where reading goes on behind unreadable text."""
    return next(_BAD.finditer(text, at)).end()


def _comment_end(text: str, start: int, found: list[Diagnostic]) -> int:
    """The end of a comment, which may hold others."""
    depth, at = 1, start + 2
    while depth:
        edge = _COMMENT_EDGE.search(text, at)
        if edge is None:
            found.append(
                Diagnostic("PARSE", "error", "the comment is not closed", (start, start + 2))
            )
            return len(text)
        depth += 1 if edge[0] == "/*" else -1
        at = edge.end()
    return at


def _match_brackets(tokens: list[RelayToken], found: list[Diagnostic]) -> None:
    """Report brackets without a partner; a definition at the start of a line closes all."""
    open_: list[RelayToken] = []
    for token in tokens:
        if token.kind in ("(", "[", "{"):
            open_.append(token)
        elif token.kind in _CLOSES:
            if open_ and open_[-1].kind == _CLOSES[token.kind]:
                open_.pop()
                continue
            found.append(_stray(token, open_))
            return
        elif token.text == "def" and token.fresh_line and open_:
            break
    if open_:
        last = open_[-1]
        words = f"'{last.text}' is never closed"
        found.append(Diagnostic("PARSE", "error", words, last.span))


def _stray(token: RelayToken, open_: list[RelayToken]) -> Diagnostic:
    span = token.span
    if not open_:
        words = f"'{token.text}' has no matching opening bracket"
        return Diagnostic("PARSE", "error", words, span)
    last = open_[-1]
    words = f"'{token.text}' does not close '{last.text}'"
    related = (Label(last.span, "opened here"),)
    return Diagnostic("PARSE", "error", words, span, related=related)
