"""A scripted editor talks to `rlx lsp`."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("pygls")

from lsprotocol import types as lsp
from pygls.lsp._base_client import BaseLanguageClient

from rlx.checker.check import check_text
from rlx.lsp.document import Document
from rlx.lsp.features import create
from rlx.lsp.server import OpenText, code_actions
from tests.checker.test_fixing import CASES

from .test_incremental import module

TEXT = """\
@I.ir_module
class Module:
    @R.function
    def twice(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        return R.add(x, x)

    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        cls = Module
        with R.dataflow():
            a = cls.twice(x)
            b = R.nn.relu(a)
            R.output(b)
        return b
"""
URI = "file:///work/model.rlx"


class Editor(BaseLanguageClient):
    """Keeps the diagnostics that the server sends."""

    def __init__(self) -> None:
        super().__init__("editor", "1")
        self.told: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()

        @self.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def told(params: lsp.PublishDiagnosticsParams) -> None:
            self.told.put_nowait(params)

    async def codes(self) -> list[str]:
        """The codes of the next diagnostics."""
        params = await asyncio.wait_for(self.told.get(), 60)
        return [str(d.code) for d in params.diagnostics]

    async def open(self, text: str) -> list[str]:
        item = lsp.TextDocumentItem(URI, "relax", 1, text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return await self.codes()

    async def open_python(self, text: str) -> list[str]:
        item = lsp.TextDocumentItem("file:///work/model.py", "python", 1, text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        return await self.codes()

    async def change(self, text: str, version: int) -> list[str]:
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        identifier = lsp.VersionedTextDocumentIdentifier(version, URI)
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, [whole]))
        return await self.codes()


def scripted(script: Callable[[Editor], Awaitable[None]]) -> None:
    """Run a script against a server of its own."""

    async def session() -> None:
        editor = Editor()
        await editor.start_io(sys.executable, "-m", "rlx", "lsp", "--stdio")
        await editor.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities()))
        editor.initialized(lsp.InitializedParams())
        await script(editor)
        await editor.shutdown_async(None)
        editor.exit(None)
        assert editor._server is not None
        assert await asyncio.wait_for(editor._server.wait(), 60) == 0
        await editor.stop()  # type: ignore[no-untyped-call]

    asyncio.run(session())


def at(word: str, text: str = TEXT, which: int = 0) -> dict[str, Any]:
    """The place of a word, as parameters."""
    offset = -1
    for _ in range(which + 1):
        offset = text.index(word, offset + 1)
    line = text.count("\n", 0, offset)
    column = offset - (text.rfind("\n", 0, offset) + 1)
    return {
        "text_document": lsp.TextDocumentIdentifier(URI),
        "position": lsp.Position(line, column),
    }


def lines(found: Any) -> list[int]:
    return [each.range.start.line for each in found]


def test_an_editor_is_told_all_that_it_asks() -> None:
    async def script(editor: Editor) -> None:
        assert await editor.open(TEXT) == []
        hover = await editor.text_document_hover_async(lsp.HoverParams(**at("b = R.nn")))
        assert hover is not None and isinstance(hover.contents, lsp.MarkupContent)
        assert 'b: R.Tensor((n, 4), dtype="float32")' in hover.contents.value
        assert "R.nn.relu(a)" in hover.contents.value and "D11" in hover.contents.value
        hover = await editor.text_document_hover_async(lsp.HoverParams(**at("R.nn.relu")))
        assert hover is not None and "R.nn.relu(" in hover.contents.value  # type: ignore[union-attr]
        found = await editor.text_document_definition_async(lsp.DefinitionParams(**at("a)")))
        assert isinstance(found, lsp.Location) and found.range.start.line == 10
        context = lsp.ReferenceContext(include_declaration=True)
        places = await editor.text_document_references_async(
            lsp.ReferenceParams(context=context, **at("b = R.nn"))
        )
        assert lines(places) == [11, 12, 13]
        places = await editor.text_document_references_async(
            lsp.ReferenceParams(context=context, **at("twice"))
        )
        assert lines(places) == [3, 10]
        renamed = await editor.text_document_rename_async(
            lsp.RenameParams(new_name="result", **at("b = R.nn"))
        )
        assert renamed is not None and renamed.changes is not None
        assert len(renamed.changes[URI]) == 3
        with pytest.raises(Exception, match="keyword of Python"):
            await editor.text_document_rename_async(
                lsp.RenameParams(new_name="return", **at("a = cls"))
            )
        hints = await editor.text_document_inlay_hint_async(
            lsp.InlayHintParams(
                lsp.TextDocumentIdentifier(URI), lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
            )
        )
        assert hints is not None
        assert [h.label for h in hints] == [': R.Tensor((n, 4), dtype="float32")'] * 2

    scripted(script)


def test_mistakes_are_told_mended_and_completed() -> None:
    async def script(editor: Editor) -> None:
        wrong = TEXT.replace("R.nn.relu(a)", "R.nn.rleu(a)")
        assert await editor.open(wrong) == ["D14-operator"]
        place = at("R.nn.rleu", wrong)["position"]
        actions = await editor.text_document_code_action_async(
            lsp.CodeActionParams(
                lsp.TextDocumentIdentifier(URI), lsp.Range(place, place), lsp.CodeActionContext([])
            )
        )
        assert actions is not None
        assert [a.title for a in actions] == [
            "change to `R.nn.relu`",
            "ignore D14-operator here",
            "fix all that rlx can fix",
        ]
        only = lsp.CodeActionContext([], only=["source.fixAll"])
        fixes = await editor.text_document_code_action_async(
            lsp.CodeActionParams(lsp.TextDocumentIdentifier(URI), lsp.Range(place, place), only)
        )
        assert fixes is not None
        (fix,) = fixes
        assert isinstance(fix, lsp.CodeAction)
        assert fix.edit is not None and fix.edit.changes is not None
        (edit,) = fix.edit.changes[URI]
        assert (fix.kind, edit.new_text) == ("source.fixAll.rlx", TEXT)
        assert await editor.change(TEXT, 2) == []
        typing = TEXT.replace("R.nn.relu(a)", "R.nn.re")
        await editor.change(typing, 3)
        where = at("R.nn.re", typing)
        where["position"].character += len("R.nn.re")
        completions = await editor.text_document_completion_async(lsp.CompletionParams(**where))
        assert isinstance(completions, lsp.CompletionList)
        details = {c.label: c.detail for c in completions.items}
        assert details["R.nn.relu"] == "R.nn.relu(data: tensor)" or "R.nn.relu(" in str(
            details["R.nn.relu"]
        )
        untidy = TEXT.replace("R.add(x, x)", "R.add(  x,x )")
        await editor.change(untidy, 4)
        edits = await editor.text_document_formatting_async(
            lsp.DocumentFormattingParams(
                lsp.TextDocumentIdentifier(URI), lsp.FormattingOptions(4, True)
            )
        )
        assert edits and "R.add(x, x)" in edits[0].new_text

    scripted(script)


def test_a_long_text_is_checked_whole_when_nobody_types() -> None:
    async def script(editor: Editor) -> None:
        text = module(40, 20)
        assert await editor.open(text) == []
        assert await editor.change(text.replace("R.add(x, y)", "R.add(x, q)", 1), 2) == [
            "WF02-undefined"
        ]
        assert await editor.codes() == ["WF02-undefined"]  # once more, of the whole text

    scripted(script)


def test_python_without_relax_is_left_in_peace() -> None:
    async def script(editor: Editor) -> None:
        assert await editor.open_python("import os\n") == []
        assert await editor.open_python("@R.function\ndef f():\n    return y\n") == [
            "WF02-undefined"
        ]

    scripted(script)


def test_a_text_that_is_closed_has_no_mistakes_any_more() -> None:
    """Whether it waits to be checked whole or not; opened again, it is told anew."""

    async def script(editor: Editor) -> None:
        identifier = lsp.TextDocumentIdentifier(URI)
        long = module(40, 20)
        wrong = long.replace("R.add(x, y)", "R.add(x, q)", 1)
        for opened, edited in ((TEXT, None), (TEXT.replace("(a)", "(q)"), None), (long, wrong)):
            told = await editor.open(opened)
            if edited is not None:
                assert await editor.change(edited, 2) == ["WF02-undefined"]
            editor.text_document_did_close(lsp.DidCloseTextDocumentParams(identifier))
            assert await editor.codes() == []
            assert await editor.open(opened) == told
            editor.text_document_did_close(lsp.DidCloseTextDocumentParams(identifier))
            assert await editor.codes() == []

    scripted(script)


def test_a_closed_text_is_not_checked_whole() -> None:
    async def session() -> None:
        made = create()
        waiting = asyncio.create_task(asyncio.sleep(60))
        made.text(URI).settling = waiting
        made.forget(URI)
        await asyncio.wait([waiting], timeout=10)
        assert waiting.cancelled()

    asyncio.run(session())


@pytest.mark.parametrize("case", CASES)
def test_an_action_says_what_it_does(case: str) -> None:
    """Its title is no question."""
    text = CASES[case][0]
    found = OpenText("a.rlx")
    found.document, found.diagnostics = Document(text, "a.rlx"), check_text(text).diagnostics
    assert any(diagnostic.edit is not None for diagnostic in found.diagnostics)
    asked = {
        "textDocument": {"uri": URI},
        "range": {"start": {"line": 0}, "end": {"line": text.count("\n") + 1}},
    }
    titles = [action["title"] for action in code_actions(found, asked)]
    for diagnostic in found.diagnostics:
        if diagnostic.edit is not None:
            said = re.fullmatch(r"did you mean (.*)\?", diagnostic.help or "", re.DOTALL)
            title = f"change to {said[1]}" if said else diagnostic.help or f"fix {diagnostic.code}"
            assert title in titles
    assert not [title for title in titles if "?" in title or "did you mean" in title]
