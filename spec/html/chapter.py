"""A chapter of the specification as sections: headings and the texts below them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from rlx.spec.reader import FOLDER

_HEADING = re.compile(r"^(#{1,6}) (.+)$")
_FENCE = re.compile(r"^(`{3,})(.*)$")
_LABEL = re.compile(r"^(Why|Premises|Source|Ledger|Witness|TVM):\s*")
_TARGET = re.compile(r"^\[[\w-]+\]: \S+$")


class Section(NamedTuple):
    """A heading with what stands under it, up to the next one.

    Attributes
    ----------
    level, title
        The heading; level 1 for `#`.
    parts
        The text by its label: ``""`` the text itself, ``"Why"``, ``"Source"`` and so on. Fenced
        blocks of rules, whose sections have labels, are left out: the reader of the rules has them.
    """

    level: int
    title: str
    parts: dict[str, str]

    @property
    def slug(self) -> str:
        """The anchor that links in Markdown use for the heading."""
        kept = re.sub(r"[^\w\s-]", "", self.title.lower())
        return re.sub(r"\s", "-", kept.strip())


class Chapter(NamedTuple):
    """A file of the specification.

    Attributes
    ----------
    stem
        The file's path without its suffix: ``old/types``.
    sections
        In order; the first has the chapter's title.
    targets
        The lines that say where named links go.
    """

    stem: str
    sections: tuple[Section, ...]
    targets: str

    @property
    def title(self) -> str:
        """The chapter's heading."""
        return self.sections[0].title

    @property
    def page(self) -> str:
        """The name of its page."""
        return "index.html" if self.stem == "README" else f"{self.stem.replace('/', '-')}.html"


def chapter(path: Path) -> Chapter:
    """Read a chapter."""
    lines = path.read_text(encoding="utf-8").splitlines()
    targets = [line for line in lines if _TARGET.match(line)]
    found: list[tuple[int, str, list[str]]] = []
    fence = ""
    for line in lines:
        opened = _FENCE.match(line)
        if opened and not fence:
            fence = opened[1]
        elif fence and line.strip() == fence:
            fence = ""
        heading = None if fence else _HEADING.match(line)
        if heading:
            found.append((len(heading[1]), heading[2], []))
        elif found and not _TARGET.match(line):
            found[-1][2].append(line)
    sections = tuple(Section(level, title, _parts(text)) for level, title, text in found)
    stem = path.relative_to(FOLDER).with_suffix("").as_posix()
    return Chapter(stem, sections, "\n".join(targets))


def _parts(lines: list[str]) -> dict[str, str]:
    """The text by label; of a section with labels, without its fenced blocks."""
    if not any(_LABEL.match(line) for line in lines):
        return {"": "\n".join(lines).strip()}
    found: dict[str, list[str]] = {"": []}
    label, fence = "", ""
    for line in lines:
        if fence:
            fence = "" if line.strip() == fence else fence
            continue
        if opened := _FENCE.match(line):
            fence = opened[1]
            continue
        if match := _LABEL.match(line):
            label = match[1]
            line = line[match.end() :]
        found.setdefault(label, []).append(line)
    return {key: "\n".join(text).strip() for key, text in found.items()}
