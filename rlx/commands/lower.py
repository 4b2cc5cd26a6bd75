"""`rlx lower`: prints a program after each step of its lowering for the virtual machine."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from difflib import get_close_matches

from rlx.commands.compiling import made_or_status, program
from rlx.commands.outputs import add_format, print_record
from rlx.commands.project import add_options, loaded
from rlx.grammar.command_line import CommandParser
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import write_program
from rlx.semantics.run.options import UsageError


@roomy
def main(argv: Sequence[str], prog: str = "rlx lower") -> int:
    """Run the command, and return the exit status."""
    from rlx.grammar.print.printer import print_module
    from rlx.grammar.print.weights import print_with_weights
    from rlx.vm.compilation import STAGES

    names = [stage.__name__ for stage in STAGES]
    parser = CommandParser(
        prog=prog,
        description="Print a program after a pass of the lowering to the virtual machine.",
        epilog=f"passes, in order: {', '.join(names[:5])},\n{', '.join(names[5:])}\n\n"
        "exit status: 0 printed; 1 the checker found errors; 2 wrong usage or an unreadable file;\n"
        "3 a pass rejects the program.",
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="the program; - for standard input")
    add("--to", metavar="PASS", default=names[-1], help="the last pass to run (default: all)")
    add("--module", metavar="NAME", help="the module to lower, if the file has several")
    add("--legalize", action="store_true", help="replace operators with PrimFuncs first")
    add_format(parser)
    add_options(parser)
    options = parser.parse_args(argv)
    if not loaded(options, prog):
        return UNABLE
    done = made_or_status(prog, lambda: _lowered(options, names))
    if isinstance(done, int):
        return done
    made, left = done
    if options.format == "json":
        last = names[_stage(options.to, names)]
        print_record(file=options.file, to=last, program=print_with_weights(made), left=left)
    else:  # people do not read weights
        shown = print_module if sys.stdout.isatty() else print_with_weights
        write_program(shown(made))
    return 0


def _lowered(
    options: argparse.Namespace, names: Sequence[str]
) -> tuple[IRModule, list[dict[str, str]]]:
    """The program after the passes, and the calls of operators that `--legalize` left."""
    from rlx.vm.compilation import STAGES

    last = _stage(options.to, names)
    now = program(options.file, options.module)
    left: list[dict[str, str]] = []
    if options.legalize:
        from rlx.transform.legalization import legalized

        found = legalized(now)
        now = found.module
        left = [
            {"function": each.function, "operator": each.operator, "reason": each.reason}
            for each in found.left
        ]
    for stage in STAGES[: last + 1]:
        now = stage()(now)
    return now, left


def _stage(name: str, names: Sequence[str]) -> int:
    alike = {known.lower(): k for k, known in enumerate(names)}
    found = alike.get(name.lower())
    if found is None:
        near = get_close_matches(name.lower(), alike, n=1)
        hint = f"; did you mean {names[alike[near[0]]]}?" if near else f": {', '.join(names)}"
        raise UsageError(f"--to: no pass {name!r}{hint}")
    return found
