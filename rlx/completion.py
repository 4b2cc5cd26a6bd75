"""`rlx completion SHELL`: a script that lets a shell complete the commands; shtab writes it.

The scripts are made from the commands' own parsers, so they know every option; a shell that completes with one runs
no Python.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from unittest.mock import patch

from rlx.cli import COMMANDS
from rlx.grammar.command_line import PATHS, CommandParser
from rlx.grammar.stack import roomy
from rlx.grammar.streams import complain_line, say

CODES = ("CODE", "CODES")
"""The metavariables of arguments that are codes of diagnostics."""

SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")

PROGRAMS = ("rlx", "relax-check")

EPILOG = """\
bash:  rlx completion bash >> ~/.bash_completion
zsh:   rlx completion zsh > DIR/_rlx, where DIR is a folder of $fpath
fish:  rlx completion fish > ~/.config/fish/completions/rlx.fish

`--program relax-check` does the same for relax-check. The package shtab writes the scripts: pip install 'rlx[completion]'.

exit status: 0 printed; 2 wrong usage, or shtab is not installed."""


@roomy
def main(argv: Sequence[str], prog: str = "rlx completion") -> int:
    """Print the script for a shell, and return the exit status."""
    parser = CommandParser(
        prog=prog,
        description="Print a script that lets a shell complete rlx or relax-check.",
        epilog=EPILOG,
    )
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    parser.add_argument(
        "--program", choices=PROGRAMS, default="rlx", help="the program (default: %(default)s)"
    )
    given = parser.parse_args(argv)
    try:
        script = completion_script(given.shell, given.program)
    except ModuleNotFoundError:
        message = "shtab is not installed; install it with: pip install 'rlx[completion]'"
        complain_line(f"{prog}: {message}")
        return 2
    say(script)
    return 0


def completion_script(shell: str, program: str) -> str:
    """The script that completes a program in a shell. Raises ModuleNotFoundError if shtab is not
    installed.
    """
    import shtab

    if program == "relax-check":
        return shtab.complete(_described("check", program), shell)
    whole = argparse.ArgumentParser("rlx")
    commands = whole.add_subparsers()
    for name, (_, what) in COMMANDS.items():
        described = _described(name, f"rlx {name}")
        commands.add_parser(name, parents=[described], add_help=False, help=what.replace("%", "%%"))
    return shtab.complete(whole, shell)


def _described(name: str, prog: str) -> argparse.ArgumentParser:
    """The parser of a command, with the completion of each argument."""
    import shtab

    parser = parser_of(name)
    parser.prog = prog
    for action in parser._actions:
        if action.metavar in CODES:
            from rlx.checker.explain import codes

            action.choices = tuple(codes())
        elif action.metavar in PATHS:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return parser


class _Parsed(Exception):
    """Carries a parser out of its command."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


def parser_of(name: str) -> argparse.ArgumentParser:
    """The parser of a command, taken from its first call of ``parse_args``."""

    def give(self: argparse.ArgumentParser, *_: object) -> None:
        raise _Parsed(self)

    run = import_module(COMMANDS[name][0]).main
    with patch.object(argparse.ArgumentParser, "parse_args", give):
        try:
            run([], f"rlx {name}")
        except _Parsed as parsed:
            return parsed.parser
    raise AssertionError(f"{name} parses no arguments")
