"""The texts of open documents, and their edits by the client.

Positions count lines and UTF-16 units, from 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

_END = re.compile(r"\r\n|\n|\r")
_SURROGATE = re.compile("[\ud800-\udfff]")
LARGEST = 2**31 - 1
"""The largest number that the protocol has in a position."""


class InvalidParams(Exception):
    """Parameters that the protocol does not allow; the text says which."""


def edited(text: str, changes: object) -> str:
    """A text after the changes of a notification. Raises InvalidParams if they are not changes; the
    text is then as it was.
    """
    if not isinstance(changes, list):
        raise InvalidParams("`contentChanges` is not a list")
    for change in changes:
        new = member(change, "text", str)
        if change.get("range") is None:
            text = new
            continue
        start, end = (_offset(text, at) for at in span(change["range"]))
        start, end = min(start, end), max(start, end)
        text = text[:start] + new + text[end:]
        if _SURROGATE.search(text, max(0, start - 1), start + len(new) + 1):
            # two edits may have brought the halves of one character
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def clean(text: str) -> str:
    """A text with the same positions, with newlines alone and without halves of characters."""
    if not text.isascii() and _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        text = _SURROGATE.sub("\ufffd", text)
    return _END.sub("\n", text) if "\r" in text else text


def member(value: object, name: str, kind: type | tuple[type, ...]) -> Any:
    """A member of an object. Raises InvalidParams if it is missing, or of another type."""
    if not isinstance(value, dict):
        raise InvalidParams(f"expected an object with `{name}`")
    if name not in value:
        raise InvalidParams(f"`{name}` is missing")
    found = value[name]
    if not isinstance(found, kind) or isinstance(found, bool):
        raise InvalidParams(f"`{name}` has a wrong type")
    return found


def place(value: object) -> tuple[int, int]:
    """A position. Raises InvalidParams if it is none."""
    found = member(value, "line", int), member(value, "character", int)
    for name, number in zip(("line", "character"), found, strict=True):
        if not 0 <= number <= LARGEST:
            raise InvalidParams(f"`{name}` is {_short(number)}; it must be from 0 to {LARGEST}")
    return found


def span(value: object) -> tuple[tuple[int, int], tuple[int, int]]:
    """A range. Raises InvalidParams if it is none."""
    return place(member(value, "start", dict)), place(member(value, "end", dict))


def _short(number: int) -> str:
    return str(number) if abs(number) < 10**20 else "a number of more than 20 digits"


def _offset(text: str, at: tuple[int, int]) -> int:
    """The offset of a position; behind the end of a line or of the text, that end."""
    line, units = at
    start = 0
    is_plain = "\r" not in text
    for _ in range(line):
        if is_plain:
            start = text.find("\n", start) + 1
        else:
            found = _END.search(text, start)
            start = 0 if found is None else found.end()
        if not start:
            return len(text)
    end = _END.search(text, start)
    inside = text[start : end.start() if end else len(text)]
    if inside.isascii():
        return start + min(units, len(inside))
    for at_character, character in enumerate(inside):
        if units <= 0:
            return start + at_character
        units -= 2 if ord(character) > 0xFFFF else 1
    return start + len(inside)


def difference(old: Sequence[Any], new: Sequence[Any]) -> tuple[int, int]:
    """The position at which two texts, or lists, begin to differ, and the end of the difference in
    the second one.
    """
    limit = min(len(old), len(new))
    a, b = len(old), len(new)
    start = _common(limit, lambda m, n: old[m:n] == new[m:n])
    rest = _common(limit - start, lambda m, n: old[a - n : a - m] == new[b - n : b - m])
    return start, len(new) - rest


def _common(limit: int, same: Callable[[int, int], bool]) -> int:
    """The length of the common start of two texts."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if same(low, middle) else (low, middle - 1)
    return low
