"""The server of editors, as an editor meets it: ``python -m benchmarks.lsp [REPEATS]``.

A client of its own talks JSON-RPC to `rlx lsp` over pipes. It opens 8,000 lines: a decoder of 500
layers whose widths all differ and whose length is symbolic, once with a function for each layer and
once in one function. It asks each question of the protocol while the text is checked for the first
time, edits lines all over it, each edit followed by one that takes it back, and asks everything at
places all over the text, some questions directly behind an edit. Timed is the way from the first
byte of a message to the last byte of its answer; the processor time is the server's, on average.
TVM has no such server.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.first_run import decoder

URI = "file:///work/model.rlx"
LAYERS = 500
PAUSE = 0.05
"""Seconds between two edits: quicker than anybody types, so that nothing is checked in between."""

TENSOR = 'R.Tensor(("n", {}), "float32")'
WEIGHT = 'R.Tensor(({}, {}), "float32")'


def layers(count: int = LAYERS) -> str:
    """A decoder with a function for each layer, and one that calls them all."""
    lines = ["@I.ir_module", "class Module:"]
    for layer in range(count):
        width, inner = 64 + 16 * layer, 96 + 16 * layer
        here, following = TENSOR.format(width), TENSOR.format(width + 16)
        weights = (f"w: {WEIGHT.format(width, inner)}", f"v: {WEIGHT.format(inner, width + 16)}")
        lines += [
            "    @R.function",
            f"    def layer{layer}(x: {here}, {', '.join(weights)}) -> {following}:",
            "        n = T.int64()",
            "        with R.dataflow():",
            "            projected = R.matmul(x, w)",
            f"            rows = R.reshape(projected, R.shape([n, 4, {inner // 4}]))",
            "            turned = R.permute_dims(rows, axes=[1, 0, 2])",
            "            scaled = R.nn.silu(turned)",
            "            back = R.permute_dims(scaled, axes=[1, 0, 2])",
            f"            joined = R.reshape(back, R.shape([n, {inner}]))",
            "            hidden = R.matmul(joined, v)",
            "            gate = R.nn.silu(hidden)",
            "            sum = R.add(gate, hidden)",
            "            R.output(sum)",
            "        return sum",
            "",
        ]
    return "\n".join(lines)


TEXTS: Mapping[str, Callable[[], str]] = {
    "a function for each layer": layers,
    "one function": partial(decoder, LAYERS),
}

READY = 3.0
"""Seconds in which a server gets ready for more questions about a text."""

Edit = tuple[str, str]
"""The text that is taken from a line, and the text that takes its place."""

EDITS: Mapping[str, Edit] = {
    "good": ("R.nn.silu(", "R.nn.gelu("),
    "unknown name": ("R.nn.silu(", "R.nn.silu(y"),
    "wrong shape": ("R.nn.silu(", "R.permute_dims("),
    "half a token": ("R.nn.silu(", "R.nn.si("),
    "open bracket": ("R.add(", "R.add(("),
    "open string": ("R.add(", 'R.add("'),
    "half a line": ("R.add(", "R.add"),
    "new line": ("= R.add(", "= p0\n            q = R.add("),
    "another axis": ("axes=[1, 0, 2]", "axes=[0, 1, 2]"),
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
        self.published: dict[int, list[dict[str, Any]]] = {}
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
            if message.get("method") == "textDocument/publishDiagnostics":
                found = message["params"]
                self.published[found["version"]] = found["diagnostics"]
            if wanted(message):
                return message

    def ask(self, method: str, **params: Any) -> Any:
        """The answer to a request."""
        self.number += 1
        number = self.number
        self.send(method, number, **params)
        answer = self.receive(lambda message: message.get("id") == number)
        assert "result" in answer or method.endswith("/rename"), (
            answer
        )  # a keyword has no other name
        return answer.get("result")

    def told(self) -> list[dict[str, Any]]:
        """The diagnostics of the version that was sent last."""
        if self.version not in self.published:
            self.receive(lambda _: self.version in self.published)
        return self.published[self.version]

    def open(self, content: str) -> None:
        """Show a text."""
        self.version += 1
        self.published.clear()
        item = {"uri": URI, "languageId": "relax", "version": self.version, "text": content}
        self.send("textDocument/didOpen", textDocument=item)

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
        self.ask(f"textDocument/{method}", textDocument={"uri": URI}, **params)
        return time.perf_counter() - begun

    def processor(self) -> float:
        """Seconds of processor time that the server and its workers have taken."""
        total, waiting = 0, [self.server.pid]
        while waiting:
            with suppress(FileNotFoundError):  # it has ended
                for task in Path(f"/proc/{waiting.pop()}/task").iterdir():
                    total += int((task / "schedstat").read_text().split()[0])
                    waiting += map(int, (task / "children").read_text().split())
        return total / 1e9

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


def questions(content: str, repeats: int) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Everything that can be asked, at places that lie apart."""
    step = content.count("\n") // (repeats + 1)
    places = [{"line": step * (n + 1), "character": 14} for n in range(repeats)]
    options = {"tabSize": 4, "insertSpaces": True}
    for name in AT_PLACE:
        context = {"includeDeclaration": True, "triggerKind": 1, "isRetrigger": False}
        asked = [{"position": at, "newName": f"other{n}"} for n, at in enumerate(places)]
        yield name, [{**each, "context": context} for each in asked]
    for name in IN_RANGE:
        spans = [{"start": at, "end": {"line": at["line"] + 50, "character": 0}} for at in places]
        more = {"options": options, "context": {"diagnostics": []}}
        yield name, [{"range": span, **more} for span in spans]
    for name in OF_TEXT:
        yield name, [{"options": options}] * repeats
    yield "selectionRange", [{"positions": [at]} for at in places]


def answers(client: Client, content: str, repeats: int) -> Iterator[str]:
    """Ask everything: several times, and directly behind an edit."""
    yield row("question", "first", "median", "95 %", "processor", "behind an edit")
    yield row(*["---"] * 6)
    everything: list[float] = []
    behind: list[float] = []
    at = content.index("R.nn.silu(", len(content) // 2)
    for name, asked in questions(content, repeats):
        before = client.processor()
        taken = [client.timed(name, **params) for params in asked]
        used = f"{1000 * (client.processor() - before) / len(taken):.0f} ms"
        for old, new in (("silu", "gelu"), ("gelu", "silu")):
            start = place(content, at + len("R.nn."))
            client.change(start, [start[0], start[1] + len(old)], new)
            behind.append(client.timed(name, **asked[0]))
            time.sleep(PAUSE)
        everything += taken
        after = f"{1000 * max(behind[-2:]):.0f} ms"
        yield row(name, f"{1000 * taken[0]:.0f} ms", *figures(taken), used, after)
    yield row("all", "", *figures(everything), "", f"95 %: {figures(behind)[1]}")


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


def opened(client: Client, content: str) -> Iterator[str]:
    """Open a text, and ask everything once before it is checked."""
    begun, before = time.perf_counter(), client.processor()
    client.open(content)
    taken = {name: client.timed(name, **asked[0]) for name, asked in questions(content, 1)}
    asked = time.perf_counter() - begun
    client.told()
    took, used = time.perf_counter() - begun, client.processor() - before
    late = ", ".join(f"{name} {1000 * each:.0f} ms" for name, each in taken.items() if each > 0.1)
    yield f"{len(taken)} questions were answered in {asked:.2f} s, while it was checked for the first"
    yield f"time: 95 % of them within {figures([*taken.values()])[1]} (later than 100 ms: {late or 'none'})."
    yield f"Its diagnostics were there after {took:.2f} s; the processor was in use for {used:.2f} s."


def rows(repeats: int = 8) -> Iterator[str]:
    """The tables."""
    for name, make in TEXTS.items():
        content = make()
        client = Client()
        yield f"{content.count(chr(10)):,} lines, {len(content) // 1000} kB, {name}."
        yield from opened(client, content)
        time.sleep(READY)
        yield ""
        yield from edits(client, content, repeats)
        yield ""
        time.sleep(READY)
        yield from answers(client, content, repeats)
        yield ""
        client.close()


if __name__ == "__main__":
    for line in rows(*map(int, sys.argv[1:])):
        print(line, flush=True)
