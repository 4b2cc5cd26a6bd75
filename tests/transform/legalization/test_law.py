"""Legalised operators give what their evaluation gives: a small sample of the law in `law.py`."""

from __future__ import annotations

import random
import zlib
from collections import Counter
from pathlib import Path

import pytest

from rlx.operators.registry import every_name
from rlx.transform.legalization import KEPT, definitions
from tests.transform.legalization.law import check, templates

LONG = ("3d", "attention", "backward", "group_norm", "batch_norm", "conv2d", "pool2d")
"""Words of operators whose calls take long to evaluate step by step: they run as native code."""


def test_every_operator_has_a_definition_or_a_reason() -> None:
    defined, every = {*definitions()}, {*every_name()}
    assert defined <= every
    assert every - defined == {*KEPT}
    assert len(defined) >= 150
    page = Path("docs/how-to/tensor-expressions.md").read_text(encoding="utf-8")
    assert f"{len(defined)} operators have a definition" in page


@pytest.mark.parametrize("name", definitions())
def test_a_legalised_call_gives_what_the_operator_gives(name: str) -> None:
    pick = random.Random(zlib.crc32(name.encode()))
    found = templates(name, 2, pick)
    long = any(word in name for word in LONG)
    backend, count = ("native", 1) if long else ("steps", 2)
    tally: Counter[str] = Counter()
    for template in pick.sample(found, min(len(found), count)):
        for wrong in check(name, template, 7, backend, 2, tally):
            raise AssertionError(wrong)
    assert tally["legalised"] or any(key.startswith("left") for key in tally)
