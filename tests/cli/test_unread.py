"""Definitions that are not read are told by the commands that run or compile the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.commands import build, lower, run, step

TEXT = """\
from tvm.script import relax as R

@R.function
def main(x: R.Tensor((4,), "float32")):
    return x

@mine.function
def third(x: R.Tensor((4,), "float32")):
    return x
"""


@pytest.mark.parametrize("command", [build, lower, run, step])
def test_a_definition_that_is_not_read_is_told(
    command: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program.py"
    path.write_text(TEXT, encoding="utf-8")
    options = ["--out", str(tmp_path / "made")] if command is build else []
    assert command.main([str(path), *options]) == 0  # type: ignore[attr-defined]
    told = capsys.readouterr().err
    assert f"{path}:7:1: warning[PARSE-decorator]" in told
    assert "'third'" in told
