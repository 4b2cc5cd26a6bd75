"""The structure of a text: its functions, blocks, and the kinds of its words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.read.lexer import OPENING
from rlx.grammar.read.outline import indentation, logical_lines
from rlx.grammar.read.source_tokens import parts_of
from rlx.lsp.capabilities import TYPES
from rlx.lsp.completion import function_head
from rlx.lsp.document import Document
from rlx.lsp.names import MODULES, PlacedName, Reading, TextNames
from rlx.lsp.positions import units


class Symbol(Record):
    """A part of the outline.

    Attributes
    ----------
    kind
        ``"class"``, ``"function"``, ``"primfunc"`` or ``"shape"``.
    span, name_span
        All of it, and its name.
    """

    name: str
    kind: str
    detail: str
    span: Span
    name_span: Span
    children: tuple[Symbol, ...] = ()


def outline(document: Document) -> list[Symbol]:
    """The modules of a text with their functions, and the shape variables that it declares."""
    names, found = document.names, list[Symbol]()
    members: list[Symbol] = []
    opened: PlacedName | None = None

    def close() -> None:
        if opened is not None:
            end = members[-1].span[1] if members else opened.span[1]
            span = ((document.source.text.rfind("\n", 0, opened.span[0]) + 1), end)
            found.append(Symbol(opened.name, "class", "", span, opened.span, tuple(members)))

    for stretch, (_, number) in enumerate(names.stretches):
        if number is not None:
            if stretch == names.of_function[number][0]:
                made = _function(document, number)
                (members if opened is not None and names.owners[number] else found).append(made)
            continue
        for each in names.of(stretch):
            if each.kind == "class" and each.is_definition:
                close()
                members, opened = [], each
            elif each.kind == "shape" and each.is_definition:
                quoted = document.source.text[each.span[0] - 1] in "\"'"
                if not quoted:
                    found.append(Symbol(each.name, "shape", "shape variable", each.span, each.span))
    close()
    return sorted(found, key=lambda s: s.span)


def _function(document: Document, number: int) -> Symbol:
    names = document.names
    piece = names.cut.pieces[number]
    inner = []
    for stretch in names.of_function[number]:
        start, end = names.starts[stretch], names.starts[stretch + 1]
        if names.cut.text.find("def ", max(start, piece.span[0] + len(piece.head)), end) < 0:
            continue  # most functions need not be read for that
        reading = names.reading(stretch)
        for part in reading.parts:
            if part.kind == "DEF":
                name = next((n for n in reading.names if part.head[0] <= n.span[0]), None)
                if name is not None and name.kind == "function" and isinstance(name.key, int):
                    spans = _shift(part.span, start), _shift(name.span, start)
                    inner.append(Symbol(name.name, "function", "", *spans))
    start = piece.span[0]
    at = start + piece.at + 4
    at = document.source.text.find(piece.name, at)
    kind = "primfunc" if piece.is_prim_func else "function"
    text = document.source.text
    end = start + len(text[start : piece.span[1]].rstrip())
    detail = function_head(document, number).partition("(")[2]
    return Symbol(
        piece.name, kind, f"({detail}", (start, end), (at, at + len(piece.name)), tuple(inner)
    )


def _shift(span: Span, by: int) -> Span:
    return span[0] + by, span[1] + by


def folds(document: Document) -> Iterator[Span]:
    """Blocks and brackets of more than one line."""
    text = document.source.text
    opened: list[Span] = []
    before = last = column_before = 0
    for start, end in logical_lines(text):
        column = indentation(text, start)
        if column > column_before and last:
            opened.append((column_before, before))
        while opened and column <= opened[-1][0]:
            yield opened.pop()[1], last
        if text.find("\n", start, end) >= 0:
            yield from _brackets(text, (start, end))
        before, column_before, last = start, column, end
    for _, start in reversed(opened):
        yield start, last


def _brackets(text: str, span: Span) -> Iterator[Span]:
    opened: list[int] = []
    for token in parts_of(text, span):
        change = OPENING.get(token.type, 0)
        if change > 0:
            opened.append(token.start)
        elif change < 0 and opened:
            begin = opened.pop()
            if text.find("\n", begin, token.end) >= 0:
                yield begin, token.end


def selections(document: Document, at: int) -> list[Span]:
    """The ranges around an offset, inner before outer: the word, brackets, statements, blocks, the
    function, the text.
    """
    names = document.names
    stretch = names.stretch(at)
    start, reading = names.starts[stretch], names.reading(stretch)
    here = at - start
    found = {(0, len(document.source.text))}
    opened: list[int] = []
    for token in reading.tokens:
        if token.start <= here <= token.end:
            word = token.value.removesuffix("(")
            found.add((start + token.start, start + token.start + len(word)))
        change = OPENING.get(token.type, 0)
        if change > 0:
            opened.append(token.start)
        elif change < 0 and opened:
            begin = opened.pop()
            if begin <= here <= token.end:
                found.add((start + begin, start + token.end))
    found |= {
        _shift(part.head, start) for part in reading.parts if part.head[0] <= here <= part.head[1]
    }
    for part in (part for part in names.around(at) if part <= stretch):
        found |= {span for span in names.blocks(part) if span[0] <= at <= span[1]}
    for symbol in outline(document):
        for each in (symbol, *symbol.children):
            if each.span[0] <= at <= each.span[1]:
                found.add(each.span)
    chain: list[Span] = []
    for span in sorted(found, key=lambda s: (s[1] - s[0], s)):
        if span[0] <= at <= span[1] and (
            not chain or (span[0] <= chain[-1][0] and chain[-1][1] <= span[1])
        ):
            chain.append(span)
    return chain


# ---------------------------------------------------------------- the kinds of words

_OF_KIND = {
    **dict.fromkeys(["function"], "function"),
    **dict.fromkeys(["parameter"], "parameter"),
    **dict.fromkeys(["variable", "loop", "buffer"], "variable"),
    "shape": "typeParameter",
    "class": "class",
}
_OF_TOKEN = {
    "STRING": "string",
    **dict.fromkeys(["INT", "FLOAT"], "number"),
    **dict.fromkeys(
        ["CLASS", "RETURN", "PASS", "ASSERT", "IF", "ELIF", "ELSE", "FOR", "WHILE", "WITH", "AS"],
        "keyword",
    ),
}
_NUMBER = {name: number for number, name in enumerate(TYPES)}


Word = tuple[int, int, int, int, int]
"""Line and column, length, type and modifiers of a word."""


class Kinds(Record):
    """The kinds of the words of a stretch, at their places in it.

    Attributes
    ----------
    behind
        All words but the first as the protocol encodes them, each number behind a comma.
    """

    words: tuple[Word, ...]
    behind: str


def semantic_tokens(document: Document, first: int = 0, last: int | None = None) -> list[int]:
    """The kinds of words as the protocol encodes them, between two offsets.

    Returns
    -------
    list[int]
        Five numbers a word: lines and columns from the one before, its length, its type and its
        modifiers.
    """
    source = document.source
    ends = first, len(source.text) if last is None else last
    top, bottom = (source.position(at)[0] - 1 for at in ends)
    placed = (
        _placed(word, at)
        for at, kinds in _kinds_of_stretches(document, *ends)
        for word in kinds.words
    )
    return _encoded(word for word in placed if top <= word[0] <= bottom)


def written_tokens(document: Document) -> Iterator[str]:
    """The same for all of a text, in pieces with commas between the numbers: those of stretches
    that an edit leaves alone stay what they are.
    """
    before = column = 0
    for at, kinds in _kinds_of_stretches(document, 0, len(document.source.text)):
        if kinds.words:
            first = _encoded([_placed(kinds.words[0], at)], before, column)
            yield ",".join(map(str, first)) + kinds.behind
            before, column, *_ = _placed(kinds.words[-1], at)


def _kinds_of_stretches(
    document: Document, first: int, last: int
) -> Iterator[tuple[tuple[int, int], Kinds]]:
    """The stretches between two offsets that have text: the line and column that each begins at."""
    names, source = document.names, document.source
    for stretch, (start, stop) in enumerate(pairwise([*names.starts, len(source.text)])):
        if start < stop and start <= last and first <= stop:
            line, column = source.position(start)
            made = _kinds(source.text[start:stop], names.reading(stretch), names.outer(stretch))
            yield (line - 1, column - 1), made


def _placed(word: Word, at: tuple[int, int]) -> Word:
    row, column, *rest = word
    return at[0] + row, column if row else at[1] + column, *rest  # type: ignore[return-value]


def _encoded(words: Iterable[Word], before: int = 0, column: int = 0) -> list[int]:
    """Words with their lines and columns counted from the word before."""
    data: list[int] = []
    for row, begin, *rest in words:
        data += (row - before, begin - (column if row == before else 0), *rest)
        before, column = row, begin
    return data


@lru_cache(maxsize=4096)
def _kinds(text: str, read: Reading, outer: tuple[tuple[Span, str, bool], ...]) -> Kinds:
    """The kinds of the words of a stretch.

    Parameters
    ----------
    outer
        The names of things outside, with their kinds, and whether they are bound here.
    """
    own = ((e.span, e.kind, e.is_definition) for e in read.names if isinstance(e.key, int))
    marked = {
        span: (_NUMBER[_OF_KIND.get(kind, "variable")], int(defines))
        for span, kind, defines in (*own, *outer)
    }
    inside = sorted(span for span in marked)
    decorator = False
    for token in read.tokens:
        span, kind = (token.start, token.end), token.type
        if kind in ("DOTTED", "HEAD"):
            word = token.value.removesuffix("(")
            module, _, rest = word.partition(".")
            if module in MODULES and rest:
                split = token.start + len(module) + 1
                marked[token.start, split - 1] = (_NUMBER["namespace"], 4)
                sort = "decorator" if decorator else "type" if rest[:1].isupper() else "function"
                marked[split, token.start + len(word)] = (_NUMBER[sort], 4)
        elif kind == "DEF":
            marked[token.start, token.start + 3] = (_NUMBER["keyword"], 0)
        elif kind == "TARGET" and (token.start, token.start + len(token.value)) not in marked:
            marked[token.start, token.start + len(token.value)] = (_NUMBER["property"], 0)
        elif kind in _OF_TOKEN and span not in marked:
            if kind == "STRING" and ("\n" in token.value or _contains(inside, span)):
                continue
            marked[span] = (_NUMBER[_OF_TOKEN[kind]], 0)
        decorator = kind == "AT"
    rows = pairwise([*Source(text, "").line_starts, len(text) + 1])
    found: list[Word] = []
    here = behind = row = -1
    for (start, end), (number, modifiers) in sorted(marked.items()):
        while start >= behind:
            (here, behind), row = next(rows), row + 1
        column, length = units(text[here:start]), units(text[start:end])
        found.append((row, column, length, number, modifiers))
    return Kinds(tuple(found), "".join(f",{each}" for each in _encoded(found)[5:]))


def _contains(spans: Sequence[Span], outer: Span) -> bool:
    from bisect import bisect_left

    at = bisect_left(spans, outer)
    return at < len(spans) and spans[at][1] <= outer[1]


# ---------------------------------------------------------------- calls


def callers(names: TextNames, name: PlacedName) -> dict[int, list[Span]]:
    """The functions that mention a function, by number, with the places."""
    found: dict[int, list[Span]] = {}
    for place in names.places(name):
        number = names.stretches[names.stretch(place.span[0])][1]
        if number is not None and not place.is_definition:
            found.setdefault(number, []).append(place.span)
    return found


def called(names: TextNames, number: int) -> dict[int, list[Span]]:
    """The functions that a function mentions, by number, with the places."""
    found: dict[int, list[Span]] = {}
    for each in names.of(2 * number + 1):
        if each.kind == "function" and each.subject[0] == "function" and not each.is_definition:
            of, name = str(each.subject[1]), str(each.subject[2])
            found.setdefault(names.functions[of, name][0], []).append(each.span)
    return found
