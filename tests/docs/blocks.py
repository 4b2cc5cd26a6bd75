"""The blocks of a Markdown page, and what it takes to execute them.

```console   a line that starts with "$ " is a command, what follows is its output, of both streams; a line `...` stands for
             any lines, and `…` in a line for anything in it
```python    is executed, with the names of the blocks above it; a session with ">>> " is compared
``` title="x"  with a title, of any language, is a file that the page makes
```yaml, toml, json  are read
```text, mermaid and program are for the eye alone; `program` is Relax, and is checked
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import yaml

from rlx.grammar.nodes.node import Record

FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)(?: +title=\"(?P<title>[^\"]+)\")?(?P<rest>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
READ = {"yaml": yaml.safe_load, "toml": tomllib.loads, "json": json.loads}
SHOWN = frozenset({"text", "elisp", "lua", "sh"})
"""Languages that are not executed: other tests have what they show."""


class Fence(Record):
    """A block: its language, the file that it is, its text, and where it starts."""

    language: str
    title: str
    text: str
    at: int


def fences(text: str) -> Iterator[Fence]:
    """The blocks of a page, in order."""
    for found in FENCE.finditer(text):
        lines = found["text"].splitlines(keepends=True)
        inner = "".join(line.removeprefix(found["indent"]) for line in lines)
        yield Fence(found["language"], found["title"] or "", inner, found.start("text"))


class Session:
    """Executes the blocks of one page in a folder: commands in a process that is forked for each, Python in one namespace."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, object] = {"__name__": "page"}
        self._process: subprocess.Popen[str] | None = None

    def command(self, text: str) -> str:
        """The output of a command, on both streams."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.docs.shell", str(self.folder)],
                cwd=Path(__file__).parents[2],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(text) + "\n")
        self._process.stdin.flush()
        said: str = json.loads(self._process.stdout.readline())
        return said

    def python(self, text: str, name: str) -> str | None:
        """Execute a block; of a session the differences, None if there are none."""
        if ">>> " in text:
            return self._session(text, name)
        exec(compile(text, name, "exec"), self.names)  # noqa: S102 - our own documentation
        return None

    def _session(self, text: str, name: str) -> str | None:
        import doctest
        from io import StringIO

        flags = doctest.ELLIPSIS
        test = doctest.DocTestParser().get_doctest(text, self.names, name, name, 0)
        said = StringIO()
        runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
        runner.run(test, out=said.write, clear_globs=False)
        self.names.update(test.globs)
        return said.getvalue() or None

    def close(self) -> None:
        """End the process."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(timeout=60)


WORDS = re.compile(
    r"(?P<code>\b(?:error|warning|note)\[[\w-]+\]).*|(?P<aside> = (?:help|note):).*|(?P<mark>^ +\| +[-^]+) .*",
    re.MULTILINE,
)
"""The words of a diagnostic: its message behind the code, its help and notes, and the label behind a mark."""


def alike(shown: str, said: str) -> bool:
    """Whether an output is what a page shows, but for what it leaves out and for the words of diagnostics.

    The tests of each room keep its words; `RLX_UPDATE_SNAPSHOTS=1 pytest tests/docs` renews those of the pages.
    """
    shown, said = (WORDS.sub(r"\g<code>\g<aside>\g<mark>", text) for text in (shown, said))
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line).replace("…", ".*?") + "\n"
        for line in shown.splitlines()
    )
    text = said if said.endswith("\n") or not said else f"{said}\n"
    return shown == said or re.fullmatch(pattern, text) is not None


UPDATE = bool(os.environ.get("RLX_UPDATE_SNAPSHOTS"))
