"""Variables of scopes further out, and limits on the memory of operators."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.semantics.machine.configuration import slot_reader
from rlx.semantics.machine.obligations import memory_bound


class Scope:
    """A frame with slots, inside of another one."""

    def __init__(self, slots: list[int], outer: Scope | None) -> None:
        self.slots, self.outer = slots, outer


@pytest.mark.parametrize("hops", range(6))
def test_a_slot_is_read_that_many_scopes_out(hops: int) -> None:
    frame = None
    for depth in reversed(range(6)):
        frame = Scope([10 * depth, 10 * depth + 1], frame)
    assert [slot_reader(hops, index)(frame) for index in (0, 1)] == [10 * hops, 10 * hops + 1]


@given(
    st.lists(st.lists(st.integers(-9, 9), min_size=1, max_size=4), max_size=3),
    st.lists(st.integers(-9, 9), max_size=2),
)
def test_the_bound_is_the_product_of_what_each_operand_can_ask_for(
    shapes: list[list[int]], numbers: list[int]
) -> None:
    key = (*map(tuple, shapes), np.dtype("int8"), *numbers, ())
    wanted = prod(1 + prod(map(abs, shape)) for shape in shapes)
    assert memory_bound(key) == wanted * prod(1 + abs(number) for number in numbers)
