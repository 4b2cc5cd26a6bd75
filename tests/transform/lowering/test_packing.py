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
