"""Sequences are aligned as `difflib` aligns them, but in nearly linear time."""

import difflib
import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.grammar.alignment import SMALL, Alignment, unified_diff

FEW_WORDS = st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=3 * SMALL)
MANY_WORDS = st.lists(st.integers(0, 500).map("{}\n".format), max_size=3 * SMALL)
WORDS = FEW_WORDS | MANY_WORDS


def patched(old: Sequence[str], diff: Sequence[str]) -> list[str]:
    """A text changed by a unified diff, by the line numbers of its hunks."""
    made: list[str] = []
    at = 0
    for line in diff[2:]:
        if line.startswith("@@"):
            start, _, length = line.split()[1][1:].partition(",")
            first = int(start) - (length != "0")
            made += old[at:first]
            at = first
            continue
        if line[0] in " -":
            assert old[at] == line[1:]
            at += 1
        if line[0] in " +":
            made.append(line[1:])
    return [*made, *old[at:]]


@given(WORDS, WORDS)
def test_what_is_common_is_equal_and_in_order(a: list[str], b: list[str]) -> None:
    i = j = 0
    for block in Alignment(a, b).get_matching_blocks():
        assert block.a >= i and block.b >= j
        i, j = block.a + block.size, block.b + block.size
        assert a[block.a : i] == b[block.b : j]
    assert (i, j) == (len(a), len(b))


@given(WORDS, WORDS)
def test_a_diff_makes_the_new_text(old: list[str], new: list[str]) -> None:
    assert patched(old, list(unified_diff(old, new, "x", "y"))) == new


@given(WORDS, WORDS)
def test_short_texts_have_the_diff_of_difflib(old: list[str], new: list[str]) -> None:
    old, new = old[:SMALL], new[:SMALL]
    assert [*unified_diff(old, new, "x", "y")] == [*difflib.unified_diff(old, new, "x", "y")]


def test_one_changed_line_of_a_long_text_is_one_hunk() -> None:
    old = ["same\n"] * 1_000
    new = [*old[:400], "other\n", *old[401:]]
    assert [line for line in unified_diff(old, new, "x", "y") if line[0] in "-+"][2:] == [
        "-same\n",
        "+other\n",
    ]


class Counted(str):
    """A word that counts how often any of its kind is looked up or compared."""

    __slots__ = ()
    work = 0

    def __hash__(self) -> int:
        Counted.work += 1
        return super().__hash__()

    def __eq__(self, other: object) -> bool:
        Counted.work += 1
        return super().__eq__(other)


def work(old: Sequence[str], new: Sequence[str]) -> int:
    Counted.work = 0
    Alignment([*map(Counted, old)], [*map(Counted, new)]).get_matching_blocks()
    return Counted.work


def every_second(size: int) -> tuple[list[str], list[str]]:
    """Every second line is another one."""
    old = [word for k in range(size) for word in ("same", f"{k}")]
    return old, [word.replace("same", "other") for word in old]


def few_words(size: int) -> tuple[list[str], list[str]]:
    """Two texts whose lines do not tell where they belong."""
    rng = random.Random(size)
    return rng.choices("ab", k=size), rng.choices("ab", k=size)


def nothing_common(size: int) -> tuple[list[str], list[str]]:
    """Only lines that the other text has not."""
    return ["a"] * size, ["b"] * size


@pytest.mark.parametrize("texts", [every_second, few_words, nothing_common])
def test_work_grows_with_the_length(
    texts: Callable[[int], tuple[list[str], list[str]]],
) -> None:
    assert work(*texts(4_000)) < 5 * work(*texts(1_000))
