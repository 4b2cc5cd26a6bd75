"""Messages for errors of the operating system."""

from __future__ import annotations


def words_of(error: OSError) -> str:
    """The file and the reason: ``out.rlxexe: Is a directory``."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename is not None else reason
