"""`rlx lsp`: an editor's server, over standard input and output."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import complain_line


@roomy
def main(argv: Sequence[str], prog: str = "rlx lsp") -> int:
    """Run the command, and return the exit status."""
    from rlx.commands.project import add_options
    from rlx.grammar.command_line import CommandParser

    parser = CommandParser(
        prog=prog,
        description="Run a server of the Language Server Protocol on standard input and output.",
        epilog=(
            "editors/README.md shows how to set up editors.\n\nexit status: 0 the editor has ended the"
            " session with `shutdown`; 1 it ended without; 2 wrong usage."
        ),
    )
    parser.add_argument(
        "--stdio", action="store_true", help="accepted because editors pass it; it is the default"
    )
    add_options(parser)
    options = parser.parse_args(argv)
    from rlx.checker.driver.time_limit import TimeLimitError, seconds
    from rlx.lsp.front import LIMIT, Front

    try:
        limit = seconds(LIMIT)
    except TimeLimitError as error:
        complain_line(f"{prog}: {error}")
        return UNABLE
    front = Front(*_streams(), limit, trusted=options.trust_config, isolated=options.isolated)
    return front.run()


def _streams() -> tuple[int, int]:
    """The protocol's own input and output; what is printed goes to stderr, not between its
    messages.
    """
    reads, writes = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    return reads, writes
