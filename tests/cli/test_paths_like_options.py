"""Names of files that look like options: refused with a sentence, by every command."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from rlx.cli import COMMANDS

BIN = Path(sys.executable).parent

TAKES_A_FILE = {
    "check": [],
    "fmt": [],
    "run": [],
    "step": [],
    "why": [],
    "lower": [],
    "build": ["-o", "made"],
    "disasm": [],
    "reduce": ["--test", "true"],
    "bisect": [],
    "relay": [],
}


def rlx(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BIN / "rlx", *words], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("command", TAKES_A_FILE)
def test_a_path_that_begins_with_a_dash_is_refused(command: str, tmp_path: Path) -> None:
    name = "-evil.rlx:1" if command == "why" else "-evil.rlx"
    (tmp_path / "-evil.rlx").write_text("", encoding="utf-8")
    action = ["check"] if command == "relay" else []
    done = rlx(tmp_path, command, *TAKES_A_FILE[command], *action, "--", name)
    assert done.returncode == 2
    assert f"'{name}' begins with '-'; write it as './{name}'" in done.stderr


@pytest.mark.parametrize("command", [*TAKES_A_FILE, "graph", "memory", "compare"])
def test_an_empty_path_is_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As a shell writes it for a variable without a value."""
    action = ["check"] if command == "relay" else []
    run = import_module(COMMANDS[command][0]).main
    with pytest.raises(SystemExit, match="2"):
        run([*TAKES_A_FILE.get(command, []), *action, ""], f"rlx {command}")
    assert "the name of a file is empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name", ["--operators=evil.py", "--operators", "--fix", "-h", "--trust-config", "--nonsense"]
)
def test_an_option_that_names_a_file_is_refused(name: str, tmp_path: Path) -> None:
    """As a shell writes it for `*`."""
    (tmp_path / "evil.py").write_text("open('mark', 'w')\n", encoding="utf-8")
    (tmp_path / name).write_text("", encoding="utf-8")
    done = rlx(tmp_path, "check", *sorted(path.name for path in tmp_path.iterdir()))
    assert done.returncode == 2 and done.stdout == ""
    assert f"'{name}' is an option, and the name of a file" in done.stderr
    assert not (tmp_path / "mark").exists()
    assert rlx(tmp_path, "check", f"./{name}").returncode in (0, 1)


def test_outputs_do_not_begin_with_a_dash(tmp_path: Path) -> None:
    done = rlx(tmp_path, "run", "a.rlx", "--out=-x")
    assert done.returncode == 2 and "write it as './-x'" in done.stderr


def test_a_dash_alone_is_standard_input(tmp_path: Path) -> None:
    (tmp_path / "-").write_text("", encoding="utf-8")
    done = subprocess.run(
        [BIN / "rlx", "check", "-"], cwd=tmp_path, input=b"x", capture_output=True, check=False
    )
    assert b"<stdin>" in done.stdout


@pytest.mark.parametrize(
    ("command", "ending", "text"),
    [
        (("fmt",), ".rlx", "@R.function\ndef main(x: R.Any):\n    return x\n"),
        (("relay", "check"), ".relay", "def @main(%x: int32) { %x }\n"),
        (("check",), ".rlx", "@R.function\ndef main(x: R.Any):\n    return x\n"),
    ],
)
def test_a_folder_with_the_name_of_a_program(
    command: tuple[str, ...], ending: str, text: str, tmp_path: Path
) -> None:
    """`rlx fuzz` makes a folder `.rlx`; what lies in such a folder is found."""
    for folder in (tmp_path / ending, tmp_path / f"all{ending}"):
        folder.mkdir()
        (folder / f"one{ending}").write_text(text)
    done = rlx(tmp_path, *command, ".")
    assert (done.returncode, done.stderr) == (0, "")
