"""Whole outputs of commands: the examples of `outputs.md`."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from rlx import cli
from tests.markdown import assert_example, examples

ROOT = Path(__file__).parents[2]
OUTPUTS = Path(__file__).with_name("outputs.md")


def printed(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """The exit status of a command and all that it prints."""
    monkeypatch.setattr(sys, "argv", ["rlx", *shlex.split(line)])
    try:
        status: object = cli.main()
    except SystemExit as ended:
        status = ended.code
    out, err = capsys.readouterr()
    out = re.sub(r"^ *[\d.]+ ms .*\n", "", out, flags=re.MULTILINE)  # the slowest questions
    parts = [f"exit status {status}", out, *([f"on standard error:\n{err}"] if err else [])]
    return "\n".join(part.rstrip() for part in parts if part).replace(str(ROOT), "ROOT")


@pytest.mark.parametrize("name", [example.name for example in examples(OUTPUTS)])
def test_what_a_command_prints(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "120")
    line = name.strip("`").removeprefix("rlx ")
    assert_example(OUTPUTS, name, printed(line, monkeypatch, capsys))
