"""`rlx skill`: a page for agents, which says which command answers which question."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from rlx.grammar.command_line import CommandParser
from rlx.grammar.stack import roomy
from rlx.grammar.streams import say


@roomy
def main(argv: Sequence[str], prog: str = "rlx skill") -> int:
    """Print the page, and return the exit status."""
    parser = CommandParser(
        prog=prog,
        description="Print a page in Markdown for agents: which command answers which question.",
        epilog="exit status: 0 printed; 2 wrong usage.",
    )
    parser.parse_args(argv)
    say(files("rlx.commands").joinpath("skill.md").read_text("utf-8"))
    return 0
