"""A client that speaks to a real `rlx lsp` in bytes, so that it can say what no editor would."""

from __future__ import annotations

import json
import os
import queue
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

from rlx.lsp.framing import messages

Message = dict[str, Any]


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Wire:
    """A session over standard input and output, in some folder, with a whole environment where rlx is started otherwise."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        words: Sequence[str] = (),
        start: Sequence[str] = (),
        folder: Path | None = None,
    ) -> None:
        self.process = subprocess.Popen(
            [*(start or (sys.executable, "-m", "rlx")), "lsp", "--stdio", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env={**({} if start else os.environ), **(environment or {})},
        )
        self.received: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self.answers: dict[Any, list[Message]] = {}
        self.without_id: list[Message] = []
        self.diagnostics: dict[str, Message] = {}
        self.shown: list[Message] = []
        self.number = 0
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for message in messages(self.process.stdout.fileno()):
            self.received.put(message)
        self.received.put(None)

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: object) -> None:
        self.raw(framed(json.dumps(message).encode()))

    def notify(self, method: str, params: object) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: object) -> int:
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def open(self, uri: str, text: str, version: object = 1) -> None:
        item = {"uri": uri, "languageId": "relax", "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, text: str, version: object) -> None:
        identifier = {"uri": uri, "version": version}
        changes = [{"text": text}]
        self.notify(
            "textDocument/didChange", {"textDocument": identifier, "contentChanges": changes}
        )

    def next(self) -> bool:
        """Take in the next message; whether there was one before the end of the output."""
        message = self.received.get(timeout=120)
        if message is None:
            return False
        if message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]
        elif message.get("method") == "window/showMessage":
            self.shown.append(message["params"])
        elif "method" not in message:
            if message["id"] is None:
                self.without_id.append(message)
            else:
                self.answers.setdefault(message["id"], []).append(message)
        return True

    def answer(self, number: object) -> Message:
        """Wait for the answer to a request."""
        while number not in self.answers:
            assert self.next(), "the server ended"
        return self.answers[number][0]

    def told(self, uri: str, version: object) -> list[str]:
        """Wait for the diagnostics of a version of a document: their codes."""
        while self.diagnostics.get(uri, {}).get("version") != version:
            assert self.next(), "the server ended"
        return [found["code"] for found in self.diagnostics[uri]["diagnostics"]]

    def start(self) -> None:
        params: Message = {"processId": None, "rootUri": None, "capabilities": {}}
        assert "result" in self.answer(self.ask("initialize", params))
        self.notify("initialized", {})

    def end(self) -> int:
        """End the session as an editor does; the exit status."""
        assert self.answer(self.ask("shutdown", None))["result"] is None
        self.notify("exit", None)
        return self.wait()

    def wait(self) -> int:
        while self.next():
            pass
        return self.process.wait(60)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


TEXTS = (
    '@R.function\ndef main(x: R.Tensor(("n", 4), "float32")):\n    y = R.add(x, x)\n    return y\n',
    '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    y = R.add(x, z)\n    return y\n',
    '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    y = R.ad(x, x) # \U0001f600é\n    return y\n',
    "@R.function\ndef main(x: R.Tensor(\n",
    "",
    "\r\n\r\r\n",
)
URIS = (
    "file:///work/a.rlx",
    "file:///work/b%20c.rlx",
    "untitled:Untitled-1",
    "file:///work/\U0001f600.rlx",
    "http://[x/y",
    "",
)
NAMES = (
    *("hover", "definition", "references", "prepareRename", "rename", "completion"),
    *("codeAction", "inlayHint", "formatting"),
    *("typeDefinition", "documentHighlight", "linkedEditingRange", "prepareCallHierarchy"),
    *("signatureHelp", "documentSymbol", "foldingRange", "selectionRange", "codeLens"),
    *("semanticTokens/full", "semanticTokens/full/delta", "semanticTokens/range"),
    *("rangeFormatting", "diagnostic"),
)
METHODS = (
    *(f"textDocument/{name}" for name in NAMES),
    *("callHierarchy/incomingCalls", "callHierarchy/outgoingCalls"),
    *("workspace/symbol", "workspace/diagnostic", "completionItem/resolve"),
)
HELP = {"triggerKind": 1, "isRetrigger": False}
NUMBERS = (0, 1, 2, 3, 7, 18, 19, 20, 10**6, 2**31 - 1)
WRONG: tuple[Any, ...] = (None, "x", -1, 2**31, 10**30, 1.5, True, [], {})


class Session:
    """Random requests, some of them malformed, and what is owed for each.

    Parameters
    ----------
    wire
        A session that has begun.
    seed
        Of the random numbers.
    """

    def __init__(self, wire: Wire, seed: int) -> None:
        self.wire, self.random = wire, random.Random(seed)
        self.owed: Counter[Any] = Counter()
        self.owed_without_id = 0
        self.texts: dict[str, str] = {}
        self.version = 0

    def run(self, count: int) -> None:
        """Send so many messages; every tenth is malformed."""
        for at in range(count):
            if at % 10 == 9:
                self._malformed()
            elif self.random.random() < 0.25:
                self._text()
            else:
                self._request()

    def _request(self) -> None:
        uri, place = self.random.choice(URIS), {"start": self._position(), "end": self._position()}
        params: Message = {
            "textDocument": {"uri": uri},
            "position": self._position(),
            "range": place,
            "context": {"includeDeclaration": True, "diagnostics": [], **HELP},
            "positions": [self._position()],
            "newName": self.random.choice(("a", "x", "1", "")),
            "options": {"tabSize": 4, "insertSpaces": True},
            "item": {"name": "main", "uri": uri, "range": place, "selectionRange": place},
            "query": self.random.choice(("", "ma", "\U0001f600")),
            "label": self.random.choice(("add", "main", "")),
            "data": self.random.choice(WRONG),
            "previousResultIds": [],
        }
        number = self.wire.ask(self.random.choice(METHODS), params)
        self.owed[number] += 1
        if self.random.random() < 0.1:
            self.wire.notify("$/cancelRequest", {"id": number})

    def _position(self) -> Message:
        return {
            "line": self.random.choice(NUMBERS),
            "character": self.random.choice(NUMBERS),
        }

    def _text(self) -> None:
        uri = self.random.choice(URIS)
        text = self.random.choice(TEXTS)
        self.version += self.random.choice((1, 1, 1, 100))
        kind = self.random.random()
        if uri not in self.texts or kind < 0.1:  # sometimes a second time
            self.wire.open(uri, text, self.version)
            self.texts[uri] = text
        elif kind < 0.2:
            self.wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
            del self.texts[uri]
        else:
            self.wire.change(uri, text, self.version)
            self.texts[uri] = text

    def _malformed(self) -> None:
        wire, choose = self.wire, self.random.choice
        self.version += 1
        kind = self.random.randrange(12)
        match kind:
            case 0:
                wire.raw(framed(choose((b"{", b"", b"\xff\xfe", b"[" * 100_000, b"nul"))))
                self.owed_without_id += 1
            case 1:
                wire.raw(choose((b"Content-Length: x\r\n\r\n{}", b"Content-Length: -5\r\n\r\n")))
                self.owed_without_id += 1
            case 2:
                wire.raw(b"garbage\n\r\n\x00 more garbage\r\n\r\n")
                self.owed_without_id += 1
            case 3:
                wire.send(choose(([], [{"jsonrpc": "2.0", "id": 1, "method": "a"}], 5, "x", None)))
                self.owed_without_id += 1
            case 4:
                wire.send(
                    {"jsonrpc": "2.0", "id": choose((None, 1.5, [], {}, True)), "method": "x"}
                )
                self.owed_without_id += 1
            case 5:
                self._owe({"method": choose(("", "textDocument/x", "$/y", "workspace/y"))})
            case 6:
                self._owe({"method": choose((*WRONG[2:], None)), "params": {}})
            case 7:
                self._owe({"method": choose(METHODS), "params": choose(WRONG)})
            case 8:
                place = {"line": choose(WRONG), "character": 0}
                params = {"textDocument": {"uri": choose(URIS)}, "position": place}
                self._owe({"method": choose(METHODS), "params": params})
            case 9:
                uri = choose((*WRONG, "file:///never/opened.rlx"))
                params = {"textDocument": {"uri": uri}, "position": self._position()}
                self._owe({"method": choose(METHODS), "params": params})
            case 10:
                params = {"textDocument": {"uri": choose(URIS)}, "contentChanges": choose(WRONG)}
                wire.notify(choose(("textDocument/didChange", "$/cancelRequest", "x")), params)
            case 11:
                self._owe({"jsonrpc": choose(("1.0", None, 2)), "method": "textDocument/hover"})

    def _owe(self, message: Message) -> None:
        self.wire.number += 1
        number: Any = self.random.choice((self.wire.number, f"s{self.wire.number}"))
        self.owed[number] += 1
        self.wire.send({"jsonrpc": "2.0", "id": number, **message})

    def settle(self) -> None:
        """Wait for what is owed, and a moment longer for what is not."""
        for number in self.owed:
            self.wire.answer(number)
        while len(self.wire.without_id) < self.owed_without_id:
            assert self.wire.next(), "the server ended"
