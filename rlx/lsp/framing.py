"""Messages of the Language Server Protocol on a stream of bytes: a header with the length, and
JSON.

A damaged message does not hide those behind it: reading goes on at the next header.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

LARGEST = 1 << 28
"""Bytes of the largest message; a longer one is not a program in an editor."""

_HEADER = re.compile(
    rb"Content-Length:[ \t]*(\d{1,18})[ \t]*\r?\n(?:[\w-]+:[^\n]*\n)*\r?\n", re.IGNORECASE
)
_PLAIN = re.compile(rb"(?:\r?\n)*(?:(?!Content-Length:)[\w-]+:[^\n]*\n)*", re.IGNORECASE)
"""The text in front of the length: other fields of the header."""

_LONGEST_HEADER = 4096


class BadMessage(Exception):
    """Bytes that are not a message; the text says why."""


def _json(body: bytes) -> Any:
    return json.loads(body.decode("utf-8"))


def messages(end: int, read: Callable[[bytes], Any] = _json) -> Iterator[Any]:
    """The messages that can be read from a file descriptor, until it is closed.

    Parameters
    ----------
    read
        Makes something of the bytes of a message.

    Yields
    ------
    object
        What `read` gives, or a `BadMessage`.
    """
    held = bytearray()
    skipping = False
    while True:
        found = _HEADER.search(held)
        if found is None:
            if _dropped(held) and not skipping:
                skipping = True
                yield BadMessage("expected a header with Content-Length")
            if not _more(end, held):
                return
            continue
        if _PLAIN.fullmatch(held, 0, found.start()) is None and not skipping:
            yield BadMessage("expected a header with Content-Length")
        skipping = False
        length = int(found[1])
        start = found.end()
        if length > LARGEST:
            del held[:start]
            yield BadMessage(f"a message of {length} bytes is too long; the limit is {LARGEST}")
            continue
        while len(held) < start + length:
            if not _more(end, held):
                yield BadMessage("the input ended inside of a message")
                return
        body = bytes(held[start : start + length])
        del held[: start + length]
        try:
            yield read(body)
        except (ValueError, RecursionError) as error:
            inside = _HEADER.search(body)
            if (
                inside is not None
            ):  # the length was wrong: there is another message in what was read
                held[:0] = body[inside.start() :]
            yield BadMessage(f"not JSON: {error}" if str(error) else "not JSON")


def _dropped(held: bytearray) -> bool:
    """Drop bytes that cannot become a header, if there are any."""
    ended = max(held.rfind(b"\n\n"), held.rfind(b"\n\r\n"))
    if ended < 0 and len(held) <= _LONGEST_HEADER:
        return False
    gone = bytes(held[: ended + 1] if ended >= 0 else held[:-_LONGEST_HEADER])
    del held[: len(gone)]
    if ended >= 0:
        del held[: held.index(b"\n") + 1]
    return bool(gone.strip())


def _more(end: int, held: bytearray) -> bool:
    try:
        data = os.read(end, 1 << 16)
    except OSError:
        return False
    held += data
    return bool(data)


class RawJson(bytes):
    """JSON that is handed on as it is."""

    @classmethod
    def of(cls, found: Any) -> RawJson:
        """Write a value as `json.dumps` does."""
        return cls(json.dumps(found, separators=(",", ":")).encode("ascii"))


_ANSWER = re.compile(rb'\{"id":(\d+),"result":(?=[\[{])')
_LONG = 1 << 14


def answer(body: bytes) -> Any:
    """A message of a process; the result of a long answer is `RawJson`."""
    found = _ANSWER.match(body) if len(body) > _LONG else None
    if found is None:
        return json.loads(body)
    return {"id": int(found[1]), "result": RawJson(body[found.end() : -1])}


def framed(message: Any) -> bytes:
    """A message as it is sent."""
    written = message.get("result")
    if isinstance(written, RawJson):
        body = json.dumps({**message, "result": None}, separators=(",", ":")).encode("ascii")
        body = body.replace(b'"result":null', b'"result":' + written)
    else:
        body = json.dumps(message, separators=(",", ":")).encode("ascii")
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
