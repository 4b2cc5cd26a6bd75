"""A chapter of the specification as sections: headings and the texts below them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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
    def word(self) -> str:
        """The first word: the name of a rule, the number of an entry of the ledger."""
        return self.title.partition(" ")[0]

    @property
    def rest(self) -> str:
        """What stands behind the first word."""
        return self.title.partition(" ")[2]

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
        first, *_ = self.sections
        return first.title

    @property
    def page(self) -> str:
        """The name of its page."""
        stem = self.stem.replace("README", "index").replace("/", "-")
        return f"{stem}.html"


def chapter(path: Path) -> Chapter:
    """Read a chapter."""
    lines = path.read_text(encoding="utf-8").splitlines()
    targets = [line for line in lines if _TARGET.match(line)]
    found: list[tuple[str, str, list[str]]] = []
    text: list[str] = []
    for line, fenced in _with_fences(lines):
        heading = None if fenced else _HEADING.match(line)
        if heading:
            marks, title = heading.groups()
            text = []
            found.append((marks, title, text))
        elif not _TARGET.match(line):
            text.append(line)
    sections = tuple(Section(len(marks), title, _parts(text)) for marks, title, text in found)
    stem = path.relative_to(FOLDER).with_suffix("").as_posix()
    return Chapter(stem, sections, "\n".join(targets))


def _with_fences(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Lines, and whether each belongs to a fenced block, as the marks around it do."""
    mark = ""
    for line in lines:
        opened = _FENCE.match(line)
        yield line, bool(mark or opened)
        if mark:
            mark = "" if line.strip() == mark else mark
        elif opened:
            mark = opened.group(1)


def _parts(lines: list[str]) -> dict[str, str]:
    """The text by label; of a section with labels, without its fenced blocks."""
    if not any(_LABEL.match(line) for line in lines):
        return {"": "\n".join(lines).strip()}
    found: dict[str, list[str]] = {"": []}
    text = found[""]
    for line, fenced in _with_fences(lines):
        if fenced:
            continue
        if match := _LABEL.match(line):
            text = found.setdefault(match.group(1), [])
            line = line[match.end() :]
        text.append(line)
    return {key: "\n".join(text).strip() for key, text in found.items()}
