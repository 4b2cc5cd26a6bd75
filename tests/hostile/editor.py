"""An editor with a damaged text open: everything that it may ask is answered, without another process."""

from __future__ import annotations

import asyncio
from functools import cache

from rlx.lsp.features import create
from rlx.lsp.server import Server
from rlx.lsp.texts import InvalidParams

from .command_lines import Given

WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 10**6, "character": 0}}
LONGEST = 10_000
"""A session checks a text up to seven times, whole."""

REFUSALS = (InvalidParams,)
"""How the server says that what is asked cannot be done."""


@cache
def made_server() -> Server:
    return create()


def wrong(given: Given) -> list[str]:
    """The problems with the answers, one edit and its undoing included."""
    text = given.text.replace("\r\n", "\n").replace("\r", "\n")[:LONGEST]
    return asyncio.run(_session(given, text))


QUESTIONS = (
    *("hover", "definition", "typeDefinition", "references", "documentHighlight"),
    *("prepareRename", "rename", "linkedEditingRange", "prepareCallHierarchy", "completion"),
    *("signatureHelp", "codeAction", "inlayHint", "rangeFormatting", "semanticTokens/range"),
    *("formatting", "documentSymbol", "foldingRange", "codeLens", "semanticTokens/full"),
    *("semanticTokens/full/delta", "diagnostic"),
)


async def _session(given: Given, text: str) -> list[str]:
    server, rng = made_server(), given.rng
    uri = f"file://{given.path}"
    half = text[: rng.randrange(len(text) + 1)]
    found: list[str] = []
    for version, now in enumerate((text, half, text)):
        server.changed(uri, now, version)
        settling = server.text(uri).settling
        if settling is not None:
            settling.cancel()
        for _ in range(2):
            found += _asked(server, uri, now, given)
    server.forget(uri)
    return found


def _asked(server: Server, uri: str, text: str, given: Given) -> list[str]:
    """The problems with the answer to one question about a place."""
    rng = given.rng
    line = rng.randrange(text.count("\n") + 2)
    column = rng.choice((rng.randrange(60), 0, 10**6))
    asked = {
        "textDocument": {"uri": uri},
        "position": {"line": line, "character": column},
        "range": WHOLE,
        "context": {"includeDeclaration": True, "diagnostics": []},
        "newName": rng.choice(("x", "q1", "", "é", "def", "a b")),
    }
    question = rng.choice(QUESTIONS)
    try:
        server.handlers[f"textDocument/{question}"](asked)
    except REFUSALS:
        pass
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        return [f"{question} at {line}, {column}: {type(error).__name__}: {str(error)[:200]}"]
    return []
