"""The layout of a text, or of the functions in a part of it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from typing import Any

from rlx.grammar.diagnostic import Edit
from rlx.grammar.dialects import DEFAULT, DIALECTS, dialect
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.print.formatting import format_text
from rlx.lsp.body import KnownBody, ReducedBody
from rlx.lsp.cut import Cut, cut, words_among
from rlx.lsp.document import Document
from rlx.lsp.excerpt import excerpt, mentioned, names_of
from rlx.lsp.statements import SMALL, split

FEW = 20
"""After an edit of so many functions, only these are formatted."""

_MOST = 20_000


def _formatted(document: Document, text: str) -> str | None:
    target = document.target or DEFAULT
    printed = target if target in DIALECTS else DEFAULT
    return format_text(text, document.source.path, printed).text


class Learned(Record):
    """The layout of the parts of a text.

    Attributes
    ----------
    gaps
        What stands around functions, by what stood there.
    functions
        Functions, each by all that its layout depends on.
    long
        The head and the statements of long functions, by their heads.
    """

    gaps: dict[_Key, tuple[str, ...]]
    functions: dict[_Key, str]
    long: dict[_Key, tuple[str, dict[str, str]]]


_Key = tuple[object, ...]

_known = Learned({}, {}, {})


def format_edits(document: Document) -> list[Edit]:
    """The edit that formats a text; none if nothing changes, or it cannot be formatted."""
    text = document.source.text
    made = _from_known(document)
    if made is None:
        made = _formatted(document, text)
        if made is not None:
            remember(_learned(document, made))
    return [] if made is None or made == text else [Edit((0, len(text)), made)]


def learn(document: Document) -> Learned | None:
    """The layout of a text, to be remembered; None if it cannot be formatted."""
    made = _formatted(document, document.source.text)
    return None if made is None else _learned(document, made)


def remember(found: Learned) -> None:
    """Keep it for the next version of the text."""
    tables: list[tuple[dict[_Key, Any], Mapping[_Key, Any]]] = [
        (_known.gaps, found.gaps),
        (_known.functions, found.functions),
        (_known.long, found.long),
    ]
    for known, more in tables:
        if len(known) > _MOST:
            known.clear()
        known.update(more)


def _learned(document: Document, made: str) -> Learned:
    """Learn the layout of the parts of a text from a text that is laid out."""
    old, new = document.cut, cut(made)
    found = Learned({}, {}, {})
    if [piece.name for piece in old.pieces] != [piece.name for piece in new.pieces]:
        return found
    for at in (old, new):
        gaps = tuple(map(new.gap, range(len(new.pieces) + 1)))
        found.gaps[_gaps_key(document, at)] = gaps
        for number, key in _keys(document, at, range(len(at.pieces))).items():
            found.functions[key] = new.of(number)
            if len(at.of(number)) >= SMALL:
                was, now = split(_body(at, number)), split(_body(new, number))
                if len(was) == len(now):
                    pairs = zip(was, now, strict=True)
                    texts = {before.text: after.text for before, after in pairs}
                    key = _long_key(document, at, number)
                    found.long[key] = new.pieces[number].head, texts
    return found


def _body(at: Cut, number: int) -> str:
    return at.of(number)[len(at.pieces[number].head) :]


def _long_key(document: Document, at: Cut, number: int) -> _Key:
    return document.source.path, document.target, at.pieces[number].head


def _gaps_key(document: Document, at: Cut) -> _Key:
    around = map(at.gap, range(len(at.pieces) + 1))
    return document.source.path, document.target, "\0".join(around)


def _keys(document: Document, at: Cut, numbers: Iterable[int]) -> dict[int, _Key]:
    """All that the layout of some functions depends on, by their numbers: their texts, the text
    around functions, the heads of those they name.
    """
    around = _gaps_key(document, at)
    names = names_of(at)
    return {
        number: (
            *(*around, at.of(number)),
            *(at.pieces[n].head for n in sorted(mentioned(at, number, names))),
        )
        for number in numbers
    }


def _from_known(document: Document) -> str | None:
    """The layout of a text of which most parts are known; None if they are not."""
    at = document.cut
    gaps = _known.gaps.get(_gaps_key(document, at))
    if gaps is None or len(gaps) != len(at.pieces) + 1:
        return None
    keys = _keys(document, at, range(len(at.pieces)))
    new = []
    for number, key in keys.items():
        if key not in _known.functions:
            made = _long(document, at, number)
            if made is None:
                new.append(number)
            else:
                _known.functions[key] = made
    if len(new) > FEW or 2 * len(new) > len(at.pieces):
        return None
    laid = _functions(document, at, new, gaps[0])
    if laid is None:
        return None
    for number in new:
        if at.of(number).removesuffix("\n") != at.of(number).rstrip():
            return None
        _known.functions[keys[number]] = f"{laid[number]}\n"
    laid_out = [_known.functions[key] for key in keys.values()]
    declared = {*_DECLARED.findall(gaps[0])}
    if words_among("".join((*laid_out, *gaps[1:])), declared) != declared:
        return None  # nothing uses it any more
    parts = (gap + each for gap, each in zip(gaps, laid_out, strict=False))
    return "".join((*parts, gaps[-1]))


_DECLARED = re.compile(r"^(\w+) = TypeVar", re.MULTILINE)


def _statements_of(around: str) -> set[str]:
    """The lines that declare something."""
    return {line for line in around.splitlines() if line.strip() and not line.startswith("#")}


def _long(document: Document, at: Cut, number: int) -> str | None:
    """The layout of a long function of which most statements are known; None if they are not."""
    head, texts = _known.long.get(_long_key(document, at, number), ("", {}))
    statements = document.statements(number) if texts else None
    if statements is None:
        return None
    new = [n for n, each in enumerate(statements) if each.text not in texts]
    if len(new) > FEW:
        return None
    for n in new:
        text, start = statements[n].text, len(at.pieces[number].head) + statements.starts[n]
        edits = _statements(document, at, number, (start, start + len(text) - 1))
        if edits is None or len(edits) > 1 or text != f"{text.rstrip()}\n":
            return None
        texts[text] = f"{edits[0].text}\n" if edits else text
    return "".join((head, *(texts[each.text] for each in statements)))


def in_range(document: Document, first: int, last: int) -> list[Edit]:
    """The edits that format what stands between two offsets: the statements of long functions, all
    of short ones, and nothing else.
    """
    at = document.cut
    found: list[Edit] = []
    wanted: list[int] = []
    for number, piece in enumerate(at.pieces):
        start, end = piece.span
        if start <= last and first < end:
            place = max(first, start) - start, min(last, end) - start
            edits = _statements(document, at, number, place)
            if edits is None:
                wanted.append(number)
            found += edits or ()
    gaps = _known.gaps.get(_gaps_key(document, at))
    if gaps is not None and _statements_of(gaps[0]) <= _statements_of(at.gap(0)):
        known, keys = _known.functions, _keys(document, at, wanted)
        texts = {number: known[key].rstrip() for number, key in keys.items() if key in known}
    else:  # functions may use what the layout declares around them
        texts = {}
    new = [number for number in wanted if number not in texts]
    for number, text in (texts | (_functions(document, at, new, at.gap(0)) or {})).items():
        if text != at.of(number).rstrip():
            start, _ = at.pieces[number].span
            found.append(Edit((start, start + len(at.of(number).rstrip())), text))
    return found


def _statements(document: Document, at: Cut, number: int, place: Span) -> list[Edit] | None:
    """The edits that format the statements of a long function at a place in it; None where only
    a layout of the function tells.
    """
    piece = at.pieces[number]
    head = len(piece.head)
    statements = document.statements(number)
    if statements is None or statements.is_strange or place[0] < head:
        return None
    shown = place[0] - head, place[1] - head

    def edits(texts: Mapping[int, str]) -> list[Edit]:
        """The edits that lay out the statements that are shown."""
        found = []
        for n, text in texts.items():
            old, new, start = statements[n].text.rstrip(), text.rstrip(), statements.starts[n]
            if start < shown[1] and shown[0] < start + len(old) and old != new:
                start += piece.span[0] + head
                found.append(Edit((start, start + len(old)), new))
        return found

    first = max(0, bisect_right(statements.starts, shown[0]) - 1)
    here = range(first, bisect_left(statements.starts, shown[1]))
    _, known_texts = _known.long.get(_long_key(document, at, number), ("", {}))
    if all(statements[n].text in known_texts for n in here):
        return edits({n: known_texts[statements[n].text] for n in here})
    names, nothing = frozenset(statements.binders), frozenset[str]()  # their types do not matter
    keyword = dialect(DEFAULT).info_args
    known = KnownBody(statements, {}, names, nothing, nothing, nothing, keyword)
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
    pairs = zip(numbers, texts, strict=True)
    return edits({n: text for n, text in pairs if n not in body.stubs})


def _functions(
    document: Document, at: Cut, wanted: list[int], around: str
) -> dict[int, str] | None:
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
    comments = sum(laid.of(n).count("#") for n in range(len(there)))
    if comments != sum(part.cut.of(n).count("#") for n in there):
        return None  # one has left its function
    if not _statements_of(laid.gap(0)) <= _statements_of(around):
        return None  # it declares what is declared in each function, or something new
    return {n: laid.of(place).rstrip() for place, n in enumerate(there) if n in wanted}
