"""The modules that `python -m` runs besides the commands: what they cannot take is refused in a line, with the usage."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CAMPAIGN = "generate.campaign"
HELPERS = (
    *("spec", "grammar.read.tables", "operators.reference", "transform.builder.stub"),
    *(f"{CAMPAIGN}.index", f"{CAMPAIGN}.replay", f"{CAMPAIGN}.worker"),
    *("bisect.worker", "lsp.worker"),
)


def run(folder: Path, module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A helper started in a folder; a pipe that it reads all the same takes too long."""
    return subprocess.run(
        [sys.executable, "-P", "-m", f"rlx.{module}", *words],
        check=False,
        capture_output=True,
        text=True,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )


@pytest.mark.parametrize("module", HELPERS)
def test_an_unknown_option_is_refused(module: str, tmp_path: Path) -> None:
    done = run(tmp_path, module, "--nonsense", "1", "2", "3")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"usage: python -m rlx.{module}")
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("module", HELPERS[:-1])
def test_help(module: str, tmp_path: Path) -> None:
    done = run(tmp_path, module, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: python -m rlx.{module}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("generate.campaign.index gone", "gone: no such directory"),
        ("generate.campaign.index crash/pipe.rlx", "crash/pipe.rlx: no such directory"),
        ("generate.campaign.index .", "crash/pipe.rlx: it is a pipe, a device or a socket"),
        ("generate.campaign.replay crash/pipe.rlx", "pipe.rlx: it is a pipe, a device or a socket"),
        ("generate.campaign.replay gone.rlx", "No such file or directory: 'gone.rlx'"),
        ("generate.campaign.replay crash", "Is a directory: 'crash'"),
        ("generate.campaign.replay text/picture", "text/picture: not UTF-8 (byte 0)"),
        ("generate.campaign.replay", "required: PATH"),
        ("operators.reference crash", "crash: Is a directory"),
        ("operators.reference text/picture/page.md", "text/picture/page.md: "),
        (
            "bisect.worker default llvm 3,x 0",
            "argument SIZES: expected an integer from 0, found 'x'",
        ),
        ("generate.campaign.worker check theirs", "invalid choice: 'theirs'"),
        ("spec --write --gate", "not allowed with argument"),
    ],
)
def test_odd_arguments(line: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "crash").mkdir()
    os.mkfifo(tmp_path / "crash" / "pipe.rlx")
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "picture").write_bytes(b"\x89PNG")
    module, *words = line.split()
    done = run(tmp_path, module, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"usage: python -m rlx.{module}")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
