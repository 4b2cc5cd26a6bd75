"""Generated programs, legalised and lowered, end as they did before: a small sample of `programs.py`."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.transform.legalization.programs import check


@pytest.mark.parametrize("seed", [0, 2, 3, 5])
def test_a_program_ends_as_it_did(seed: int) -> None:
    tally: Counter[str] = Counter()
    wrong = check(seed, tally)
    assert not wrong, wrong
    assert tally["PrimFuncs"] > 0
