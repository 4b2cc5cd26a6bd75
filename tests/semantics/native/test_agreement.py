"""Native code does what the reference evaluator does, on random programs."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from rlx.grammar.nodes import tir
from rlx.semantics import native
from rlx.semantics.arrays import numpy_type
from rlx.semantics.faults import Stop
from rlx.semantics.tir import evaluate
from tests.semantics.tir.programs import of_body

from .random_programs import Maker

Arrays = list[np.ndarray[Any, Any]]
TOLERANCE = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 1e-4, "float64": 1e-11}


def arguments(func: tir.PrimFunc, maker: Maker, seed: int) -> Arrays:
    """Arrays of random sizes, 0 and 1 among them, with small values and some that are not."""
    random_sizes, numbers = random.Random(seed), np.random.default_rng(seed)
    sizes = {size: random_sizes.choice([0, 1, 2, 5, 33]) for size in maker.sizes}
    arrays = []
    for buffer in func.buffer_map.values():
        shape = [d.value if isinstance(d, tir.IntImm) else sizes[d] for d in buffer.shape]  # type: ignore[index]
        low = 0 if buffer.dtype.code == "uint" or buffer.name == "at" else -3
        values = numbers.integers(low, 4, shape) + 0.25 * buffer.dtype.is_float
        if buffer.dtype.is_float and random_sizes.random() < 0.2:
            values = np.where(numbers.random(shape) < 0.05, np.nan, values)
        arrays.append(np.asarray(values).astype(numpy_type(buffer.dtype)))
    return arrays


def outcome(run: Callable[[], object]) -> str:
    try:
        run()
    except Stop as stop:
        return stop.code
    return "returned"


def compare(func: tir.PrimFunc, arrays: Arrays) -> str:
    """Run both; hold that they agree; what happened."""
    mine, theirs = [a.copy() for a in arrays], [a.copy() for a in arrays]
    with np.errstate(all="ignore"):
        wanted = outcome(lambda: evaluate(func, theirs, fuel=200_000))
    got = outcome(lambda: native.compile(func)(mine, 200_000))
    if wanted == "E-tir-unwritten":  # native code does not track that
        return wanted
    assert (got == "returned") == (wanted == "returned"), (got, wanted)  # one of several faults
    if wanted == "returned":
        for a, b in zip(mine, theirs, strict=True):
            close = TOLERANCE.get(a.dtype.name, 0)
            wide = np.float64 if close else a.dtype
            np.testing.assert_allclose(a.astype(wide), b.astype(wide), close, close)
    return wanted


@pytest.mark.parametrize("seed", range(18))
def test_random_programs(seed: int) -> None:
    maker = Maker(seed)
    func = maker.function()
    for sizes in range(3):
        compare(func, arguments(func, maker, 3 * seed + sizes))


@pytest.mark.parametrize(
    "body",
    [
        "for i, j in T.grid(3, 4): A[i, j] = T.int64(1)",
        "for i, j in T.grid(n, 4): A[i, j] = T.int64(1)",
        "for i in range(n):\n    for j in range(i): A[i, j] = T.int64(1)",
        "for i in range(A[0, 0]):\n    for j in range(4):\n        A[1, j] = T.int64(1)",
        "while A[0, 0] > T.int64(0):\n    A[0, 0] = A[0, 0] - T.int64(1)\n    for i in range(n): A[1, 1] = T.int64(2)",
        "for i, j in T.grid(n - 5, 4): A[i, j] = T.int64(1)",
        "if A[0, 0] > T.int64(0):\n    for i in range(3): A[i, i] = T.int64(1)",
    ],
)
def test_fuel_is_counted_alike(body: str) -> None:
    func = of_body('A: T.Buffer(("n", 4), "int64")', body)
    kernel = native.compile(func)
    for fuel in (*range(24), 29, 30, 33, 36, 38, 39, 40):
        mine, theirs = np.full((2, 3, 4), 3)
        wanted = outcome(partial(evaluate, func, [theirs], fuel=fuel))
        assert outcome(partial(kernel, [mine], fuel)) == wanted, fuel


@pytest.mark.parametrize("seed", range(100, 103))
def test_overlapping_arguments_are_run_in_order(seed: int) -> None:
    maker = Maker(seed)
    func = maker.function()
    given = arguments(func, maker, seed)
    memory, twin = np.zeros((2, 1 << 14), np.uint8)
    mine, theirs = (
        [shared[: a.nbytes].view(a.dtype).reshape(a.shape) for a in given]
        for shared in (memory, twin)
    )
    wanted = outcome(lambda: evaluate(func, theirs))
    got = outcome(lambda: native.compile(func)(mine))
    assert (got == "returned") == (wanted == "returned") or wanted == "E-tir-unwritten"
    if wanted == "returned":
        np.testing.assert_array_equal(memory, twin)
