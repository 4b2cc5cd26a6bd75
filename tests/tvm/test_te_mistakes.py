"""TVM's `create_prim_func` on reductions that mean something else: NumPy says what they are.

Ours refuses none of them and is right (`docs/how-to/tensor-expressions.md`). When one of these tests fails, TVM has mended it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import te as theirs

from rlx import te as ours
from rlx.semantics.tir import evaluate
from tests.tvm.target import QUICK

VALUES = np.arange(1, 7, dtype=np.float32)
UNWRITTEN = np.float32(77)

Sum = Callable[[Any, Any], Any]
SUMS: dict[str, tuple[tuple[int, int], Sum, np.float32, np.float32]] = {
    "where": (
        (0, 6),
        lambda te, A: lambda k: te.sum(A[k], axis=k, where=A[k] > 3),
        VALUES[VALUES > 3].sum(),
        VALUES.sum(),
    ),
    "init": (
        (0, 6),
        lambda te, A: lambda k: te.sum(A[k], axis=k, init=10.0),
        VALUES.sum() + 10,
        VALUES.sum(),
    ),
    "nothing": ((0, 0), lambda te, A: lambda k: te.sum(A[k], axis=k), np.float32(0), UNWRITTEN),
}
"""The axis, the sum, what it is, and what TVM makes of it: the condition and the initial value are left out, and a sum over
nothing is never written."""


@pytest.mark.parametrize("name", SUMS)
def test_a_sum_that_tvm_gets_wrong(name: str) -> None:
    (begin, end), total, wanted, wrong = SUMS[name]
    A = theirs.placeholder((6,), "float32", name="A")
    k = theirs.reduce_axis((begin, end), "k")
    made = theirs.create_prim_func([A, theirs.compute((1,), lambda i: total(theirs, A)(k))])
    module = tvm.IRModule({"main": made.with_attr("global_symbol", "main")})
    found = tvm.runtime.tensor(np.full((1,), UNWRITTEN))
    tvm.compile(module, target=QUICK)["main"](tvm.runtime.tensor(VALUES), found)
    assert found.numpy()[0] == wrong != wanted
    B = ours.placeholder((6,), "float32", name="A")
    k = ours.reduce_axis((begin, end), "k")
    out = ours.compute((1,), lambda i: total(ours, B)(k))
    mine = np.full((1,), UNWRITTEN)
    evaluate(ours.create_prim_func([B, out], store_identities=True), [VALUES, mine])
    assert mine[0] == wanted


def test_a_range_that_does_not_begin_at_zero() -> None:
    """With 64-bit indices the block's axis ends at the length of the range instead of its end: 2 to 4 for 2 to 6."""
    A = theirs.placeholder((6,), "float32", name="A")
    k = theirs.reduce_axis((2, 6), "k")
    total = theirs.compute((1,), lambda i: theirs.sum(A[k], axis=k))
    domains = [
        str(theirs.create_prim_func([A, total], index_dtype_override=index).script())
        for index in (None, "int64")
    ]
    assert "T.axis.reduce((2, 6), k)" in domains[0] or 'T.axis.remap("SR", [i, k])' in domains[0]
    assert "for k in range(T.int64(2), T.int64(6))" in domains[1]
    assert "T.axis.reduce((T.int64(2), T.int64(4)), k)" in domains[1]
