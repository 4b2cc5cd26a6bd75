"""Guards that conditions and divisions are: what they keep in range is in range, and what they do not is a fault."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import HANDLE, INT64
from rlx.semantics import native
from rlx.semantics.native import arrays
from rlx.semantics.native.arrays import Damaged
from rlx.semantics.native.program import generate
from rlx.semantics.tir import evaluate
from tests.semantics.tir.programs import of_body

from .test_agreement import compare

PARAMETERS = 'A: T.Buffer((9,), "int32"), B: T.Buffer(("n",), "int32")'


@pytest.mark.parametrize("operator", ["truncdiv", "truncmod", "floordiv", "floormod"])
@pytest.mark.parametrize("shift", range(-9, 1, 3))
@pytest.mark.parametrize("divisor", [2, 3, 5])
def test_division_of_indices_that_may_be_negative(operator: str, shift: int, divisor: int) -> None:
    """Floor and truncation give different quotients and remainders for a negative number."""
    for offset in (0, 2, 5):
        body = f"for i in range(n): B[i] = A[T.{operator}(i + {shift}, {divisor}) + {offset}]"
        func = of_body(PARAMETERS, body)
        compare(func, [np.arange(10, 19, dtype=np.int32), np.zeros(12, np.int32)])


@pytest.mark.parametrize(
    ("operator", "offset", "ends"),
    [
        ("truncdiv", 8, "returned"),
        ("truncdiv", 9, "E-tir-bounds"),
        ("floordiv", 9, "returned"),
        ("truncmod", 1, "returned"),
        ("truncmod", 0, "E-tir-bounds"),
        ("floormod", 7, "returned"),
        ("floormod", 8, "E-tir-bounds"),
    ],
)
def test_the_greatest_quotient_of_negative_numbers(operator: str, offset: int, ends: str) -> None:
    """All of `i - 8` are negative: cut off, -1 / 2 is 0, which is more than the half rounded down."""
    body = f"for i in range(8): B[i] = A[T.{operator}(i - 8, 2) + {offset}]"
    assert (
        compare(of_body(PARAMETERS, body), [np.arange(9, dtype=np.int32), np.zeros(8, np.int32)])
        == ends
    )


@pytest.mark.parametrize(
    ("condition", "ends"),
    [
        ("T.Or(i >= 9, A[i] > 3)", "returned"),
        ("T.Or(i < 9, A[i] > 3)", "E-tir-bounds"),
        ("T.Or(T.Or(i < 2, i >= 7), A[i + 2] > A[i - 2])", "returned"),
        ("T.Or(T.Or(i < 2, i >= 8), A[i + 2] > A[i - 2])", "E-tir-bounds"),
        ("T.Or(T.And(i < 2, i >= 7), A[i + 2] > A[i - 2])", "E-tir-bounds"),
        ("T.And(i < 9, A[i] > 3)", "returned"),
        ("T.And(i > 2, A[i] > 3)", "E-tir-bounds"),
        ("T.And(T.And(i > 1, i < 7), A[i + 2] > A[i - 2])", "returned"),
        ("T.And(T.Or(i > 1, i < 7), A[i + 2] > A[i - 2])", "E-tir-bounds"),
    ],
)
def test_the_second_side_of_a_condition_is_read_only_where_the_first_lets_it(
    condition: str, ends: str
) -> None:
    func = of_body(PARAMETERS, f'for i in range(n): B[i] = T.Cast("int32", {condition})')
    given = [np.array([5, 1, 7, 0, 9, 3, 4, 8, 2], np.int32), np.zeros(30, np.int32)]
    assert compare(func, given) == ends


@pytest.mark.parametrize(
    ("condition", "ends"),
    [
        ("i < 3 or i >= 12", "returned"),
        ("i < 3 or i >= 13", "E-tir-bounds"),
        ("i < 2 or i >= 12", "E-tir-bounds"),
        ("not (i >= 3 and i < 12)", "returned"),
        ("not (i >= 3 or i < 12)", "E-tir-bounds"),
    ],
)
def test_what_holds_where_no_side_of_a_condition_does(condition: str, ends: str) -> None:
    body = f"for i in range(n): B[i] = T.if_then_else({condition}, 0, A[i - 3])"
    given = [np.arange(9, dtype=np.int32), np.zeros(20, np.int32)]
    assert compare(of_body(PARAMETERS, body), given) == ends
    body = f"for i in range(n):\n    if {condition}:\n        B[i] = 1\n    else:\n        B[i] = A[i - 3]"
    assert compare(of_body(PARAMETERS, body), given) == ends


@pytest.mark.parametrize(
    ("condition", "ends"),
    [
        ("T.Or(i >= 9, A[I[i]] > 3)", "returned"),
        ("T.Or(i >= 10, A[I[i]] > 3)", "E-tir-bounds"),
        ("T.And(i < 9, A[I[i]] > 3)", "returned"),
        ("T.And(i < 10, A[I[i]] > 3)", "E-tir-bounds"),
        ("T.And(A[I[i]] > 3, i < 9)", "E-tir-bounds"),
    ],
)
def test_an_index_that_is_loaded_is_looked_at_only_where_it_is_used(
    condition: str, ends: str
) -> None:
    """Indices that are loaded are computed early, but not those behind a condition."""
    parameters = (
        'A: T.Buffer((9,), "int32"), I: T.Buffer(("n",), "int32"), B: T.Buffer(("n",), "int32")'
    )
    func = of_body(parameters, f'for i, j in T.grid(n, 4): B[i] = T.Cast("int32", {condition}) + j')
    given = [np.arange(9, dtype=np.int32), np.arange(12, dtype=np.int32), np.zeros(12, np.int32)]
    assert compare(func, given) == ends


def test_an_index_is_not_remembered_behind_its_loop() -> None:
    """One node of a tree that stands twice, and means something else the second time."""
    handles = [tir.Var("h", HANDLE) for _ in range(3)]
    at, x, y = (tir.Buffer(n, (tir.IntImm(4),), INT64) for n in ("at", "x", "y"))
    i, j, k, m = (tir.Var(n, INT64) for n in "ijkm")
    index = tir.BufferLoad(at, (i,))
    four = tir.IntImm(4)

    def copy(var: tir.Var) -> tir.Stmt:
        value = tir.Add(tir.BufferLoad(x, (index,)), tir.BufferLoad(y, (var,)))
        return tir.For(var, tir.IntImm(0), four, "serial", tir.BufferStore(y, (var,), value))

    change = tir.For(
        k, tir.IntImm(0), four, "serial", tir.BufferStore(at, (k,), tir.IntImm(2, INT64))
    )
    body = tir.For(i, tir.IntImm(0), four, "serial", tir.SeqStmt((copy(j), change, copy(m))))
    func = tir.PrimFunc(tuple(handles), body, None, dict(zip(handles, (at, x, y), strict=True)), {})
    compare(func, [np.array([3, 1, 0, 2]), np.array([1, 10, 100, 1000]), np.zeros(4, np.int64)])


def test_literals_wrap_before_they_divide() -> None:
    func = of_body('A: T.Buffer((4,), "int8")', "for i in range(4): A[i] = A[i]")
    a = func.buffer_map[func.params[0]]
    i = tir.Var("i", INT64)
    for value in (256, 512, 257, -255):
        load = tir.BufferLoad(a, (i,))
        divided = tir.FloorDiv(load, tir.IntImm(value, a.dtype))
        loop = tir.For(i, tir.IntImm(0), tir.IntImm(4), "serial", tir.BufferStore(a, (i,), divided))
        made = tir.PrimFunc(func.params, loop, None, func.buffer_map, {})
        ends = compare(made, [np.array([1, 2, -3, 100], np.int8)])
        assert ends == ("E-tir-divide" if value % 256 == 0 else "returned")


def test_sums_of_booleans_are_booleans() -> None:
    func = of_body(
        'A: T.Buffer((6,), "bool"), B: T.Buffer((6,), "bool")',
        "for i in range(6): B[i] = A[i] + A[5 - i]",
    )
    mine, theirs = np.zeros((2, 6), bool)
    given = np.array([True, False, True, True, False, True])
    native.compile(func)([given, mine])
    evaluate(func, [given, theirs])
    assert mine.tobytes() == theirs.tobytes()


def test_arrays_that_share_some_elements() -> None:
    func = of_body(
        'x: T.Buffer((4,), "int64"), y: T.Buffer((4,), "int64")',
        "for i in range(4): y[i] = x[i] + T.int64(1)",
    )
    whole = np.zeros(12, np.int64)
    native.compile(func)([whole[0:8:2], whole[2:10:2]])
    assert whole.tolist() == [0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 0, 0]
    native.compile(func)([whole[0:8:2], whole[1:9:2]])
    assert whole[1:9:2].tolist() == [1, 2, 3, 4]


def test_arrays_of_two_types_in_one_place() -> None:
    """A copy of one is none of the other, though they begin at the same byte and have the same strides."""
    func = of_body(
        'x: T.Buffer((4,), "int32"), y: T.Buffer((4,), "int16"), z: T.Buffer((4,), "int32")',
        'for i in range(4): z[i] = x[i] + T.Cast("int32", y[i])',
    )
    whole = np.arange(8, dtype=np.int32)
    result = np.zeros(4, np.int32)
    native.compile(func)([whole[::2], whole.view(np.int16)[::4], result])
    assert result.tolist() == [0, 4, 8, 12]


@pytest.mark.parametrize("index", [-1, 4, 6, -7])
def test_guards_are_looked_at(index: int) -> None:
    assert arrays.GUARDED, "all tests run with guards"
    outside = of_body(
        'x: T.Buffer((4,), "int64"), y: T.Buffer((4,), "int64")', f"x[{index}] = y[0]"
    )
    kernel = native.compile(outside, bounds=False)
    with pytest.raises(Damaged):
        kernel([np.zeros(4, np.int64), np.ones(4, np.int64)])
    inside = of_body(
        'x: T.Buffer((4,), "int64")',
        't = T.alloc_buffer((4,), "int64")\nt[x[1]] = x[0]\nx[2] = t[0]',
    )
    with pytest.raises(Damaged):
        native.compile(inside, bounds=False)([np.array([5, index, 0, 0])])


def test_an_index_that_is_loaded_is_computed_before_the_loops_that_do_not_change_it() -> None:
    parameters = (
        'A: T.Buffer((9, 4), "int32"), I: T.Buffer(("n",), "int32"), B: T.Buffer(("n", 4), "int32")'
    )
    func = of_body(parameters, "for i, j in T.grid(n, 4): B[i, j] = A[I[i], j] + A[j, I[i] % 4]")
    lines = generate(func, bounds=True, disjoint=True).text.splitlines()
    inner = [k for k, line in enumerate(lines) if "for (" in line][-1]
    loads = [k for k, line in enumerate(lines) if "= b2[" in line]
    assert loads
    assert all(k < inner for k in loads)


def test_no_check_before_the_loops_that_only_empty_arrays_pass() -> None:
    """Each branch reads where its condition holds; both could be read everywhere only if n is 0."""
    buffers = (("A", "n"), ("B", "n"), ("C", "n * 2"))
    func = of_body(
        ", ".join(f'{name}: T.Buffer(("{size}",), "float32")' for name, size in buffers),
        "for i in range(n * 2): C[i] = T.if_then_else(i < n, A[i], B[i - n])",
    )
    assert "INT64_C(-1) >= 0" not in native.compile(func).source
    compare(func, [np.arange(count, dtype=np.float32) for count in (3, 3, 6)])
