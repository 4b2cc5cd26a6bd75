"""The projects of the folders that an editor shows: operators are imported from trusted ones alone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .wire import Message, Wire

OPERATORS = """\
import rlx

open(MARK, "a").write("imported")


@rlx.operator("demo.twice")
def twice(site, x):
    return x
"""
PROGRAM = """\
@R.function
def main(x: R.Tensor((2,), "float32")):
    y = R.demo.twice(x)
    return y
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with operators of its own."""
    folder = tmp_path / "a project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[tool.rlx]\noperators = ["own.py"]\n')
    (folder / "own.py").write_text(OPERATORS.replace("MARK", repr(str(tmp_path / "mark"))))
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Iterator[dict[str, str]]:
    """An environment whose user has a configuration of their own."""
    (tmp_path / "home" / "rlx").mkdir(parents=True)
    yield {"XDG_CONFIG_HOME": str(tmp_path / "home")}


class Session:
    """A session with some folders in which the program is opened, asked about and closed."""

    def __init__(self, environment: dict[str, str], *words: str, **given: object) -> None:
        wire = Wire(environment, words)
        try:
            params = {"processId": None, "rootUri": None, "capabilities": {}, **given}
            answer = wire.answer(wire.ask("initialize", params))
            assert "result" in answer, answer
            wire.notify("initialized", {})
            wire.open("file:///elsewhere/a.rlx", PROGRAM)
            self.codes = wire.told("file:///elsewhere/a.rlx", 1)
            place = {"line": 2, "character": 4}
            at = {"textDocument": {"uri": "file:///elsewhere/a.rlx"}, "position": place}
            self.hover = wire.answer(wire.ask("textDocument/hover", at))["result"]
            for number in range(2):  # other processes are started for them
                wire.open(f"file:///elsewhere/{number}.rlx", PROGRAM * (number + 1))
            for number in range(2):
                wire.told(f"file:///elsewhere/{number}.rlx", 1)
            assert wire.end() == 0
            self.shown: list[Message] = wire.shown
        finally:
            wire.close()


def trust(home: dict[str, str], folder: Path) -> None:
    own = Path(home["XDG_CONFIG_HOME"]) / "rlx" / "config.toml"
    own.write_text(f"trust = [{json.dumps(str(folder))}]\n")


def shows(folder: Path) -> list[dict[str, str]]:
    return [{"uri": folder.as_uri(), "name": folder.name}]


def test_operators_of_a_trusted_folder_are_known(project: Path, home: dict[str, str]) -> None:
    trust(home, project.parent)
    for given in ({"workspaceFolders": shows(project)}, {"rootUri": project.as_uri()}):
        session = Session(home, **given)
        assert session.codes == [] and session.shown == []
        assert "R.Tensor((2,)" in session.hover["contents"]["value"]


def test_a_folder_that_is_not_trusted_gives_one_message(
    project: Path, home: dict[str, str], tmp_path: Path
) -> None:
    session = Session(home, workspaceFolders=shows(project))
    assert len(session.shown) == 1 and session.codes != []
    assert "were not imported ('own.py')" in session.shown[0]["message"]
    assert not (tmp_path / "mark").exists()


def test_the_command_line_decides(project: Path, home: dict[str, str], tmp_path: Path) -> None:
    assert Session(home, "--isolated", workspaceFolders=shows(project)).shown == []
    assert not (tmp_path / "mark").exists()
    session = Session(home, "--trust-config", workspaceFolders=shows(project))
    assert session.codes == [] and session.shown == []


@pytest.mark.parametrize(
    "folders",
    [
        7,
        [],
        [
            *(None, "file:///", {"uri": 7, "name": "a"}, {"uri": "file:///"}),
            *({"uri": "http://[", "name": "a"}, {"uri": "file:///a%00b", "name": "b"}),
            *(
                {"uri": "untitled:one", "name": "a"},
                {"uri": "vscode-remote://x/y", "name": "\x1b[2J"},
            ),
            *({"uri": "file:///" + "a/" * 5000, "name": "deep"}, {"uri": "", "name": ""}),
        ],
    ],
    ids=["number", "none", "odd"],
)
def test_folders_that_are_no_folders(folders: object, home: dict[str, str]) -> None:
    session = Session(home, workspaceFolders=folders, rootUri={"no": "address"})
    assert session.shown == [] and session.codes != [] and session.hover is not None


def test_configuration_that_cannot_be_read_is_told_once(
    project: Path, home: dict[str, str]
) -> None:
    for wrong in ("[tool.rlx]\nselect = " + "9" * 5000, '[tool.rlx]\n"\\u001b[2J" = 1', "rlx = ["):
        (project / "pyproject.toml").write_text(wrong)
        session = Session(home, workspaceFolders=shows(project) * 2)
        assert len(session.shown) == 1 and session.codes != []
        assert "pyproject.toml" in session.shown[0]["message"]
        assert session.shown[0]["message"].isprintable()


def test_a_pipe_in_place_of_the_configuration(project: Path, home: dict[str, str]) -> None:
    (project / "pyproject.toml").unlink()
    os.mkfifo(project / "pyproject.toml")
    assert Session(home, workspaceFolders=shows(project)).shown == []
