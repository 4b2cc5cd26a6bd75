"""What is said of texts of Relay, and what they become, that were picked because each shows another way through the
code, stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/relay/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.pick tests.relay.test_same_picked 6000` picks other texts.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from rlx import relay
from tests.relay import damage, test_same_answers
from tests.relay.generator import program
from tests.relay.law import arguments
from tests.snapshots import assert_picked

PARTS = 20


def pool(random: Random) -> str:
    """A text: generated, a call, a whole one; mostly with damages of two kinds."""
    match random.randrange(3):
        case 0:
            text = str(program(random.randrange(1 << 30)))
            for _ in range(random.randrange(3)):
                text = test_same_answers.damaged(text, random)
        case 1:
            text = damage.damaged(random.randrange(1 << 30))
        case _:
            text = random.choice(test_same_answers.TEXTS)
            for _ in range(random.randint(0, 2)):
                text = test_same_answers.damaged(text, random)
    return text


def answers(text: str) -> str:
    """What is said of a text, what it becomes, and how it runs."""
    found = relay.check(text).diagnostics
    places = [f"{each.span} {each.help} {each.related} {each.edit}" for each in found]
    ends = test_same_answers.ends(text, list(arguments()))
    return "\n".join([*places, *test_same_answers.answers(text), *ends])


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_texts(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
