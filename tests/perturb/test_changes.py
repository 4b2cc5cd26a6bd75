"""The places that :mod:`tests.perturb` changes."""

from __future__ import annotations

import pytest

from tests.perturb.changes import CHANGES
from tests.tree_copy import ROOT


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_can_be_made(name: str) -> None:
    for edit in CHANGES[name].edits:
        text = (ROOT / edit.file).read_text("utf-8")
        assert not edit.old or text.count(edit.old) == 1, edit.file
