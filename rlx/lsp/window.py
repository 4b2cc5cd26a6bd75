"""The part of a long text around a request of an editor, as a text of its own."""

from __future__ import annotations

from rlx.grammar.nodes.node import Record, Span
from rlx.lsp.cut import Cut
from rlx.lsp.document import Document
from rlx.lsp.excerpt import Excerpt, Move, excerpt


class Window(Record):
    """A part of a text that answers as the whole text does.

    Attributes
    ----------
    key
        What it shows: windows of one text with the same key are equal.
    document
        What is known there, with lines at their places.
    part
        Where its functions stand in the whole text; None if it is the whole text.
    """

    key: frozenset[int]
    document: Document
    part: Excerpt | None

    def into(self, offset: int) -> int:
        """An offset of the whole text in the document."""
        if self.part is None:
            return offset
        return _moved(self.part.whole, self.part.cut, (offset, offset))[0]

    def back(self, span: Span) -> Span:
        """A place in the document in the whole text."""
        return span if self.part is None else _moved(self.part.cut, self.part.whole, span)


def _moved(before: Cut, now: Cut, span: Span) -> Span:
    found = Move(before, now, {n: n for n in range(len(now.pieces))}).span(span)
    assert found is not None
    return found


def window(cut: Cut | None, whole: Document, start: int, end: int) -> Window:
    """The functions of a text between two offsets; all of it if no function is there. `cut`: where
    the functions are; None for a text that is not cut.
    """
    pieces = () if cut is None or cut.text != whole.source.text else cut.pieces
    key = frozenset(
        n for n, piece in enumerate(pieces) if piece.span[0] <= end and start < piece.span[1]
    )
    if cut is None or not key:
        return Window(frozenset([-1]), whole, None)
    part = excerpt(cut, key, (), lines=True)
    document = Document(part.text, whole.source.path, target=whole.target)
    return Window(key, document, part)
