"""Legalised operators give what their evaluation gives: a small sample of the law in `law.py`."""

from __future__ import annotations

import random
import zlib
from collections import Counter
from types import FunctionType

import pytest

from rlx.operators import lookup
from rlx.operators.registry import Operator, every_name
from rlx.transform.legalization import KEPT, definitions
from rlx.transform.legalization.reasons import reason_of
from tests.transform.legalization.law import check, templates

LONG = ("3d", "attention", "backward", "group_norm", "batch_norm", "conv2d", "pool2d")
"""Words of operators whose calls take long to evaluate step by step: they run as native code."""


def test_operators_have_a_definition_or_a_reason() -> None:
    """An operator that says nothing of it stays, because it has an effect or no definition."""
    defined, every = {*definitions()}, {*every_name()}
    assert defined <= every
    assert {*KEPT} <= every - defined
    said = {name: reason_of(_operator(name)) for name in every - defined - {*KEPT}}
    assert {name for name, reason in said.items() if reason == "it has an effect"} == {
        name for name in said if not _operator(name).pure
    }
    assert len(defined) >= 150


def test_a_function_defines_operators_only_where_it_is_written() -> None:
    """A helper that a file imports may have the name of an operator of another meaning."""
    for name, value in definitions().items():
        if isinstance(value, FunctionType) and value.__name__ == name.rpartition(".")[2]:
            assert value.__module__.startswith("rlx.transform.legalization.families."), name


def _operator(name: str) -> Operator:
    found = lookup(f"relax.{name}")
    assert found is not None
    return found


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
