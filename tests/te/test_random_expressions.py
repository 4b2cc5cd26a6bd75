"""LAW: a random tensor expression gives what NumPy gives for the same arithmetic."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rlx import te
from rlx.semantics.tir import evaluate

ROWS, COLUMNS = 3, 4
Value = tuple[Any, Any]
"""A scalar over the axes, and the array of its values."""

BINARY: tuple[tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]], ...] = (
    (operator.add, np.add),
    (operator.sub, np.subtract),
    (operator.mul, np.multiply),
    (te.maximum, np.maximum),
    (te.minimum, np.minimum),
    (operator.and_, np.bitwise_and),
    (operator.xor, np.bitwise_xor),
)


class Maker:
    """Random scalars over two axes, beside what NumPy makes of the same."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        numbers = np.random.default_rng(seed)
        self.arrays = [numbers.integers(-9, 10, (ROWS, COLUMNS)) for _ in "AB"]
        self.inputs = [te.placeholder((ROWS, COLUMNS), "int64", name) for name in "AB"]

    def leaf(self, i: Any, j: Any) -> Value:
        which = self.pick.randrange(2)
        tensor, array = self.inputs[which], self.arrays[which]
        match self.pick.randrange(5):
            case 0:
                number = self.pick.randint(-4, 4)
                return te.const(number, "int64"), np.full((ROWS, COLUMNS), number)
            case 1:
                return tensor(ROWS - 1 - i, j), array[::-1]
            case 2:
                step = self.pick.randrange(COLUMNS)
                return tensor(i, te.floormod(j + step, COLUMNS)), np.roll(array, -step, 1)
            case 3:
                rows = np.arange(ROWS)[:, None]
                return te.cast("int64", i), np.broadcast_to(rows, (ROWS, COLUMNS))
        return tensor(i, j), array

    def scalar(self, i: Any, j: Any, depth: int) -> Value:
        if not depth:
            return self.leaf(i, j)
        (a, x), (b, y) = (self.scalar(i, j, self.pick.randrange(depth)) for _ in range(2))
        match self.pick.randrange(10):
            case 0:
                return te.if_then_else(a < b, a, b + 1), np.where(x < y, x, y + 1)
            case 1:
                by = self.pick.choice([2, 3, -4])
                return te.floordiv(a, by), x // by
            case 2:
                by = self.pick.choice([2, 3, -4])
                return te.floormod(a, by), x % by
        mine, theirs = self.pick.choice(BINARY)
        return mine(a, b), theirs(x, y)


REDUCTIONS: tuple[tuple[Callable[..., Any], Callable[..., Any]], ...] = (
    (te.sum, np.sum),
    (te.max, np.max),
    (te.min, np.min),
)


@pytest.mark.parametrize("seed", range(60))
def test_elements_are_those_of_numpy(seed: int) -> None:
    maker, wanted = Maker(seed), []

    def element(i: Any, j: Any) -> Any:
        made, array = maker.scalar(i, j, 4)
        wanted.append(array)
        return made

    out = te.compute((ROWS, COLUMNS), element, name="C")
    result = np.zeros((ROWS, COLUMNS), "int64")
    evaluate(te.create_prim_func([*maker.inputs, out], "int64"), [*maker.arrays, result])
    np.testing.assert_array_equal(result, wanted[0])


@pytest.mark.parametrize("seed", range(30))
def test_reductions_are_those_of_numpy(seed: int) -> None:
    maker, wanted = Maker(seed), []
    mine, theirs = REDUCTIONS[seed % len(REDUCTIONS)]
    k = te.reduce_axis((0, COLUMNS), name="k")

    def element(i: Any) -> Any:
        made, array = maker.scalar(i, k, 3)
        wanted.append(theirs(array, axis=1))
        return mine(made, axis=k)

    out = te.compute((ROWS,), element, name="C")
    result = np.zeros(ROWS, "int64")
    evaluate(te.create_prim_func([*maker.inputs, out], "int64"), [*maker.arrays, result])
    np.testing.assert_array_equal(result, wanted[0])
