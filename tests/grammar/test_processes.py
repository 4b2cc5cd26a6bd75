"""Programs that rlx starts look for files in no relative folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlx.grammar.processes import environment, python, safe_environment


@pytest.mark.parametrize(
    ("listed", "kept"),
    [
        ("/a:/b", "/a:/b"),
        (":/a", "/a"),
        ("/a:", "/a"),
        ("/a::.:b:../c:/d", "/a:/d"),
        (".", None),
        ("", None),
    ],
)
@pytest.mark.parametrize("name", ["PATH", "PYTHONPATH", "LD_LIBRARY_PATH"])
def test_relative_folders_are_left_out(
    name: str, listed: str, kept: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, listed)
    assert environment().get(name) == kept


def test_the_environment_is_as_before_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", ".")
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    before = dict(os.environ)
    with safe_environment():
        assert os.environ["PYTHONSAFEPATH"] == "1" and "PYTHONPATH" not in os.environ
    assert dict(os.environ) == before


def test_a_child_imports_nothing_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("print('evil')\n", encoding="utf-8")
    for words in (["-c", "import json"], ["-m", "json.tool", "--help"]):
        done = subprocess.run(
            python(*words), cwd=tmp_path, env=environment(), capture_output=True, check=True
        )
        assert b"evil" not in done.stdout


SEARCHED = """\
import os, sys
import rlx
assert os.getcwd() in sys.path, "a program that imports rlx keeps its path"
"""


def test_a_program_that_imports_rlx_keeps_its_path(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(SEARCHED, encoding="utf-8")
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    for words in (["-m", "own"], ["own.py"]):
        subprocess.run([sys.executable, *words, "rlx"], cwd=tmp_path, env=plain, check=True)


@pytest.mark.parametrize("module", ["rlx", "rlx.spec", "rlx.generate.campaign.replay"])
def test_python_m_looks_into_the_folder_for_rlx_alone(module: str, tmp_path: Path) -> None:
    """Even before the first line of the program: the names of what it imports first."""
    for name in ("__future__", "typing", "importlib", "gc", "contextlib", "argparse", "pathlib"):
        text = "open('mark', 'a').write(__name__)\n"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    for words in (["-m", module], [f"-m{module}"], ["-Bm", module]):
        subprocess.run(
            [sys.executable, *words, "--help"],
            cwd=tmp_path,
            env=plain,
            capture_output=True,
            check=False,
        )
        assert not (tmp_path / "mark").exists(), (tmp_path / "mark").read_text("utf-8")
