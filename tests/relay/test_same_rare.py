"""What is said of many random texts and calls stays what it is: what is rare meets in some of them.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/relay/test_same_rare.py` writes the digests anew.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.relay import damage, odd_calls, odd_texts
from tests.relay.test_same_picked import answers
from tests.snapshots import assert_digest

SNAPSHOT = Path(__file__).parent / "snapshots" / "rare.txt"
PARTS = 12


def damaged(random: Random) -> str:
    return damage.damaged(random.randrange(1 << 30))


MAKERS = {"calls": (odd_calls.call, 25), "texts": (odd_texts.text, 30), "damaged": (damaged, 15)}


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", MAKERS)
def test_many_texts(kind: str, part: int) -> None:
    name = f"{kind} {part}"
    make: Callable[[Random], str]
    make, count = MAKERS[kind]
    random = Random(name)
    texts = [make(random) for _ in range(count)]
    assert_digest(SNAPSHOT, name, "\n".join(f"{text}\n{answers(text)}" for text in texts))
