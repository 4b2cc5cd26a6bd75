"""Texts as people have them: with tabs, from other systems, from pages and notebooks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.cli import guarded
from rlx.commands import check, fmt, run, step

PROGRAM = """@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y = R.add(x, x)
        z = R.exp(y)
        return z
"""
LINES = PROGRAM.splitlines(keepends=True)
NOTEBOOK = {"cells": [{"cell_type": "code", "source": LINES}], "metadata": {}, "nbformat": 4}

SAME: dict[str, bytes] = {
    "tabs": PROGRAM.replace("    ", "\t").encode(),
    "line ends of Windows": PROGRAM.replace("\n", "\r\n").encode(),
    "a byte-order mark": PROGRAM.encode("utf-8-sig"),
    "no last line end": PROGRAM.rstrip().encode(),
    "form feeds": PROGRAM.replace("        y", "    \f        y").encode(),
    "all of it indented": "".join("    " + line for line in LINES).encode(),
}
"""Texts that mean what the program does."""

REFUSED: dict[str, bytes] = {
    "tabs and spaces": PROGRAM.replace("        y", "\ty").encode(),
    "tabs behind spaces": PROGRAM.replace("        y", "    \ty").encode(),
    "UTF-16": PROGRAM.encode("utf-16"),
    "UTF-32": PROGRAM.encode("utf-32"),
    "Latin-1": PROGRAM.replace("y = ", "# caf\xe9\n        y = ").encode("latin-1"),
    "a NUL": PROGRAM.replace("y = ", "\0y = ").encode(),
    "NULs": b"\0" * 100,
    "fences of Markdown": f"Code:\n\n```python\n{PROGRAM}```\n".encode(),
    "prompts": "".join(f"{'...' if n else '>>>'} {line}" for n, line in enumerate(LINES)).encode(),
    "fences alone": f"~~~\n{PROGRAM}~~~\n".encode(),
    "one prompt": f">>> {PROGRAM}".encode(),
    "prompts of IPython": f"In [3]: {PROGRAM}".replace("\n", "\n   ...: ").encode(),
    "numbers and bars": "".join(f"{n:4} | {line}" for n, line in enumerate(LINES)).encode(),
    "numbers and colons": "".join(f"{n}: {line}" for n, line in enumerate(LINES)).encode(),
    "numbers of lines": "".join(f"{n:4}  {line}" for n, line in enumerate(LINES)).encode(),
    "a patch": "".join(f"+{line}" for line in LINES).encode(),
    "a notebook": json.dumps(NOTEBOOK, indent=1).encode(),
    "JSON": b'{"a": [1, {"b": null}]}',
    "a model of ONNX": b"\x08\x08\x12\x07pytorch:\x80\x01" + bytes(range(256)),
    "curly quotes": PROGRAM.replace('"', "\u201d").encode(),
    "spaces that do not break": PROGRAM.replace("        y", "\xa0" * 8 + "y").encode(),
    "an arrow": PROGRAM.replace("->", "\u2192").encode(),
    "nothing": b"",
}
"""Texts that are no program, each with something to say about it."""


@pytest.mark.parametrize("kind", list(SAME))
def test_it_is_the_program(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.rlx"
    path.write_bytes(SAME[kind])
    for command in (check, run, step):
        assert guarded(command.main, [str(path)], "rlx") == 0, (command, capsys.readouterr())


@pytest.mark.parametrize("name", ["program.rlx", "program.py"])
@pytest.mark.parametrize("kind", list(REFUSED))
def test_it_is_refused(
    kind: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(REFUSED[kind])
    for command in (check, fmt, run, step):
        status = guarded(command.main, [str(path)], "rlx")
        said = capsys.readouterr()
        assert status in (0, 1, 2), (command, said)
        if name.endswith(".rlx"):
            assert status != 0 and (said.out + said.err).strip(), (command, said)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("fences of Markdown", "fences of Markdown"),
        ("fences alone", "fences of Markdown"),
        ("prompts", "prompts of Python"),
        ("one prompt", "prompts of Python"),
        ("prompts of IPython", "prompts of IPython"),
        ("numbers of lines", "numbers in front"),
        ("numbers and bars", "numbers in front"),
        ("numbers and colons", "numbers in front"),
    ],
)
def test_one_error_says_what_was_copied_too(kind: str, words: str) -> None:
    (found,) = check_text(REFUSED[kind].decode()).diagnostics
    assert found.is_error and words in found.message and found.help
