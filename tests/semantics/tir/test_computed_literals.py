"""LAW: what Python computes of literals in a PrimFunc before TVM sees it is Python's number, of any size."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.semantics.tir import evaluate

from .programs import of_body


@pytest.mark.parametrize(
    "text",
    [
        "65536 * 65536",
        "n + 65536 * 65536",
        "2147483647 + 1",
        "65536 * 65536 // 65536",
        "n - (3 - 65536 * 65536 % 7)",
        "-(65536 * 65536) + n",
        "n + 16 * 32",
        "(n + 4 * 8) // (2 * 3)",
    ],
)
def test_the_number_is_that_of_python(text: str) -> None:
    func = of_body('A: T.Buffer((1,), "int64"), n: T.int64', f"A[0] = {text}")
    found = np.zeros(1, np.int64)
    evaluate(func, [found, 5])
    assert found[0] == eval(text, {"n": 5})


@pytest.mark.parametrize("by", ["512", "16 * 32", "m"])
@pytest.mark.parametrize("n", [1, 512, 2**31, 2**40 + 1])
def test_ceildiv_has_the_wider_type(by: str, n: int) -> None:
    func = of_body(
        'A: T.Buffer((1,), "int64"), n: T.int64, m: T.int32', f"A[0] = T.ceildiv(n, {by})"
    )
    found = np.zeros(1, np.int64)
    evaluate(func, [found, n, 512])
    assert found[0] == -(-n // 512)
