"""Standard streams that are closed, full or binary: every command answers in its own words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """@R.function
def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    return x
"""
COMMANDS = ["check", "fmt", "run", "build -o out.rlxexe"]


def said(command: str, folder: Path, redirection: str) -> tuple[int, str]:
    """The status and what was written, by a shell that redirects streams."""
    words = f"{sys.executable} -m rlx {command} {redirection}"
    done = subprocess.run(
        ["bash", "-c", words], cwd=folder, capture_output=True, timeout=120, check=False
    )
    return done.returncode, (done.stdout + done.stderr).decode()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_stream_is_no_bug(command: str, tmp_path: Path) -> None:
    (tmp_path / "p.rlx").write_text(PROGRAM)
    for words in (f"{command} - <&-", f"{command} p.rlx >&-", f"{command} - 2>&- </dev/null"):
        status, text = said(words, tmp_path, "")
        assert status in (0, 1, 2, 3) and "bug in rlx" not in text and "Traceback" not in text, text


@pytest.mark.parametrize("command", COMMANDS)
def test_a_binary_stream_is_not_utf_8(command: str, tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"@R.function\n\xff\xfe\x00\xd3")
    status, text = said(f"{command} -", tmp_path, "< bytes")
    assert status in (1, 2) and "not UTF-8" in text, text


def test_a_missing_executable(tmp_path: Path) -> None:
    assert said("disasm gone.rlxexe", tmp_path, "") == (
        2,
        "rlx disasm: gone.rlxexe: No such file or directory\n",
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is full")
@pytest.mark.parametrize("command", ["run", "lower", "build", "disasm"])
def test_a_full_standard_error_changes_no_status(command: str, tmp_path: Path) -> None:
    (tmp_path / "p.rlx").write_text(PROGRAM.replace("return x", "return z"))
    status, _ = said(f"{command} p.rlx", tmp_path, "")
    assert status in (1, 2)
    assert said(f"{command} p.rlx", tmp_path, "2>/dev/full") == (status, "")
