"""The arguments of kernels, including arrays in another layout or of another type."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from rlx.semantics import native
from rlx.semantics.faults import FaultStop
from rlx.semantics.tir import evaluate
from tests.semantics.tir.programs import of_body, prim_func

DOUBLE = prim_func("""
@T.prim_func
def double(x: T.Buffer(("n", "m"), "float32"), y: T.Buffer(("n", "m * 2"), "float32"), by: T.float32):
    for i, j in T.grid(n, m * T.int64(2)):
        y[i, j] = x[i, j // T.int64(2)] * by
""")


def doubled(x: Any, y: Any, by: float = 2.0) -> None:
    native.compile(DOUBLE)([x, y, by])


def test_arrays_are_used_as_they_are() -> None:
    x, y = np.arange(6, dtype=np.float32).reshape(2, 3), np.zeros((2, 6), np.float32)
    doubled(x, y)
    np.testing.assert_array_equal(y, np.repeat(x, 2, 1) * 2)


def test_arrays_that_are_not_contiguous() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4).T[::2]
    whole = np.zeros((4, 12), np.float32)
    doubled(x, whole[::2, ::2])
    np.testing.assert_array_equal(whole[::2, ::2], np.repeat(x, 2, 1) * 2)
    assert not whole[1::2].any() and not whole[:, 1::2].any()


def test_arrays_that_are_not_aligned() -> None:
    memory = np.zeros(4 * 12 + 1, np.uint8)
    y = memory[1:].view(np.float32).reshape(2, 6)
    x = np.ones((2, 3), np.float32)
    doubled(x, y)
    assert (y == 2).all()


def test_arrays_that_are_not_contiguous_and_the_same() -> None:
    func = of_body(
        'x: T.Buffer((4,), "int64"), y: T.Buffer((4,), "int64")',
        "for i in range(3): y[i + 1] = x[i] + T.int64(1)",
    )
    array = np.zeros(8, np.int64)
    native.compile(func)([array[::2], array[::2]])
    assert array[::2].tolist() == [0, 1, 2, 3]


def test_inputs_may_be_read_only_and_results_not() -> None:
    x, y = np.ones((2, 3), np.float32), np.zeros((2, 6), np.float32)
    x.flags.writeable = False
    doubled(x, y)
    assert (y == 2).all()
    y.flags.writeable = False
    with pytest.raises(FaultStop, match="read-only"):
        doubled(x, y)


GOOD = (np.zeros((2, 3), np.float32), np.zeros((2, 6), np.float32), 2.0)


@pytest.mark.parametrize(
    ("position", "bad", "message"),
    [
        (0, np.zeros((2, 3)), "expected elements of float32, found float64"),
        (0, np.zeros(3, np.float32), "expected 2 axes, found 1"),
        (0, 3.0, "expected an array, found float"),
        (1, np.zeros((2, 5), np.float32), "axis 1 of argument 1"),
        (1, np.zeros((3, 6), np.float32), "axis 0 of argument 1"),
        (2, np.zeros(1), "argument 2: expected a number, found an array"),
    ],
)
def test_arguments_that_do_not_fit(position: int, bad: Any, message: str) -> None:
    args: list[Any] = list(GOOD)
    args[position] = bad
    with pytest.raises(FaultStop, match=message) as caught:
        native.compile(DOUBLE)(args)
    assert caught.value.code == "E-tir-argument"


def test_too_many_and_too_few_arguments() -> None:
    for args in (GOOD[:1], (*GOOD, 1)):
        with pytest.raises(FaultStop, match="3 arguments"):
            native.compile(DOUBLE)(args)
    with pytest.raises(FaultStop, match="by is missing"):
        native.compile(DOUBLE)(GOOD[:2])


def test_scalars() -> None:
    func = of_body(
        'A: T.Buffer((3,), "int64"), n: T.int32, b: T.bool, u: T.uint64',
        'A[0] = T.Cast("int64", n)\nA[1] = T.Cast("int64", b)\nA[2] = T.Cast("int64", u)',
    )
    array = np.zeros(3, np.int64)
    native.compile(func)([array, -7, True, 2**64 - 1])
    assert array.tolist() == [-7, 1, -1]
    for bad in (2**31, -(2**31) - 1, 1.5):
        with pytest.raises(FaultStop, match="argument 1: "):
            native.compile(func)([array, bad, True, 0])


def test_scalars_that_the_shapes_say_may_be_missing() -> None:
    func = prim_func("""
@T.prim_func
def f(x: T.Buffer(("n",), "int64"), n: T.int64):
    for i in range(n): x[i] = n
""")
    array = np.zeros(3, np.int64)
    native.compile(func)([array])
    assert array.tolist() == [3, 3, 3]
    with pytest.raises(FaultStop, match="axis 0"):
        native.compile(func)([array, 4])


def test_booleans_and_bfloat16() -> None:
    func = of_body(
        'x: T.Buffer((4,), "bfloat16"), y: T.Buffer((4,), "bool")',
        "for i in range(4):\n    y[i] = x[i] > T.bfloat16(1)\n    x[i] = x[i] * x[i] + T.bfloat16(0.5)",
    )
    x, y = np.array([0.5, 1.0, 1.5, 300], ml_dtypes.bfloat16), np.zeros(4, bool)
    wanted = x * x + np.array(0.5, ml_dtypes.bfloat16)
    native.compile(func)([x, y])
    assert y.tolist() == [False, False, True, True]
    np.testing.assert_array_equal(x, wanted)


def test_what_is_allocated_reads_as_zero_each_time() -> None:
    func = of_body(
        'y: T.Buffer((1000,), "int64"), z: T.Buffer((1000,), "int64")',
        """
t = T.alloc_buffer((1000,), "int64")
for i in range(1000): z[i] = t[i]
for i in range(1000): t[i] = y[i]
for i in range(1000): z[i] = z[i] + t[i]
""",
    )
    kernel = native.compile(func)
    for _ in range(3):
        y, z = np.arange(1000), np.ones(1000, np.int64)
        kernel([y, z])
        np.testing.assert_array_equal(y, z)


def test_kernels_run_in_several_threads() -> None:
    func = of_body(
        'x: T.Buffer(("n",), "int64"), y: T.Buffer(("n",), "int64")',
        """
t = T.alloc_buffer((n,), "int64")
for i in range(n): t[i] = x[i] * T.int64(3)
for i in range(n): y[i] = t[i] - x[i]
""",
    )
    kernel = native.compile(func)
    wrong: list[int] = []

    def run(seed: int) -> None:
        for size in range(1, 2000, 61):
            x, y = np.full(size, seed), np.zeros(size, np.int64)
            kernel([x, y])
            if (y != 2 * seed).any():
                wrong.append(seed)

    threads = [threading.Thread(target=run, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_limit_of_memory_is_the_callers() -> None:
    func = of_body(
        'x: T.Buffer(("n",), "int8")', 't = T.alloc_buffer((n, n), "int8")\nx[0] = T.int8(1)'
    )
    kernel = native.compile(func)
    kernel([np.zeros(100, np.int8)], memory=10_000)
    with pytest.raises(FaultStop) as caught:
        kernel([np.zeros(101, np.int8)], memory=10_000)
    assert caught.value.code == "E-tir-allocate"


def test_without_bounds_there_are_no_checks_of_bounds() -> None:
    func = of_body('A: T.Buffer((4,), "int64"), B: T.Buffer((4,), "int64")', "A[B[0]] = B[1]")
    array = np.zeros(4, np.int64)
    kernel = native.compile(func, bounds=False)
    kernel([array, np.array([2, 9, 0, 0])])
    assert array.tolist() == [0, 0, 9, 0]
    checked = native.compile(func)
    assert len(kernel.source) < len(checked.source)


def test_the_width_of_vectors_is_said_first() -> None:
    assert native.compile(DOUBLE, vector=32).source.startswith("#define RLX_VECTOR 32\n")
    assert "#define RLX_VECTOR 32\n" not in native.compile(DOUBLE).source.partition("#if")[0]


def test_an_offset_that_has_a_name_is_zero() -> None:
    func = prim_func("""
@T.prim_func
def f(a: T.handle, y: T.Buffer((3,), "int64")):
    n = T.int64()
    o = T.int64()
    x = T.match_buffer(a, (n,), "int64", elem_offset=o)
    for i in range(3):
        y[i] = x[i] + o * T.int64(5) + n
""")
    for run in (native.compile(func), partial(evaluate, func)):
        y = np.zeros(3, np.int64)
        run([np.arange(4, dtype=np.int64), y])
        assert y.tolist() == [4, 5, 6]


@pytest.mark.parametrize("index", ["i // 20, i % 20 // 5, i % 5", "i // 20, i // 5 % 4, i % 5"])
def test_an_index_that_is_taken_apart_is_the_place_itself(index: str) -> None:
    """Nothing is divided where elements lie one behind the other."""
    head = 'x: T.Buffer((6, 4, 5), "float32"), y: T.Buffer((120,), "float32")'
    kernel = native.compile(of_body(head, f"for i in range(120): y[i] = x[{index}]"))
    values = [line for line in kernel.source.splitlines() if line.startswith("const ")]
    assert values and not {"/", "%"} & {*"".join(values)}
    x, y = np.arange(120, dtype=np.float32).reshape(6, 4, 5), np.zeros(120, np.float32)
    kernel([x, y])
    assert (y == x.ravel()).all()
