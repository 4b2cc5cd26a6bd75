"""The server of editors, as an editor meets it: ``python -m benchmarks.lsp [REPEATS]``.

A client of its own talks JSON-RPC to `rlx lsp` over pipes. It opens a long file, and makes edits of
several kinds in the middle of it, each followed by one that takes it back. Timed is the way from
the first byte of an edit to the last byte of its diagnostics; the processor time is the server's,
on average. Then it asks every question of the protocol at places all over the text: ``--questions``
asks these alone, and ``--one`` puts all lines into one function.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

URI = "file:///work/model.rlx"
FUNCTIONS, BINDINGS = 320, 20
TENSOR = 'R.Tensor(("n", "m", 4), "float32")'
PASTED = f"    @R.function\n    def g(x: {TENSOR}) -> {TENSOR}:\n        return x\n\n"
PAUSE = 0.05
"""Seconds between two edits: quicker than anybody types, so that nothing is checked in between."""


def text() -> str:
    """A module of 320 functions, 8,322 lines: each calls the one before."""
    lines = ["@I.ir_module", "class Module:"]
    for k in range(FUNCTIONS):
        lines += ["    @R.function", f"    def f{k}(x: {TENSOR}, y: {TENSOR}) -> {TENSOR}:"]
        lines.append("        cls = Module")
        for i in range(BINDINGS):
            lines.append(f"        v{i} = R.add({f'v{i - 1}' if i else 'x'}, y)")
        lines.append(f"        w = {f'cls.f{k - 1}(v0, y)' if k else 'R.exp(v0)'}")
        lines += ["        return w", ""]
    return "\n".join(lines) + "\n"


def one_function() -> str:
    """A module of one function with as many lines."""
    lines = ["@I.ir_module", "class Module:", "    @R.function"]
    lines += [f"    def main(x: {TENSOR}, y: {TENSOR}) -> {TENSOR}:"]
    for k in range(FUNCTIONS * (BINDINGS + 6)):
        lines.append(f"        v{k} = R.add({f'v{k - 1}' if k else 'x'}, y)")
    return "\n".join([*lines, f"        return v{k}"]) + "\n"


Edit = tuple[str, str]
"""What is taken from the middle of the text, and what is put there."""

EDITS: Mapping[str, Edit] = {
    "good": ("v5 = R.add(v4, y)", "v5 = R.multiply(v4, y)"),
    "unknown name": ("v5 = R.add(v4, y)", "v5 = R.add(v4, yy)"),
    "wrong shape": ("v5 = R.add(v4, y)", "v5 = R.permute_dims(v4)"),
    "half a token": ("v5 = R.add(v4, y)", "v5 = R.ad"),
    "open bracket": ("v5 = R.add(v4, y)", "v5 = R.add(v4, "),
    "open string": ("v5 = R.add(v4, y)", 'v5 = R.add(v4, "'),
    "half a line": ("v5 = R.add(v4, y)", "v5 ="),
    "new line": ("v5 = R.add(v4, y)\n", "v5 = R.add(v4, y)\n        q = R.exp(v5)\n"),
    "empty line": ("v5 = R.add(v4, y)\n", "v5 = R.add(v4, y)\n\n"),
    "name of a function": ("def f160(", "def f160x("),
    "signature": ("def f160(x: R.Tensor(", "def f160(x: R.Tens"),
    "def line deleted": (f"    def f160(x: {TENSOR}, y: {TENSOR}) -> {TENSOR}:\n", ""),
    "function pasted": (
        "    @R.function\n    def f160(",
        f"{PASTED}    @R.function\n    def f160(",
    ),
}

_MIDDLE = FUNCTIONS * (BINDINGS + 6) // 2


def _in_the_middle(part: str) -> str:
    return (
        part.replace("v4,", f"v{_MIDDLE - 1},")
        .replace("v5 ", f"v{_MIDDLE} ")
        .replace("(v5)", f"(v{_MIDDLE})")
    )


IN_ONE: Mapping[str, Edit] = {
    name: (_in_the_middle(old), _in_the_middle(new))
    for name, (old, new) in EDITS.items()
    if "v5" in old
}
"""The edits of a statement in the middle of the one long function."""


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
        """Seconds of processor time that the server has taken."""
        fields = Path(f"/proc/{self.server.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

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
    """Seconds of an edit and of taking it back, many times, and the number of its diagnostics."""
    old, new = edit
    at = content.index(old, max(0, content.find("    @R.function\n    def f160(")))
    edited = content[:at] + new + content[at + len(old) :]
    seconds: list[float] = []
    count = 0
    for _ in range(repeats):
        start = place(content, at)
        forth, count = client.change(start, place(content, at + len(old)), new)
        time.sleep(PAUSE)
        back, none = client.change(start, place(edited, at + len(new)), old)
        time.sleep(PAUSE)
        assert none == 0
        seconds += (forth, back)
    return seconds, count


def percentile(seconds: list[float], part: float) -> float:
    """The time that this part of them stays below."""
    return sorted(seconds)[min(len(seconds) - 1, int(part * len(seconds)))]


def figures(seconds: list[float]) -> tuple[str, str]:
    """The median, and what 95 % of them stay below."""
    return f"{1000 * median(seconds):.0f} ms", f"{1000 * percentile(seconds, 0.95):.0f} ms"


def row(name: str, *cells: str) -> None:
    """One line of the table."""
    print(f"{name:<20}", *(f"{cell:>12}" for cell in cells))


AT_PLACE = (
    *("hover", "definition", "typeDefinition", "references", "documentHighlight", "prepareRename"),
    *("rename", "linkedEditingRange", "prepareCallHierarchy", "completion", "signatureHelp"),
)
IN_RANGE = ("codeAction", "inlayHint", "rangeFormatting", "semanticTokens/range")
OF_TEXT = (
    *("documentSymbol", "foldingRange", "codeLens", "semanticTokens/full", "diagnostic"),
    "formatting",
)


def questions(client: Client, content: str, repeats: int) -> None:
    """Ask everything at places that lie apart, and print how long that takes."""
    lines = content.splitlines()
    step = len(lines) // (repeats + 1)
    places = [{"line": step * (n + 1), "character": 14} for n in range(repeats)]
    options = {"tabSize": 4, "insertSpaces": True}
    everything: list[float] = []

    def ask(method: str, asked: list[dict[str, Any]]) -> None:
        taken = [client.timed(method, **params) for params in asked]
        everything.extend(taken)
        row(method.partition("/")[2] or method, f"{1000 * taken[0]:.0f} ms", *figures(taken))

    row("question", "first", "median", "95 %")
    for name in AT_PLACE:
        more = {"context": {"includeDeclaration": True}} if name == "references" else {}
        asked = [{"position": at, "newName": f"other{n}", **more} for n, at in enumerate(places)]
        ask(f"textDocument/{name}", asked)
    for name in IN_RANGE:
        spans = [{"start": at, "end": {"line": at["line"] + 50, "character": 0}} for at in places]
        asked = [
            {"range": span, "options": options, "context": {"diagnostics": []}} for span in spans
        ]
        ask(f"textDocument/{name}", asked)
    for name in OF_TEXT:
        ask(f"textDocument/{name}", [{"options": options}] * repeats)
    ask("textDocument/selectionRange", [{"positions": [at]} for at in places])
    ask("workspace/symbol", [{"query": f"f{n}"} for n in range(repeats)])
    row("all", "", *figures(everything))


def main(*words: str) -> None:
    """Measure and print the tables."""
    repeats = next((int(word) for word in words if word.isdigit()), 20)
    content = one_function() if "--one" in words else text()
    begun = time.perf_counter()
    client = Client()
    print(f"initialize: {time.perf_counter() - begun:.2f} s")
    seconds = client.open(content)
    print(f"{len(content.splitlines())} lines, {len(content) // 1000} kB, open: {seconds:.2f} s")
    if "--questions" not in words:
        edits(client, content, repeats, IN_ONE if "--one" in words else EDITS)
    questions(client, content, repeats)
    client.close()


def edits(client: Client, content: str, repeats: int, made: Mapping[str, Edit]) -> None:
    """Make the edits, and print how long their diagnostics take."""
    row("edit", "diagnostics", "median", "95 %", "processor")
    everything: list[float] = []
    for name, edit in made.items():
        before = client.processor()
        taken, count = measure(client, content, edit, repeats)
        everything += taken
        used = (client.processor() - before) / len(taken)
        row(name, str(count), *figures(taken), f"{1000 * used:.0f} ms")
    row("all", "", *figures(everything), "")


if __name__ == "__main__":
    main(*sys.argv[1:])
