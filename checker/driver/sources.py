"""Which files a command line means, and the text in each."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from rlx.checker.render.files import FileReport
from rlx.grammar.diagnostic import Diagnostic, Source

STDIN = "-"
SUFFIX = ".rlx"


def find(paths: Iterable[str]) -> tuple[list[str], list[FileReport]]:
    """The files that the paths mean, each once, in order; and reports on directories that cannot be listed.

    A directory stands for all `.rlx` files under it; links to directories are not followed.
    """
    found: dict[str, None] = {}
    refused: list[FileReport] = []

    def refuse(error: OSError) -> None:
        refused.append(unreadable(str(error.filename), error))

    for path in paths:
        if path == STDIN or not os.path.isdir(path):
            found[path] = None
            continue
        for folder, _, names in os.walk(path, onerror=refuse):
            inside = (os.path.join(folder, name) for name in names if name.endswith(SUFFIX))
            found.update(dict.fromkeys(inside))
    return sorted(found), refused


def displayed(path: str) -> str:
    """The name of a file in reports."""
    return "<stdin>" if path == STDIN else path


def size(path: str) -> int:
    """Bytes in a file; 0 where that cannot be said."""
    try:
        return 0 if path == STDIN else os.stat(path).st_size
    except OSError:
        return 0


def read(path: str) -> bytes:
    """The bytes of a file.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    if path == STDIN:
        return sys.stdin.buffer.read()
    with open(path, "rb") as file:
        return file.read()


def unreadable(path: str, error: OSError) -> FileReport:
    """The report on a file that cannot be read."""
    reason = error.strerror or str(error)
    found = Diagnostic("READ", "error", f"cannot read this file: {reason}", None)
    return FileReport(displayed(path), None, (found,), outcome="unreadable")


def decode(data: bytes, path: str) -> tuple[Source, Diagnostic | None]:
    """The text, lines ended by a newline alone, and what keeps it from being one."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        found = Diagnostic(
            "PARSE", "error", "this file is UTF-16", None, help="save it as UTF-8 without NUL bytes"
        )
        return Source("", path), found
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        start = len(_lines(data[: error.start].decode("utf-8-sig")))
        found = Diagnostic(
            "PARSE",
            "error",
            f"the byte 0x{data[error.start]:02x} is not UTF-8",
            (start, start + 1),
            label="here",
            help="save the file as UTF-8",
        )
        return Source(_lines(data.decode("utf-8-sig", "replace")), path), found
    text = _lines(text)
    nul = text.find("\0")
    if nul < 0:
        return Source(text, path), None
    found = Diagnostic(
        "PARSE",
        "error",
        "a NUL character stands in the text",
        (nul, nul + 1),
        label="here",
        help="remove it; if the file is not a text, it is not a Relax program",
    )
    return Source(text, path), found


def _lines(text: str) -> str:
    """The text with the line ends of other systems made newlines."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
