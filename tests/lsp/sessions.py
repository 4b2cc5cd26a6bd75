"""Sessions of an editor as texts of JSON: a text that is opened and edited, and all that the server answers in between."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any
from unittest.mock import patch

from lsprotocol import converters
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.workspace import Workspace

from rlx.checker.check import check_text
from rlx.generate.programs import Options, random_module
from rlx.grammar.printer import print_module
from rlx.lsp import incremental
from rlx.lsp import server as served
from rlx.lsp.cut import cut
from rlx.lsp.document import Document
from rlx.lsp.excerpt import circle
from rlx.lsp.server import Server, create
from rlx.lsp.version import TextVersion
from tests.cli import requests
from tests.lsp.law import EDITS, said, texts

NAMES = ("x", "main", "q1", "", "é", "def", "a b", "Module", "gv", "n")
LONGEST = 2_500
PLACES = 2
"""How many places of each version are asked about."""


def session(random: Random) -> str:
    """A session."""
    match random.randrange(5):
        case 0:
            version = random.choice(["0.16", "0.26", "0.27"])
            text = print_module(random_module(random, Options(random.randint(2, 6))), version)
        case 1 | 2:
            short = [path for path in texts() if path.stat().st_size <= LONGEST]
            text = random.choice(short).read_text("utf-8")
        case _:
            text = requests.program(random)
    edits, now = [], text
    for _ in range(random.choice([0, 1, 2, 2, 3])):
        made = random.choice(EDITS)(now, random) if random.random() < 0.8 else text
        edits.append(_edit(now, made))
        now = made
    made_of = {
        "path": random.choice(["/w/p.rlx", "/w/p.rlx", "/w/p.py", "/w/a b.rlx"]),
        "text": text,
        "edits": edits,
        "small": random.choice([0, 0, 0, 200, 20_000]),
        "part": random.choice([2.0, 2.0, 0.7, 0.3]),
        "settled": random.random() < 0.2,
    }
    return json.dumps(made_of, ensure_ascii=False).encode("utf-8", "replace").decode()


def _edit(before: str, after: str) -> tuple[int, int, str]:
    """What stands between the common start and the common end."""
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    return start, len(before) - end, after[start : len(after) - end]


def _common(one: str, other: str) -> int:
    """How many first characters are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def answers(text: str) -> list[str]:
    """What the server tells and answers, with what its parts know."""
    given = json.loads(text)
    with (
        patch.object(incremental, "SMALL", given["small"]),
        patch.object(incremental, "PART", given["part"]),
        patch.object(served, "QUIET", 0.0),
        ThreadPoolExecutor(1) as beside,
    ):
        return asyncio.run(_answers(given, beside))


async def _answers(given: dict[str, Any], beside: ThreadPoolExecutor) -> list[str]:
    server, told = create(), list[Any]()
    server.protocol._workspace = Workspace(None, lsp.TextDocumentSyncKind.Full)
    server.text_document_publish_diagnostics = told.append  # type: ignore[method-assign, assignment]
    server.__dict__["beside"] = beside
    uri = f"file://{given['path'].replace(' ', '%20')}"
    found, now, random = list[str](), given["text"], Random(given["text"])
    for version, edit in enumerate([None, *given["edits"]]):
        if edit is not None:
            now = now[: edit[0]] + edit[2] + now[edit[1] :]
        found += await _version(server, uri, now, version, given["settled"])
        found += _asked(server, uri, now, random)
    found += _known(now, random)
    server.protocol.fm.features[lsp.TEXT_DOCUMENT_DID_CLOSE](
        lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri))
    )
    converter = converters.get_converter()
    return [*found, *(str(converter.unstructure(each)) for each in told), str(len(server.texts))]


def _stepped(before: TextVersion | None, text: str, path: str) -> Iterator[str]:
    """What an edit concerns: how much is checked shows in no diagnostic."""
    if before is None:
        return
    step = incremental._Step(before, text, path)
    made = step.take()
    yield f"{made is None} {sorted(step.to.items())} {sorted(step.heads)} {sorted(step.renamed)}"
    yield f"{sorted(step.wanted)} {step.entered} {step.names}"
    for number, piece in enumerate(step.now.pieces):
        yield f"{piece.span} {piece.name} {piece.head!r} {piece.closed} {piece.at}"
        yield f"{sorted(piece.marks)} {sorted(circle(step.now, number, step.names))}"
    yield f"{step.now.gaps()} {cut(text).pieces == step.now.pieces}"
    part = step._excerpt()
    if part is not None:
        yield f"{part.text}\n{[piece.span for piece in part.cut.pieces]}"
    if made is not None:
        yield f"{made.faces} {made.hides()} {sorted(made.told_of(made.diagnostics))}"


async def _version(
    server: Server, uri: str, text: str, version: int, settled: bool
) -> Iterator[str]:
    """The server is told of a version; what it knows then."""
    path = server.text(uri).checker.path
    steps = [*_stepped(server.text(uri).checker._last, text, path)]
    server.workspace.put_text_document(lsp.TextDocumentItem(uri, "relax", version, text))
    name = lsp.TEXT_DOCUMENT_DID_CHANGE if version else lsp.TEXT_DOCUMENT_DID_OPEN
    item = lsp.TextDocumentItem(uri, "relax", version, text)
    server.protocol.fm.features[name](lsp.DidOpenTextDocumentParams(item))
    settling = server.text(uri).settling
    if settling is not None and settled:
        with contextlib.suppress(asyncio.CancelledError):
            await settling
    elif settling is not None:
        settling.cancel()
    open_text = server.text(uri)
    return iter(
        [
            f"{open_text.checker.full} {open_text.version} {open_text.checker.path}",
            str(said(open_text.diagnostics)),
            *steps,
        ]
    )


def _asked(server: Server, uri: str, text: str, random: Random) -> Iterator[str]:
    """The answers to questions about places, and about the whole text."""
    converter, features = converters.get_converter(), server.protocol.fm.features
    for name, params in _questions(uri, text, random):
        try:
            answer = converter.unstructure(features[name](params))
        except JsonRpcException as error:
            answer = str(error)
        if name == lsp.TEXT_DOCUMENT_COMPLETION:
            items = answer["items"]
            answer = [len(items), *items[:3], *items[-3:]]
        yield f"{name} {answer}"
    for key, window in server.text(uri).windows.items():
        yield f"{sorted(key)} {window.document.source.text} {window.part is None}"


def _known(text: str, random: Random) -> Iterator[str]:
    """What a document knows without a server."""
    report = check_text(text, "/w/p.rlx") if random.random() < 0.5 else None
    document = Document(text, "/w/p.rlx", report)
    for _ in range(PLACES):
        at = random.randrange(len(text) + 1)
        yield f"{at} {document.definition(at)}"
        yield f"{document.references(at)} {document.references(at, definitions=False)}"
    yield f"{document.hover(random.randrange(len(text) + 1))} {document.hints()}"


def _questions(uri: str, text: str, random: Random) -> Iterator[tuple[str, Any]]:
    place, lines = lsp.TextDocumentIdentifier(uri), text.split("\n")
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(len(lines), 0))
    yield (
        lsp.TEXT_DOCUMENT_FORMATTING,
        lsp.DocumentFormattingParams(place, lsp.FormattingOptions(4, True)),
    )
    nothing = lsp.CodeActionContext([])
    for _ in range(3):
        first = random.randrange(len(lines) + 1)
        some = lsp.Range(lsp.Position(first, 0), lsp.Position(first + random.randrange(6), 3))
        yield lsp.TEXT_DOCUMENT_INLAY_HINT, lsp.InlayHintParams(place, some)
        yield lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionParams(place, some, nothing)
    yield lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionParams(place, whole, nothing)
    for _ in range(PLACES):
        line = random.randrange(len(lines) + (random.random() < 0.05))
        width = len(lines[line]) if line < len(lines) else 0
        at = lsp.Position(line, random.randrange(width + 1) if random.random() < 0.95 else 10**6)
        if random.random() < 0.4:  # it is dear
            yield lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(place, at)
        yield lsp.TEXT_DOCUMENT_DEFINITION, lsp.DefinitionParams(place, at)
        yield lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionParams(place, at)
        context = lsp.ReferenceContext(random.random() < 0.5)
        yield lsp.TEXT_DOCUMENT_REFERENCES, lsp.ReferenceParams(context, place, at)
        yield lsp.TEXT_DOCUMENT_PREPARE_RENAME, lsp.PrepareRenameParams(place, at)
        yield (
            lsp.TEXT_DOCUMENT_RENAME,
            lsp.RenameParams(new_name=random.choice(NAMES), text_document=place, position=at),
        )
