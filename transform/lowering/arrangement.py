"""Placement of tensors of symbolic sizes in one piece of memory, valid for all sizes.

A plan for typical sizes decides which of two simultaneously live tensors is below the other. For
any other sizes, each tensor begins where the highest tensor below it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import starmap, zip_longest
from typing import NamedTuple

from rlx.transform.lowering.packing import Item, beside, pack

Amount = tuple[int, ...]
"""A number of bytes, as a sum of multiples of products of dimensions."""
Most = tuple[Amount, ...]
"""The maximum of several amounts; which one is largest depends on the sizes."""

LIMIT = 8
"""The maximum number of separate amounts; beyond it, two are replaced by an upper bound of both."""

CROWD = 4 * LIMIT
"""The number of amounts from which on they are not compared pair by pair, which takes its square,
but each with its neighbour.
"""


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
    sizes = [
        tuple(-(-a // b) * b for a, b in zip(need.size, alignment, strict=True)) for need in needs
    ]
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


class _Largest:
    """Leaves out the amounts that are never the largest; what it was asked before it knows."""

    def __init__(self, typical: Sequence[int]) -> None:
        self._typical = typical
        self._known: dict[frozenset[Amount], Most] = {}

    def __call__(self, amounts: Iterable[Amount]) -> Most:
        key = frozenset(amounts)
        found = self._known.get(key)
        if found is None:
            kept: list[Amount] = []
            for amount in sorted(key, reverse=True):
                kept = _with(kept, amount)
                if len(kept) > CROWD:
                    kept = _undominated(
                        starmap(_both, zip_longest(kept[::2], kept[1::2], fillvalue=amount))
                    )
            found = self._known[key] = tuple(self._few(kept))
        return found

    def _few(self, amounts: list[Amount]) -> list[Amount]:
        """At most :data:`LIMIT` amounts: two become one while there are more, those for which that
        adds least.
        """
        added: dict[tuple[Amount, Amount], int] = {}
        while len(amounts) > LIMIT:
            pairs = [(a, b) for k, a in enumerate(amounts) for b in amounts[:k]]
            added = {pair: added[pair] if pair in added else self._added(*pair) for pair in pairs}
            one, other = min(pairs, key=added.__getitem__)
            amounts = _undominated(
                [_both(one, other), *(a for a in amounts if a is not one and a is not other)]
            )
        return amounts

    def _added(self, one: Amount, other: Amount) -> int:
        return self._of(_both(one, other)) - max(self._of(one), self._of(other))

    def _of(self, amount: Amount) -> int:
        return sum(a * b for a, b in zip(amount, self._typical, strict=True))


def _both(one: Amount, other: Amount) -> Amount:
    return tuple(map(max, one, other))


def _undominated(amounts: Iterable[Amount]) -> list[Amount]:
    return reduce(_with, amounts, [])


def _with(kept: list[Amount], amount: Amount) -> list[Amount]:
    """The amounts with another one, without those that are never the largest."""
    if any(all(map(int.__le__, amount, other)) for other in kept):
        return kept
    return [o for o in kept if not all(map(int.__le__, o, amount))] + [amount]
