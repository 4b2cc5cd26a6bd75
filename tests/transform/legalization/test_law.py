"""Legalised operators give what their evaluation gives: a small sample of the law in `law.py`."""

from __future__ import annotations

import random
import zlib
from collections import Counter

import pytest

from rlx.operators import lookup
from rlx.operators.registry import every_name
from tests.transform.legalization.law import DEFINED, check, templates

LONG = ("3d", "attention", "backward", "group_norm", "batch_norm", "conv2d", "pool2d")
"""Words of operators whose calls take long to evaluate step by step: they run as native code."""


def test_operators_have_a_definition_or_a_reason() -> None:
    """An operator that says nothing of it stays, because it has an effect or no definition."""
    for name in every_name():
        operator = lookup(f"relax.{name}")
        assert operator is not None
        if operator.definition is not None:
            assert not operator.kept, f"{name} has a definition and a reason against it"
        elif not operator.kept:
            assert operator.reason.startswith("it has an effect") is not operator.pure, name
    assert len(DEFINED) >= 150


@pytest.mark.parametrize("name", DEFINED)
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
