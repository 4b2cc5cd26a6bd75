"""The pages of commands: the description of each, and its options with an anchor each."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from unittest.mock import patch

HEAD = """# Commands

`relax-check` is `rlx check`. Exit statuses are part of [what is stable](../stable.md): 0 all is well, 1 something is wrong with the program, 2 the
command could not do its work, 3 a run was not decided (out of fuel, unsupported), 101 a bug in rlx.

| command | |
|---|---|
"""
ALSO = {"check": " (`relax-check`)"}


def pages() -> dict[str, str]:
    """The pages by their addresses."""
    from rlx.cli import COMMANDS
    from rlx.completion import parser_of

    found, index = {}, HEAD
    with patch.dict(os.environ, {"COLUMNS": "100"}):
        for name, (_, what) in COMMANDS.items():
            parser = parser_of(name)
            said = f"{what[0].upper()}{what[1:]}."
            parts = [f"# rlx {name}{ALSO.get(name, '')}", said]
            parts.append(f"```text\n{parser.format_usage().rstrip()}\n```")
            parts += _options(parser)
            parts += [f"```text\n{parser.epilog.strip()}\n```"] if parser.epilog else []
            found[f"reference/commands/{name}.md"] = "\n\n".join(parts) + "\n"
            index += f"| [rlx {name}]({name}.md) | {what} |\n"
    found["reference/commands/index.md"] = index
    return found


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The arguments of a command: a heading and a paragraph for each."""
    for action in parser._actions:
        if action.help == argparse.SUPPRESS or isinstance(action, argparse._HelpAction):
            continue
        choices = "{" + ",".join(map(str, action.choices or ())) + "}"
        value = action.metavar or (choices if action.choices else action.dest.upper())
        shown = " ".join(value) if isinstance(value, tuple) else value
        takes = f" {shown}" if action.nargs != 0 and action.option_strings else ""
        names = ", ".join(action.option_strings) or shown
        yield f"## `{names}{takes}`"
        said = (action.help or "") % {**vars(action), "prog": parser.prog}
        yield f"{said[:1].upper()}{said[1:]}.".replace("..", ".").replace("<", "&lt;")
