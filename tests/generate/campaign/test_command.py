"""`rlx fuzz`: what it refuses, and what it says when it is stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rlx.generate.campaign import command
from rlx.generate.campaign.finding import Finding

FOUND = Finding("crash", "check", "a stage", "signal SIGSEGV", "It ended.", "", "x", 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--jobs", "0"], "positive number, found '0'"),
        (["--jobs", "-1"], "positive number, found '-1'"),
        (["--time", "soon"], "expected a duration (90s, 10m, 2h), found 'soon'"),
        (["--seed", "x"], "invalid int value: 'x'"),
        (["--oracle", "delphi"], "invalid choice"),
        (["--dask", "nonsense"], "--dask nonsense: missing port number"),
    ],
)
def test_usage(
    options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main([*options, "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(state: Any, *rest: object) -> None:
        state.add(FOUND)
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "campaign", stopped)
    with pytest.raises(KeyboardInterrupt):
        command.main(["--out", str(tmp_path), "--jobs", "1"])
    said = capsys.readouterr().out
    assert FOUND.key in said
    assert "1 findings have no file yet" in said


def test_a_short_campaign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is found in ourselves; the line of progress says how far it is."""
    options = ["--time", "4s", "--jobs", "1", "--seed", "5", "--oracle", "roundtrip"]
    assert command.main([*options, "--out", str(tmp_path)]) == 0
    said, progress = capsys.readouterr()
    assert "0 findings" in said
    last = progress.strip().splitlines()[-1].split()
    rules, operators = last[last.index("rules,") - 1], last[last.index("operators,") - 1]
    assert int(rules) > 20
    assert int(operators) > 5
    assert (tmp_path / "README.md").exists()
