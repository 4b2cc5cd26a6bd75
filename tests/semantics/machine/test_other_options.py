"""LAW: whatever an option of an operator is exchanged for, what the checker passes runs as it was derived."""

from __future__ import annotations

import random

import pytest

from rlx.operators.argument_kinds import WORDS
from rlx.operators.registry import lookup

from .other_options import exchanged, operators, run

PARTS = 24


def has_words(name: str) -> bool:
    """Whether an option of an operator is one of several words, of which each means something else."""
    operator = lookup(f"relax.{name}")
    return operator is not None and any(
        parameter.name in WORDS for parameter in operator.parameters
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_exchanged_options(part: int) -> None:
    ran = 0
    for name in operators()[part::PARTS]:
        for seed in range(12 if has_words(name) else 3):
            text = exchanged(name, random.Random(f"{name} {seed}"))
            ran += bool(text) and run(text, seed)
    assert ran


def test_numbers_that_no_float_holds() -> None:
    """The estimate of memory computes with floats, so that such numbers do not stop it."""
    text = "@R.function\ndef main(x: R.Tensor((2,), 'float32')):\n    y = {}\n    return y\n"
    for call in (
        "R.nn.leakyrelu(x, alpha=1e300)",
        "R.nn.leakyrelu(x, alpha=float('inf'))",
        "R.nn.leakyrelu(x, alpha=float('nan'))",
    ):
        assert run(text.format(call), 0) == 1, call
