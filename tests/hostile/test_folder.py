"""Nothing of the folder in which a command runs is imported, loaded or run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .folder import all_at_once, furnish, left, session, spelling


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder full of traps, half of them packages."""
    made = tmp_path / "folder"
    made.mkdir()
    (tmp_path / "outside").mkdir()
    furnish(made, tmp_path / "mark", [False, True])
    return made


def test_the_traps_work(folder: Path, tmp_path: Path) -> None:
    """A command that looks into the folder leaves a mark."""
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    for name in ("json", "multiprocessing"):
        subprocess.run([sys.executable, "-c", f"import {name}"], cwd=folder, env=plain, check=False)
        assert name in left(tmp_path / "mark")


@pytest.mark.parametrize(
    ("kind", "commands"), [("script", []), ("module", ["prove", "fmt", "fuzz", "explain"])]
)
def test_no_command_leaves_a_mark(
    kind: str, commands: list[str], folder: Path, tmp_path: Path
) -> None:
    assert all_at_once(spelling(kind), folder, tmp_path / "outside", commands) == []
    assert left(tmp_path / "mark") == ""


def test_no_session_of_the_server_leaves_a_mark(folder: Path, tmp_path: Path) -> None:
    shown = session(spelling("script"), folder, tmp_path / "outside")
    assert left(tmp_path / "mark") == ""
    assert len(shown) == 1 and "were not imported" in shown[0]["message"]
