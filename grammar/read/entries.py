"""Values of the parser with their locations, tokens, and rejections."""

from __future__ import annotations

import re
from typing import Any, ClassVar, NamedTuple

from rlx.grammar.nodes.node import Span


class Entry(NamedTuple):
    """A parsed value, with the start and end offsets of its text."""

    value: Any
    start: int
    end: int

    @property
    def span(self) -> Span:
        return (self.start, self.end)


class Token(Entry):
    """A token of the text; its value is its spelling.

    Each terminal of the grammar has a subclass.
    """

    __slots__ = ()
    type: ClassVar[str] = ""


END = "$END"
"""The terminal for the end of the text."""


class _Terminals(dict[str, type[Token]]):
    def __missing__(self, name: str) -> type[Token]:
        made = self[name] = type(name, (Token,), {"__slots__": (), "type": name})
        return made


TERMINALS: dict[str, type[Token]] = _Terminals()
"""The token class of each terminal, by its name in `relax.lark`."""


def token(terminal: str, value: str, start: int, end: int) -> Token:
    return TERMINALS[terminal](value, start, end)


_ESCAPE = re.compile(
    r"\\(?:([\\'\"abfnrtv\n])|([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))"
)
_SIMPLE = dict(zip("\\'\"abfnrtv\n", "\\'\"\a\b\f\n\r\t\v", strict=False)) | {"\n": ""}
_BYTES = re.compile(r"(?:\\x[89a-fA-F][0-9a-fA-F])+")


def unquote(text: str) -> str:
    """The value of a string literal; `\\x` escapes that spell UTF-8 bytes become characters."""
    prefix = text[: len(text) - len(text.lstrip("rRbBuUfF"))].lower()
    body = text[len(prefix) :]
    body = body[3:-3] if body[:3] in ('"""', "'''") else body[1:-1]
    if "r" in prefix or "\\" not in body:
        return body
    body = _BYTES.sub(_decode_bytes, body)
    return _ESCAPE.sub(_unescape, body)


def _decode_bytes(match: re.Match[str]) -> str:
    try:
        return bytes.fromhex(match[0].replace("\\x", "")).decode("utf-8")
    except UnicodeDecodeError:
        return match[0]


def _unescape(match: re.Match[str]) -> str:
    simple, octal, *hexadecimal = match.groups()
    if simple is not None:
        return _SIMPLE[simple]
    if octal is not None:
        return chr(int(octal, 8))
    code = int(next(h for h in hexadecimal if h is not None), 16)
    return chr(code) if code < 0x110000 else "\ufffd"


class Rejected(Exception):
    """An action cannot interpret a syntactically correct text: what was expected, and where.

    Inside a PrimFunc the text may be ``kept`` if some version of TVM may accept it. In a Python
    file the surrounding code may give it a meaning, unless it is ``certain`` that it does not, or
    even ``settled``, whatever Python computes in the rest of the statement. An error that may
    follow from an earlier ``layout`` error is not reported again. What stands in its line before
    ``within``, the start of an annotation, has nothing to do with it.
    """

    def __init__(
        self,
        message: str,
        start: int,
        end: int,
        help: str | None = None,
        certain: bool = False,
        layout: bool = False,
        kept: bool = False,
        settled: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.span = (start, end)
        self.help = help
        self.certain = certain or settled
        self.settled = settled
        self.layout = layout
        self.kept = kept
        self.within = 0
