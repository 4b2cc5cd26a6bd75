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
    """The content below a heading: the given blocks, and the block that is expected."""

    name: str
    given: tuple[str, ...]
    expected: str


def examples(path: Path) -> list[Example]:
    """The examples of a file, in order."""
    text = path.read_text("utf-8")
    found = []
    for name, blocks in _sections(text):
        *given, expected = (match["text"] for match in blocks)
        found.append(Example(name, tuple(given), expected))
    assert len({example.name for example in found}) == len(found), f"{path}: two equal headings"
    return found


def assert_example(path: Path, name: str, text: str) -> None:
    """The text is the one that is expected below the heading."""
    text = text.rstrip("\n") + "\n"
    whole = path.read_text("utf-8")
    (blocks,) = (found for heading, found in _sections(whole) if heading == name)
    if os.environ.get("RLX_UPDATE_SNAPSHOTS"):
        start, end = blocks[-1].span("text")
        path.write_text(whole[:start] + text + whole[end:], "utf-8")
    else:
        assert text == blocks[-1]["text"]


def _sections(text: str) -> list[tuple[str, list[re.Match[str]]]]:
    """Each heading outside of blocks, with the blocks below it."""
    blocks = [*BLOCK.finditer(text)]
    headings = [
        heading
        for heading in HEADING.finditer(text)
        if not any(block.start() < heading.start() < block.end() for block in blocks)
    ]
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    return [
        (heading[1], [block for block in blocks if heading.start() < block.start() < end])
        for heading, end in zip(headings, ends, strict=True)
    ]
