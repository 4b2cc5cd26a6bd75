"""Memory for what kernels allocate: where it begins, how long it is, and when there is more of it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from rlx.semantics.arrays import address
from rlx.semantics.native import frame, workspace
from rlx.semantics.native.arrays import Damaged


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 1000, 1 << 16])
def test_memory_begins_at_a_cache_line_and_is_long_enough(size: int) -> None:
    for _ in range(5):
        memory, start = workspace.aligned(size)
        assert start % 64 == 0
        assert address(memory) <= start and start + size <= address(memory) + memory.size
        assert memory.size <= size + 64


@pytest.mark.parametrize("room", [0, 1, 100, 101, 400])
@pytest.mark.parametrize("wanted", [0, 1, 100, 101, 400, 401])
def test_a_workspace_grows_by_half_of_what_is_wanted(room: int, wanted: int) -> None:
    """Unless that was there, or is more than may be allocated."""
    numbers = frame.beginning(limit=400)
    numbers[frame.ROOM], numbers[frame.WANTED] = room, wanted
    larger = workspace.larger_workspace(numbers)
    assert (larger is not None) == (room < wanted <= 400)
    if larger is not None:
        memory, start, size = larger
        assert size == wanted + wanted // 2 and start + size <= address(memory) + memory.size
        workspace.use(numbers, larger)
        assert numbers[frame.WORKSPACE : frame.ROOM + 1] == [start, size]
    workspace.use(numbers, None)
    assert numbers[frame.WORKSPACE : frame.ROOM + 1] == [0, 0]


def test_a_workspace_that_memory_does_not_hold_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(size: int) -> None:
        raise MemoryError(size)

    monkeypatch.setattr(workspace, "aligned", refuse)
    numbers = frame.beginning(limit=400)
    numbers[frame.WANTED] = 100
    assert workspace.larger_workspace(numbers) is None
    assert workspace.more(numbers, 100) == 0


def test_blocks_are_given_back_to_the_one_before() -> None:
    numbers = frame.beginning(limit=400)
    first, second, third = (workspace.more(numbers, size) for size in (8, 0, 100))
    assert {first % 64, second % 64, third % 64} == {0}
    assert numbers[frame.LAST_BLOCK] == third
    workspace.less(numbers, first)
    assert numbers[frame.LAST_BLOCK] == first and [*workspace.blocks] == [first]
    assert not numbers[frame.DAMAGED]
    numbers[frame.USED] = numbers[frame.LIVE] = 9
    workspace.give_back(numbers)
    assert not workspace.blocks
    assert numbers == frame.beginning(limit=400)


HELD = [None, 100, 300]
WANTED = [0, 99, 100, 101, 299, 300, 301, 450, 599, 600, 700, 900]


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize(("held", "wanted"), [*product(HELD, WANTED)])
def test_what_is_kept_for_the_next_call(
    together: bool, held: int | None, wanted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel whose buffers lie together does not begin without room for them; another takes blocks."""
    monkeypatch.setattr(workspace, "GUARDED", False)
    monkeypatch.setattr(workspace, "FIRST_SIZE", 100)
    monkeypatch.setattr(workspace, "WORKSPACE_LIMIT", 600)
    memory = None if held is None else (*workspace.aligned(held), held)
    monkeypatch.setattr(workspace.kept_workspace, "memory", memory)
    rooms: list[int] = []

    def kernel(numbers: Any, places: Any) -> int:
        assert workspace.kept_workspace.memory is None
        assert numbers[frame.WANTED] == (0 if not rooms else wanted)
        rooms.append(numbers[frame.ROOM])
        numbers[frame.WANTED] = wanted
        return frame.LEFT if together and wanted > numbers[frame.ROOM] else 0

    failed = workspace.call_with_memory(kernel, frame.beginning(0), None, 800)
    room = held or 100
    retried = together and room < wanted <= 800
    assert rooms == [room, *([wanted + wanted // 2] if retried else [])]
    assert failed == (frame.LEFT if together and wanted > 800 else 0)
    kept = workspace.kept_workspace.memory
    assert kept is not None
    _, _, size = kept
    if wanted >= 600 or wanted <= room:
        assert size == room
        assert memory is None or kept is memory
    else:
        assert size == (wanted + wanted // 2 if retried else wanted)


@pytest.mark.parametrize("at", [-1, -64, 8, 71])
def test_what_is_written_around_a_block_is_noticed(at: int) -> None:
    numbers = frame.beginning(limit=400)
    place = workspace.more(numbers, 8)
    block = workspace.blocks[place]
    block.memory[place - address(block.memory) + at] ^= 1
    with pytest.raises(Damaged, match="outside of memory that it allocated"):
        workspace.give_back(numbers)
    assert not numbers[frame.DAMAGED] and not workspace.blocks


@pytest.mark.parametrize("at", [0, 7])
def test_a_block_may_be_written_to(at: int) -> None:
    numbers = frame.beginning(limit=400)
    place = workspace.more(numbers, 8)
    block = workspace.blocks[place]
    block.memory[place - address(block.memory) + at] ^= 1
    workspace.give_back(numbers)
    assert not workspace.blocks
