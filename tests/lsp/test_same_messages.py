"""What the server sends about broken programs stays what it is: every feature, at every second line.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/lsp/test_same_messages.py` writes it anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")

from lsprotocol import converters
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from rlx.checker.check import check_text
from rlx.lsp.document import Document
from rlx.lsp.server import Server, create
from tests.snapshots import assert_digest

BROKEN = sorted((Path(__file__).parents[2] / "examples" / "broken").glob("*.rlx"))
SNAPSHOT = Path(__file__).parent / "snapshots" / "messages.txt"
URI = "file:///work/model.rlx"
TEXT = lsp.TextDocumentIdentifier(URI)


def opened(text: str) -> Server:
    """A server that has the text, as if an editor had opened it."""
    server = create()
    found = server.text(URI)
    found.document = Document(text, "/work/model.rlx")
    found.diagnostics = check_text(text, "/work/model.rlx").diagnostics
    return server


def questions(text: str) -> Iterator[tuple[str, Any]]:
    lines = text.splitlines()
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(len(lines), 0))
    yield (
        lsp.TEXT_DOCUMENT_FORMATTING,
        lsp.DocumentFormattingParams(TEXT, lsp.FormattingOptions(4, True)),
    )
    yield lsp.TEXT_DOCUMENT_INLAY_HINT, lsp.InlayHintParams(TEXT, whole)
    half = lsp.Range(lsp.Position(0, 0), lsp.Position(len(lines) // 2, 0))
    yield lsp.TEXT_DOCUMENT_INLAY_HINT, lsp.InlayHintParams(TEXT, half)
    nothing = lsp.CodeActionContext([])
    yield lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionParams(TEXT, whole, nothing)
    for number, line in enumerate(lines):
        here = lsp.Range(lsp.Position(number, 0), lsp.Position(number, len(line)))
        yield lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionParams(TEXT, here, nothing)
        if number % 2:
            continue
        for column in range(0, len(line) + 1, 11):
            at = lsp.Position(number, column)
            yield lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(TEXT, at)
            yield lsp.TEXT_DOCUMENT_DEFINITION, lsp.DefinitionParams(TEXT, at)
            for declared in (False, True):
                context = lsp.ReferenceContext(declared)
                yield lsp.TEXT_DOCUMENT_REFERENCES, lsp.ReferenceParams(context, TEXT, at)
            yield lsp.TEXT_DOCUMENT_PREPARE_RENAME, lsp.PrepareRenameParams(TEXT, at)


def answers(text: str) -> Iterator[str]:
    server, converter = opened(text), converters.get_converter()
    for name, params in questions(text):
        try:
            answer = server.protocol.fm.features[name](params)
        except JsonRpcException as error:
            yield f"{name} {error}"
            continue
        yield f"{name} {converter.unstructure(answer)}"


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_messages_are_as_they_were(path: Path) -> None:
    assert_digest(SNAPSHOT, path.stem, "\n".join(answers(path.read_text("utf-8"))))
