"""What the README shows is what happens.

In a block ``console``, a line that starts with ``$ `` is a command and what follows is its output.
`RLX_UPDATE_SNAPSHOTS=1 pytest tests/examples` writes the outputs anew.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def output_of(command: str) -> str:
    """Both streams of a command, run at the root of the repository."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env={**os.environ, "PATH": path, "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout


def shown() -> list[tuple[str, str]]:
    """The commands of the README and the outputs it shows."""
    text = README.read_text(encoding="utf-8")
    return [pair for block in BLOCK.findall(text) for pair in COMMAND.findall(block)]


def update() -> None:
    """Write the real outputs into the README."""

    def again(block: re.Match[str]) -> str:
        commands = [command for command, _ in COMMAND.findall(block[1])]
        body = "".join(f"$ {command}\n{output_of(command)}" for command in commands)
        return f"```console\n{body}```"

    text = README.read_text(encoding="utf-8")
    README.write_text(BLOCK.sub(again, text), encoding="utf-8")


if os.environ.get("RLX_UPDATE_SNAPSHOTS"):
    update()


@pytest.mark.parametrize(("command", "output"), shown(), ids=[command for command, _ in shown()])
def test_the_output_shown_is_real(command: str, output: str) -> None:
    assert output_of(command) == output


def test_the_readme_shows_something() -> None:
    assert len(shown()) >= 5


def test_two_commands_do_the_set_up() -> None:
    """`.ci/run` takes them from here."""
    commands = [
        line for line in README.read_text().splitlines() if line.startswith("python3 -m venv")
    ]
    check, test = commands
    assert re.search(r"&& \.venv/bin/relax-check examples/\S+", check)
    assert re.search(r"\.\[dev,tvm,cluster\].* && \.venv/bin/python -m pytest[ \w-]*$", test)


def test_files_named_exist() -> None:
    for name in re.findall(r"\]\(([\w./-]+)\)", README.read_text()):
        assert (ROOT / name).exists(), name
