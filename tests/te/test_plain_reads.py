"""Reads of tensor expressions that are in bounds as written, so that the prover is not asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rlx import te
from rlx.solver import Prover
from rlx.te import check
from rlx.te.graph import operations

N = te.var("n")
A = te.placeholder((N, 4), "float32", name="A")
LONGER = te.placeholder((N + 1,), "float32", name="LONGER")
K = te.reduce_axis((1, 4), name="k")
LOW = te.reduce_axis((-1, 3), name="low")
PART = te.reduce_axis((N, 2 * N), name="part")

PLAIN: list[tuple[tuple[Any, ...], Callable[..., Any]]] = [
    ((N, 4), lambda i, j: A[i, j]),
    ((N, 3), lambda i, j: A[i, j]),
    ((N,), lambda i: A[i, 0]),
    ((N,), lambda i: A[i, 3]),
    ((N + 1,), lambda i: LONGER[i]),
    ((N,), lambda i: te.sum(A[i, K], axis=K)),
    ((N, 5), lambda i, j: te.if_then_else(j < 4, A[i, j], 0.0)),
    ((N + 2, 4), lambda i, j: te.if_then_else(i < N, A[i, j], 0.0)),
    ((N, 2), lambda i, j: A[i, j * 2 + 1]),
    ((N, 8), lambda i, j: A[i, j // 2] + A[i, j % 4] + A[i, (7 - j) // 2]),
]
OUTSIDE: list[tuple[tuple[Any, ...], Callable[..., Any]]] = [
    ((N, 2), lambda i, j: A[i, j * 2 + 2]),
    ((N, 9), lambda i, j: A[i, j // 2]),
    ((N, 8), lambda i, j: A[i, j % 5]),
    ((N, 4), lambda i, j: A[i, j - 1]),
    ((N + 2, 4), lambda i, j: te.if_then_else(i < N + 1, A[i, j], 0.0)),
]
OTHERS: list[tuple[tuple[Any, ...], Callable[..., Any]]] = [
    ((N, 4), lambda i, j: te.if_then_else(j < 3, A[i, j + 1], 0.0)),
    ((N,), lambda i: te.sum(te.if_then_else(LOW >= 0, A[i, LOW], 0.0), axis=LOW)),
    ((N,), lambda i: te.sum(te.if_then_else(PART < 2, A[i, PART], 0.0), axis=PART)),
    ((N - 1,), lambda i: A[i, 0]),
]


def asked(shape: tuple[Any, ...], body: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> int:
    """The number of questions to the prover about a computation whose reads are all in bounds."""
    count, prove = [0], Prover.always

    def counting(*args: Any) -> Any:
        count.append(count.pop() + 1)
        return prove(*args)

    monkeypatch.setattr(Prover, "always", counting)
    assert check.check_reads(operations([te.compute(shape, body, name="B")])) == []
    return count.pop()


@pytest.mark.parametrize("case", range(len(PLAIN)))
def test_of_plain_reads_the_prover_is_not_asked(case: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(*PLAIN[case], monkeypatch) == 0


@pytest.mark.parametrize("case", range(len(OTHERS)))
def test_of_other_reads_it_is_asked(case: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(*OTHERS[case], monkeypatch) == 1


@pytest.mark.parametrize("at", range(len(OUTSIDE)))
def test_what_is_outside_is_an_error(at: int) -> None:
    shape, body = OUTSIDE[at]
    with pytest.raises(te.TensorExpressionError, match="A is read outside"):
        te.create_prim_func([A, te.compute(shape, body)])
