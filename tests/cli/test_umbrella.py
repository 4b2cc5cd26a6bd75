"""`rlx COMMAND`, as a person types it."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from rlx.cli import COMMANDS, main


def rlx(*argv: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rlx", *argv],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_help_lists_every_command() -> None:
    done = rlx("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(f"\n  {name} " in done.stdout for name in COMMANDS)


def test_no_command_is_wrong_usage() -> None:
    assert rlx().returncode == 2
    done = rlx("chekc")
    assert done.returncode == 2
    assert done.stderr.startswith("rlx: no command 'chekc'; did you mean 'check'?\n")


@pytest.mark.parametrize("name", ["fuzz", "prove"])
def test_an_interrupt_during_imports_is_no_traceback(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "interrupted.py").write_text("raise KeyboardInterrupt", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(COMMANDS, name, ("interrupted", ""))
    monkeypatch.setattr(sys, "argv", ["rlx", name])
    assert main() == 130
    assert capfd.readouterr() == ("", "")


def test_version() -> None:
    for argv in (["--version"], ["check", "--version"]):
        done = rlx(*argv)
        assert done.returncode == 0
        assert done.stdout == f"rlx {version('rlx')}\n"


def test_check_is_relax_check() -> None:
    done = rlx("check", "-", stdin="def f(:\n")
    assert done.returncode == 1
    assert "error[PARSE]" in done.stdout


def test_explain() -> None:
    done = rlx("explain", "WF07")
    assert done.returncode == 0
    assert done.stdout.startswith("WF07")
    premise, bar, conclusion = re.search(  # type: ignore[union-attr]
        r"^> (WF07-if .*\n)(?:.*\n)*  (-+)\n  (K \|- .* ok)$",
        rlx("explain", "WF07-if").stdout,
        re.MULTILINE,
    ).groups()
    assert len(bar) >= max(len(premise.rstrip()), len(conclusion))
    assert rlx("explain", "WF99").returncode == 2


@pytest.mark.parametrize("command", ["explain", "why examples/mlp.rlx:21 --format json"])
def test_a_reader_that_has_gone_away_has_seen_enough(command: str) -> None:
    script = f"{sys.executable} -m rlx {command} | head -c 10; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=60, check=False)
    assert (done.returncode, len(done.stdout), done.stderr) == (0, 10, b"")
