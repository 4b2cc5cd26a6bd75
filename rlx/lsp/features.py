"""Answers of the server about the structure of texts, and about the surroundings of a place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import quote
from zlib import crc32

from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes.node import Span
from rlx.grammar.streams import fenced, visible
from rlx.lsp import server
from rlx.lsp.completion import NEAREST, completions, fits, function_head, signature_at
from rlx.lsp.document import Document
from rlx.lsp.framing import RawJson
from rlx.lsp.layout import in_range
from rlx.lsp.names import PlacedName
from rlx.lsp.server import (
    Params,
    Server,
    diagnostic_of,
    location,
    markdown,
    offset_of,
    path_of,
    range_in,
    text_edits,
)
from rlx.lsp.structure import (
    Symbol,
    called,
    callers,
    folds,
    outline,
    selections,
    semantic_tokens,
    written_tokens,
)
from rlx.lsp.texts import difference
from rlx.lsp.vocabulary import describe, signature_of

_SYMBOLS = {"class": 2, "function": 12, "primfunc": 12, "shape": 26}
_COMPLETIONS = {
    "operator": 3,
    "type": 7,
    "argument": 10,
    "dtype": 20,
    "function": 3,
    "class": 7,
    "module": 9,
    "shape": 25,
}
_VARIABLE = 6
_READ, _WRITE = 2, 3
"""The numbers of the protocol for kinds of symbols, completions and highlights."""


def add_places(to: Server) -> None:
    """Add the requests for the name at a place."""

    @to.feature("textDocument/documentHighlight")
    def highlight(params: Params) -> list[Params]:
        document, at = to.place(params)
        found = document.names.at(at)
        return [
            {
                "range": range_in(document.source, each.span),
                "kind": _WRITE if each.is_definition else _READ,
            }
            for each in (document.names.places(found) if found is not None else ())
        ]

    @to.feature("textDocument/typeDefinition")
    def type_definition(params: Params) -> list[Params]:
        document, at = to.place(params)
        found = _types(to, params["textDocument"]["uri"], document, at)
        return [location(params, document, span) for span in found]

    @to.feature("textDocument/linkedEditingRange")
    def linked(params: Params) -> Params | None:
        document, at = to.place(params)
        found = document.names.at(at)
        if found is None or found.kind != "shape" or document.names.definition(found) is None:
            return None
        places = [range_in(document.source, each.span) for each in document.names.places(found)]
        return {"ranges": places, "wordPattern": r"[^\W\d]\w*"}

    @to.feature("textDocument/signatureHelp")
    def signature_help(params: Params) -> Params | None:
        document, at = to.place(params)
        found = signature_at(document, at)
        if found is None:
            return None
        known, active = found
        shown = {
            "label": visible(known.label),
            "documentation": markdown(describe(known.word)),
            "parameters": [{"label": visible(each)} for each in known.parameters],
        }
        return {"signatures": [shown], "activeSignature": 0, "activeParameter": active}

    @to.feature("textDocument/completion")
    def completion(params: Params) -> Params:
        window, at, document = to.view(params)
        found = completions(document, window, at)
        place = range_in(document.source, found[0].span) if found else None
        items = [
            {
                "label": each.label,
                "kind": _COMPLETIONS.get(each.kind, _VARIABLE),
                **({"detail": each.detail} if each.detail else {}),
                "filterText": each.label,
                "textEdit": {"range": place, "newText": each.label},
                **({"data": {"word": each.word}} if each.word else {}),
            }
            for each in found
        ]
        return {"isIncomplete": len(items) > NEAREST, "items": items}

    @to.feature("completionItem/resolve")
    def resolve(item: Params) -> Params:
        data = item.get("data")
        word = data.get("word") if isinstance(data, dict) else None
        if not isinstance(word, str):
            word = item["label"]
        known, text = signature_of(word), describe(word)
        if known is not None:
            text = f"{fenced('python', visible(known.label))}\n\n{text}"
        return {**item, "documentation": markdown(text)} if text else item


def _types(to: Server, uri: str, document: Document, at: int) -> Iterator[Span]:
    """The places where the type of the name at an offset is written: its annotation, or that of the
    result of the function that it calls, and the shape variables in it.
    """
    names = document.names
    found = names.at(at)
    defined = None if found is None else names.definition(found)
    if found is None or defined is None:
        return
    if found.kind == "shape":
        yield defined.span
        return
    window = to.text(uri).window(defined.span[0], defined.span[0])
    node = window.document.bound.get(window.into(defined.span[0]))
    annotation = getattr(node, "annotation_span", None)
    if annotation is not None:
        yield window.back(annotation)
    else:
        statement = document.statement(defined.span[0])
        callees = re.findall(r"(\w+)\(", statement)
        for each in (e for word in callees for e in names.of(names.stretch(at), word)):
            if each.kind == "function":
                place = names.definition(each)
                if place is not None:
                    yield place.span
                break
        else:
            yield defined.span
    info = window.document.type_of(window.into(defined.span[0]))
    for word in sorted({*re.findall(r"\w+", str(info))}) if info is not None else ():
        for each in (e for stretch in names.around(at) for e in names.of(stretch, word)):
            place = names.definition(each) if each.kind == "shape" else None
            if place is not None:
                yield place.span
                break


def add_structure(to: Server) -> None:
    """Add the requests for the outline of a text, its blocks, and the kinds of its words."""

    @to.feature("textDocument/documentSymbol")
    def symbols(params: Params) -> RawJson:
        return to.text(params["textDocument"]["uri"]).kept("symbols", _symbols)

    @to.feature("textDocument/foldingRange")
    def folding(params: Params) -> RawJson:
        return to.text(params["textDocument"]["uri"]).kept("folds", _foldings)

    @to.feature("textDocument/codeLens")
    def lenses(params: Params) -> RawJson:
        return to.text(params["textDocument"]["uri"]).kept("lenses", _lenses)

    @to.feature("textDocument/selectionRange")
    def selection(params: Params) -> list[Params]:
        document = to.text(params["textDocument"]["uri"]).document
        made = []
        for place in params["positions"]:
            around: Params = {}
            for span in reversed(selections(document, offset_of(document.source, place))):
                parent = {"parent": around} if around else {}
                around = {"range": range_in(document.source, span), **parent}
            made.append(around)
        return made

    @to.feature("textDocument/semanticTokens/full")
    def kinds(params: Params) -> RawJson:
        found = to.text(params["textDocument"]["uri"])
        found.tokens = found.kept("kinds", _named_tokens)
        return _all_tokens(*found.tokens)

    @to.feature("textDocument/semanticTokens/full/delta")
    def kinds_that_changed(params: Params) -> RawJson | Params:
        found = to.text(params["textDocument"]["uri"])
        (old, name), found.tokens = found.tokens, found.kept("kinds", _named_tokens)
        new, name_of_new = found.tokens
        if params.get("previousResultId") != name:
            return _all_tokens(*found.tokens)
        start, end = difference(old, new)
        behind = len(old) - len(new) + end
        gone, come = _numbers(old[start:behind]), _numbers(new[start:end])
        first, last = difference(gone, come)
        count = len(gone) - len(come) + last - first
        at = sum(piece.count(",") + 1 for piece in old[:start]) + first
        change = {"start": at, "deleteCount": count, "data": come[first:last]}
        return {"edits": [change] if count or first < last else [], "resultId": name_of_new}

    @to.feature("textDocument/semanticTokens/range")
    def kinds_in_range(params: Params) -> Params:
        document = to.text(params["textDocument"]["uri"]).document
        return {"data": semantic_tokens(document, *_offsets(document, params))}


def _offsets(document: Document, params: Params) -> tuple[int, int]:
    """The offsets of the range that is asked about."""
    first, last = (offset_of(document.source, params["range"][end]) for end in ("start", "end"))
    return first, last


def _named_tokens(document: Document) -> tuple[list[str], str]:
    """The kinds of words in pieces, and a name for them."""
    pieces = list(written_tokens(document))
    return pieces, f"{crc32(','.join(pieces).encode()):x}"


def _all_tokens(pieces: list[str], name: str) -> RawJson:
    data = ",".join(pieces)
    return RawJson(f'{{"data":[{data}],"resultId":"{name}"}}'.encode())


def _numbers(pieces: Iterable[str]) -> list[int]:
    return [int(number) for piece in pieces for number in piece.split(",")]


def _foldings(document: Document) -> RawJson:
    found: dict[int, int] = {}
    for start, end in folds(document):
        first, last = (document.source.position(at)[0] - 1 for at in (start, end))
        if last > first:
            found[first] = max(last, found.get(first, 0))
    lines = sorted(found.items())
    return RawJson.of([{"startLine": first, "endLine": last} for first, last in lines])


def _symbols(document: Document) -> RawJson:
    return RawJson.of([_symbol(each, document.source) for each in outline(document)])


def _symbol(found: Symbol, source: Source) -> Params:
    return {
        "name": found.name,
        "kind": _SYMBOLS[found.kind],
        "range": range_in(source, found.span),
        "selectionRange": range_in(source, found.name_span),
        "detail": found.detail,
        "children": [_symbol(each, source) for each in found.children],
    }


def _lenses(document: Document) -> RawJson:
    """Commands on each function: the client runs the words of the argument in a terminal."""
    found = []
    source = document.source
    path = source.path
    for symbol in outline(document):
        for each in (symbol, *symbol.children):
            if each.kind not in ("function", "primfunc"):
                continue
            line, column = source.position(each.name_span[0])
            place = range_in(source, each.name_span)
            at = f"{path}:{line}:{column}"
            entry = ["--entry", each.name]
            made = [
                ("run", ["rlx", "run", path, *entry]),
                ("step", ["rlx", "step", path, *entry]),
                ("why", ["rlx", "why", at if each.kind == "primfunc" else f"{path}:{line}"]),
                ("refines HEAD", ["rlx", "refines", f"HEAD:{path}", path, *entry]),
            ]
            for title, words in made if each.kind == "function" else made[2:3]:
                name = f"rlx.{title.partition(' ')[0]}"
                command = {"title": title, "command": name, "arguments": [words]}
                found.append({"range": place, "command": command})
    return RawJson.of(found)


def add_calls(to: Server) -> None:
    """Add the requests for the calls of functions."""

    @to.feature("textDocument/prepareCallHierarchy")
    def prepare(params: Params) -> list[Params]:
        document, at = to.place(params)
        found = document.names.at(at)
        if found is None or found.subject[0] != "function":
            return []
        of, name = str(found.subject[1]), str(found.subject[2])
        number = document.names.functions[of, name][0]
        return [_item(document, params["textDocument"]["uri"], number)]

    @to.feature("callHierarchy/incomingCalls")
    def incoming(params: Params) -> list[Params]:
        document, name = _called_function(to, params["item"])
        if name is None:
            return []
        return [
            {
                "from": _item(document, params["item"]["uri"], number),
                "fromRanges": [range_in(document.source, span) for span in spans],
            }
            for number, spans in callers(document.names, name).items()
        ]

    @to.feature("callHierarchy/outgoingCalls")
    def outgoing(params: Params) -> list[Params]:
        document, name = _called_function(to, params["item"])
        if name is None:
            return []
        names = document.names
        number = names.stretches[names.stretch(name.span[0])][1]
        assert number is not None
        return [
            {
                "to": _item(document, params["item"]["uri"], other),
                "fromRanges": [range_in(document.source, span) for span in spans],
            }
            for other, spans in called(names, number).items()
        ]


def _item(document: Document, uri: str, number: int) -> Params:
    piece, source = document.cut.pieces[number], document.source
    at = source.text.find(piece.name, piece.span[0] + piece.at + 4)
    return {
        "name": piece.name,
        "kind": _SYMBOLS["function"],
        "uri": uri,
        "range": range_in(source, piece.span),
        "selectionRange": range_in(source, (at, at + len(piece.name))),
        "detail": function_head(document, number),
    }


def _called_function(to: Server, item: Params) -> tuple[Document, PlacedName | None]:
    document = to.text(item["uri"]).document
    found = document.names.at(offset_of(document.source, item["selectionRange"]["start"]))
    is_function = found is not None and found.subject[0] == "function"
    return document, found if is_function else None


# ---------------------------------------------------------------- diagnostics on request


def add_diagnostics(to: Server) -> None:
    """Add the requests for the diagnostics of a text, and of the files of the workspace."""

    @to.feature("textDocument/diagnostic")
    def pulled(params: Params) -> Params:
        found = to.text(params["textDocument"]["uri"])
        number = f"{found.version}.{found.told}"
        if params.get("previousResultId") == number:
            return {"kind": "unchanged", "resultId": number}
        items = to.shown(params["textDocument"]["uri"])
        return {"kind": "full", "items": items, "resultId": number}

    @to.feature("rlx/workspaceDiagnostics")
    def of_workspace(params: Params) -> Params:
        reports = []
        for uri, source in _sources(to, params["open"]):
            shown = to.texts.get(uri)
            if shown is not None and shown.document.source.text == source.text:
                items = to.shown(uri)
            else:
                found = to.checked(source)
                items = [diagnostic_of(d, source, uri) for d in found if d.code != "PARSE-nothing"]
            reports.append({"kind": "full", "uri": uri, "version": None, "items": items})
        return {"items": reports}

    @to.feature("rlx/workspaceSymbols")
    def symbols(params: Params) -> list[Params]:
        return [
            {"name": name, "kind": kind, "location": {"uri": uri, "range": place}}
            for uri, source in _sources(to, params["open"])
            for name, kind, place in _symbols_of(to, uri, source)
            if fits(params["query"], name)
        ]


def _symbols_of(to: Server, uri: str, source: Source) -> list[tuple[str, int, Params]]:
    """The symbols of a text, which may be open."""
    shown = to.texts.get(uri)
    if shown is None or shown.document.source.text != source.text:
        return _listed(source.text, source.path)
    return shown.kept("names", _named)


@lru_cache(maxsize=256)
def _listed(text: str, path: str) -> list[tuple[str, int, Params]]:
    """The symbols of a text."""
    return _named(Document(text, path))


def _named(document: Document) -> list[tuple[str, int, Params]]:
    return [
        (each.name, _SYMBOLS[each.kind], range_in(document.source, each.name_span))
        for each in _every(outline(document))
    ]


def _sources(to: Server, opened: Iterable[Params]) -> Iterator[tuple[str, Source]]:
    """The texts of the workspace: open ones with their current text, the others from the disk."""
    now = {each["uri"]: Source(each["text"], path_of(each["uri"])) for each in opened}
    yield from now.items()
    for source in to.files():
        uri = f"file://{quote(os.path.abspath(source.path))}"
        if uri not in now:
            yield uri, source


def _every(symbols: Iterable[Symbol]) -> Iterator[Symbol]:
    for each in symbols:
        yield each
        yield from _every(each.children)


# ---------------------------------------------------------------- changes of the text


def add_edits(to: Server) -> None:
    """Add the request for the layout of a part of a text."""

    @to.feature("textDocument/rangeFormatting")
    def formatting(params: Params) -> list[Params] | None:
        document = to.text(params["textDocument"]["uri"]).document
        edits = in_range(document, *_offsets(document, params))
        return text_edits(document.source, edits) or None


def create(trusted: bool = False, isolated: bool = False) -> Server:
    """A server with everything that it answers; see :class:`rlx.lsp.server.Server`."""
    made = Server(trusted, isolated)
    for add in (
        *(server.add_projects, server.add_texts, server.add_places, server.add_edits),
        *(server.add_hints, add_places, add_structure, add_calls, add_diagnostics, add_edits),
    ):
        add(made)
    return made
