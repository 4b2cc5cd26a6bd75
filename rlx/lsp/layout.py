"""The layout of a text, or of the functions in a part of it."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.grammar.diagnostic import Edit
from rlx.grammar.dialects import DEFAULT, DIALECTS
from rlx.grammar.nodes.node import Span
from rlx.grammar.print.formatting import format_text
from rlx.lsp.body import ReducedBody
from rlx.lsp.cut import Cut, cut
from rlx.lsp.document import Document
from rlx.lsp.excerpt import excerpt, mentioned, names_of
from rlx.lsp.incremental import Derived
from rlx.lsp.statements import split

FEW = 20
"""After an edit of so many functions, only these are formatted."""

_MOST = 20_000


def _formatted(document: Document, text: str) -> str | None:
    target = document.target or DEFAULT
    printed = target if target in DIALECTS else DEFAULT
    return format_text(text, document.source.path, printed).text


def whole(document: Document) -> list[Edit]:
    """The edit that formats a text; none if nothing changes, or it cannot be formatted."""
    text = document.source.text
    made = _from_known(document)
    if made is None:
        made = _formatted(document, text)
        if made is not None:
            _remember(document, made)
    return [] if made is None or made == text else [Edit((0, len(text)), made)]


_laid: set[tuple[object, ...]] = set()
"""Functions of texts that were laid out: each with what its layout depends on."""


def _keys(document: Document, at: Cut) -> list[tuple[object, ...]]:
    """All that the layout of each function depends on: its text, the text around functions, the heads of those it names."""
    around = "\0".join(map(at.gap, range(len(at.pieces) + 1)))
    names = names_of(at)
    return [
        (
            *(document.source.path, document.target, around, at.of(number)),
            *(at.pieces[n].head for n in sorted(mentioned(at, number, names))),
        )
        for number in range(len(at.pieces))
    ]


def _remember(document: Document, made: str) -> None:
    """Keep the functions of a text that is laid out."""
    if len(_laid) > _MOST:
        _laid.clear()
    _laid.update(_keys(document, cut(made)))


def _from_known(document: Document) -> str | None:
    """The layout of a text of which most functions are known to be laid out; None if they are not."""
    at = document.names.cut
    new = [n for n, key in enumerate(_keys(document, at)) if key not in _laid]
    if len(new) > FEW or 2 * len(new) > len(at.pieces):
        return None
    laid = _functions(document, at, new)
    if laid is None:
        return None
    text = at.text
    for number in reversed(new):
        start, end = at.pieces[number].span
        if at.of(number).removesuffix("\n") != at.of(number).rstrip():
            return None
        text = f"{text[:start]}{laid[number]}\n{text[end:]}"
    return text


def in_range(
    document: Document, first: int, last: int, bodies: Mapping[int, Derived] = {}
) -> list[Edit]:
    """The edits that format what stands between two offsets: the statements of long functions, all
    of short ones, and nothing else.

    Parameters
    ----------
    bodies
        What is known of the statements of long functions.
    """
    at = document.names.cut
    found: list[Edit] = []
    wanted = []
    for number, piece in enumerate(at.pieces):
        start, end = piece.span
        if start <= last and first < end:
            place = max(first, start) - start, min(last, end) - start
            edits = _statements(document, at, number, place, bodies)
            if edits is None:
                wanted.append(number)
            found += edits or ()
    for number, text in (_functions(document, at, wanted) or {}).items():
        if text != at.of(number).rstrip():
            start, _ = at.pieces[number].span
            found.append(Edit((start, start + len(at.of(number).rstrip())), text))
    return found


def _statements(
    document: Document, at: Cut, number: int, place: Span, bodies: Mapping[int, Derived]
) -> list[Edit] | None:
    """The edits that format the statements of a long function at a place in it; None where only
    a layout of the function tells.
    """
    piece = at.pieces[number]
    head = len(piece.head)
    known = bodies[number].body if number in bodies else None
    if known is None or place[0] < head:
        return None
    shown = place[0] - head, place[1] - head
    body = ReducedBody(known, at.of(number)[head:], (piece.head, piece.at), shown=shown)
    if body.failed:
        return None
    part = excerpt(at, [number], (), bodies={number: body})
    laid = _formatted(document, part.text)
    if laid is None:
        return None
    made = [p for p in cut(laid).pieces if p.name == piece.name]
    if len(made) != 1:
        return None
    written = laid[made[0].span[0] + len(made[0].head) : made[0].span[1]]
    texts = [each.text for each in split(written) if each.text.strip()]
    numbers = [n for n, text in zip(body.numbers, body.texts(), strict=True) if text.strip()]
    if len(texts) != len(numbers):
        return None
    found = []
    for n, text in zip(numbers, texts, strict=True):
        each, start = body.statements[n], body.starts[n]
        old, new = each.text.rstrip(), text.rstrip()
        inside = start < shown[1] and shown[0] < start + len(old)
        if inside and n not in body.stubs and old != new:
            start += piece.span[0] + head
            found.append(Edit((start, start + len(old)), new))
    return found


def _functions(document: Document, at: Cut, wanted: list[int]) -> dict[int, str] | None:
    """The layout of some functions by their numbers, without what is behind them; None if they cannot be formatted."""
    if not wanted:
        return {}
    part = excerpt(at, wanted, ())
    made = _formatted(document, part.text)
    if made is None:
        return None
    laid = cut(made)
    there = [n for n, piece in enumerate(part.cut.pieces) if part.cut.of(n).strip()]
    if [piece.name for piece in laid.pieces] != [at.pieces[n].name for n in there]:
        return None
    if sum(laid.gap(n).count("#") for n in range(len(there) + 1)) != sum(
        part.text.count("#", *span) for span in part.cut.gaps()
    ):
        return None  # a comment has left its function
    return {n: laid.of(place).rstrip() for place, n in enumerate(there) if n in wanted}
