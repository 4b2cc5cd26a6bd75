"""The packed functions of campaigns, over tensors of a peer of our own: what they return and change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlx.generate.campaign.peer import PACKED, over_tensors


class PeerTensor:
    """A tensor of the peer; NumPy gets a copy of it."""

    def __init__(self, *values: float) -> None:
        self.held = np.array(values)

    def numpy(self) -> Any:
        return self.held.copy()

    def copyfrom(self, values: Any) -> None:
        self.held[...] = values


@pytest.mark.parametrize(
    ("name", "returned", "first", "last"),
    [
        ("test.same", 0, [1, 2], [5, 6]),
        ("test.first", 0, [1, 2], [5, 6]),
        ("test.copy", 1, [1, 2], [1, 2]),
    ],
)
def test_of_two_tensors(name: str, returned: int, first: list[float], last: list[float]) -> None:
    given = PeerTensor(1, 2), PeerTensor(5, 6)
    assert over_tensors(PACKED[name])(*given) is given[returned]
    assert [each.held.tolist() for each in given] == [first, last]


def test_of_one_tensor() -> None:
    given = PeerTensor(1, 2)
    assert over_tensors(PACKED["test.negate_inplace"])(given) is given
    assert given.held.tolist() == [-1, -2]
    assert set(PACKED) == {"test.same", "test.first", "test.copy", "test.negate_inplace"}
