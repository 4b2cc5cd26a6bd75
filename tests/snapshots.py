"""Texts that are kept in files: `RLX_UPDATE_SNAPSHOTS=1 pytest` writes them anew; read what it wrote."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def assert_snapshot(path: Path, text: str) -> None:
    """The text is what the file holds."""
    if os.environ.get("RLX_UPDATE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def assert_entries(path: Path, entries: Iterable[tuple[str, str]]) -> None:
    """Entries under headings are those that the file holds; only those that differ are shown."""
    text = "".join(f"## {heading}\n{entry.rstrip()}\n\n" for heading, entry in entries)
    if os.environ.get("RLX_UPDATE_SNAPSHOTS"):
        assert_snapshot(path, text)
    found, kept = (_read(each) for each in (text, path.read_text(encoding="utf-8")))
    assert list(found) == list(kept)
    assert [(name, found[name], kept[name]) for name in found if found[name] != kept[name]] == []


def _read(text: str) -> dict[str, str]:
    parts = [part.partition("\n") for part in f"\n{text}".split("\n## ")[1:]]
    assert len({heading for heading, _, _ in parts}) == len(parts), "a heading stands twice"
    return {heading: entry for heading, _, entry in parts}
