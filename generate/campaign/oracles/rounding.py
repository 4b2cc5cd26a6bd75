"""Whether two values differ only by rounding.

Near a pole or a jump a small difference in one step makes a large difference in the result, and
both sides are right.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.generate.campaign.oracles.meaning import unequal_elements
from rlx.generate.campaign.oracles.rerun import Rerun, tensors
from rlx.semantics.outcome import Returned
from rlx.semantics.values import Value

UNIT = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
"""The unit in the last place of 1."""

UNITS = 4
"""The most of them that a result may be off: sums round more than once."""

RUNS = 8
"""Runs that are compared: in each an element goes up or down by chance."""

BEYOND = 4.0
"""The values may differ by so many times what those runs do."""

WHOLE = 256.0
"""The largest whole numbers that are mostly exact (counts, constants, results of `floor`) and stay."""

Array = np.ndarray[Any, Any]


def is_rounding(again: Rerun, expected: Value, returned: Value, seed: int) -> bool:
    """Whether the elements that differ between two values of one type depend on rounding."""
    ours = [tensor.data for tensor in tensors(expected)]
    theirs = [tensor.data for tensor in tensors(returned)]
    if not ours or not _alike(ours, theirs):
        return False
    random = np.random.default_rng(seed)
    spread = [np.zeros(array.shape) for array in ours]
    for _ in range(RUNS):
        outcome = again.watched(lambda array: nudge(array, random))
        if not isinstance(outcome, Returned):
            continue
        moved = [tensor.data for tensor in tensors(outcome.value)]
        if not _alike(ours, moved):
            return True  # even the shape depends on it
        changed = map(distance, ours, moved)
        spread = [np.maximum(*pair) for pair in zip(spread, changed, strict=True)]
    wrong = False
    for one, other, most in zip(ours, theirs, spread, strict=True):
        at = unequal_elements(one, other)
        wrong = wrong or bool(at.any())
        if (at & ~(distance(one, other) <= BEYOND * most)).any():
            return False
    return wrong


def _alike(some: list[Array], others: list[Array]) -> bool:
    return [(a.shape, a.dtype) for a in some] == [(a.shape, a.dtype) for a in others]


def distance(one: Array, other: Array) -> Array:
    """The distance of elements: infinity where one is a NaN or an infinity and the other is not the
    same, or where they are no floats and differ.
    """
    if one.dtype.kind in "biu":
        return np.where(one == other, 0.0, np.inf)
    a, b = one.astype(np.float64), other.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(a - b))
    return np.where(np.isnan(apart), np.inf, apart)


def nudge(array: Array, random: np.random.Generator) -> None:
    """Move the floats of an array by a few units in the last place, up or down."""
    unit = UNIT.get(str(array.dtype))
    if unit is None or not array.flags.writeable:
        return
    wide = array.astype(np.float64)
    exact = ~np.isfinite(wide) | ((wide == np.rint(wide)) & (np.abs(wide) <= WHOLE))
    by = random.integers(-UNITS, UNITS + 1, array.shape) * unit
    with np.errstate(over="ignore"):
        array[...] = np.where(exact, array, (wide * (1.0 + by)).astype(array.dtype))
