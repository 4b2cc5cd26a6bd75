"""`rlx disasm`: the contents of an executable of the virtual machine."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlx.commands.outputs import add_format, print_record
from rlx.grammar.command_line import CommandParser
from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import complain_line, say, write_program

if TYPE_CHECKING:
    from rlx.vm import Executable


@roomy
def main(argv: Sequence[str], prog: str = "rlx disasm") -> int:
    """Run the command, and return the exit status."""
    from rlx.vm import Executable, LoadError

    parser = CommandParser(
        prog=prog,
        description="Print an executable of the virtual machine.",
        epilog=(
            "exit status: 0 printed; 2 wrong usage, an unreadable file, or a file that"
            " is not an executable."
        ),
    )
    parser.add_argument("file", metavar="FILE", help="the executable: model.rlxexe")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--python", action="store_true", help="print a Python program that builds it")
    way.add_argument("--c", action="store_true", help="print the C of its PrimFuncs")
    way.add_argument(
        "--stats",
        action="store_true",
        help="print only the names of its functions and the shapes of its constants",
    )
    add_format(parser)
    options = parser.parse_args(argv)
    try:
        found = Executable.load(options.file)
    except LoadError as error:
        complain_line(f"{prog}: {error}")
        return UNABLE
    except OSError as error:
        complain_line(f"{prog}: {options.file}: {error.strerror or error}")
        return UNABLE
    if options.format == "json":
        print_record(
            file=options.file,
            functions=[function.name for function in found.functions],
            packed=list(found.packed_names),
            instructions=len(found.offsets),
            constants=len(found.constants),
            prim_funcs=sorted(found.kernels),
            text=_shown(found, options),
        )
    else:
        (write_program if options.python or options.c else say)(_shown(found, options))
    return 0


def _shown(found: Executable, options: argparse.Namespace) -> str:
    if options.python:
        return found.as_python()
    if options.c:
        return found.as_c()
    return f"{found.stats()}\n" + ("" if options.stats else f"\n{found.as_text()}")
