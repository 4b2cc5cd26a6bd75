"""Mistakes of new users: each answer says what to do instead."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest

from rlx.cli import COMMANDS, main

FILES: dict[str, tuple[str | bytes, str]] = {
    "model.py": (
        "import torch\nfrom torch import nn\n\nclass Net(nn.Module): ...\n",
        "from_exported_program",
    ),
    "kernel.py": ("from tvm import te\n\nA = te.placeholder((8,))\n", "module.script()"),
    "graph.json": ('{"nodes": []}\n', "tvm.ir.save_json"),
    "list.rlx": ("[1, 2]\n", "JSON"),
    "cells.ipynb": ('{\n "cells": [],\n "nbformat": 4\n}\n', "%load_ext rlx"),
    "old.rlx": (
        "# from a tutorial\n\ndef @main(%x: Tensor[(2), float32]) { %x }\n",
        "`rlx relay check`",
    ),
    "wide.rlx": (
        "@R.function\ndef f():\n    return R.tuple()\n".encode("utf-16"),
        "save it as UTF-8",
    ),
}

LINES = {
    "check modle.rlx": "did you mean model.rlx?",
    "check model": "did you mean model.rlx?",
    "run model.rlx n=3": "write --input n=3",
    "prove n >= 0": "write the condition in quotes",
    "explain OBL-reshape-cuont": "did you mean OBL-reshape-count",
    "model.rlx": "`rlx check model.rlx`",
    "chek model.rlx": "did you mean 'check'?",
}

HELPFUL = {
    "help": "usage: rlx COMMAND",
    "help check": "usage: rlx check",
    "version": "rlx 0.",
    "explain d14": "D14: Calls",
    "explain wf": "WF: ",
}


def answered(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["rlx", *words.split()])
    try:
        status: object = main()
    except SystemExit as ended:
        status = ended.code
    return int(str(status or 0)), "".join(capsys.readouterr())


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_another_kind(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, expected = FILES[name]
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    import_module(COMMANDS["check"][0]).main([str(path)], "rlx check")
    shown = capsys.readouterr().out
    assert "  = help: " in shown and expected in shown.partition("= help: ")[2]


@pytest.mark.parametrize("words", LINES)
def test_a_line_that_is_not_understood(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.rlx").write_text("@R.function\ndef f(n: R.Prim('int64')):\n    return n\n")
    monkeypatch.chdir(tmp_path)
    status, said = answered(words, monkeypatch, capsys)
    assert status == 2 and LINES[words] in said


@pytest.mark.parametrize("words", HELPFUL)
def test_an_informal_line_is_understood(
    words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = answered(words, monkeypatch, capsys)
    assert status == 0 and said.startswith(HELPFUL[words])
