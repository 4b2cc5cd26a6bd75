"""Packing of tensors into one piece of memory: simultaneously live tensors do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

ALIGNMENT = 64
"""The alignment of every tensor in bytes."""
SYMBOLIC_ALIGNMENT = 8
"""The alignment if sizes are multiples of an unknown product: elements have up to 8 bytes."""


class Item(NamedTuple):
    """A tensor: the first and the last position of its lifetime, and its size in bytes."""

    start: int
    end: int
    size: int


def pack(
    items: Sequence[Item],
    alignment: int = ALIGNMENT,
    together: Sequence[Sequence[int]] | None = None,
) -> tuple[list[int], int]:
    """The offset of each item, and the total memory.

    Each item is placed in the smallest gap that fits between the items that are alive at the same
    time. Two orders are tried, by size (largest first) and by time, and the better result is
    returned. ``together`` is the result of :func:`beside`, if it is already computed.
    """
    together = beside(items) if together is None else together
    by_size = sorted(range(len(items)), key=lambda k: (-items[k].size, items[k].start, k))
    by_time = sorted(range(len(items)), key=lambda k: (items[k].start, -items[k].size, k))
    plans = (_packed(items, order, together, alignment) for order in (by_size, by_time))
    return min(plans, key=lambda plan: plan[1])


def beside(items: Sequence[Item]) -> list[list[int]]:
    """For each item, the items whose lifetimes overlap with its own."""
    found: list[list[int]] = [[] for _ in items]
    alive: list[int] = []
    for k in sorted(range(len(items)), key=lambda k: items[k].start):
        alive = [other for other in alive if items[other].end >= items[k].start]
        for other in alive:
            found[k].append(other)
            found[other].append(k)
        alive.append(k)
    return found


def _packed(
    items: Sequence[Item], order: Sequence[int], together: Sequence[Sequence[int]], alignment: int
) -> tuple[list[int], int]:
    places: dict[int, tuple[int, int]] = {}
    total = 0
    for k in order:
        size = items[k].size
        at = 0
        gaps: list[tuple[int, int]] = []
        for low, high in sorted(places[j] for j in together[k] if j in places):
            if low - at >= size:
                gaps.append((low - at, at))
            at = max(at, high)
        if gaps:
            _, at = min(gaps)
        places[k] = at, (-(-(at + size) // alignment) * alignment)
        total = max(total, at + size)
    return [begin for _, (begin, _) in sorted(places.items())], total


def lower_bound(items: Sequence[Item]) -> int:
    """The maximum number of bytes alive at one time, which is a lower bound for every plan."""
    changes: dict[int, int] = {}
    for item in items:
        changes[item.start] = changes.get(item.start, 0) + item.size
        changes[item.end + 1] = changes.get(item.end + 1, 0) - item.size
    alive = most = 0
    for _, change in sorted(changes.items()):
        alive += change
        most = max(most, alive)
    return most
