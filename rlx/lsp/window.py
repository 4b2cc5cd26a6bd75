"""The part of a long text around a request of an editor, as a text of its own."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.nodes.node import Record, Span
from rlx.lsp.body import ReducedBody
from rlx.lsp.cut import Cut
from rlx.lsp.document import Document
from rlx.lsp.excerpt import Excerpt, Move, excerpt
from rlx.lsp.incremental import Derived


class Window(Record):
    """A part of a text that answers as the whole text does.

    Attributes
    ----------
    key
        What it shows: windows of one text with the same key are equal.
    document
        What is known there, with lines at their places if no statement is left out.
    part
        Where its functions stand in the whole text; None if it is the whole text.
    """

    key: frozenset[object]
    document: Document
    part: Excerpt | None

    def into(self, offset: int) -> int:
        """An offset of the whole text in the document."""
        if self.part is None:
            return offset
        part = self.part
        for number, body in part.bodies.items():
            start, end = part.whole.pieces[number].span
            if start <= offset < end:
                return part.cut.pieces[number].span[0] + body.inside(offset - start)
        return _moved(part, part.whole, part.cut, (offset, offset))[0]

    def back(self, span: Span) -> Span:
        """A place in the document in the whole text."""
        if self.part is None:
            return span
        return _moved(self.part, self.part.cut, self.part.whole, span)


def _moved(part: Excerpt, before: Cut, now: Cut, span: Span) -> Span:
    bodies = part.bodies if before is part.cut else {}
    found = Move(before, now, {n: n for n in range(len(now.pieces))}, (), bodies).span(span)
    assert found is not None
    return found


def window(
    cut: Cut | None,
    whole: Document,
    start: int,
    end: int,
    bodies: Mapping[int, Derived] = {},
) -> Window:
    """The functions of a text between two offsets; all of it if no function is there.

    Parameters
    ----------
    cut
        Where the functions are; None for a text that is not cut.
    bodies
        What is known of the statements of functions: those of a long one that are not asked about
        are left out.
    """
    pieces = () if cut is None or cut.text != whole.source.text else cut.pieces
    key = frozenset(
        n for n, piece in enumerate(pieces) if piece.span[0] <= end and start < piece.span[1]
    )
    if cut is None or not key:
        return Window(frozenset([-1]), whole, None)
    reduced: dict[int, ReducedBody] = {}
    for number in key:
        known = bodies[number].body if number in bodies else None
        if known is not None:
            head = cut.pieces[number].span[0] + len(cut.pieces[number].head)
            text = cut.text[head : cut.pieces[number].span[1]]
            shown = max(0, start - head), max(0, end - head)
            piece = cut.pieces[number]
            place = start - piece.span[0], end - piece.span[0]
            made = ReducedBody(known, text, (piece.head, piece.at), [place], shown=shown)
            if not made.failed:
                reduced[number] = made
    part = excerpt(cut, key, (), lines=not reduced, bodies=reduced)
    document = Document(part.text, whole.source.path, target=whole.target)
    at = {(n, *sorted(each.wanted)) for n, each in reduced.items()}
    return Window(key | at, document, part)
