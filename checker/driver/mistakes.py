"""The record of an internal error, for the user's bug report."""

from __future__ import annotations

import os

from rlx.grammar.streams import complain

SHOW_TRACEBACK = "RLX_TRACEBACK"
"""With this environment variable set, tracebacks of the checker go to stderr too."""


def keep_traceback() -> str | None:
    """Write the traceback of the exception being handled to a file; its path."""
    import traceback

    from rlx.writing import remember

    text = traceback.format_exc()
    if os.environ.get(SHOW_TRACEBACK):
        complain(text)
    try:
        return remember(text, "rlx-traceback-")
    except OSError:
        return None
