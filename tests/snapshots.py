"""Texts that are kept in files: `RLX_UPDATE_SNAPSHOTS=1 pytest` writes them anew; read what it wrote."""

from __future__ import annotations

import os
from pathlib import Path


def assert_snapshot(path: Path, text: str) -> None:
    """The text is what the file holds."""
    if os.environ.get("RLX_UPDATE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
