"""`rlx build`: a program compiled for the virtual machine."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlx.commands.compiling import made_or_status, program
from rlx.commands.outputs import add_format, print_record, refused
from rlx.commands.project import add_options, loaded
from rlx.grammar.command_line import CommandParser
from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import complain_line
from rlx.grammar.wording import counted
from rlx.semantics.run.options import UsageError

if TYPE_CHECKING:
    from rlx.vm import Executable


@roomy
def main(argv: Sequence[str], prog: str = "rlx build") -> int:
    """Run the command, and return the exit status."""
    parser = CommandParser(
        prog=prog,
        description="Compile a program for the virtual machine, into a file that `rlx run` runs.",
        epilog=(
            "exit status: 0 built; 1 the checker found errors; 2 wrong usage or a file that cannot"
            " be read or\nwritten; 3 a pass rejects the program."
        ),
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="the program; - for standard input")
    add(
        "-o", "--out", metavar="FILE", required=True, help="the file to write, such as model.rlxexe"
    )
    add("--module", metavar="NAME", help="the module to compile, if the file has several")
    add("--legalize", action="store_true", help="replace operators with PrimFuncs first")
    add_format(parser)
    add_options(parser)
    options = parser.parse_args(argv)
    if not loaded(options, prog):
        return UNABLE
    made = made_or_status(prog, lambda: _built(options))
    if isinstance(made, int):
        return made
    count, kept = len(made.functions), len(made.kernels)
    compiled = f", {counted(kept, 'PrimFunc')} as C and as text" if kept else ""
    said = f"{counted(count, 'function')}, {len(made.offsets)} instructions{compiled}"
    complain_line(f"written: {options.out}, {said}")
    if options.format == "json":
        print_record(
            file=options.file,
            written=options.out,
            functions=count,
            instructions=len(made.offsets),
            prim_funcs=kept,
        )
    return 0


def _built(options: argparse.Namespace) -> Executable:
    """The executable, which is written to its file."""
    from rlx.vm.building import build

    read = program(options.file, options.module)
    if (said := refused(options.out, options.file)) is not None:
        raise UsageError(f"--out {said}")
    made = build(read, legalize=options.legalize)
    made.save(options.out)
    return made
