"""The server of editors, as an editor meets it: ``python -m benchmarks.lsp [REPEATS]``.

A client of its own talks JSON-RPC to `rlx lsp` over pipes. It opens a decoder of 90 layers in one
function, whose widths all differ and whose length is symbolic, and edits lines all over it, each
edit followed by one that takes it back. Timed is the way from the first byte of an edit to the last
byte of its diagnostics; the processor time is the server's, on average. Then it asks every question
of the protocol at places all over the text. TVM has no such server.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.first_run import decoder

URI = "file:///work/model.rlx"
LAYERS = 500
PAUSE = 0.05
"""Seconds between two edits: quicker than anybody types, so that nothing is checked in between."""

Edit = tuple[str, str]
"""What is taken from a line, and what is put there."""

EDITS: Mapping[str, Edit] = {
    "good": ("R.nn.silu(", "R.nn.gelu("),
    "unknown name": ("R.nn.silu(", "R.nn.silu(y"),
    "wrong shape": ("R.nn.silu(", "R.permute_dims("),
    "half a token": ("R.nn.silu(", "R.nn.si("),
    "open bracket": ("R.add(", "R.add(("),
    "open string": ("R.add(", 'R.add("'),
    "half a line": ("R.add(", "R.add"),
    "new line": ("= R.add(", "= p0\n            q = R.add("),
    "another axis": ("axes=[0, 2, 1]", "axes=[0, 1, 2]"),
}


class Client:
    """An editor."""

    def __init__(self) -> None:
        self.server = subprocess.Popen(
            [sys.executable, "-m", "rlx", "lsp", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.number = self.version = 0
        self.ask("initialize", processId=None, rootUri=None, capabilities={})
        self.send("initialized")

    def send(self, method: str, number: int | None = None, **params: Any) -> None:
        """A message; a request, if it has a number."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        body = json.dumps(message if number is None else {**message, "id": number}).encode()
        assert self.server.stdin is not None
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def receive(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next message that is wanted."""
        stream = self.server.stdout
        assert stream is not None
        while True:
            length = 0
            while line := stream.readline().strip():
                if line.startswith(b"Content-Length:"):
                    length = int(line.split(b":")[1])
            if not length:
                raise RuntimeError("the server has ended")
            message: dict[str, Any] = json.loads(stream.read(length))
            if wanted(message):
                return message

    def ask(self, method: str, **params: Any) -> Any:
        """The answer to a request."""
        self.number += 1
        number = self.number
        self.send(method, number, **params)
        return self.receive(lambda message: message.get("id") == number).get("result")

    def told(self) -> list[dict[str, Any]]:
        """The diagnostics of the version that was sent last."""

        def of_this_version(message: dict[str, Any]) -> bool:
            return bool(message.get("params", {}).get("version") == self.version)

        found: list[dict[str, Any]] = self.receive(of_this_version)["params"]["diagnostics"]
        return found

    def open(self, content: str) -> float:
        """Seconds until the diagnostics of a text are there."""
        self.version = 1
        item = {"uri": URI, "languageId": "relax", "version": 1, "text": content}
        start = time.perf_counter()
        self.send("textDocument/didOpen", textDocument=item)
        self.told()
        return time.perf_counter() - start

    def change(self, start: list[int], end: list[int], put: str) -> tuple[float, int]:
        """Seconds from an edit to its diagnostics, and how many these are."""
        self.version += 1
        first, last = ({"line": line, "character": column} for line, column in (start, end))
        change = {"range": {"start": first, "end": last}, "text": put}
        begun = time.perf_counter()
        self.send(
            "textDocument/didChange",
            textDocument={"uri": URI, "version": self.version},
            contentChanges=[change],
        )
        found = self.told()
        return time.perf_counter() - begun, len(found)

    def timed(self, method: str, **params: Any) -> float:
        """Seconds until the answer to a question about the text is there."""
        begun = time.perf_counter()
        self.ask(method, textDocument={"uri": URI}, **params)
        return time.perf_counter() - begun

    def processor(self) -> float:
        """Seconds of processor time that the server and its workers have taken."""
        total, waiting = 0, [self.server.pid]
        while waiting:
            process = Path(f"/proc/{waiting.pop()}")
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
            for task in (process / "task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        return total / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the server."""
        self.ask("shutdown")
        self.send("exit")
        self.server.wait(60)


def place(content: str, offset: int) -> list[int]:
    """The line and the column of an offset, from 0."""
    before = content[:offset]
    return [before.count("\n"), len(before) - before.rfind("\n") - 1]


def measure(client: Client, content: str, edit: Edit, repeats: int) -> tuple[list[float], int]:
    """Seconds of edits at random lines and of taking them back, and the most diagnostics of one."""
    old, new = edit
    found = [at for at in range(len(content)) if content.startswith(old, at)]
    seconds: list[float] = []
    most = 0
    for at in random.Random(0).choices(found, k=repeats):
        edited = content[:at] + new + content[at + len(old) :]
        start = place(content, at)
        forth, count = client.change(start, place(content, at + len(old)), new)
        time.sleep(PAUSE)
        back, none = client.change(start, place(edited, at + len(new)), old)
        time.sleep(PAUSE)
        assert none == 0
        most = max(most, count)
        seconds += (forth, back)
    return seconds, most


def percentile(seconds: list[float], part: float) -> float:
    """The time that this part of them stays below."""
    return sorted(seconds)[min(len(seconds) - 1, int(part * len(seconds)))]


def figures(seconds: list[float]) -> tuple[str, str]:
    """The median, and what 95 % of them stay below."""
    return f"{1000 * median(seconds):.0f} ms", f"{1000 * percentile(seconds, 0.95):.0f} ms"


def row(*cells: str) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"


AT_PLACE = (
    *("hover", "definition", "typeDefinition", "references", "documentHighlight", "prepareRename"),
    *("rename", "linkedEditingRange", "prepareCallHierarchy", "completion", "signatureHelp"),
)
IN_RANGE = ("codeAction", "inlayHint", "rangeFormatting", "semanticTokens/range")
OF_TEXT = (
    *("documentSymbol", "foldingRange", "codeLens", "semanticTokens/full", "diagnostic"),
    "formatting",
)


def questions(client: Client, content: str, repeats: int) -> Iterator[str]:
    """Ask everything at places that lie apart."""
    lines = content.splitlines()
    step = len(lines) // (repeats + 1)
    places = [{"line": step * (n + 1), "character": 14} for n in range(repeats)]
    options = {"tabSize": 4, "insertSpaces": True}
    everything: list[float] = []

    def ask(method: str, asked: list[dict[str, Any]]) -> str:
        taken = [client.timed(method, **params) for params in asked]
        everything.extend(taken)
        name = method.partition("/")[2] or method
        return row(name, f"{1000 * taken[0]:.0f} ms", *figures(taken))

    yield row("question", "first", "median", "95 %")
    yield row(*["---"] * 4)
    for name in AT_PLACE:
        more = {"context": {"includeDeclaration": True}} if name == "references" else {}
        asked = [{"position": at, "newName": f"other{n}", **more} for n, at in enumerate(places)]
        yield ask(f"textDocument/{name}", asked)
    for name in IN_RANGE:
        spans = [{"start": at, "end": {"line": at["line"] + 50, "character": 0}} for at in places]
        asked = [
            {"range": span, "options": options, "context": {"diagnostics": []}} for span in spans
        ]
        yield ask(f"textDocument/{name}", asked)
    for name in OF_TEXT:
        yield ask(f"textDocument/{name}", [{"options": options}] * repeats)
    yield ask("textDocument/selectionRange", [{"positions": [at]} for at in places])
    yield row("all", "", *figures(everything))


def edits(client: Client, content: str, repeats: int) -> Iterator[str]:
    """Make the edits."""
    yield row("edit", "diagnostics", "median", "95 %", "processor")
    yield row(*["---"] * 5)
    everything: list[float] = []
    for name, edit in EDITS.items():
        before = client.processor()
        taken, count = measure(client, content, edit, repeats)
        everything += taken
        used = (client.processor() - before) / len(taken)
        yield row(name, f"at most {count}", *figures(taken), f"{1000 * used:.0f} ms")
    yield row("all", "", *figures(everything), "")


def rows(repeats: int = 8) -> Iterator[str]:
    """The tables."""
    content = decoder(LAYERS)
    client = Client()
    seconds = client.open(content)
    lines = len(content.splitlines())
    yield f"A decoder of {lines:,} lines, {len(content) // 1000} kB; opened in {seconds:.2f} s."
    yield ""
    yield from edits(client, content, repeats)
    yield ""
    yield from questions(client, content, repeats)
    client.close()


if __name__ == "__main__":
    for line in rows(*map(int, sys.argv[1:])):
        print(line, flush=True)
