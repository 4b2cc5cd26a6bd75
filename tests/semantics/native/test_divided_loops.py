"""Loops whose variable is divided by a constant, and faults that are noticed behind the loops, do
what the reference evaluator says, wherever the loop begins and ends.
"""

from __future__ import annotations

import numpy as np
import pytest

from rlx.semantics import native
from rlx.semantics.faults import FaultStop
from rlx.semantics.tir import evaluate
from tests.semantics.tir.programs import of_body

from .test_agreement import Arrays

BODIES = {
    "repeat": "for j in range(24): B[j] = A[j // 2]",
    "tile": "for j in range(24): B[j] = A[j % 6]",
    "groups of five": "for j in range(20): B[j] = A[j // 5]",
    "long periods": "for j in range(24): B[j] = A[j % 12]",
    "not a whole period": "for j in range(23): B[j] = A[j // 4]",
    "a later begin": "for j in range(2, 20): B[j] = A[j // 2]",
    "a shifted quotient": "for j in range(24): B[j] = A[(j + 4) // 4]",
    "a shift inside of a period": "for j in range(22): B[j] = A[(j + 1) // 2]",
    "two divisors": "for j in range(24): B[j] = A[j // 2] + A[j // 3]",
    "quotient and remainder": "for j in range(24): B[j] = A[j // 4] * T.int64(10) + A[j % 4]",
    "packed": "for j in range(24): B[j] = T.shift_right(A[j // 8], T.int64(j % 8))",
    "nested quotients": "for j in range(24): B[j] = A[j // 2 // 2]",
    "a narrow variable": 'for j in range(T.int32(24)): B[j] = A[j // 2] + T.Cast("int64", j)',
    "an outer loop": "for i, j in T.grid(2, 12): B[i * 12 + j] = A[(i * 12 + j) // 3]",
    "a place that is written": "for j in range(24): B[j // 2] = A[j]",
    "a condition": "for j in range(24):\n    if j % 3 < 2: B[j] = A[j // 4]",
    "a block": (
        "for j in range(24):\n"
        '    with T.sblock("b"):\n'
        "        v = T.axis.spatial(24, j)\n"
        "        B[v] = A[v // 2]"
    ),
    "a block of two axes": (
        "for j in range(24):\n"
        '    with T.sblock("b"):\n'
        "        v, w = T.axis.remap('SS', [j, j])\n"
        "        B[v] = A[w // 4] + T.int64(v)"
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_the_variable_is_divided(name: str) -> None:
    func = of_body('A: T.Buffer((24,), "int64"), B: T.Buffer((24,), "int64")', BODIES[name])
    given = np.arange(24, dtype=np.int64) ** 2 - 100
    mine: Arrays = [given, np.zeros(24, np.int64)]
    theirs: Arrays = [given, np.zeros(24, np.int64)]
    native.compile(func)(mine)
    evaluate(func, theirs)
    np.testing.assert_array_equal(mine[1], theirs[1])


@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_period_that_is_a_symbol(size: int) -> None:
    func = of_body(
        "a: T.handle, b: T.handle",
        'n = T.int64()\nA = T.match_buffer(a, (n, 6), "int64")\n'
        'B = T.match_buffer(b, (n * 2, 6), "int64")\n'
        "for i, j in T.grid(n * 2, 6): B[i, j] = A[i % n, j]",
    )
    given = np.arange(6 * size).reshape(size, 6)
    found = np.zeros((2 * size, 6), np.int64)
    native.compile(func)([given, found])
    np.testing.assert_array_equal(found, np.tile(given, (2, 1)))


@pytest.mark.parametrize("text", ["C[i] = A[i]", "A[i] = A[i]", "C[i] = C[i] + A[i]"])
@pytest.mark.parametrize("at", [0, 5, 15])
def test_one_wide_shift_of_many(text: str, at: int) -> None:
    """The message names the amount, also where the loop goes on and where it changes its operands."""
    target, _, value = text.partition(" = ")
    func = of_body(
        ", ".join(f'{name}: T.Buffer((16,), "int32")' for name in "ABC"),
        f"for i in range(16): {target} = T.shift_left({value}, B[i])",
    )
    amounts = np.full(16, 3, np.int32)
    arrays: Arrays = [np.arange(16, dtype=np.int32), amounts, np.ones(16, np.int32)]
    copies = [array.copy() for array in arrays]
    native.compile(func)(arrays)
    evaluate(func, copies)
    for mine, theirs in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    amounts[at] = 40 + at
    for run in (native.compile(func), lambda given: evaluate(func, given)):
        with pytest.raises(FaultStop, match=rf"shifted by {40 + at}\b"):
            run(arrays)
