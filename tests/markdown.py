"""Examples in a Markdown file beside a test: a heading, the text that is given, and the text that is expected.

The blocks below a heading are fenced; the last one is the expected text. ``RLX_UPDATE_SNAPSHOTS=1 pytest`` writes the
expected texts anew; read what it wrote.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

BLOCK = re.compile(r"^(?P<fence>```+)\w*\n(?P<text>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


class Example(NamedTuple):
    """What stands below a heading: the given blocks, and the block that is expected."""

    name: str
    given: tuple[str, ...]
    expected: str


def examples(path: Path) -> list[Example]:
    """The examples of a file, in order."""
    found = []
    for name, section in _sections(path.read_text("utf-8")):
        *given, expected = (match["text"] for match in BLOCK.finditer(section))
        found.append(Example(name, tuple(given), expected))
    assert len({example.name for example in found}) == len(found), f"{path}: two equal headings"
    return found


def assert_example(path: Path, name: str, text: str) -> None:
    """The text is the one that is expected below the heading."""
    text = text.rstrip("\n") + "\n"
    if os.environ.get("RLX_UPDATE_SNAPSHOTS"):
        _update(path, name, text)
    (expected,) = (example.expected for example in examples(path) if example.name == name)
    assert text == expected


def _sections(text: str) -> list[tuple[str, str]]:
    """Each heading with the text below it."""
    headings = [*HEADING.finditer(_without_headings_in_blocks(text))]
    ends = [*(match.start() for match in headings[1:]), len(text)]
    return [(m[1], text[m.end() : end]) for m, end in zip(headings, ends, strict=True)]


def _without_headings_in_blocks(text: str) -> str:
    """The text, of the same length, in which no heading stands inside of a block."""
    return BLOCK.sub(lambda match: match[0].replace("\n## ", "\n-- "), text)


def _update(path: Path, name: str, text: str) -> None:
    whole = path.read_text("utf-8")
    for found, section in _sections(whole):
        if found == name:
            *_, last = BLOCK.finditer(section)
            start, end = last.span("text")
            path.write_text(whole.replace(section, section[:start] + text + section[end:]), "utf-8")
