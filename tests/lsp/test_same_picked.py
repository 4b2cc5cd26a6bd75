"""What the server answers in sessions that were picked because each shows a mistake in the code stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/lsp/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.lsp.test_same_picked 800 300 --room rlx/lsp` adds some sessions.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

pytest.importorskip("pygls")

from tests.lsp import sessions
from tests.snapshots import assert_picked

PARTS = 50


def pool(random: Random) -> str:
    """A session."""
    return sessions.session(random)


def answers(text: str) -> str:
    """All that the server answers."""
    return "\n".join(sessions.answers(text))


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_sessions(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
