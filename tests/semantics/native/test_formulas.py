"""Steps on integers in machine code: what they compute, and where they give up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from rlx.grammar.nodes.tir import PrimFunc
from rlx.grammar.read.parser import parse
from rlx.semantics.native import compile, formulas
from rlx.semantics.native.formulas import Formulas, Steps

MOST = (1 << 63) - 1


def ran(words: Sequence[int], slots: Sequence[int]) -> list[int] | None:
    """What the slots hold after steps; None where they give up."""
    made = Formulas(Steps(words, slots, 0, (), ()), ())
    return made.read(0, len(slots)) if made((), ()) else None


@pytest.mark.parametrize(
    ("words", "slots", "wanted"),
    [
        ([formulas.COPY, 1, 0], [7, 0], [7, 7]),
        ([formulas.TIMES, 2, 0, 1], [7, -3, 0], [7, -3, -21]),
        ([formulas.TIMES, 2, 0, 1], [1 << 62, 2, 0], None),
        ([formulas.PLUS, 2, 0, 1], [7, -3, 0], [7, -3, 4]),
        ([formulas.PLUS, 2, 0, 1], [MOST, 1, 0], None),
        ([formulas.EQUAL, 0, 1], [7, 7], [7, 7]),
        ([formulas.EQUAL, 0, 1], [7, 8], None),
        ([formulas.AT_LEAST, 0, 1], [7, 7], [7, 7]),
        ([formulas.AT_LEAST, 0, 1], [7, 8], None),
        ([formulas.DIVIDES, 4, 0], [12], [12]),
        ([formulas.DIVIDES, 4, 0], [14], None),
        ([99], [1], None),
    ],
)
def test_steps(words: list[int], slots: list[int], wanted: list[int] | None) -> None:
    assert ran(words, slots) == wanted


def test_arrays_are_read_and_written_only_where_all_holds() -> None:
    words = [formulas.READ, 1, 1, 2, formulas.PLUS, 2, 1, 0, formulas.EQUAL, 1, 3]
    words += [formulas.PUT, 1, 0, 2, formulas.WRITE, 1, 1, 2]
    made = Formulas(Steps(words, [0, 0, 0, 5], 1, (), ()), ())
    array = np.array([5, 6], np.int64)
    assert made([3], [array]) and array.tolist() == [5, 8]
    array[0] = 4  # no longer what it must be
    assert not made([3], [array]) and array.tolist() == [4, 8]


def test_a_number_of_more_than_64_bits_is_none_of_these() -> None:
    made = Formulas(Steps([], [0], 0, (), ()), ())
    assert made([MOST], ()) and made.read(0, 1) == [MOST]
    assert not made([MOST + 1], ())


def test_a_kernel_computes_with_slots_and_may_stop() -> None:
    text = """
@T.prim_func(private=True)
def halves(x: T.handle):
    H = T.match_buffer(x, (3,), "int64")
    H[2] = H[0] // H[1]
"""
    (function,) = parse(text).modules[0].functions.values()
    assert isinstance(function, PrimFunc)
    kernel = compile(function)
    words = [formulas.RUN, 1, 0]
    made = Formulas(Steps(words, [0, 0, 0], 0, (kernel,), (3,)), ())
    for _ in range(2):  # its numbers serve again
        assert made([12, 4], ()) and made.read(2, 1) == [3]
    assert not made([12, 0], ())
