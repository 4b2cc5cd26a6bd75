"""Data of constants that stays where it is, in a text or in a file, until it is asked for."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from binascii import a2b_base64
from collections.abc import Iterator
from contextlib import contextmanager
from mmap import ACCESS_COPY, mmap

from rlx.grammar.nodes.node import Span

_PIECE = 1 << 20


class LateBytes(ABC):
    """Bytes that are not in memory; ``bytes(…)`` loads them, each time anew."""

    __slots__ = ()

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def buffer(self) -> bytearray | mmap:
        """Memory with the bytes, which the caller alone has, and may change."""

    def __bytes__(self) -> bytes:
        return bytes(self.buffer())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, bytes | LateBytes):
            return NotImplemented
        return len(self) == len(other) and bytes(self) == bytes(other)

    def __hash__(self) -> int:
        return hash(bytes(self))


class EncodedBytes(LateBytes):
    """Bytes that a text holds in base64.

    Parameters
    ----------
    text, span
        The text, and where the base64 is in it, of which :func:`encoded_size` says that it is valid.
    start, count
        The bytes in front of these, and their number.
    """

    __slots__ = ("_count", "_span", "_start", "_text")

    def __init__(self, text: str, span: Span, start: int, count: int) -> None:
        self._text, self._span, self._start, self._count = text, span, start, count

    def __len__(self) -> int:
        return self._count

    def __eq__(self, other: object) -> bool:
        if isinstance(other, EncodedBytes) and self._place == other._place:
            return True
        return super().__eq__(other)

    __hash__ = LateBytes.__hash__

    @property
    def _place(self) -> tuple[int, Span, int, int]:
        return id(self._text), self._span, self._start, self._count

    def buffer(self) -> bytearray:
        """Memory with the bytes."""
        made, at = bytearray(self._count), 0
        for piece in self.pieces():
            made[at : at + len(piece)] = piece
            at += len(piece)
        return made

    def pieces(self) -> Iterator[bytes]:
        """The bytes, part by part."""
        skip, left = self._start, self._count
        for piece in _decoded(self._text, self._span):
            part = piece[skip : skip + left]
            skip, left = max(skip - len(piece), 0), left - len(part)
            yield part
            if not left:
                return

    def __reduce__(self) -> tuple[object, ...]:
        return bytes, (bytes(self),)  # another process does without the text


class FileBytes(LateBytes):
    """Bytes that are the content of a file, which must not be empty.

    Attributes
    ----------
    path
        The file, which has to stay as it is.
    """

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __len__(self) -> int:
        return os.path.getsize(self.path)

    def buffer(self) -> mmap:
        """The file in memory. Changes stay there."""
        with open(self.path, "rb") as file:
            return mmap(file.fileno(), 0, access=ACCESS_COPY)

    def __reduce__(self) -> tuple[object, ...]:
        return FileBytes, (self.path,)


def buffer_of(content: bytes | LateBytes) -> bytearray | mmap:
    """Memory with the data of a constant, which the caller alone has, and may change."""
    return content.buffer() if isinstance(content, LateBytes) else bytearray(content)


_BASE64 = re.compile(r"[A-Za-z0-9+/]*+(?:\\{1,2}/[A-Za-z0-9+/]*+)*+(={0,2})")
"""Base64 whose slashes may be escaped, in JSON and again in Python."""


def encoded_size(text: str, span: Span) -> int | None:
    """The number of bytes that a string in base64 stands for; None if it is not base64."""
    found = _BASE64.fullmatch(text, *span)
    if found is None:
        return None
    characters = span[1] - span[0] - text.count("\\", *span)
    return None if characters % 4 else characters // 4 * 3 - len(found[1])


def _decoded(text: str, span: Span) -> Iterator[bytes]:
    """The bytes that a string stands for whose :func:`encoded_size` is known, piece by piece."""
    rest = b""
    for at in range(*span, _PIECE):
        plain = rest + without_escapes(text[at : min(at + _PIECE, span[1])])
        whole = len(plain) // 4 * 4
        yield a2b_base64(plain[:whole])
        rest = plain[whole:]


def without_escapes(encoded: str) -> bytes:
    """A part of a string in base64 without the escapes of its slashes."""
    return encoded.encode("ascii").translate(None, b"\\")


# ---------------------------------------------------------------- files that texts name

_folders: list[str] = []


@contextmanager
def files_in(folder: str) -> Iterator[None]:
    """Let texts name files of a folder as the data of constants, inside the ``with`` statement.
    Otherwise a text names no file: it may be a stranger's.
    """
    _folders.append(os.path.abspath(folder))
    try:
        yield
    finally:
        _folders.remove(os.path.abspath(folder))


def named_file(name: str) -> str | None:
    """The path of a file of these folders; None if there is no such file."""
    paths = (os.path.join(folder, name) for folder in _folders)
    return next((path for path in paths if os.path.isfile(path)), None)
