"""`rlx build`: a program compiled for the virtual machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rlx.checker.check import IllFormedError
from rlx.grammar.command_line import CommandParser
from rlx.semantics.run.options import ENDED, UNABLE, UNDECIDED, UsageError, checked, show_errors


def main(argv: Sequence[str], prog: str = "rlx build") -> int:
    """Run the command.

    Returns
    -------
    int
        The exit status.
    """
    from rlx.transform.lowering.passes import PassError
    from rlx.vm.compilation import build

    parser = CommandParser(
        prog=prog,
        description="Compile a program for the virtual machine, into a file that `rlx run` runs.",
        epilog=(
            "exit status: 0 built; 1 the checker found errors; 2 wrong usage or a file that cannot"
            " be read or written; 3 a pass does not take the program."
        ),
    )
    parser.add_argument("file", metavar="FILE", help="the program; - for standard input")
    parser.add_argument(
        "-o", "--out", metavar="FILE", required=True, help="where it goes: model.rlxexe"
    )
    parser.add_argument(
        "--module", metavar="NAME", help="which module, where the file holds several"
    )
    parser.add_argument(
        "--legalize", action="store_true", help="make PrimFuncs of operators before"
    )
    options = parser.parse_args(argv)
    try:
        made = build(checked(options.file, options.module), legalize=options.legalize)
        if (
            Path(options.out).exists()
            and options.file != "-"
            and Path(options.out).samefile(options.file)
        ):
            raise UsageError(f"--out {options.out}: that is the program itself")
        made.save(options.out)
    except (UsageError, OSError) as error:
        sys.stderr.write(f"{prog}: {error}\n")
        return UNABLE
    except IllFormedError as error:
        show_errors(error.report)
        return ENDED
    except PassError as error:
        sys.stderr.write(f"{prog}: {error}\n")
        return UNDECIDED
    functions = "1 function" if len(made.functions) == 1 else f"{len(made.functions)} functions"
    sys.stderr.write(f"written: {options.out}, {functions}, {len(made.offsets)} instructions\n")
    return 0
