"""`rlx graph`: the dataflow graph of a program, or of two beside each other."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from rlx.commands.compiling import made_or_status
from rlx.commands.outputs import refused
from rlx.commands.project import add_options, loaded
from rlx.grammar.command_line import CommandParser
from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import complain_line, json_text, write_data
from rlx.semantics.run.options import UsageError

FORMATS = ("dot", "svg", "html", "json")
VERSION = 1


@roomy
def main(argv: Sequence[str], prog: str = "rlx graph") -> int:
    """Run the command, and return the exit status."""
    options = _parser(prog).parse_args(argv)
    if not loaded(options, prog):
        return UNABLE
    made = made_or_status(prog, lambda: _made(options))
    if isinstance(made, int):
        return made
    if options.out is None:
        write_data(made)
    else:
        complain_line(f"written: {options.out}")
    return 0


def _parser(prog: str) -> CommandParser:
    parser = CommandParser(
        prog=prog,
        description=(
            "Draw the dataflow graph of a program: what each binding uses, its struct info, and"
            " which parameter\nor cast binds each shape variable. With two programs: both, with what"
            " differs."
        ),
        epilog=(
            "A long function is folded by its blocks; a page shows each fold in a picture of its own.\n\n"
            "exit status: 0 drawn; 1 the checker found errors; 2 wrong usage or a file that cannot be"
            " read or\nwritten."
        ),
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="the program; - for standard input")
    add("other", metavar="OTHER", nargs="?", help="a program to compare it with")
    add("--module", metavar="NAME", help="the module, if a file has several")
    add(
        "-o",
        "--out",
        metavar="FILE",
        help="the file to write, whose name ends in .html, .svg, .dot or .json (default: standard"
        " output)",
    )
    add(
        "--format",
        choices=FORMATS,
        help="the format (default: what the name of --out says, or dot)",
    )
    add_options(parser)
    return parser


def _made(options: argparse.Namespace) -> str:
    from rlx.graphs.graph import compared, of_report
    from rlx.semantics.run.options import checked_report

    written = _format(options.out, options.format)
    files = [options.file, *([options.other] if options.other is not None else [])]
    if options.out is not None:
        for file in files:
            if (said := refused(options.out, file)) is not None:
                raise UsageError(f"--out {said}")
    if files.count("-") > 1:
        raise UsageError("only one of the programs can be standard input")
    read = [checked_report(file, options.module) for file in files]
    found = of_report(*read[0]) if len(read) == 1 else compared(read[0], read[1])
    if written == "json":
        sides = {"functions": found.record()}
        if found.other is not None:
            sides["other"] = found.other.record()
        text = json_text({"version": VERSION, "files": files, **sides}) + "\n"
    else:
        text = {"html": found.html, "svg": found.svg, "dot": found.dot}[written]()
    if options.out is not None:
        from rlx.writing import write

        write(options.out, text)
    return text


def _format(out: str | None, given: str | None) -> str:
    """The format that is given, or that the name of the file says; they may not contradict."""
    if out is None:
        return given or "dot"
    ending = out.rpartition(".")[2].lower()
    if ending in FORMATS:
        if given not in (None, ending):
            raise UsageError(f"--format {given}: the name of --out {out} says another one")
        return ending
    if given is None:
        raise UsageError(f"--out {out}: expected a name that ends in .html, .svg, .dot or .json")
    return given
