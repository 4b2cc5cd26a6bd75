"""LAW: each token of a program that is deleted, doubled, exchanged or changed alters the tree or
the text that ``rlx fmt`` prints, or is reported.

The exceptions are in :func:`tests.grammar.parse.every_token.means_the_same`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.grammar.parse.every_token import changes, examples, generated, of_tvm, silent


def some(programs: Iterator[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """Some of the short ones among these programs."""
    short = [(name, text) for name, text in programs if len(text) < 1500]
    return random.Random(1).sample(short, min(count, len(short)))


@pytest.mark.parametrize(("name", "text"), [*some(examples(), 8), *some(generated(12), 4)])
def test_every_token_of_a_program_counts(name: str, text: str) -> None:
    draw = random.Random(name)
    every = list(changes(text, draw))
    assert list(silent(name, text, draw.sample(every, min(30, len(every))))) == []


def test_every_token_of_a_kernel_of_tvm_counts() -> None:
    pytest.importorskip("tvm")
    for name, text in some(of_tvm(), 4):
        draw = random.Random(name)
        every = list(changes(text, draw))
        assert list(silent(name, text, draw.sample(every, min(20, len(every))))) == []
