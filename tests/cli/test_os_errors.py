"""Errors of the operating system are reported with the file and the reason, not with a number."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.cli import main

PROGRAM = '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    return x\n'
CALLS = (
    *("check {}", "fmt {}", "run {}", "step {}", "lower {}", "disasm {}", "relay {}", "why {}:1"),
    *("build {} -o out.rlxexe", "build good.rlx -o {}", "step good.rlx --html {}"),
    *("generate --out {}", "reduce {} -- true", "fuzz --examples 1 --out {}", "bisect {}"),
    "check --types {} good.rlx",
)
PATHS = ("folder", "good.rlx/below", "nothere/below", "file\x7f", "x" * 300)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("call", CALLS)
def test_no_number_of_an_error_is_shown(
    call: str,
    path: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "good.rlx").write_text(PROGRAM)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    words = [word.format(path) for word in call.split()]
    monkeypatch.setattr("sys.argv", ["rlx", *words])
    try:
        status = main()
    except SystemExit as ended:
        status = ended.code  # type: ignore[assignment]
    found = capsys.readouterr()
    assert "Errno" not in found.err + found.out
    assert "bug in rlx" not in found.err
    if call.startswith("build good") and path != "file\x7f":
        assert path in found.err and status == 2
