"""LAW: tensors that are alive at the same time share no byte, whatever their sizes and lives are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rlx.transform.lowering.packing import ALIGNMENT, Item, lower_bound, pack

ITEMS = st.lists(
    st.builds(
        lambda start, length, size: Item(start, start + length, size),
        st.integers(0, 20),
        st.integers(0, 8),
        st.integers(0, 5000),
    ),
    max_size=30,
)


@given(ITEMS)
def test_what_is_alive_together_lies_apart(items: list[Item]) -> None:
    offsets, total = pack(items)
    assert total >= lower_bound(items)
    for k, (item, offset) in enumerate(zip(items, offsets, strict=True)):
        assert offset % ALIGNMENT == 0 and offset + item.size <= total
        for other, at in zip(items[:k], offsets[:k], strict=True):
            together = item.start <= other.end and other.start <= item.end
            if together and item.size and other.size:
                assert offset + item.size <= at or at + other.size <= offset


@given(ITEMS)
def test_the_bound_is_what_is_alive_at_the_worst_time(items: list[Item]) -> None:
    times = {time for item in items for time in (item.start, item.end)}
    alive = [sum(i.size for i in items if i.start <= time <= i.end) for time in times]
    assert lower_bound(items) == max(alive, default=0)


@given(ITEMS)
def test_what_is_never_alive_together_shares_its_place(items: list[Item]) -> None:
    """One life behind the other: the plan needs no more than the largest."""
    one_by_one = [Item(k, k, item.size) for k, item in enumerate(items)]
    offsets, total = pack(one_by_one)
    assert not any(offsets)
    assert total == max((item.size for item in items), default=0)
