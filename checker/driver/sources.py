"""Which files a command line means, and the text in each."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import BinaryIO

from rlx.checker.render.files import FileReport
from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.nodes.node import Record

NAME = ".gitignore"
LARGEST, LONGEST = 1 << 16, 512
"""Bytes of a `.gitignore` file that is read, and characters of a pattern for one name that may match;
no person writes more. `fnmatch` reads a pattern to its end for each bracket that is not closed.
"""


class IgnorePattern(Record):
    """One line of a `.gitignore` file.

    Attributes
    ----------
    parts
        Patterns for the names of a path, from the file's folder on; ``**`` stands for any number of
        names.
    again
        Whether the line begins with ``!``: what it matches is not ignored.
    folders
        Whether it ends with ``/``: it matches folders alone.
    """

    parts: tuple[str, ...]
    again: bool
    folders: bool

    def matches(self, names: Sequence[str], is_folder: bool) -> bool:
        """Whether a path, as the names in it, matches."""
        return (is_folder or not self.folders) and _match(self.parts, names)


class Ignored(Record):
    """What the `.gitignore` files of a folder and of those around it say.

    Attributes
    ----------
    lines
        Folders with the patterns of their files, the outermost first.
    """

    lines: tuple[tuple[str, tuple[IgnorePattern, ...]], ...] = ()

    def below(self, folder: str) -> Ignored:
        """The same for a folder inside, whose own file comes last."""
        own = _patterns(folder)
        return Ignored((*self.lines, (os.path.abspath(folder), own))) if own else self

    def holds(self, path: str, is_folder: bool) -> bool:
        """Whether git ignores a path, if it does not ignore the folder that the path is in."""
        full = os.path.abspath(path)
        for folder, patterns in reversed(self.lines):
            names = os.path.relpath(full, folder).split(os.sep)
            for pattern in reversed(patterns):
                if pattern.matches(names, is_folder):
                    return not pattern.again
        return False


def around(folder: str) -> Ignored:
    """What the files of the repository around a folder say of what is in it; nothing if they ignore
    the folder, since then its user wants it all the same.
    """
    full = os.path.abspath(folder)
    outer: list[str] = []
    at = full
    while not os.path.exists(os.path.join(at, ".git")):
        parent = os.path.dirname(at)
        if parent == at:
            return Ignored()  # in no repository
        at = parent
        outer.insert(0, at)
    found = Ignored()
    for each, inner in pairwise([*outer, full]):
        found = found.below(each)
        if found.holds(inner, is_folder=True):
            return Ignored()
    return found


def _patterns(folder: str) -> tuple[IgnorePattern, ...]:
    path = os.path.join(folder, NAME)
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > LARGEST:
            return ()
        with open(path, "rb") as file:
            text = file.read().decode("utf-8-sig", "surrogateescape")
    except OSError:
        return ()
    return tuple(p for p in map(_pattern, text.splitlines()) if p is not None)


def _pattern(line: str) -> IgnorePattern | None:
    """The pattern of a line; None for a comment or an empty line."""
    text = re.sub(r"(?<!\\) +$", "", line)
    again = text.startswith("!")
    text = text.removeprefix("!")
    if not text.strip("/") or line.startswith("#"):
        return None
    folders = text.endswith("/")
    text = text.rstrip("/")
    if "/" not in text:
        text = f"**/{text}"  # a name alone matches at any depth
    return IgnorePattern(tuple(text.strip("/").split("/")), again, folders)


def _match(parts: Sequence[str], names: Sequence[str]) -> bool:
    """Whether patterns match names; the time grows with the product of the two lengths."""
    reached = {0}  # how many names the patterns so far may have matched
    for at, part in enumerate(parts):
        if part == "**":
            first = min(reached, default=len(names) + 1)
            # at the end it stands for something inside
            reached = set(range(first + (at == len(parts) - 1), len(names) + 1))
        else:
            matches = _regex(part).match
            reached = {n + 1 for n in reached if n < len(names) and matches(names[n])}
    return len(names) in reached


@cache
def _regex(part: str) -> re.Pattern[str]:
    """The pattern of one name, which takes no more time on long ones (`fnmatch` sees to it)."""
    from fnmatch import translate

    if len(part) > LONGEST:
        return re.compile(r"(?!)")
    plain = re.sub(r"\\(.)", lambda found: f"[{found[1]}]" if found[1] in "*?[" else found[1], part)
    return re.compile(translate(plain), re.DOTALL)


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


def find(
    paths: Iterable[str], excludes: Callable[[str], bool] = lambda path: False
) -> tuple[list[str], list[FileReport], frozenset[str]]:
    """The files that the paths mean, each once, in order; and reports on directories that cannot be
    listed.

    A directory stands for all `.rlx` files under it, and all Python files that look as if they had
    Relax in them: these are the third part of the result. Links to directories are not followed,
    hidden directories are no place for Python.

    Parameters
    ----------
    excludes
        Whether the project excludes a path, also one that is named.
    """
    searched: set[str] = set()
    found: dict[str, None] = {}
    refused: list[FileReport] = []

    def refuse(error: OSError) -> None:
        refused.append(unreadable(str(error.filename), error))

    for path in paths:
        if path == STDIN or not os.path.isdir(path):
            if path == STDIN or not excludes(path):
                found[path] = None
            continue
        for folder, names in folders_under(path, excludes, refuse):
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


def folders_under(
    path: str,
    excludes: Callable[[str], bool] = lambda path: False,
    refuse: Callable[[OSError], None] | None = None,
) -> Iterator[tuple[str, list[str]]]:
    """The folders under a folder with the names of their files, without what the project excludes
    or git ignores.
    """
    if excludes(path):
        return
    ignored = {path: around(path)}
    for folder, folders, names in os.walk(path, onerror=refuse):
        known = ignored.pop(folder).below(folder)

        def stays(name: str, is_folder: bool) -> bool:
            full = os.path.join(folder, name)  # noqa: B023 - called before the next folder
            return not known.holds(full, is_folder) and not excludes(full)  # noqa: B023

        folders[:] = [name for name in folders if stays(name, is_folder=True)]
        ignored.update((os.path.join(folder, name), known) for name in folders)
        yield folder, [name for name in names if stays(name, is_folder=False)]


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


MOST = 1 << 30
"""The bytes of the longest text that is read; a device may have no end."""


def read(path: str) -> bytes:
    """The bytes of a file, or of standard input.

    Raises
    ------
    OSError
        If it cannot be read, or is longer than :data:`MOST`.
    """
    return whole(sys.stdin.buffer) if path == STDIN else read_file(path)


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file. Raises OSError as :func:`read`."""
    with open(path, "rb") as file:
        return whole(file)


def whole(file: BinaryIO) -> bytes:
    """The bytes of an open file. Raises OSError as :func:`read`."""
    pieces, left = [], MOST
    while piece := file.read(1 << 20):
        left -= len(piece)
        if left < 0:
            raise OSError(errno.EFBIG, f"this is longer than {MOST >> 20:,} MiB")
        pieces.append(piece)
    return b"".join(pieces)


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
        text = text_of(data, path)
    except UnicodeDecodeError as error:
        data = data.removeprefix(BOM_UTF8)
        start = len(_lines(data[: error.start].decode(errors="replace")))
        found = Diagnostic(
            "PARSE",
            "error",
            f"the byte 0x{data[error.start]:02x} is not {_shown(error.encoding)}",
            (start, start + 1),
            label="here",
            help="save the file as UTF-8",
        )
        return Source(_lines(data.decode(errors="replace")), path), found
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


def text_of(data: bytes, path: str) -> str:
    """The text of a program, lines ended by a newline alone.

    Raises
    ------
    UnicodeDecodeError
        If it is not in the encoding of :func:`encoding`; behind the mark of UTF-8, if it has one.
    """
    data = data.removeprefix(BOM_UTF8)
    return _lines(data.decode(encoding(data, path)))


def why_no_text(path: str, error: UnicodeDecodeError) -> str:
    """Why a file is not text, in words that begin with its path."""
    return f"{path}: not {_shown(error.encoding)} (byte {error.start})"


def encoding(data: bytes, path: str) -> str:
    """The encoding that a Python file declares in its first two lines (PEP 263); UTF-8 for other
    files, and if none or an unknown one is declared.
    """
    if not path.endswith(PYTHON) or b"coding" not in data[:1000]:
        return "utf-8"
    from io import BytesIO
    from tokenize import detect_encoding

    try:
        declared, _ = detect_encoding(BytesIO(data).readline)
    except SyntaxError:
        return "utf-8"
    if declared == "utf-8-sig":  # the mark is no part of the text
        return "utf-8"
    try:
        data.decode(declared)
    except UnicodeDecodeError:
        return declared
    except (LookupError, UnicodeError):  # an encoding of bytes, or of the names of machines
        return "utf-8"
    return declared


def _shown(encoding: str) -> str:
    return encoding.upper() if encoding.startswith("utf") else encoding


def _lines(text: str) -> str:
    """The text with the line ends of other systems made newlines."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
