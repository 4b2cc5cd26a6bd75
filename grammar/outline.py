"""The functions that a text defines, before they are read: where they are, and their names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlx.grammar.node import Record
from rlx.grammar.surroundings import indentation, logical_lines

_HEAD = re.compile(r"(?P<kind>class|def)[ \t]+(?P<name>\w+)")


class FunctionOutline(Record):
    """A function at the top of a text or of a class; functions inside of it are part of it.

    Attributes
    ----------
    start
        Where the line of its first decorator starts.
    head, head_end
        Where its ``def`` stands, and where the logical line ends that begins there.
    end
        Behind its last line.
    owner
        Where the ``class`` around it stands; None where there is none.
    """

    name: str
    start: int
    head: int
    head_end: int
    end: int
    owner: int | None


def outline(text: str, start: int = 0) -> Iterator[FunctionOutline]:
    """The functions from an offset on, to where the scope ends that the offset is in.

    Strings and comments define none.
    """
    base = indentation(text, start) if start else 0
    opened: tuple[str, int, int, int, int | None] | None = None
    column_of_opened = last = 0
    decorated: int | None = None
    classes: list[tuple[int, int]] = []
    for at, end in logical_lines(text, start):
        column = indentation(text, at)
        if opened is not None and column > column_of_opened:
            last = end
            continue
        if opened is not None:
            yield _closed(text, opened, last)
            opened = None
        if column < base:
            return
        while classes and column <= classes[-1][0]:
            classes.pop()
        line = text.rfind("\n", 0, at) + 1
        if text[at] == "@":
            decorated = line if decorated is None else decorated
            continue
        head = _HEAD.match(text, at)
        if head is not None and head["kind"] == "class":
            classes.append((column, at))
        elif head is not None:
            begin = line if decorated is None else decorated
            owner = classes[-1][1] if classes else None
            opened, column_of_opened, last = (head["name"], begin, at, end, owner), column, end
        decorated = None
    if opened is not None:
        yield _closed(text, opened, last)


def _closed(text: str, opened: tuple[str, int, int, int, int | None], last: int) -> FunctionOutline:
    """A function whose last logical line ends at an offset."""
    name, start, head, head_end, owner = opened
    while last > head_end and text[last - 1].isspace():  # behind a bracket that is never closed
        last -= 1
    stop = text.find("\n", last)
    return FunctionOutline(name, start, head, head_end, len(text) if stop < 0 else stop + 1, owner)


def class_at(text: str, start: int) -> int | None:
    """Where the ``class`` stands of the decorated definition at an offset; None if it is a
    function.
    """
    for at, _ in logical_lines(text, start):
        if text[at] != "@":
            head = _HEAD.match(text, at)
            return at if head is not None and head["kind"] == "class" else None
    return None


def methods(text: str, start: int, owner: int) -> Iterator[str]:
    """The functions of the class at an offset, whose first decorator stands at another."""
    for function in outline(text, start):
        if function.owner != owner:
            return
        yield function.name
