"""Each construct of PrimFuncs does what its rule says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlx.semantics.faults import OutOfFuelStop
from rlx.semantics.tir import evaluate

from .programs import computed, filled, of_body, prim_func, stopped


@pytest.mark.parametrize(
    "head",
    [
        "range(4)",
        "T.serial(4)",
        "T.serial(0, 4)",
        "T.parallel(4)",
        "T.vectorized(4)",
        "T.unroll(4)",
        'T.thread_binding(4, thread="threadIdx.x")',
        'T.serial(4, annotations={"pragma": 1})',
    ],
)
def test_loops_of_every_kind(head: str) -> None:
    assert filled(f"for i in {head}:\n    A[i] = i * 10") == [0, 10, 20, 30]


def test_loops_from_a_start_and_none() -> None:
    assert filled("for i in range(1, 3): A[i] = i\nfor j in range(3, 1): A[9] = 1") == [0, 1, 2, 0]


def test_grid_and_nested_order() -> None:
    body = """
    n = T.alloc_buffer((1,), "int32")
    n[0] = 0
    for i, j in T.grid(2, 2):
        A[i * 2 + j] = n[0]
        n[0] = n[0] + 1
    """
    assert filled(body) == [0, 1, 2, 3]


def test_while_if_let_and_augmented_assignment() -> None:
    body = """
    for i in range(4): A[i] = 0
    while A[0] < 10:
        step: T.int32 = A[0] + 3
        A[0] = step
        A[1] += 1
        if step % 2 == 0:
            A[2] += 1
        elif step == 3:
            A[3] = 7
        else:
            A[3] += 1
    """
    assert filled(body) == [12, 4, 2, 8]


def test_a_reduction_starts_where_all_its_axes_do() -> None:
    func = prim_func(
        """
        @T.prim_func
        def f(A: T.Buffer((2, 3, 2), "int32"), B: T.Buffer((2,), "int32")):
            for i, j, k in T.grid(2, 3, 2):
                with T.sblock("sum"):
                    vi = T.axis.spatial(2, i)
                    vj = T.axis.reduce((1, 4), j + 1)
                    vk = T.axis.reduce(2, k)
                    T.reads(A[vi, vj - 1, vk])
                    T.writes(B[vi])
                    with T.init():
                        B[vi] = 100
                    B[vi] = B[vi] + A[vi, vj - 1, vk]
        """
    )
    a, b = np.arange(12, dtype=np.int32).reshape(2, 3, 2), np.zeros(2, np.int32)
    evaluate(func, [a, b], unwritten=[1])
    assert b.tolist() == (100 + a.sum(axis=(1, 2))).tolist()


def test_remapped_axes_start_where_their_loops_do() -> None:
    body = """
    for i, j in T.grid(1, 1):
        for k in range(1, 4):
            with T.sblock("max"):
                v, r = T.axis.remap("SR", [i, k])
                with T.init():
                    A[v] = -5
                A[v] = T.max(A[v], r * -1)
    """
    assert filled(body) == [-1, 0, 0, 0]


def test_predicates_and_other_axes() -> None:
    body = """
    for i, j in T.grid(2, 3):
        with T.sblock("fill"):
            v = T.axis.spatial(4, i * 3 + j)
            s = T.axis.scan(2, i)
            o = T.axis.opaque(3, j)
            T.where(i * 3 + j < 4)
            T.sblock_attr({"note": 1})
            A[v] = s * 10 + o
    """
    assert filled(body) == [0, 1, 2, 10]


def test_threads_run_one_after_the_other() -> None:
    body = """
    with T.sblock("root"):
        shared = T.sblock_alloc_buffer((4,), "int32", scope="shared")
        for bx in T.thread_binding(2, thread="blockIdx.x"):
            for tx in T.thread_binding(2, thread="threadIdx.x"):
                with T.sblock("copy"):
                    v = T.axis.spatial(4, bx * 2 + tx)
                    shared[v] = v * v
        for tx in T.thread_binding(4, thread="threadIdx.x"):
            A[tx] = shared[3 - tx]
    """
    assert filled(body) == [9, 4, 1, 0]


@pytest.mark.parametrize("word", ["alloc_buffer", "decl_buffer", "alloc_local", "alloc_shared"])
def test_allocations(word: str) -> None:
    body = f'b = T.{word}((2, 2), "int32")\nfor i in range(4):\n    b[i // 2, i % 2] = i\n'
    assert filled(body + "for i in range(4): A[i] = b[i % 2, i // 2]") == [0, 2, 1, 3]


def test_memory_is_given_back() -> None:
    body = """
    for i in range(4):
        with T.sblock("one"):
            b = T.sblock_alloc_buffer((100,), "int32")
            b[i] = i
            A[i] = b[i]
        c = T.alloc_buffer((100,), "int32")
        c[0] = 1
    """
    assert filled(body, memory=400) == [0, 1, 2, 3]
    assert stopped(of_body('A: T.Buffer((4,), "int32")', body), np.zeros(4, np.int32), memory=399)


def test_buffers_share_memory() -> None:
    body = """
    flat = T.decl_buffer((2, 2), "int32", data=A.data, strides=(1, 2))
    tail = T.decl_buffer((2,), "float32", data=A.data, elem_offset=2)
    for i, j in T.grid(2, 2):
        flat[i, j] = i * 10 + j
    tail[0] = T.float32(1)
    """
    assert filled(body) == [0, 10, 0x3F800000, 11]


def test_conditionals_are_lazy_and_select_is_not() -> None:
    assert filled("for i in range(4): A[i] = T.if_then_else(i > 0, A[i - 1] + 1, 5)") == [
        5,
        6,
        7,
        8,
    ]
    func = of_body(
        'A: T.Buffer((2,), "int32")', "for i in range(2): A[i] = T.Select(i > 0, A[i - 1], 5)"
    )
    assert stopped(func, np.zeros(2, np.int32)).code == "E-tir-bounds"
    body = (
        "for i in range(4):\n    if i > 0 and A[i - 1] == 0 or i == 2: A[i] = 1\n    else: A[i] = 0"
    )
    assert filled(body) == [0, 1, 1, 0]


def test_indices_never_wrap_and_data_does() -> None:
    big = 2**62
    func = of_body('A: T.Buffer((4,), "int64"), n: T.int64', "A[n * T.int64(4)] = T.int64(1)")
    error = stopped(func, np.zeros(4, np.int64), big)
    assert error.code == "E-tir-bounds" and error.span is not None
    data = of_body('A: T.Buffer((4,), "int64"), n: T.int64', "A[0] = n * T.int64(4) + T.int64(1)")
    array = np.zeros(4, np.int64)
    evaluate(data, [array, big])
    assert array[0] == 1


def test_chains_of_operators_have_no_limit() -> None:
    terms = " + ".join(["a[0]"] * 10_000)
    assert computed(terms, "int64", 3) == 30_000
    assert computed(" and ".join(["a[0] > T.int64(0)"] * 5_000), "bool", 3, source="int64")


@pytest.mark.parametrize(
    ("expr", "dtype", "a", "b", "value"),
    [
        ("a[0] // b[0]", "int32", -7, 2, -4),
        ("a[0] % b[0]", "int32", -7, 2, 1),
        ("T.truncdiv(a[0], b[0])", "int32", -7, 2, -3),
        ("T.truncmod(a[0], b[0])", "int32", -7, 2, -1),
        ("a[0] * b[0]", "int8", 100, 2, -56),
        ("a[0] - b[0]", "uint8", 0, 1, 255),
        ("(a[0] << b[0]) >> b[0]", "int32", 5, 30, 1),
        ("(a[0] & b[0]) | (a[0] ^ b[0])", "int32", 12, 10, 14),
        ("~a[0]", "int32", 5, 0, -6),
        ("T.bitwise_and(a[0], b[0])", "int32", 12, 10, 8),
        ("-a[0]", "int32", 5, 0, -5),
        ("T.pow(a[0], b[0])", "int32", 3, 4, 81),
        ("a[0] * 2 + T.float32(1)", "float32", 1.5, 0, 4.0),
        ("T.exp(a[0]) * T.float32(2)", "float32", 0.0, 0, 2.0),
        ("a[0] / b[0]", "float32", 1.0, 0.0, np.inf),
        ("T.float16(2048) + a[0]", "float16", 1.0, 0, 2048.0),
        ("T.reinterpret(\"int32\", T.float32(1))", "int32", 0, 0, 0x3F800000),
        ('T.max(T.min_value("int8"), a[0])', "int8", -3, 0, -3),
        ('T.infinity("float32")', "float32", 0, 0, np.inf),
        ('T.min_value("float32")', "float32", 0, 0, -np.finfo(np.float32).max),
        ('T.min(T.max_value("float16"), a[0])', "float16", 1.0, 0, 1.0),
        ("T.Cast(\"int32\", T.Cast(\"int8\", a[0]))", "int32", 200, 0, -56),
        ("T.likely(a[0]) + T.Cast(\"int32\", not a[0] > b[0])", "int32", 1, 2, 2),
    ],
)  # fmt: skip
def test_expressions(expr: str, dtype: str, a: Any, b: Any, value: Any) -> None:
    assert computed(expr, dtype, a, b) == value


def test_lanes() -> None:
    body = """
    A[0:4] = T.Broadcast(7, 4)
    A[0:2] = A[2:4] + T.Ramp(1, 2, 2)
    A[T.Ramp(3, -1, 2)] = T.Select(T.Ramp(0, 1, 2) > T.Broadcast(0, 2), A[0:2], 5)
    """
    assert filled(body) == [8, 10, 10, 5]


def test_calls_to_outside() -> None:
    seen: list[Any] = []

    def packed(name: str, array: Any, shape: Any = None) -> int:
        seen.append((name, array.tolist()))
        array[...] += 1
        return 300

    body = """
    for i in range(4): A[i] = i
    T.call_packed("p", "first", A.data)
    T.tvm_call_packed("p", "second", T.tvm_stack_make_array(A.data, T.tvm_stack_make_shape(2, 2), 0, 2, 0, 0))
    A[0] = T.Cast("int32", T.call_extern("int8", "p", "third", A.data))
    T.attr(0, "pragma", 1)
    T.evaluate(0)
    """
    assert filled(body, call={"p": packed}) == [44, 4, 5, 6]
    assert seen == [
        ("first", [0, 1, 2, 3]),
        ("second", [[1, 2], [3, 4]]),
        ("third", [2, 3, 4, 5]),
    ]


def test_fuel() -> None:
    loop = of_body('A: T.Buffer((1,), "int32")', "for i in range(10): A[0] = i")
    array = np.zeros(1, np.int32)
    evaluate(loop, [array], fuel=10)
    error = stopped(loop, array, fuel=9)
    assert (
        isinstance(error, OutOfFuelStop) and error.code == "E-tir-fuel" and error.span is not None
    )
    assert stopped(of_body("n: T.int32", "while n > 0: T.evaluate(0)"), 1, fuel=1000).span
    loop = of_body('A: T.Buffer((1,), "int32")', "while A[0] < 3: A[0] = A[0] + 1")
    evaluate(loop, [np.zeros(1, np.int32)], fuel=30)
    assert isinstance(stopped(loop, np.zeros(1, np.int32), fuel=29), OutOfFuelStop)
    assert stopped(of_body("n: T.int32", "for i in range(1000000000): T.evaluate(0)"), 1, fuel=9)


def test_attributes_threads_and_asserts() -> None:
    body = """
    with T.attr(0, "pragma", 1):
        A[3] = 1
    with T.launch_thread("blockIdx.x", 2) as bx:
        A[bx] = bx + 5
    assert A[0] == 5, "five"
    tx = T.launch_thread("threadIdx.x", 2)
    A[2] = tx
    """
    assert filled(body) == [5, 6, 1, 1]


def test_the_variable_of_a_let_is_computed_once() -> None:
    assert computed("T.Let(x * x, where={x: a[0] + b[0]})", "int32", 2, 3) == 25
    assert computed("T.Let(T.cos(x) + x, where={x: a[0]})", "float32", 0.0) == 1.0


def test_a_matched_region_is_the_memory_it_is_taken_from() -> None:
    func = prim_func(
        """
        @T.prim_func
        def f(A: T.Buffer((3, 4), "int32")):
            for i in range(3):
                with T.sblock("row"):
                    v = T.axis.spatial(3, i)
                    s = T.int32()
                    o = T.int32()
                    row = T.match_buffer(A[v, 1:3], (2,), "int32", strides=(s,), elem_offset=o)
                    row[1] = o * 10 + s
        """
    )
    array = np.zeros((3, 4), np.int32)
    evaluate(func, [array])
    assert array[:, 2].tolist() == [11, 51, 91]
    assert array.sum() == 11 + 51 + 91


def test_nesting_goes_as_deep_as_texts() -> None:
    depth = 240
    expr = "T.if_then_else(n > 0, " * depth + "n" + ", 0)" * depth
    lines = ["    " * at + "if n > 0:" for at in range(depth)]
    body = "\n".join([*lines, "    " * depth + f"A[0] = {expr}"])
    array = np.zeros(1, np.int32)
    evaluate(of_body('A: T.Buffer((1,), "int32"), n: T.int32', body), [array, 7])
    assert array[0] == 7


def test_what_functions_from_outside_are_handed_counts_as_written() -> None:
    def fill(array: Any) -> int:
        array[...] = 7
        return 0

    body = """
    b = T.alloc_buffer((4,), "int32")
    T.call_packed("fill", b.data)
    for i in range(4): A[i] = b[i]
    """
    assert filled(body, call={"fill": fill}) == [7, 7, 7, 7]
    func = of_body('A: T.Buffer((4,), "int32")', 'T.call_packed("fill", A.data)')
    flags = {0: np.zeros(4, np.uint8)}
    evaluate(func, [np.zeros(4, np.int32)], call={"fill": fill}, unwritten=flags)
    assert flags[0].all()


@pytest.mark.parametrize(
    ("kind", "given", "kept"),
    [
        ("float32", 0.1, float(np.float32(0.1))),
        ("float64", 0.1, 0.1),
        ("float16", 70000.0, float("inf")),
        ("int8", 300, 44.0),
        ("uint8", -1, 255.0),
        ("int64", None, 0.0),
    ],
)
def test_what_comes_from_outside_is_of_the_type_that_is_said(
    kind: str, given: Any, kept: float
) -> None:
    text = f'A[0] = T.Cast("float64", T.call_extern("{kind}", "f"))'
    array = np.zeros(1)
    evaluate(of_body('A: T.Buffer((1,), "float64")', text), [array], call={"f": lambda: given})
    assert array[0] == kept
