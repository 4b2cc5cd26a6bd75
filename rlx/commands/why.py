"""`rlx why FILE:LINE[:COLUMN]`: the rules that derived the struct info at a place."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

from rlx.commands.outputs import add_format
from rlx.commands.project import add_options, loaded
from rlx.grammar.command_line import CommandParser, natural
from rlx.grammar.nodes.node import Record
from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import complain_line, json_text, say_line, write_data

FINE, FOUND = 0, 1

_PLACE = re.compile(r"(.+?):(\d{1,9})(?::(\d{1,9}))?", re.DOTALL)

LINES = 1000
"""After so many lines, what is nested deeply is only counted, unless a depth is asked for."""

_STDIN = "<stdin>"

EPILOG = """\
FILE is a .rlx or .py file, or - for standard input. With a column the command explains the innermost
expression at that place; without one it explains every statement of the line.
Each line of the tree shows a conclusion and its rule. The lines below it show what the rule used, what it
compared, and what it asked the prover. ✓ marks premises that hold; ✗ marks what is certainly wrong, ! what
may be wrong, and ? what could not be decided.

exit status: 0 the tree is shown; 1 it is shown, and contains an error; 2 there is nothing at
that place, or the file cannot be read; 101 a bug in the tool."""


class _Wanted(Record):
    """A place on the command line."""

    path: str
    line: int
    column: int | None


@roomy
def main(argv: Sequence[str], prog: str = "rlx why") -> int:
    """Run the command, and return the exit status."""
    parser = _parser(prog)
    # A place in standard input begins as an option does.
    arguments = parser.parse_args([f"{_STDIN}{a[1:]}" if a.startswith("-:") else a for a in argv])
    wanted = _place(arguments.place)
    if wanted is None:
        parser.error(f"expected FILE:LINE or FILE:LINE:COLUMN, found {arguments.place!r}")
    if not loaded(arguments, prog):
        return UNABLE
    from rlx.checker.driver.sources import displayed, source_of

    try:
        source, problem = source_of(wanted.path, displayed(wanted.path))
    except OSError as error:
        complain_line(f"{prog}: cannot read {wanted.path}: {error.strerror or error}")
        return UNABLE
    if problem is not None:
        complain_line(f"{prog}: {source.path}: {problem.message}")
        return UNABLE
    return _answer(source.text, source.path, wanted, arguments, prog)


def _answer(text: str, path: str, wanted: _Wanted, arguments: argparse.Namespace, prog: str) -> int:
    from rlx.checker.why.explain import why
    from rlx.checker.why.place import PlaceError

    try:
        found = why(text, path, wanted.line, wanted.column)
    except PlaceError as nothing:
        complain_line(f"{prog}: {nothing}")
        return UNABLE
    if arguments.format == "json":
        from rlx.checker.why.json import as_json

        place = {"path": path, "line": wanted.line, "column": wanted.column}
        trees = as_json(found.roots, found.source, arguments.depth)
        write_data(json_text({**place, **trees}, indent=1) + "\n")
    else:
        from rlx.checker.render.human import theme_for
        from rlx.checker.why.tree_text import encodable, inferences

        theme, depth = theme_for(sys.stdout), arguments.depth
        limit = LINES if depth is None else None
        for line in found.lines(theme, depth, limit):
            say_line(encodable(line, sys.stdout.encoding))
        for line in inferences(found.roots) if arguments.rules else ():
            say_line(line)
    return FOUND if found.has_error else FINE


def _place(text: str) -> _Wanted | None:
    """``FILE:LINE`` or ``FILE:LINE:COLUMN``; a file may have colons in its name."""
    match = _PLACE.fullmatch(text)
    if match is None:
        return None
    path = "-" if match[1] == _STDIN else match[1]
    return _Wanted(path, int(match[2]), None if match[3] is None else int(match[3]))


_DEPTH = f"show N levels (default: all levels, up to {LINES} lines)"


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = CommandParser(
        prog=prog,
        description="Show how the rules derive the type at a place, as a tree.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add("place", metavar="FILE:LINE[:COLUMN]", help="the place to explain")
    add_format(parser, "the tree")
    add("--depth", type=natural, metavar="N", help=_DEPTH)
    add("--rules", action="store_true", help="print the text of each rule after the tree")
    add_options(parser)
    return parser
