"""Data that stays in a text until it is asked for."""

from __future__ import annotations

from base64 import b64decode

from rlx.grammar.nodes.node import Span


class EncodedBytes:
    """Bytes that a text holds in base64; ``bytes(…)`` decodes them, each time anew.

    Parameters
    ----------
    text, span
        The text, and where the base64 is in it, which must be valid.
    start, count
        The bytes in front of these, and their number.
    """

    __slots__ = ("_count", "_span", "_start", "_text")

    def __init__(self, text: str, span: Span, start: int, count: int) -> None:
        self._text, self._span, self._start, self._count = text, span, start, count

    def __bytes__(self) -> bytes:
        decoded = memoryview(b64decode(self._text[slice(*self._span)]))
        return bytes(decoded[self._start : self._start + self._count])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, bytes | EncodedBytes):
            return NotImplemented
        return bytes(self) == bytes(other)

    def __hash__(self) -> int:
        return hash(bytes(self))

    def __reduce__(self) -> tuple[object, ...]:
        return bytes, (bytes(self),)  # another process does without the text
