"""The names in uninterpreted text, outside strings and comments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise
from typing import NamedTuple

from rlx.grammar.nodes.node import Span
from rlx.grammar.read.source_tokens import parts_of


class KeptName(NamedTuple):
    """A name in a text.

    Attributes
    ----------
    name
        The name with its dotted suffix: ``T.axis.spatial``.
    span
        Its location.
    after
        The token after it; empty at the end.
    """

    name: str
    span: Span
    after: str


def kept_names(text: str, start: int = 0, end: int | None = None) -> Iterator[KeptName]:
    """The names in a part of a text, in order; attributes of expressions that are not names are not
    included.
    """
    before = ""
    tokens = parts_of(text, (start, len(text) if end is None else end))
    for found, behind in pairwise(chain(tokens, [None])):
        assert found is not None
        kind, at, value = found.type, found.start, found.value
        follows = "" if behind is None else behind.value
        if before == "DOT" or value == "lambda":
            pass
        elif kind == "NAME" or kind == "DOTTED":
            yield KeptName(value, found.span, follows)
        elif kind == "TARGET":
            yield KeptName(value, (at, at + len(value)), "=")
        elif kind == "HEAD":
            yield KeptName(value[:-1], (at, found.end - 1), "(")
        before = kind
