"""Texts that are kept in files: `RLX_UPDATE_SNAPSHOTS=1 pytest` writes them anew; read what it wrote."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
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


def assert_digest(path: Path, name: str, text: str) -> None:
    """The text is the one whose digest the file has behind the name, one to a line."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:20]
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    kept = {line[21:]: line[:20] for line in lines}
    if os.environ.get("RLX_UPDATE_SNAPSHOTS"):
        kept[name] = digest
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{kept[key]} {key}\n" for key in sorted(kept)), "utf-8")
    assert kept.get(name) == digest, f"{name} gives another text now:\n{text}"


def assert_picked(
    folder: Path, part: int, parts: int, answers: Callable[[str], str], kept: str = "picked.txt"
) -> None:
    """The answers to a part of the texts in `picked.txt`, which `tests.mutants.pick` writes, are as they were."""
    texts = [json.loads(line) for line in (folder / "picked.txt").read_text("utf-8").splitlines()]
    for text in texts[part::parts]:
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        assert_digest(folder / "snapshots" / kept, name, f"{text}\n{answers(text)}")


def _read(text: str) -> dict[str, str]:
    parts = [part.partition("\n") for part in f"\n{text}".split("\n## ")[1:]]
    assert len({heading for heading, _, _ in parts}) == len(parts), "a heading stands twice"
    return {heading: entry for heading, _, entry in parts}
