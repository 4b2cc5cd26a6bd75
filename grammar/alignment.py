"""Alignment of two sequences of words in nearly linear time."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher

SMALL = 64
"""The length of sequences that are compared at once, as a whole."""

WINDOW = 128
"""The number of words that are compared where no word tells which belong together."""


class Alignment(SequenceMatcher[str]):
    """A :class:`difflib.SequenceMatcher` whose time does not grow with the square of the lengths.

    Long sequences are aligned at the words that each has once, and between those in windows of
    :data:`WINDOW` words. What is found to be common is common, but there may be more.
    """

    def __init__(self, a: Sequence[str], b: Sequence[str]) -> None:
        super().__init__(None, a, b, autojunk=False)
        self._sequences = a, b

    def get_matching_blocks(self) -> list[Match]:
        """The runs that both have, in order, and an empty one at the ends."""
        a, b = self._sequences
        if max(len(a), len(b)) <= SMALL:
            return super().get_matching_blocks()
        blocks: list[Match] = []
        for i, j in _pairs(a, b):
            if blocks and (blocks[-1].a + blocks[-1].size, blocks[-1].b + blocks[-1].size) == (
                i,
                j,
            ):
                blocks[-1] = blocks[-1]._replace(size=blocks[-1].size + 1)
            else:
                blocks.append(Match(i, j, 1))
        return [*blocks, Match(len(a), len(b), 0)]


def unified_diff(old: Sequence[str], new: Sequence[str], before: str, after: str) -> Iterator[str]:
    """The lines of a unified diff, as :func:`difflib.unified_diff` writes them.

    Parameters
    ----------
    before, after
        The names of the two texts.
    """
    started = False
    for group in Alignment(old, new).get_grouped_opcodes():
        if not started:
            started = True
            yield from (f"--- {before}\n", f"+++ {after}\n")
        first, last = group[0], group[-1]
        yield f"@@ -{_range(first[1], last[2])} +{_range(first[3], last[4])} @@\n"
        for tag, i, i_end, j, j_end in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[i:i_end])
            else:
                yield from (f"-{line}" for line in old[i:i_end])
                yield from (f"+{line}" for line in new[j:j_end])


def _range(start: int, end: int) -> str:
    """Lines as the head of a hunk counts them: an empty range is named by the line before it."""
    if end - start == 1:
        return str(end)
    return f"{start + (end > start)},{end - start}"


def _pairs(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of common words, in order."""
    i = j = 0
    for anchor in _anchors(a, b):
        yield from _between(a, b, range(i, anchor[0]), range(j, anchor[1]))
        yield anchor
        i, j = anchor[0] + 1, anchor[1] + 1
    yield from _between(a, b, range(i, len(a)), range(j, len(b)))


def _anchors(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """The longest ascending list of places of words that each sequence has once."""
    in_a, in_b = Counter(a), Counter(b)
    place = {word: j for j, word in enumerate(b) if in_b[word] == 1}
    ends: list[int] = []  # the least place in `b` at which a list of each length ends
    last: list[int] = []  # the pair at which it ends
    pairs: list[tuple[int, int]] = []
    before: list[int] = []
    for i, word in enumerate(a):
        if in_a[word] > 1 or word not in place:
            continue
        length = bisect_left(ends, place[word])
        ends[length : length + 1] = [place[word]]
        last[length : length + 1] = [len(pairs)]
        before.append(last[length - 1] if length else -1)
        pairs.append((i, place[word]))
    found: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        found.append(pairs[at])
        at = before[at]
    return found[::-1]


def _between(
    a: Sequence[str], b: Sequence[str], in_a: range, in_b: range
) -> Iterator[tuple[int, int]]:
    """The places of common words in parts without anchors."""
    i, j = in_a.start, in_b.start
    ends = zip(reversed(in_a), reversed(in_b), strict=False)
    tail = next((k for k, (x, y) in enumerate(ends) if a[x] != b[y]), min(len(in_a), len(in_b)))
    a_stop, b_stop = in_a.stop - tail, in_b.stop - tail
    while i < a_stop and j < b_stop:
        if a[i] == b[j]:
            yield i, j
            i, j = i + 1, j + 1
            continue
        one, other = a[i : min(i + WINDOW, a_stop)], b[j : min(j + WINDOW, b_stop)]
        *blocks, _ = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
        if not blocks:
            i, j = i + len(one), j + len(other)
            continue
        # What stands at the end of a window may match better in the next one.
        sure = [block for block in blocks if max(block.a, block.b) < WINDOW // 2] or blocks[:1]
        for block in sure:
            yield from ((i + block.a + k, j + block.b + k) for k in range(block.size))
        i, j = i + sure[-1].a + sure[-1].size, j + sure[-1].b + sure[-1].size
    yield from ((a_stop + k, b_stop + k) for k in range(tail))
