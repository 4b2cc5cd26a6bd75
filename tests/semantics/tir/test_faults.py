"""Operations without a meaning end a run, with the premise that failed and the place."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from rlx.semantics.faults import UnsupportedStop
from rlx.semantics.tir import evaluate

from .programs import of_body, prim_func, stopped

A = 'A: T.Buffer((4,), "int32")'


SHAPED = prim_func(
    """
    @T.prim_func
    def f(a: T.handle, b: T.handle, k: T.int32):
        n = T.int64()
        s = T.int64()
        A = T.match_buffer(a, (n, n + T.int64(1)), "float32")
        B = T.match_buffer(b, (n,), "float32", strides=(s,))
        for i in range(n):
            B[i] = A[i, 1] + T.Cast("float32", k)
    """
)


def test_sizes_come_from_shapes_and_strides() -> None:
    wide = np.zeros((3, 4), np.float32)
    evaluate(SHAPED, [np.ones((3, 4), np.float32), wide[:, 2], 5], unwritten=[1])
    assert wide[:, 2].tolist() == [6, 6, 6]
    assert wide.sum() == 18
    evaluate(SHAPED, [np.ones((0, 1), np.float32), np.ones(0, np.float32), 5])


@pytest.mark.parametrize(
    "args",
    [
        [np.zeros((3, 4), np.float32), np.zeros(3, np.float32)],
        [np.zeros((3, 4), np.float32), np.zeros(3, np.float32), 1, 2],
        [np.zeros((3, 4), np.float32), 3, 1],
        [np.zeros((3, 4), np.float32), np.zeros(3, np.float64), 1],
        [np.zeros((3, 4), np.float32), np.zeros((3, 1), np.float32), 1],
        [np.zeros((3, 3), np.float32), np.zeros(3, np.float32), 1],
        [np.zeros((3, 4), np.float32), np.zeros(2, np.float32), 1],
        [np.zeros((3, 4), np.float32), np.zeros(3, np.float32)[::-1], 1],
        [np.zeros((3, 4), np.float32), np.zeros(3, np.float32), 2**31],
        [np.zeros((3, 4), np.float32), np.zeros(3, np.float32), 1.5],
        [np.zeros((3, 4), np.float32), np.zeros(3, np.float32), np.zeros(1)],
    ],
)
def test_arguments_that_do_not_fit(args: list[Any]) -> None:
    assert stopped(SHAPED, *args).code == "E-tir-argument"


def test_a_variable_without_a_number() -> None:
    func = prim_func(
        """
        @T.prim_func
        def f(a: T.handle):
            n = T.int64()
            A = T.match_buffer(a, (n * T.int64(2),), "float32")
            A[0] = T.float32(0)
        """
    )
    assert stopped(func, np.zeros(4, np.float32)).code == "E-tir-argument"


def test_scalars_at_the_end_may_be_said_by_shapes() -> None:
    func = prim_func(
        """
        @T.prim_func
        def f(A: T.Buffer(("n",), "int64"), n: T.int64):
            for i in range(n):
                A[i] = n
        """
    )
    array = np.zeros(3, np.int64)
    evaluate(func, [array])
    assert array.tolist() == [3, 3, 3]
    assert stopped(func, array, 4).code == "E-tir-argument"


def test_what_is_passed_twice_is_one_memory() -> None:
    func = of_body(f'{A}, B: T.Buffer((4,), "int32")', "for i in range(4): B[i] = A[3 - i]")
    array = np.arange(4, dtype=np.int32)
    evaluate(func, [array, array], unwritten=[1])
    assert array.tolist() == [3, 2, 2, 3]


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "int4"])
def test_types_of_ml_dtypes(name: str) -> None:
    func = of_body(f'B: T.Buffer((2,), "{name}")', "B[0] = B[1] + B[1]")
    array = np.array([0, 3], getattr(ml_dtypes, name))
    evaluate(func, [array])
    assert float(array[0]) == 6


@pytest.mark.parametrize(
    "value",
    [
        'T.infinity("uint8")',
        "T.nextafter(A[0], A[1])",
        "T.exp(T.float32(1), T.float32(1))",
        "T.q_multiply_shift(T.float32(1), A[0], A[1], A[2])",
        'T.call_extern("float32", "tanh", A[0], A[1])',
        'T.call_extern("float32", "fmaf", A[0])',
        'T.call_packed("tvm.contrib.sort.argsort", A.data, 0)',
        'T.call_packed("tvm.contrib.sort.argsort_nms", A.data, A.data, A.data, 2, 1)',
        "T.Let(v + 1, where={v: T.broadcast(A[0], 4)})",
    ],
)
def test_calls_without_a_meaning_are_unsupported(value: str) -> None:
    error = stopped(of_body(A, f"A[0] = {value}"), np.ones(4, np.int32))
    assert isinstance(error, UnsupportedStop) and error.span is not None


def test_an_integer_that_a_function_gives_is_one() -> None:
    func = of_body('A: T.Buffer((4,), "float32")', 'A[1] = T.call_extern("int32", "asin", A[0])')
    assert stopped(func, np.full(4, 2, np.float32)).code == "E-tir-cast-range"
    array = np.ones(4, np.float32)
    evaluate(func, [array])
    assert array[1] == 1


@pytest.mark.parametrize("argument", ["3", None, [3], {}])
def test_a_number_is_a_number(argument: Any) -> None:
    func = of_body(f"{A}, n: T.int32", "A[0] = n")
    error = stopped(func, np.zeros(4, np.int32), argument)
    found = type(argument).__name__
    assert error.message == f"argument 1: expected a number, found {found}"


@pytest.mark.parametrize(
    ("q", "s", "wanted"), [(31, 0, 1), (1, 0, 5), (0, 0, 9), (0, 2, 36), (2, 2, 9), (3, 1, 2)]
)
def test_fixed_point_products_of_any_shift(q: int, s: int, wanted: int) -> None:
    array = np.array([3 if q < 31 else 1 << 30, 3 if q < 31 else 2, q, s], np.int32)
    evaluate(of_body(A, "A[0] = T.q_multiply_shift(A[0], A[1], A[2], A[3])"), [array])
    assert array[0] == wanted


def test_fixed_point_products_of_no_shift() -> None:
    func = of_body(A, "A[0] = T.q_multiply_shift(A[0], A[1], A[2], A[3])")
    error = stopped(func, np.array([1, 1, 1 << 30, -5], np.int32))
    assert error.code == "E-tir-shift-amount"
