"""Placement of tensors of symbolic sizes in one piece of memory, valid for all sizes.

A plan for typical sizes decides which of two simultaneously live tensors is below the other. For
any other sizes, each tensor begins where the highest tensor below it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rlx.transform.lowering.packing import Item, beside, pack

Amount = tuple[int, ...]
"""A number of bytes, as a sum of multiples of products of dimensions."""
Most = tuple[Amount, ...]
"""The maximum of several amounts; which one is largest depends on the sizes."""

LIMIT = 8
"""The maximum number of separate amounts; beyond it, two are replaced by an upper bound of both."""


class Need(NamedTuple):
    """A tensor: the first and the last position of its lifetime, and its size."""

    start: int
    end: int
    size: Amount


def arrange(
    needs: Sequence[Need], typical: Sequence[int], alignment: Sequence[int]
) -> tuple[list[Most], Most]:
    """The offset of each tensor, and the total memory.

    Parameters
    ----------
    needs
        The tensors, at least one.
    typical
        The value of each product for typical sizes.
    alignment
        The number that the amount of each product in an offset is a multiple of.
    """
    sizes = [_aligned(need.size, alignment) for need in needs]
    items = [
        Item(need.start, need.end, sum(a * b for a, b in zip(size, typical, strict=True)))
        for need, size in zip(needs, sizes, strict=True)
    ]
    together = beside(items)
    offsets, _ = pack(items, min(alignment), together)
    begins: list[Most | None] = [None] * len(needs)
    nothing: Most = ((0,) * len(typical),)
    largest = _Largest(typical)
    ends: set[Amount] = set()
    for k in sorted(range(len(needs)), key=lambda k: (offsets[k], k)):
        below = {
            tuple(map(int.__add__, amount, sizes[j]))
            for j in together[k]
            for amount in begins[j] or ()
        }
        most = begins[k] = largest(below) if below else nothing
        ends.update(tuple(map(int.__add__, amount, needs[k].size)) for amount in most)
    return [most or nothing for most in begins], largest(ends)


def _aligned(size: Amount, alignment: Sequence[int]) -> Amount:
    return tuple(-(-a // b) * b for a, b in zip(size, alignment, strict=True))


class _Largest:
    """Leaves out the amounts that are never the largest; what it was asked before it knows."""

    def __init__(self, typical: Sequence[int]) -> None:
        self._typical = typical
        self._known: dict[frozenset[Amount], Most] = {}

    def __call__(self, amounts: Iterable[Amount]) -> Most:
        key = frozenset(amounts)
        found = self._known.get(key)
        if found is None:
            kept = _undominated(sorted(key, reverse=True))
            while len(kept) > LIMIT:
                kept = _undominated(self._joined(kept))
            found = self._known[key] = tuple(kept)
        return found

    def _joined(self, amounts: Sequence[Amount]) -> list[Amount]:
        """The amounts with two of them as one, those for which that adds least."""
        pairs = [(a, b) for k, a in enumerate(amounts) for b in amounts[:k]]
        one, other = min(pairs, key=lambda pair: self._of(_both(*pair)) - max(map(self._of, pair)))
        return [_both(one, other), *(a for a in amounts if a is not one and a is not other)]

    def _of(self, amount: Amount) -> int:
        return sum(a * b for a, b in zip(amount, self._typical, strict=True))


def _both(one: Amount, other: Amount) -> Amount:
    return tuple(map(max, one, other))


def _undominated(amounts: Sequence[Amount]) -> list[Amount]:
    kept: list[Amount] = []
    for amount in amounts:
        if not any(all(map(int.__le__, amount, other)) for other in kept):
            kept = [o for o in kept if not all(map(int.__le__, o, amount))] + [amount]
    return kept
