"""The lines of a text, counted as in an editor: their starts and ends."""

from __future__ import annotations

from collections.abc import Iterator


def a_text(given: object) -> str:
    """A text, an argument of a function that users call. Raises TypeError if it is not one."""
    if not isinstance(given, str):
        raise TypeError(f"expected a text, found {type(given).__name__}")
    return given


def line_start(text: str, at: int) -> int:
    """The start of the line of a place."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """The end of the line of a place: in front of its line break, or at the end of the text."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def next_line(text: str, at: int) -> int:
    """The start of the next line after a place; the end of the text behind the last line."""
    return text.find("\n", at) + 1 or len(text)


def with_decorators(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """The span of a definition together with the lines of its decorators."""
    start = line_start(text, span[0])
    while start and text[line_start(text, start - 1) : start].lstrip().startswith("@"):
        start = line_start(text, start - 1)
    return start, span[1]


def lines_above(text: str, at: int) -> Iterator[tuple[int, int]]:
    """The lines above that of a place, the nearest first, without their line breaks."""
    start = line_start(text, at)
    while start:
        end = start - 1
        start = line_start(text, end)
        yield start, end
