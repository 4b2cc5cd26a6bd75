"""The laws of derivations, on the examples, on near misses and on random programs."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings

from rlx.generate import modules
from rlx.generate.near import CODES, near_miss
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.print.printer import print_module

from .laws import broken_laws, of_rules

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").rglob("*.rlx"))
SHARE = 12
"""One near miss of so many is looked at here; `python -m tests.checker.why.laws` looks at all."""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    assert list(broken_laws(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("code", list(CODES)[::SHARE])
def test_near_misses(code: str) -> None:
    text = print_module(near_miss(code, random.Random(1)))
    assert list(broken_laws(text)) == []


@pytest.mark.parametrize(
    ("rule", "at", "text"),
    [
        case
        for case in of_rules()
        if case[0] in ("D09", "D11", "D14", "D15", "VDEV-propagate", "USE-overwritten", "D17")
    ],
)
def test_programs_of_rules(rule: str, at: int, text: str) -> None:
    assert list(broken_laws(text)) == []


@settings(max_examples=12)
@given(modules())
def test_random_programs(module: IRModule) -> None:
    assert list(broken_laws(print_module(module))) == []
