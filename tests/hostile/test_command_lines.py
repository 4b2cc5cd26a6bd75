"""Every command and every option is among the command lines that damaged files are tried with."""

import random
from pathlib import Path

import pytest

from rlx.cli import COMMANDS

from .command_lines import ALWAYS, LINES, Given, arguments_of, drawn
from .every_command import HARDLY, OFTEN, SELDOM, documented

COUNT = 1500
"""Lines after which each option of a command has been drawn."""


def test_every_command_is_tried() -> None:
    assert LINES.keys() == COMMANDS.keys()
    assert {*OFTEN, *SELDOM, *HARDLY} == COMMANDS.keys()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_argument_has_its_values(command: str) -> None:
    """An option that is added to a command fails here until its values are listed."""
    assert LINES[command].keys() == arguments_of(command).keys()
    assert ALWAYS.get(command, {}).keys() <= arguments_of(command).keys()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_drawn(command: str, tmp_path: Path) -> None:
    path = tmp_path / "input.rlx"
    path.write_text("x = 1\n")
    given = Given(path, path.read_text(), tmp_path, random.Random(0))
    words = {word for _ in range(COUNT) for word in drawn(command, given)}
    options = {name for name, kind in arguments_of(command).items() if kind == "option"}
    assert options <= words


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_lists_the_exit_statuses(command: str) -> None:
    assert {0} < documented(command) <= {0, 1, 2, 3}
