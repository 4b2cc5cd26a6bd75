"""The layout of a text, or of the functions in a part of it."""

from __future__ import annotations

from rlx.grammar.diagnostic import Edit
from rlx.grammar.dialects import DEFAULT, DIALECTS
from rlx.grammar.print.formatting import format_text
from rlx.lsp.cut import cut
from rlx.lsp.document import Document
from rlx.lsp.excerpt import excerpt


def _formatted(document: Document, text: str) -> str | None:
    target = document.target or DEFAULT
    printed = target if target in DIALECTS else DEFAULT
    return format_text(text, document.source.path, printed).text


def whole(document: Document) -> list[Edit]:
    """The edit that formats a text; none if nothing changes, or it cannot be formatted."""
    text = document.source.text
    made = _formatted(document, text)
    return [] if made is None or made == text else [Edit((0, len(text)), made)]


def in_range(document: Document, first: int, last: int) -> list[Edit]:
    """The edits that format the functions between two offsets, and nothing else."""
    at = document.names.cut
    wanted = [
        n for n, piece in enumerate(at.pieces) if piece.span[0] <= last and first < piece.span[1]
    ]
    if not wanted:
        return []
    part = excerpt(at, wanted, ())
    made = _formatted(document, part.text)
    if made is None:
        return []
    laid = cut(made)
    there = [n for n, piece in enumerate(part.cut.pieces) if part.cut.of(n).strip()]
    if [laid.pieces[k].name for k in range(len(laid.pieces))] != [at.pieces[n].name for n in there]:
        return []
    found = []
    for place, number in enumerate(there):
        text = laid.of(place)
        if number in wanted and text.rstrip() != at.of(number).rstrip():
            start, _ = at.pieces[number].span
            end = start + len(at.of(number).rstrip())
            found.append(Edit((start, end), text.rstrip()))
    return found
