"""Which files a command line means, and the text in each."""

from __future__ import annotations

import os
import re
import stat
import sys
from codecs import BOM_UTF8
from collections.abc import Iterable

from rlx.checker.render.files import FileReport
from rlx.grammar.diagnostic import Diagnostic, Source

STDIN = "-"
SUFFIX = ".rlx"
PYTHON = ".py"
NO_FILE = "it is a pipe, a device or a socket"
"""Why a search does not read what it has found."""
PASSED_OVER = frozenset(["__pycache__", "node_modules", "site-packages"])
"""Directories whose Python files are other people's."""

_DECORATED = re.compile(
    rb"^[ \t]*@[ \t]*(?:[\w.]+\.)?(?:ir_module|function|func|prim_func)\b", re.MULTILINE
)
_ANNOTATED = re.compile(
    rb"\bdef\b(?:(?!\bdef\b)[^:])*:[ \t]*[\w.]+\.(?:Tensor|Shape|Object|Any|Callable|Prim)\b"
)
_SCRIPT = re.compile(rb"tvm[\w.]*script|@[ITR]\.|from[ \t]+tvm[\w.]*[ \t]+import")


def find(paths: Iterable[str]) -> tuple[list[str], list[FileReport], frozenset[str]]:
    """The files that the paths mean, each once, in order; and reports on directories that cannot be
    listed.

    A directory stands for all `.rlx` files under it, and all Python files that look as if they had
    Relax in them: these are the third part of the result. Links to directories are not followed,
    hidden directories are no place for Python.
    """
    searched: set[str] = set()
    found: dict[str, None] = {}
    refused: list[FileReport] = []

    def refuse(error: OSError) -> None:
        refused.append(unreadable(str(error.filename), error))

    for path in paths:
        if path == STDIN or not os.path.isdir(path):
            found[path] = None
            continue
        for folder, _, names in os.walk(path, onerror=refuse):
            for file in (os.path.join(folder, name) for name in names if name.endswith(SUFFIX)):
                if endless(file):
                    refused.append(unreadable(file, OSError(NO_FILE)))
                else:
                    found[file] = None
            if _passed_over(os.path.relpath(folder, path)):
                continue
            python = (os.path.join(folder, name) for name in names if name.endswith(PYTHON))
            searched.update(file for file in python if file not in found and _mentions_relax(file))
    return sorted({*found, *searched}), refused, frozenset(searched)


def _passed_over(folder: str) -> bool:
    parts = folder.split(os.sep)
    return any(part in PASSED_OVER or (part.startswith(".") and part != ".") for part in parts)


def endless(path: str) -> bool:
    """Whether reading might never end. What a user names is read all the same."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _mentions_relax(path: str) -> bool:
    """Whether a Python file may hold a Relax program; one that cannot be read holds none."""
    try:
        if not os.path.isfile(path):  # a pipe would be waited for
            return False
        data = read(path)
    except OSError:
        return False
    if _SCRIPT.search(data) is None:
        return False
    return _DECORATED.search(data) is not None or _ANNOTATED.search(data) is not None


def displayed(path: str, name_of_stdin: str | None = None) -> str:
    """The name of a file in reports."""
    return {STDIN: name_of_stdin or "<stdin>"}.get(path, path)


def size(path: str) -> int:
    """Bytes in a file; 0 where that cannot be said."""
    try:
        return os.stat(path).st_size
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
    data = data.removeprefix(BOM_UTF8)
    try:
        text = data.decode(_encoding(data) if path.endswith(PYTHON) else "utf-8")
    except UnicodeDecodeError as error:
        start = len(_lines(data[: error.start].decode(errors="replace")))
        found = Diagnostic(
            "PARSE",
            "error",
            f"the byte 0x{data[error.start]:02x} is not UTF-8",
            (start, start + 1),
            label="here",
            help="save the file as UTF-8",
        )
        return Source(_lines(data.decode(errors="replace")), path), found
    text = _lines(text)
    nul = text.find("\0")
    if nul < 0:
        return Source(text, path), None
    found = Diagnostic(
        "PARSE",
        "error",
        "the text contains a NUL character",
        (nul, nul + 1),
        label="here",
        help="remove it; a binary file is not a Relax program",
    )
    return Source(text, path), found


def _encoding(data: bytes) -> str:
    """The encoding that a Python file declares in its first two lines; UTF-8 if it is unknown."""
    if b"coding" not in data[:1000]:
        return "utf-8"
    from io import BytesIO
    from tokenize import detect_encoding

    try:
        return detect_encoding(BytesIO(data).readline)[0]
    except SyntaxError:
        return "utf-8"


def _lines(text: str) -> str:
    """The text with the line ends of other systems made newlines."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
