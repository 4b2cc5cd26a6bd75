"""The page of commands: what each says of itself."""

from __future__ import annotations

import os
from unittest.mock import patch

HEAD = """# Commands

`relax-check` is `rlx check`. Exit statuses are part of [what is stable](stable.md): 0 all is well, 1 something is wrong with the program, 2 the
command could not do its work, 3 a run was not decided (out of fuel, unsupported), 101 a bug in rlx.
"""


def pages() -> dict[str, str]:
    """The page by its address."""
    from rlx.cli import COMMANDS
    from rlx.completion import parser_of

    parts = [HEAD]
    with patch.dict(os.environ, {"COLUMNS": "100"}):
        for name, (_, what) in COMMANDS.items():
            said = parser_of(name).format_help().rstrip()
            parts.append(f"## rlx {name}\n\n{what[0].upper()}{what[1:]}.\n\n```text\n{said}\n```\n")
    return {"reference/commands.md": "\n".join(parts)}
