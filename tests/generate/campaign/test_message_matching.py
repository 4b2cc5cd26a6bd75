"""Words with gaps, found in a message."""

from __future__ import annotations

import pytest

from rlx.generate.campaign.known_causes import says


@pytest.mark.parametrize(
    ("words", "text", "found"),
    [
        ("dim n is", "the  dim\nn is 3", True),
        ("dim (n) is", "dim n is", False),
        ("dim … is", "the dim of y is 3", True),
        ("dim … is", "is the dim", False),
        ("is …1, not …1.", "the dim is n + m, not n + m.", True),
        ("is …1, not …1.", "the dim is n + m, not n.", False),
        ("…1 and …2, …2 and …1;", "a b and c, c and a b;", True),
        ("…1 and …2, …2 and …1;", "a b and c, a b and c;", False),
        ("…1, … …1!", "n, then n!", True),
    ],
)
def test_says(words: str, text: str, found: bool) -> None:
    assert says(words, text) is found
