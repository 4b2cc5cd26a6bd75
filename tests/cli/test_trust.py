"""Operators that a project's configuration names are code of the project: imported only if the user says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlx.checker.driver.configuration import trusts
from rlx.semantics.native.compiler import UntrustedCache, directory

BIN = Path(sys.executable).parent

MODULE = """\
import rlx

open("mark", "a").write("imported")


@rlx.operator("own.twice")
def twice(site, x):
    return x
"""
PROGRAM = """\
@R.function
def main(x: R.Tensor((2, 3), "float32")):
    y = R.own.twice(x)
    return y
"""
COMMANDS = {
    "check": ["check", "a.rlx"],
    "check --types": ["check", "--types", "a.rlx"],
    "check --fix": ["check", "--fix", "a.rlx"],
    "why": ["why", "a.rlx:3"],
    "run": ["run", "a.rlx"],
    "step": ["step", "a.rlx"],
    "lower": ["lower", "a.rlx"],
    "build": ["build", "a.rlx", "-o", "a.rlxexe"],
    "reduce": ["reduce", "a.rlx", "--test", "true"],
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that declares an operator, and a home without configuration."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "ops.py").write_text(MODULE, encoding="utf-8")
    (folder / "a.rlx").write_text(PROGRAM, encoding="utf-8")
    (folder / "pyproject.toml").write_text('[tool.rlx]\noperators = ["ops.py"]\n', "utf-8")
    return folder


def rlx(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    home = str(project.parent / "home")
    return subprocess.run(
        [BIN / "rlx", *words],
        cwd=project,
        env=os.environ | {"XDG_CONFIG_HOME": home},
        capture_output=True,
        text=True,
        check=False,
    )


def configure(project: Path, text: str) -> None:
    path = project.parent / "home" / "rlx" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("command", COMMANDS)
def test_operators_of_a_project_are_imported_if_it_is_trusted(command: str, project: Path) -> None:
    words, mark = COMMANDS[command], project / "mark"
    done = rlx(project, *words)
    assert "'ops.py'" in done.stderr and "were not imported" in done.stderr
    assert not mark.exists()
    done = rlx(project, *words, "--trust-config")
    assert "were not imported" not in done.stderr and mark.exists()


@pytest.mark.parametrize(
    ("listed", "trusted"),
    [
        ("{project}", True),
        ("{parent}", True),
        ("{project}/../project/", True),
        ("{project}/inside", False),
        ("{project}2", False),
        ("{parent}/proj", False),
    ],
)
def test_the_users_own_configuration_trusts_folders(
    listed: str, trusted: bool, project: Path
) -> None:
    listed = listed.format(project=project, parent=project.parent)
    configure(project, f"trust = ['{listed}']\n")
    done = rlx(project, "check", "a.rlx")
    assert (project / "mark").exists() == trusted
    assert ("were not imported" in done.stderr) != trusted
    assert done.returncode == (0 if trusted else 1)


def test_a_link_to_a_trusted_folder_is_that_folder(project: Path) -> None:
    link = project.parent / "link"
    link.symlink_to(project)
    configure(project, f"trust = ['{project}']\n")
    assert rlx(link, "check", "a.rlx").returncode == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("trust = 'all'", "must be a list of folders"),
        ("trust = [1]", "must be a list of folders"),
        ("trust = ['models']", "must be an absolute path"),
        ("trusted = []", "the only key is trust"),
        ("trust = [", "config.toml"),
    ],
)
def test_a_wrong_configuration_of_the_user_is_told(text: str, words: str, project: Path) -> None:
    configure(project, text)
    done = rlx(project, "check", "a.rlx")
    assert done.returncode == 2 and words in done.stderr
    assert not (project / "mark").exists()


def test_an_isolated_run_ignores_all_of_the_projects_configuration(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.rlx]\nignore = ["D14"]\n', "utf-8")
    assert rlx(project, "check", "a.rlx").returncode == 0
    isolated = rlx(project, "check", "--isolated", "a.rlx")
    assert isolated.returncode == 1 and "imported" not in isolated.stderr
    (project / "pyproject.toml").write_text("[tool.rlx]\nnonsense = 1\n", "utf-8")
    assert rlx(project, "check", "a.rlx").returncode == 2
    assert rlx(project, "check", "--isolated", "a.rlx").returncode == 1


def test_the_note_is_one_line_whatever_a_project_names(project: Path) -> None:
    table = '[tool.rlx]\noperators = ["x\\n::error file=a::injected", "\\u001b[2J"]\n'
    (project / "pyproject.toml").write_text(table, "utf-8")
    said = rlx(project, "check", "--format", "github", "a.rlx").stderr
    assert len(said.splitlines()) == 1 and "\x1b" not in said


def test_both_options_exclude_each_other(project: Path) -> None:
    done = rlx(project, "check", "--trust-config", "--isolated", "a.rlx")
    assert done.returncode == 2 and "not allowed with" in done.stderr


@pytest.mark.parametrize("home", [".", "sub"])
def test_without_a_home_nothing_of_the_folder_is_the_users(
    home: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its paths would be relative, and the folder that is checked could have put files there."""
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", home)
    for name in ("RLX_CACHE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    planted = project / home / ".config" / "rlx" / "config.toml"
    planted.parent.mkdir(parents=True)
    planted.write_text('trust = ["/"]\n', encoding="utf-8")
    assert not trusts(str(project))
    with pytest.raises(UntrustedCache, match="not an absolute path"):
        directory()
    monkeypatch.setenv("RLX_CACHE", "cache")
    with pytest.raises(UntrustedCache, match="not an absolute path"):
        directory()
