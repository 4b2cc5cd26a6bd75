"""Which files are executables: a command asks this before it imports what they need."""

from __future__ import annotations

from pathlib import Path

MAGIC = b"RLXEXE\r\n"
"""The first bytes of an executable."""


def is_executable(path: str) -> bool:
    """Whether a file is an executable of the virtual machine, by its first bytes.

    A pipe is none: it could not be read a second time.
    """
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False
