"""The files that the arguments of a command name, and the text of each."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from codecs import (
    BOM_UTF8,
    BOM_UTF16_BE,
    BOM_UTF16_LE,
    IncrementalDecoder,
    getincrementaldecoder,
)
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import BinaryIO

from rlx.checker.driver.gitignore import around
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


_MARKS = (BOM_UTF8, BOM_UTF16_LE, BOM_UTF16_BE)
"""The byte-order mark that some editors begin a text with."""
_BEHIND = 1 << 16
"""The bytes behind one that is not text of which reports may show some."""
_DECLARED = 1000
"""The bytes in which a Python file can declare its encoding."""
MOST = 1 << 30
"""The bytes of the longest text that is read; a device may have no end."""


def read(path: str) -> bytes:
    """The bytes of a text in a file, or of standard input, up to the first that is no text or a bit
    further.

    Raises
    ------
    OSError
        If it cannot be read, or is longer than :data:`MOST`.
    """
    return read_all(sys.stdin.buffer) if path == STDIN else read_file(path)


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a text in a file. Returns and raises OSError as :func:`read`."""
    with open(path, "rb") as file:
        return read_all(file)


def read_all(file: BinaryIO, of_text: bool = True) -> bytes:
    """The bytes of an open file; of a text, only up to the first that is NUL or not UTF-8, or a bit
    further, because the reader refuses it then. Raises OSError as :func:`read`.
    """
    return _joined(_pieces(file), of_text)


def _joined(pieces: Iterable[bytes], of_text: bool) -> bytes:
    found: list[bytes] = []
    utf8 = getincrementaldecoder("utf-8")()
    for piece in pieces:
        found.append(piece)
        if of_text and (b"\0" in piece or not _continues(utf8, piece, found[0])):
            break
    return b"".join(found)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    left = -1 if _bytes_of(file) > MOST else MOST
    while left >= 0 and (piece := file.read(1 << 20)):
        left -= len(piece)
        yield piece
    if left < 0:
        raise OSError(errno.EFBIG, f"this is longer than {MOST >> 20:,} MiB")


def source_of(path: str, shown: str) -> tuple[Source, Diagnostic | None]:
    """The text of a file or of standard input, as :func:`decode` gives it, in half the memory.

    Parameters
    ----------
    shown
        The name that the text gets.

    Raises
    ------
    OSError
        As :func:`read`.
    """
    found = _plain(path)
    return (Source(_lines(found), shown), None) if isinstance(found, str) else decode(found, shown)


def text_in(path: str) -> str:
    """The text of a program in a file or in standard input, lines ended by a newline alone. Raises
    OSError as :func:`read`, and UnicodeDecodeError as :func:`decoded`.
    """
    found = _plain(path)
    return _lines(found) if isinstance(found, str) else text_of(found, path)


def _plain(path: str) -> str | bytes:
    """The text of a file that is UTF-8 and does not say so; the bytes of any other."""
    if path == STDIN:
        return _decoded(_pieces(sys.stdin.buffer))
    with open(path, "rb") as file:
        return _decoded(_pieces(file))


def _decoded(pieces: Iterator[bytes]) -> str | bytes:
    first = next(pieces, b"")
    utf8, text = getincrementaldecoder("utf-8")(), ""
    plain = not first.startswith(_MARKS) and b"coding" not in first[:_DECLARED]
    for piece in chain([first], pieces if plain else ()):
        waiting = utf8.getstate()[0]
        try:
            if not plain or b"\0" in piece:
                break
            text += utf8.decode(piece)  # in place: nobody else holds this text
        except UnicodeDecodeError:
            break
    else:
        waiting, piece = utf8.getstate()[0], b""
        if not waiting:
            return text
    so_far = text.encode() + waiting + piece
    return so_far if plain else _joined(chain([so_far], pieces), of_text=True)


def _continues(utf8: IncrementalDecoder, piece: bytes, first: bytes) -> bool:
    """Whether this piece of a file can be text; what declares another encoding always can."""
    if b"coding" in first[:_DECLARED]:
        return True
    try:
        utf8.decode(piece)
    except UnicodeDecodeError:
        return False
    return True


def _bytes_of(file: BinaryIO) -> int:
    """The bytes of an open file; 0 where that cannot be said."""
    try:
        return os.fstat(file.fileno()).st_size
    except (OSError, ValueError):  # not a file of the system
        return 0


def unreadable(path: str, error: OSError) -> FileReport:
    """The report on a file that cannot be read."""
    reason = error.strerror or str(error)
    help = _beside(path) if isinstance(error, FileNotFoundError) else None
    found = Diagnostic("READ", "error", f"cannot read this file: {reason}", None, help=help)
    return FileReport(displayed(path), None, (found,), outcome="unreadable")


def _beside(path: str) -> str | None:
    """The programs of the folder whose names are nearest to one that is not there."""
    from rlx.grammar.suggest import closest, did_you_mean

    folder, name = os.path.split(path)
    try:
        names = [each for each in os.listdir(folder or ".") if each.endswith((SUFFIX, ".py"))]
    except OSError:
        return None
    near = [each for each in names if os.path.splitext(each)[0] == name] or closest(name, names)
    return did_you_mean([displayed(os.path.join(folder, each)) for each in near], quote="")


def decode(data: bytes, path: str) -> tuple[Source, Diagnostic | None]:
    """The text, lines ended by a newline alone, and what keeps it from being one."""
    if data.startswith(_MARKS[1:]):
        found = Diagnostic(
            "PARSE", "error", "this file is UTF-16", None, help="save it as UTF-8 without NUL bytes"
        )
        return Source("", path), found
    try:
        return Source(text_of(data, path), path), None
    except UnicodeDecodeError as error:
        data = data.removeprefix(BOM_UTF8)
        start = len(_lines(data[: error.start].decode(errors="replace")))
        if error.reason == _NUL:
            message = f"the text contains {_NUL}"
            help = "remove it; a binary file is not a Relax program"
        else:
            message = f"the byte 0x{data[error.start]:02x} is not {_shown(error.encoding)}"
            help = "save the file as UTF-8"
        found = Diagnostic("PARSE", "error", message, (start, start + 1), label="here", help=help)
        near = data[: error.start + _BEHIND]
        return Source(_lines(near.decode(errors="replace")), path), found


_NUL = "a NUL character"


def text_of(data: bytes, path: str) -> str:
    """The text of a program, lines ended by a newline alone. Raises UnicodeDecodeError as
    :func:`decoded`.
    """
    return _lines(decoded(data, path))


def decoded(data: bytes, path: str) -> str:
    """The text of a program.

    Raises
    ------
    UnicodeDecodeError
        If it is not in the encoding of :func:`encoding`, or contains a NUL: what is behind one may
        not have been read. The place is one behind the mark of UTF-8, if there is one.
    """
    data = data.removeprefix(BOM_UTF8)
    declared = encoding(data, path)
    text = data.decode(declared)
    if "\0" in text:
        at = max(data.find(b"\0"), 0)  # some encodings write a NUL without one
        raise UnicodeDecodeError(declared, data, at, at + 1, _NUL)
    return text


_NO_PROGRAMS = {
    (".npz", ".npy"): "a file of arrays",
    (".onnx", ".pt2"): "a model, which only `rlx compare` and `rlx bisect` import",
}
"""Descriptions of other files, by how their names end."""


def why_no_text(path: str, error: UnicodeDecodeError) -> str:
    """Why a file is not text, in words that begin with its path."""
    for endings, found in _NO_PROGRAMS.items():
        if path.lower().endswith(endings):
            return f"{path}: expected a program, and this is {found}"
    if error.reason == _NUL:
        return f"{path}: the text contains {_NUL} (byte {error.start})"
    return f"{path}: not {_shown(error.encoding)} (byte {error.start})"


def encoding(data: bytes, path: str) -> str:
    """The encoding that a Python file declares in its first two lines (PEP 263); UTF-8 for other
    files, and if none, an unknown one or one that is no extension of ASCII is declared: Python
    reads none of these, and Punycode takes time that grows with the square of the text.
    """
    if not path.endswith(PYTHON) or b"coding" not in data[:_DECLARED]:
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
        if b"# a-b\n".decode(declared) != "# a-b\n":
            return "utf-8"
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
