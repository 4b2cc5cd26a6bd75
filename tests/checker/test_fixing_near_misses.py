"""Edits on programs in which one premise is broken: they break no other, and once is enough.

``python -m tests.checker.test_fixing_near_misses COUNT SEED`` makes COUNT programs for every premise.
"""

from __future__ import annotations

import random
import sys

import pytest

from rlx import show
from rlx.checker.check import check_text
from rlx.checker.fixing import mended
from rlx.generate.near import CODES, near_miss

WITH_EDITS = (
    *("OBL-word-known", "WF01-escape", "WF08-annotation"),
    *("WF12-entry", "WF13-name"),
)
"""The premises whose near misses come with edits."""


def once_is_enough(code: str, seed: str) -> bool:
    """Whether there was something to apply; what was applied did no harm."""
    text = show(near_miss(code, random.Random(seed)))
    before, done = check_text(text), mended(text)
    if not done.applied:
        assert done.text == text
        return False
    known = {d.code for d in before.errors}
    assert {d.code for d in done.report.errors} <= known, f"{code} {seed}:\n{text}"
    counts = [(len(r.errors), len(r.warnings)) for r in (before, done.report)]
    assert counts[1] < counts[0], f"{code} {seed}:\n{text}"
    assert str(check_text(done.text)) == str(done.report)
    again = mended(done.text)
    assert again.text == done.text and again.applied == ()
    return True


@pytest.mark.parametrize("code", WITH_EDITS)
def test_edits_break_nothing_else(code: str) -> None:
    found = [once_is_enough(code, f"{code}/{seed}") for seed in range(6)]
    assert any(found)


def test_premises_without_edits_stay_as_they_are() -> None:
    rest = sorted({*CODES} - {*WITH_EDITS})
    for code in random.Random(0).sample(rest, 30):
        assert not once_is_enough(code, code), code


if __name__ == "__main__":
    count, first = map(int, sys.argv[1:])
    found = [(c, once_is_enough(c, f"{first}/{i}/{c}")) for i in range(count) for c in CODES]
    print(len(found), "programs,", sum(mended for _, mended in found), "mended")
