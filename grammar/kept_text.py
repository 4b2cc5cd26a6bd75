"""The names in text that is kept as it stands. Strings and comments have none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from rlx.grammar.lexer import Lexer
from rlx.grammar.node import Span

_LAMBDA = re.compile(r"\blambda\b")


class KeptName(NamedTuple):
    """A name in a text.

    Attributes
    ----------
    name
        With all that is behind dots: ``T.axis.spatial``.
    span
        Where it stands.
    after
        How the token behind it begins; empty at the end.
    """

    name: str
    span: Span
    after: str


def kept_names(text: str, start: int = 0, end: int | None = None) -> Iterator[KeptName]:
    """The names in a part of a text, in order; attributes of what is no name are none."""
    stop = len(text) if end is None else end
    text = _LAMBDA.sub("      ", text)  # the lexer reads one with its body as a single token
    yield from _names(text, start, stop)


def _names(text: str, start: int, end: int) -> Iterator[KeptName]:
    lexer = Lexer(text, start, end, _ignored, layout=False)
    before = ""
    for found, behind in pairwise(lexer):
        kind, at = found.type, found.start
        if kind in ("NAME", "DOTTED") and before != "DOT":
            yield KeptName(found.value, found.span, behind.value[:1])
        elif kind == "TARGET" and before != "DOT":
            yield KeptName(found.value, (at, at + len(found.value)), "=")
        elif kind in ("HEAD", "INFO", "OPAQUE"):
            name, bracket, _ = text[at : found.end].partition("(")
            if before != "DOT":
                yield KeptName(name, (at, at + len(name)), bracket)
            if kind != "HEAD":  # one token for the lexer, with names inside
                yield from _names(text, at + len(name + bracket), found.end)
        before = kind


def _ignored(message: str, start: int, end: int) -> None:
    """Characters that are no token have no names in them."""
