"""`T.Let`, `assert` and the sigmoid of small numbers as machine code."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.semantics import native
from rlx.semantics.faults import FaultStop
from rlx.semantics.tir import evaluate
from tests.semantics.tir.programs import of_body

from .test_agreement import compare

PARAMETERS = 'A: T.Buffer(("n", 4), "int32"), B: T.Buffer((4,), "int32")'


@pytest.mark.parametrize(
    "body",
    [
        "for i, j in T.grid(n, 4): A[i, j] = T.Let(x * x + x, where={x: B[j] + i})",
        "for i, j in T.grid(n, 4): A[i, j] = B[T.Let(x + 1 - x, where={x: B[j]})]",
        "for i, j in T.grid(n, 4): A[i, j] = T.Let(B[x % 4], where={x: B[j]})",
        "for i, j in T.grid(n, 4): A[i, j] = T.Let(B[x] + B[B[x]], where={x: B[j]})",
        "for i, j in T.grid(n, 4): A[i, j] = T.Let(T.Let(x - y, where={y: x * 2}), where={x: B[j]})",
        "for i, j in T.grid(n, 4): A[i, j] = T.Let(1, where={x: 7 // B[j]})",
        "for i, j in T.grid(n, 4): A[i, j] = B[T.Let(x, where={x: B[j] * 2147483647 * 2})]",
        "for i in range(n): A[i, 0] = T.if_then_else(B[0] > 0, T.Let(x // B[0], where={x: i}), 9)",
        "for i, j in T.grid(n, 4):\n    with T.sblock('s'):\n        v, r = T.axis.remap('SR', [i, j])\n"
        + "        with T.init(): A[v, 0] = 0\n        A[v, 0] = A[v, 0] + T.Let(x * B[x % 4], where={x: B[r]})",
        "for i in range(n):\n    assert B[0] > 0, 'the first'\n    A[i, 0] = 7 // B[0]",
        "assert B[0] + B[1] > 0, 'positive'\nA[0, 0] = 1",
    ],
)
def test_both_backends_agree(body: str) -> None:
    func = of_body(PARAMETERS, body)
    ends = set()
    for row in ([0, 1, 2, 3], [3, 3, 0, 1], [0, 0, 0, 0], [1, 9, -9, 2], [2147483647, 1, 1, 1]):
        for n in (1, 3):
            ends.add(compare(func, [np.full((n, 4), 5, np.int32), np.array(row, np.int32)]))
    assert "returned" in ends


def test_an_assertion_that_fails() -> None:
    func = of_body(PARAMETERS, 'assert B[0] > 0, ("RuntimeError", ["{a} of ", "{f}"])\nA[0, 0] = 1')
    arrays = [np.zeros((1, 4), np.int32), np.zeros(4, np.int32)]
    said = []
    for run in (native.compile(func), lambda args: evaluate(func, args)):
        with pytest.raises(FaultStop) as stop:
            run(arrays)
        assert stop.value.code == "E-tir-assert" and stop.value.span is not None
        said.append(str(stop.value))
    assert said[0] == said[1] and "{a} of {f}" in said[0]
    assert arrays[0][0, 0] == 0


def test_memory_that_an_assertion_reads_first_is_cleared() -> None:
    func = of_body(
        PARAMETERS,
        'C = T.alloc_buffer((4,), "int32")\n'
        "for i in range(4):\n    assert C[i] == 0, 'clear'\n    C[i] = 7\n"
        "for i in range(4): A[0, i] = C[i]",
    )
    kernel, array = native.compile(func), np.zeros((1, 4), np.int32)
    for _ in range(3):
        kernel([array, np.zeros(4, np.int32)])
    assert array.tolist() == [[7, 7, 7, 7]]


@pytest.mark.parametrize("size", [1, 4096])
def test_the_sigmoid_is_within_four_units_where_it_is_denormal(size: int) -> None:
    func = of_body(
        'A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32")',
        "for i in range(n): B[i] = T.sigmoid(A[i])",
    )
    given = (
        np.linspace(-110, 110, size, dtype=np.float32) if size > 1 else np.array([-95], np.float32)
    )
    mine = np.zeros_like(given)
    native.compile(func)([given, mine])
    wanted = (1 / (1 + np.exp(-given.astype(np.float64)))).astype(np.float32)
    apart = np.abs(mine.view(np.int32).astype(np.int64) - wanted.view(np.int32))
    assert apart.max() <= 4
    ends = np.array([np.inf, -np.inf, np.nan, 0, -0.0], np.float32)
    mine = np.zeros_like(ends)
    native.compile(func)([ends, mine])
    np.testing.assert_array_equal(mine, np.array([1, 0, np.nan, 0.5, 0.5], np.float32))
