"""Files that commands write: whether they can, before hours of work are lost."""

from __future__ import annotations

import os

STDIN = "-"


def refused(out: str, file: str) -> str | None:
    """Why a command must not, or cannot, write a file.

    Parameters
    ----------
    out
        The file to write.
    file
        The program, which stays as it is; `-` for standard input.

    Returns
    -------
    str or None
        The file and the reason; None if there is none.
    """
    if os.path.isdir(out):
        return f"{out}: Is a directory"
    if os.path.exists(out):
        same = file != STDIN and os.path.exists(file) and os.path.samefile(out, file)
        if same:
            return f"{out}: this would overwrite the program"
        return None if os.access(out, os.W_OK) else f"{out}: Permission denied"
    folder = os.path.dirname(out) or "."
    if not os.path.isdir(folder):
        return f"{out}: there is no directory {folder}"
    return None if os.access(folder, os.W_OK) else f"{out}: Permission denied"
