"""Integers among the attributes have 64 bits."""

from __future__ import annotations

import pytest

from rlx.transform.builder.given import attribute


@pytest.mark.parametrize(
    "number", [0, -1, (1 << 62) + 1, (1 << 63) - 1, -(1 << 62) - 1, -(1 << 63)]
)
def test_integers_of_64_bits_are_kept(number: int) -> None:
    assert attribute(number) == number
    assert attribute([number]) in ([number], (number,))


@pytest.mark.parametrize("number", [1 << 63, -(1 << 63) - 1, 1 << 64, 10**40])
def test_larger_ones_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match=f"{number} has more than 64 bits"):
        attribute(number)
