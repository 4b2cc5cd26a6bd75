"""What the commands and the facade answer to requests that were picked because each shows a mistake in the code stays
what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/cli/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.cli.test_same_picked 2000 300 --room rlx` adds some requests.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.cli import requests
from tests.snapshots import assert_picked

PARTS = 100


def pool(random: Random) -> str:
    """A request."""
    return requests.request(random)


def answers(text: str) -> str:
    """All that is answered."""
    return "\n".join(requests.answers(text))


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_requests(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
