"""An editor with a damaged text open: everything that it may ask is answered, without another process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.workspace import Workspace

from rlx.lsp.features import create
from rlx.lsp.server import Server

from .command_lines import Given

WHOLE = lsp.Range(lsp.Position(0, 0), lsp.Position(10**6, 0))
LONGEST = 10_000
"""A session checks a text up to seven times, whole."""

REFUSALS = (JsonRpcInvalidParams,)
"""How the server says that what is asked cannot be done."""


@cache
def made_server() -> Server:
    made = create()
    made.protocol._workspace = Workspace(None, lsp.TextDocumentSyncKind.Full)
    told: list[object] = []
    made.text_document_publish_diagnostics = told.append  # type: ignore[method-assign, assignment]
    made.told = told  # type: ignore[attr-defined]
    return made


def wrong(given: Given) -> list[str]:
    """What is wrong with the answers, one edit and its undoing included."""
    text = given.text.replace("\r\n", "\n").replace("\r", "\n")[:LONGEST]
    return asyncio.run(_session(given, text))


async def _session(given: Given, text: str) -> list[str]:
    server, rng = made_server(), given.rng
    uri = f"file://{given.path}"
    half = text[: rng.randrange(len(text) + 1)]
    found: list[str] = []
    for version, now in enumerate((text, half, text)):
        item = lsp.TextDocumentItem(uri, "relax", version, now)
        server.workspace.put_text_document(item)
        server.changed(uri)
        settling = server.text(uri).settling
        if settling is not None:
            settling.cancel()
        for _ in range(2):
            found += _asked(server, uri, now, given)
    server.forget(uri)
    server.workspace.remove_text_document(uri)
    return found


def _asked(server: Server, uri: str, text: str, given: Given) -> list[str]:
    """What is wrong with the answer to one question about a place."""
    rng = given.rng
    line = rng.randrange(text.count("\n") + 2)
    place: dict[str, Any] = {
        "text_document": lsp.TextDocumentIdentifier(uri),
        "position": lsp.Position(line, rng.choice((rng.randrange(60), 0, 10**6))),
    }
    here = {"text_document": place["text_document"], "range": WHOLE}
    questions: dict[str, Callable[[], Any]] = {
        lsp.TEXT_DOCUMENT_HOVER: lambda: lsp.HoverParams(**place),
        lsp.TEXT_DOCUMENT_DEFINITION: lambda: lsp.DefinitionParams(**place),
        lsp.TEXT_DOCUMENT_REFERENCES: lambda: lsp.ReferenceParams(
            lsp.ReferenceContext(True), **place
        ),
        lsp.TEXT_DOCUMENT_PREPARE_RENAME: lambda: lsp.PrepareRenameParams(**place),
        lsp.TEXT_DOCUMENT_RENAME: lambda: lsp.RenameParams(
            new_name=rng.choice(("x", "q1", "", "é", "def", "a b")), **place
        ),
        lsp.TEXT_DOCUMENT_COMPLETION: lambda: lsp.CompletionParams(**place),
        lsp.TEXT_DOCUMENT_FORMATTING: lambda: lsp.DocumentFormattingParams(
            place["text_document"], lsp.FormattingOptions(4, True)
        ),
        lsp.TEXT_DOCUMENT_CODE_ACTION: lambda: lsp.CodeActionParams(
            context=lsp.CodeActionContext([]), **here
        ),
        lsp.TEXT_DOCUMENT_INLAY_HINT: lambda: lsp.InlayHintParams(**here),
    }
    question = rng.choice(list(questions))
    answer = server.protocol.fm.features[question]
    try:
        answer(questions[question]())
    except REFUSALS:
        pass
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        return [f"{question} at {place['position']}: {type(error).__name__}: {str(error)[:200]}"]
    return []
