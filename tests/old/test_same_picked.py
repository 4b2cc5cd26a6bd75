"""What the rules of 2022 say of programs that were picked because each shows another way through the code, how these run
and how they are translated, stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/old/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.pick tests.old.test_same_picked 3000` picks other programs.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import pytest

from rlx.grammar.parser import parse
from rlx.grammar.printer import print_module
from rlx.old.conversion import to_2022
from tests.old import test_same_answers
from tests.old.agreement import binding_first, damaged, source_of
from tests.snapshots import assert_picked

PARTS = 20


@cache
def _written() -> list[str]:
    return [*test_same_answers.written()]


def pool(random: Random) -> str:
    """A program of the generator in the words of either system, or one beside a rule; mostly damaged."""
    if random.randrange(2):
        text = random.choice(_written())
    else:
        text = source_of(random.randrange(1 << 30))
        parsed = parse(text)
        if len(parsed.modules) == 1 and random.randrange(2):
            text = print_module(to_2022(binding_first(parsed.modules[0])).module, "2022")
    for _ in range(random.choice([0, 1, 1, 2])):
        text = damaged(text, random)
    return text


def answers(text: str) -> str:
    """All that is said of a text."""
    return "\n".join(test_same_answers.answers(text, Random(0)))


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_programs(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
