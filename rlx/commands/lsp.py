"""`rlx lsp`: an editor's server, over standard input and output."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import BinaryIO

from rlx.grammar.streams import complain_line

UNABLE = 2


def main(argv: Sequence[str], prog: str = "rlx lsp") -> int:
    """Run the command.

    Returns
    -------
    int
        The exit status.
    """
    from rlx.commands.project import add_options
    from rlx.grammar.command_line import CommandParser
    from rlx.grammar.processes import safe_environment

    parser = CommandParser(
        prog=prog,
        description=("Run a server of the Language Server Protocol on standard input and output."),
        epilog=(
            "The command needs the extra `lsp`: pip install 'rlx[lsp]'. editors/README.md shows how"
            " to set up editors.\n\nexit status: 0 the editor has ended the session; 2 wrong usage, or"
            " the extra is not installed."
        ),
    )
    parser.add_argument(
        "--stdio", action="store_true", help="accepted because editors pass it; it is the default"
    )
    add_options(parser)
    options = parser.parse_args(argv)
    # the editor may have started us in the folder that it shows, and processes are started later
    os.chdir(os.sep)
    try:
        from rlx.lsp.server import create
    except ModuleNotFoundError as error:
        complain_line(f"{prog}: {error.name} is not installed: pip install 'rlx[lsp]'")
        return UNABLE
    with safe_environment():
        create(trusted=options.trust_config, isolated=options.isolated).start_io(*_streams())
    return 0


def _streams() -> tuple[BinaryIO, BinaryIO]:
    """The protocol's own input and output. It closes them in the end; what is printed goes to
    stderr, not between its messages.
    """
    reads, writes = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(reads, "rb"), os.fdopen(writes, "wb")
