"""A misspelt command, option or value: the answer names the one that was meant."""

from __future__ import annotations

import random
from importlib import import_module

import pytest

from rlx.cli import COMMANDS
from rlx.completion import parser_of


def misspellings(word: str, rng: random.Random) -> list[str]:
    """A letter missing, one too many, two exchanged, another one."""
    at = rng.randrange(1, len(word) - 1)
    return [
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + "q" + word[at + 1 :],
    ]


def said(name: str, argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The errors that a command prints."""
    try:
        status = import_module(COMMANDS[name][0]).main(argv, f"rlx {name}")
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    return capsys.readouterr().err.splitlines()[-1]


OPTIONS = [
    (name, action.option_strings[-1], flags)
    for name in COMMANDS
    for actions in [parser_of(name)._actions]
    for flags in [[flag for action in actions for flag in action.option_strings]]
    for action in actions
    if any(len(flag) > 4 for flag in action.option_strings)
]


@pytest.mark.parametrize(
    ("name", "flag", "flags"), OPTIONS, ids=[f"{name} {flag}" for name, flag, _ in OPTIONS]
)
def test_an_option(
    name: str, flag: str, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for wrong in misspellings(flag[2:], random.Random(flag)):
        if f"--{wrong}" in flags:
            continue
        fine = ["bash" if name == "completion" else "x.rlx"]
        fine = ["check", *fine] if name == "relay" else fine
        for argv in ([f"--{wrong}", *fine], [*fine, f"--{wrong}=3"]):
            last = said(name, argv, capsys)
            assert f"unknown option --{wrong}; did you mean " in last, last
            assert flag in last, last


VALUES = [
    (name, action.option_strings[-1], value)
    for name in COMMANDS
    for action in parser_of(name)._actions
    if action.option_strings and action.metavar not in ("CODE", "CODES")
    for value in action.choices or ()
]


def test_a_value_as_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    last = said("refines", ["a.rlx", "b.rlx", "--json"], capsys)
    assert last.endswith("unknown option --json; write --format json")


@pytest.mark.parametrize(("name", "flag", "value"), VALUES)
def test_a_value(name: str, flag: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = f"{value}q"  # one letter too many
    last = said(name, [f"{flag}={wrong}", "x.rlx"], capsys)
    assert f"invalid choice: '{wrong}'" in last
    assert f"'{value}'" in last.partition("did you mean")[2]


def test_options_are_not_abbreviated(capsys: pytest.CaptureFixture[str]) -> None:
    """Options may not be shortened, as a new option could make them ambiguous; the message names the option."""
    assert said("fmt", ["--dial", "0.16", "x"], capsys).endswith("did you mean --dialect?")
