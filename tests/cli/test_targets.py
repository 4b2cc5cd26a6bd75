"""The target of a project holds for all that checks or writes its programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.commands.check import main as check
from rlx.commands.fmt import main as fmt
from tests.lsp.wire import Message, Wire

WORDS = {"0.17": "out_sinfo", "0.25": "out_sinfo", "0.26": "out_ty", "0.27": "out_ty"}
TEXT = """\
@R.function
def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    y = R.call_dps_packed("f", (x,), RESULT=R.Tensor((4,), "float32"))
    return y
"""


@pytest.fixture(params=WORDS)
def target(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def file(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program with the words of another version, in a project with a target."""
    (tmp_path / "pyproject.toml").write_text(f'[tool.rlx]\ntarget = "{target}"\n')
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.rlx"
    path.write_text(
        TEXT.replace("RESULT", "out_ty" if WORDS[target] == "out_sinfo" else "out_sinfo")
    )
    return path


@pytest.mark.parametrize("command", [["--fix"], ["fmt"]], ids=" ".join)
def test_it_is_written_for_the_target(file: Path, target: str, command: list[str]) -> None:
    if command == ["fmt"]:
        assert fmt([str(file)]) == 0
    else:
        assert check([*command, str(file)]) == 0
    assert f"{WORDS[target]}=" in file.read_text()
    assert check([str(file)]) == 0


@pytest.mark.parametrize("target", ["0.17"], indirect=True)
def test_an_option_replaces_the_target(file: Path) -> None:
    for version, word in WORDS.items():
        assert fmt(["--dialect", version, str(file)]) == 0
        assert f"{word}=" in file.read_text()
        assert check(["--target", version, str(file)]) == 0


def test_without_the_configuration_the_newest_version_is_written(file: Path) -> None:
    assert fmt(["--isolated", str(file)]) == 0
    assert "out_ty=" in file.read_text()


@pytest.mark.parametrize("target", ["0.17"], indirect=True)
def test_the_language_server_checks_and_formats_for_the_target(file: Path, target: str) -> None:
    wire = Wire()
    try:
        root = file.parent.as_uri()
        params: Message = {"processId": None, "rootUri": root, "capabilities": {}}
        wire.answer(wire.ask("initialize", params))
        wire.notify("initialized", {})
        wire.open(file.as_uri(), file.read_text())
        assert wire.told(file.as_uri(), 1) == ["VERSION-spelling"]
        at = {
            "textDocument": {"uri": file.as_uri()},
            "options": {"tabSize": 4, "insertSpaces": True},
        }
        (edit,) = wire.answer(wire.ask("textDocument/formatting", at))["result"]
        assert f"{WORDS[target]}=" in edit["newText"]
        assert wire.end() == 0
    finally:
        wire.close()
