"""Conversion between offsets in a text and the protocol's positions: lines and UTF-16 units, from
0.
"""

from __future__ import annotations

from rlx.grammar.diagnostic import Source
from rlx.grammar.lines import line_end
from rlx.grammar.nodes.node import Span

Position = tuple[int, int]
Range = tuple[Position, Position]


def position(source: Source, offset: int) -> Position:
    """The position of an offset."""
    line, column = source.position(min(offset, len(source.text)))
    start = source.line_starts[line - 1]
    return line - 1, units(source.text[start : start + column - 1])


def offset(source: Source, at: Position) -> int:
    """The offset of a position; behind the end of a line, that end."""
    line, units = at
    starts = source.line_starts
    if line >= len(starts):
        return len(source.text)
    start = starts[line]
    text = source.text[start : line_end(source.text, start)]
    if text.isascii():
        return start + min(units, len(text))
    for at_character, character in enumerate(text):
        if units <= 0:
            return start + at_character
        units -= 2 if ord(character) > 0xFFFF else 1
    return start + len(text)


def range_of(source: Source, span: Span) -> Range:
    """The range of a span."""
    return position(source, span[0]), position(source, max(span))


def units(text: str) -> int:
    """The length of a text as the protocol counts it: in units of UTF-16."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
