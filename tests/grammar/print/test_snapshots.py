"""Whole texts in each dialect. ``RLX_UPDATE_SNAPSHOTS=1`` writes the snapshots anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse

SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.mark.parametrize("version", ["0.16", "0.24", "0.25", "0.26", "0.27"])
@pytest.mark.parametrize("name", ["relax", "kernels"])
def test_the_dialect_looks_like_this(name: str, version: str) -> None:
    parsed = parse((SNAPSHOTS / f"{name}.rlx").read_text())
    assert not [d for d in parsed.diagnostics if d.is_error]
    (module,) = parsed.modules
    kept = SNAPSHOTS / (f"{name}.rlx" if version == "0.27" else f"{name}-{version}.rlx")
    printed = print_module(module, version)
    if os.environ.get("RLX_UPDATE_SNAPSHOTS"):
        kept.write_text(printed)
    assert printed == kept.read_text()
