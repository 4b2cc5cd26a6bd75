"""How a source line looks in fixed-width columns: tabs, wide and combining characters, control
characters, cropping.
"""

from __future__ import annotations

from rlx.grammar.node import Record

TAB = 4
ELLIPSIS = "..."

_UNSAFE = {0x7F: "\u2421"} | {code: chr(0x2400 + code) for code in range(32) if code != 9}
_UNSAFE |= dict.fromkeys(
    (*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd"
)
"""Characters that would steer a terminal (escape sequences, reordering), and visible ones to show
instead.
"""


class Shown(Record):
    """A line, or a window of it, as it is printed.

    Attributes
    ----------
    text
        What is printed.
    first, last
        The window: characters ``first`` to ``last`` (exclusive) of the line.
    offsets
        The column of every character of the window, and of its end.
    """

    text: str
    first: int
    last: int
    offsets: list[int]

    def column(self, index: int) -> int:
        """The printed column, from 0, of a character of the line, clamped to the window."""
        return self.offsets[min(max(index, self.first), self.last) - self.first]


def safe(text: str) -> str:
    """The text without characters that would steer a terminal."""
    return text if text.isascii() and text.isprintable() else text.translate(_UNSAFE)


def width(character: str) -> int:
    """How many columns a character takes."""
    if character < "\u0300":
        return 1
    from unicodedata import category, east_asian_width

    if category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def show(line: str, start: int, end: int, limit: int) -> Shown:
    """Lay out a line so that characters ``start`` to ``end`` are seen, within about ``limit``
    columns.
    """
    first, last = 0, len(line)
    if last > limit:
        room = limit - 2 * len(ELLIPSIS)
        before = max(room - (end - start), room // 4) // 2
        first = max(0, min(start - before, last - room))
        last = min(last, first + room)
    prefix = ELLIPSIS if first else ""
    text, offsets = [prefix], []
    at = len(prefix)
    for character in safe(line[first:last]):
        offsets.append(at)
        text.append(" " * TAB if character == "\t" else character)
        at += TAB if character == "\t" else width(character)
    offsets.append(at)
    if last < len(line):
        text.append(ELLIPSIS)
    return Shown("".join(text), first, last, offsets)
