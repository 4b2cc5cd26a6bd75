"""Answers of the server about the structure of texts, and about the surroundings of a place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import quote
from zlib import crc32

from lsprotocol import types as lsp

from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes.node import Span
from rlx.grammar.streams import fenced, visible
from rlx.lsp import server
from rlx.lsp.capabilities import COMPLETES, MODIFIERS, TYPES
from rlx.lsp.completion import NEAREST, completions, fits, function_head, signature_at
from rlx.lsp.cut import edited
from rlx.lsp.document import Document
from rlx.lsp.framing import RawJson
from rlx.lsp.names import PlacedName
from rlx.lsp.positions import offset, range_of
from rlx.lsp.server import Server, diagnostic_of, path_of, range_in
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
from rlx.lsp.vocabulary import describe, signature_of

_SYMBOLS = {
    "class": lsp.SymbolKind.Module,
    "function": lsp.SymbolKind.Function,
    "primfunc": lsp.SymbolKind.Function,
    "shape": lsp.SymbolKind.TypeParameter,
}
_COMPLETIONS = {
    "operator": lsp.CompletionItemKind.Function,
    "type": lsp.CompletionItemKind.Class,
    "argument": lsp.CompletionItemKind.Property,
    "dtype": lsp.CompletionItemKind.EnumMember,
    "function": lsp.CompletionItemKind.Function,
    "class": lsp.CompletionItemKind.Module,
    "module": lsp.CompletionItemKind.Module,
    "shape": lsp.CompletionItemKind.TypeParameter,
}


def add_places(to: Server) -> None:
    """What belongs to the name at a place."""

    @to.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        document, at = to.place(params)
        found = document.names.at(at)
        kinds = lsp.DocumentHighlightKind
        return [
            lsp.DocumentHighlight(
                range_in(document.source, each.span),
                kinds.Write if each.is_definition else kinds.Read,
            )
            for each in (document.names.places(found) if found is not None else ())
        ]

    @to.feature(lsp.TEXT_DOCUMENT_TYPE_DEFINITION)
    def type_definition(params: lsp.TypeDefinitionParams) -> list[lsp.Location]:
        document, at = to.place(params)
        uri = params.text_document.uri
        return [
            lsp.Location(uri, range_in(document.source, span))
            for span in _types(to, uri, document, at)
        ]

    @to.feature(lsp.TEXT_DOCUMENT_LINKED_EDITING_RANGE)
    def linked(params: lsp.LinkedEditingRangeParams) -> lsp.LinkedEditingRanges | None:
        document, at = to.place(params)
        found = document.names.at(at)
        if found is None or found.kind != "shape" or document.names.definition(found) is None:
            return None
        places = [range_in(document.source, each.span) for each in document.names.places(found)]
        return lsp.LinkedEditingRanges(places, word_pattern=r"[^\W\d]\w*")

    @to.feature(
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP,
        lsp.SignatureHelpOptions(trigger_characters=["(", ","], retrigger_characters=["="]),
    )
    def signature_help(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        document, at = to.place(params)
        found = signature_at(document, at)
        if found is None:
            return None
        known, active = found
        text = lsp.MarkupContent(lsp.MarkupKind.Markdown, describe(known.word))
        parameters = [lsp.ParameterInformation(visible(each)) for each in known.parameters]
        shown = lsp.SignatureInformation(visible(known.label), text, parameters)
        return lsp.SignatureHelp([shown], 0, active)

    @to.feature(
        lsp.TEXT_DOCUMENT_COMPLETION,
        lsp.CompletionOptions(trigger_characters=list(COMPLETES), resolve_provider=True),
    )
    def completion(params: lsp.CompletionParams) -> lsp.CompletionList:
        window, at, document = to.view(params)
        found = completions(document, window, at)
        place = range_in(document.source, found[0].span) if found else None
        items = [
            lsp.CompletionItem(
                label=each.label,
                kind=_COMPLETIONS.get(each.kind, lsp.CompletionItemKind.Variable),
                detail=each.detail or None,
                filter_text=each.label,
                text_edit=lsp.TextEdit(place, each.label),
                data={"word": each.word} if each.word else None,
            )
            for each in found
            if place is not None
        ]
        return lsp.CompletionList(is_incomplete=len(items) > NEAREST, items=items)

    @to.feature(lsp.COMPLETION_ITEM_RESOLVE)
    def resolve(item: lsp.CompletionItem) -> lsp.CompletionItem:
        word = item.data.get("word") if isinstance(item.data, dict) else None
        if not isinstance(word, str):
            word = item.label
        known, text = signature_of(word), describe(word)
        if known is not None:
            text = f"{fenced('python', visible(known.label))}\n\n{text}"
        if text:
            item.documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, text)
        return item


def _types(to: Server, uri: str, document: Document, at: int) -> Iterator[Span]:
    """Where the type of what stands at an offset is written: its annotation, or that of the result
    of the function that it calls, and the shape variables in it.
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
        called = re.findall(r"(\w+)\(", statement)
        for each in (e for word in called for e in names.of(names.stretch(at), word)):
            if each.kind == "function":
                place = names.definition(each)
                if place is not None:
                    yield place.span
                break
        else:
            yield defined.span
    info = window.document.type_of(window.into(defined.span[0]))
    for word in sorted(_words(str(info))) if info is not None else ():
        for each in (e for stretch in names.around(at) for e in names.of(stretch, word)):
            place = names.definition(each) if each.kind == "shape" else None
            if place is not None:
                yield place.span
                break


def _words(text: str) -> set[str]:
    import re

    return set(re.findall(r"\w+", text))


def add_structure(to: Server) -> None:
    """The outline of a text, its blocks, and the kinds of its words."""

    @to.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: lsp.DocumentSymbolParams) -> Any:
        return to.text(params.text_document.uri).kept("symbols", _symbols)

    @to.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def folding(params: lsp.FoldingRangeParams) -> Any:
        return to.text(params.text_document.uri).kept("folds", _foldings)

    @to.feature(lsp.TEXT_DOCUMENT_SELECTION_RANGE)
    def selection(params: lsp.SelectionRangeParams) -> list[lsp.SelectionRange]:
        document = to.text(params.text_document.uri).document
        made = []
        for place in params.positions:
            at = offset(document.source, (place.line, place.character))
            around: lsp.SelectionRange | None = None
            for span in reversed(selections(document, at)):
                around = lsp.SelectionRange(range_in(document.source, span), around)
            assert around is not None
            made.append(around)
        return made

    legend = lsp.SemanticTokensLegend(list(TYPES), list(MODIFIERS))

    @to.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, legend)
    def kinds(params: lsp.SemanticTokensParams) -> Any:
        found = to.text(params.text_document.uri)
        found.tokens = found.kept("kinds", _named_tokens)
        return _all_tokens(*found.tokens)

    @to.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, legend)
    def kinds_that_changed(params: lsp.SemanticTokensDeltaParams) -> Any:
        found = to.text(params.text_document.uri)
        (old, name), found.tokens = found.tokens, found.kept("kinds", _named_tokens)
        new, name_of_new = found.tokens
        if params.previous_result_id != name:
            return _all_tokens(*found.tokens)
        start, end = edited(old, new)
        behind = len(old) - len(new) + end
        gone, come = _numbers(old[start:behind]), _numbers(new[start:end])
        first, last = edited(gone, come)
        count = len(gone) - len(come) + last - first
        at = sum(piece.count(",") + 1 for piece in old[:start]) + first
        change = lsp.SemanticTokensEdit(at, count, come[first:last])
        return lsp.SemanticTokensDelta([change] if count or first < last else [], name_of_new)

    @to.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, legend)
    def kinds_in_range(params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens:
        document = to.text(params.text_document.uri).document
        first, last = to.offsets(document, params.range)
        return lsp.SemanticTokens(semantic_tokens(document, first, last))

    @to.feature(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions(resolve_provider=False))
    def lenses(params: lsp.CodeLensParams) -> Any:
        found = to.text(params.text_document.uri)
        return found.kept("lenses", lambda document: RawJson.of([*_lenses(document)]))


def _named_tokens(document: Document) -> tuple[list[str], str]:
    """The kinds of words in pieces, and a name for them."""
    pieces = list(written_tokens(document))
    return pieces, f"{crc32(','.join(pieces).encode()):x}"


def _all_tokens(pieces: list[str], name: str) -> RawJson:
    data = ",".join(pieces)
    return RawJson(f'{{"data":[{data}],"resultId":"{name}"}}'.encode())


def _numbers(pieces: Iterable[str]) -> list[int]:
    return [int(number) for piece in pieces for number in piece.split(",")]


# what a whole text is asked about is written without the classes of the protocol: there is much


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


def _symbol(found: Symbol, source: Source) -> dict[str, object]:
    return {
        "name": found.name,
        "kind": _SYMBOLS[found.kind].value,
        "range": _range(source, found.span),
        "selectionRange": _range(source, found.name_span),
        "detail": found.detail,
        "children": [_symbol(each, source) for each in found.children],
    }


def _range(source: Source, span: Span) -> dict[str, object]:
    ends = zip(("start", "end"), range_of(source, span), strict=True)
    return {name: {"line": line, "character": column} for name, (line, column) in ends}


def _lenses(document: Document) -> Iterator[dict[str, object]]:
    """Commands on each function: the client runs the words of the argument in a terminal."""
    source = document.source
    path = source.path
    for symbol in outline(document):
        for each in (symbol, *symbol.children):
            if each.kind not in ("function", "primfunc"):
                continue
            line, column = source.position(each.name_span[0])
            place = _range(source, each.name_span)
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
                yield {"range": place, "command": command}


def add_calls(to: Server) -> None:
    """Which functions call which."""

    @to.feature(lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    def prepare(params: lsp.CallHierarchyPrepareParams) -> list[lsp.CallHierarchyItem]:
        document, at = to.place(params)
        found = document.names.at(at)
        if found is None or found.subject[0] != "function":
            return []
        of, name = str(found.subject[1]), str(found.subject[2])
        number = document.names.functions[of, name][0]
        return [_item(document, params.text_document.uri, number)]

    @to.feature(lsp.CALL_HIERARCHY_INCOMING_CALLS)
    def incoming(
        params: lsp.CallHierarchyIncomingCallsParams,
    ) -> list[lsp.CallHierarchyIncomingCall]:
        document, name = _called_function(to, params.item)
        if name is None:
            return []
        return [
            lsp.CallHierarchyIncomingCall(
                _item(document, params.item.uri, number),
                [range_in(document.source, span) for span in spans],
            )
            for number, spans in callers(document.names, name).items()
        ]

    @to.feature(lsp.CALL_HIERARCHY_OUTGOING_CALLS)
    def outgoing(
        params: lsp.CallHierarchyOutgoingCallsParams,
    ) -> list[lsp.CallHierarchyOutgoingCall]:
        document, name = _called_function(to, params.item)
        if name is None:
            return []
        names = document.names
        number = names.stretches[names.stretch(name.span[0])][1]
        assert number is not None
        return [
            lsp.CallHierarchyOutgoingCall(
                _item(document, params.item.uri, other),
                [range_in(document.source, span) for span in spans],
            )
            for other, spans in called(names, number).items()
        ]


def _item(document: Document, uri: str, number: int) -> lsp.CallHierarchyItem:
    piece, source = document.names.cut.pieces[number], document.source
    at = source.text.find(piece.name, piece.span[0] + piece.at + 4)
    return lsp.CallHierarchyItem(
        name=piece.name,
        kind=lsp.SymbolKind.Function,
        uri=uri,
        range=range_in(source, piece.span),
        selection_range=range_in(source, (at, at + len(piece.name))),
        detail=function_head(document, number),
    )


def _called_function(to: Server, item: lsp.CallHierarchyItem) -> tuple[Document, PlacedName | None]:
    document = to.text(item.uri).document
    place = item.selection_range.start
    found = document.names.at(offset(document.source, (place.line, place.character)))
    is_function = found is not None and found.subject[0] == "function"
    return document, found if is_function else None


# ---------------------------------------------------------------- diagnostics on request


def add_diagnostics(to: Server) -> None:
    """What is wrong with a text, and with the files of the workspace."""

    @to.feature(
        lsp.TEXT_DOCUMENT_DIAGNOSTIC,
        lsp.DiagnosticOptions(
            inter_file_dependencies=False, workspace_diagnostics=True, identifier="rlx"
        ),
    )
    def pulled(params: lsp.DocumentDiagnosticParams) -> Any:
        found = to.text(params.text_document.uri)
        number = f"{found.version}.{found.told}"
        if params.previous_result_id == number:
            return lsp.RelatedUnchangedDocumentDiagnosticReport(number)
        items = to.shown(params.text_document.uri)
        return lsp.RelatedFullDocumentDiagnosticReport(items, result_id=number)

    @to.feature("rlx/workspaceDiagnostics")
    def of_workspace(params: Any) -> Any:
        reports = []
        for uri, source in _sources(to, params.open):
            shown = to.texts.get(uri)
            if shown is not None and shown.document.source.text == source.text:
                items = to.shown(uri)
            else:
                found = to.checked(source)
                items = [diagnostic_of(d, source, uri) for d in found if d.code != "PARSE-nothing"]
            reports.append(lsp.WorkspaceFullDocumentDiagnosticReport(uri, items))
        return lsp.WorkspaceDiagnosticReport(reports)

    @to.feature("rlx/workspaceSymbols")
    def symbols(params: Any) -> list[lsp.WorkspaceSymbol]:
        return [
            lsp.WorkspaceSymbol(lsp.Location(uri, place), name, kind)
            for uri, source in _sources(to, params.open)
            for name, kind, place in _listed(source.text, source.path)
            if fits(params.query, name)
        ]


@lru_cache(maxsize=256)
def _listed(text: str, path: str) -> list[tuple[str, lsp.SymbolKind, lsp.Range]]:
    """The symbols of a text."""
    document = Document(text, path)
    return [
        (each.name, _SYMBOLS[each.kind], range_in(document.source, each.name_span))
        for each in _every(outline(document))
    ]


def _sources(to: Server, opened: Iterable[Any]) -> Iterator[tuple[str, Source]]:
    """The texts of the workspace: those that are open as they are now, the others from the disk."""
    now = {each.uri: Source(each.text.replace("\r\n", "\n"), path_of(each.uri)) for each in opened}
    yield from now.items()
    for source in to.files():
        uri = _uri(source.path)
        if uri not in now:
            yield uri, source


def _uri(path: str) -> str:
    return f"file://{quote(os.path.abspath(path))}"


def _every(symbols: Iterable[Symbol]) -> Iterator[Symbol]:
    for each in symbols:
        yield each
        yield from _every(each.children)


# ---------------------------------------------------------------- changes of the text


def add_edits(to: Server) -> None:
    """The layout of a part of a text, and all that can be mended."""

    @to.feature(lsp.TEXT_DOCUMENT_RANGE_FORMATTING)
    def formatting(params: lsp.DocumentRangeFormattingParams) -> list[lsp.TextEdit] | None:
        from rlx.lsp.layout import in_range

        document = to.text(params.text_document.uri).document
        first, last = to.offsets(document, params.range)
        return [
            lsp.TextEdit(range_in(document.source, edit.span), edit.text)
            for edit in in_range(document, first, last)
        ] or None


def create(trusted: bool = False, isolated: bool = False) -> Server:
    """A server with everything that it answers; see :class:`rlx.lsp.server.Server`."""
    made = Server(trusted, isolated)
    for add in (
        *(server.add_projects, server.add_texts, server.add_places, server.add_edits),
        *(server.add_hints, add_places, add_structure, add_calls, add_diagnostics, add_edits),
    ):
        add(made)
    return made
