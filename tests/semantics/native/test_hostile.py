"""Programs that do what has no meaning: each ends as an outcome, and the process lives on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import HANDLE, INT64, dtype
from rlx.grammar.nodes.node import replace
from rlx.semantics import native
from rlx.semantics.faults import FaultStop, OutOfFuelStop, Stop, UnsupportedStop
from tests.semantics.tir.programs import of_body, prim_func


def stopped(func: tir.PrimFunc, *args: Any, fuel: int | None = 10**9) -> Stop:
    """The fault that ends a run with bounds checked."""
    with pytest.raises(Stop) as caught:
        native.compile(func)(args, fuel)
    return caught.value


@pytest.mark.parametrize("position", [-1, 4, 2**31, 2**62, -(2**63)])
def test_constant_index_out_of_range(position: int) -> None:
    func = of_body('A: T.Buffer((4,), "int32")', f"A[T.int64({position})] = 1")
    error = stopped(func, np.zeros(4, np.int32))
    assert isinstance(error, FaultStop)
    assert error.code == "E-tir-bounds"
    assert str(position) in error.message and "4" in error.message


@pytest.mark.parametrize(
    ("body", "index"),
    [
        ("for i in range(5): A[i] = T.float32(1)", 4),
        ("for i in range(4): A[i - 1] = T.float32(1)", -1),
        ("for i in T.serial(2, 9): A[i] = T.float32(1)", 4),
        ("for i, j in T.grid(2, 4): A[i * 3 + j] = T.float32(1)", 4),
        ("for i in range(4): A[T.if_then_else(i < 3, i, 100)] = T.float32(1)", 100),
        ("for i in range(4):\n    for j in range(i + 2): A[j] = T.float32(1)", 4),
        ("for i in range(4): A[i % 3 * 2] = T.float32(1)", 4),
        ("for i in range(4): A[(i + 10) // 3] = T.float32(1)", 4),
        ("if A[0] < T.float32(1):\n    A[7] = T.float32(1)", 7),
    ],
)
def test_index_of_loops_out_of_range(body: str, index: int) -> None:
    error = stopped(of_body('A: T.Buffer((4,), "float32")', body), np.zeros(4, np.float32))
    assert error.code == "E-tir-bounds"
    assert f"index {index} " in error.message


def test_symbolic_shapes_are_checked_in_place_when_the_condition_before_the_loops_fails() -> None:
    func = of_body(
        'x: T.Buffer(("n",), "float32"), y: T.Buffer(("m",), "float32")',
        "for i in range(n): y[i] = x[i] + T.float32(1)",
    )
    kernel = native.compile(func)
    x, y = np.arange(5, dtype=np.float32), np.zeros(8, np.float32)
    kernel([x, y])
    assert y.tolist() == [1, 2, 3, 4, 5, 0, 0, 0]
    short = np.zeros(3, np.float32)
    error = stopped(func, x, short)
    assert "index 3 " in error.message
    assert short.tolist() == [1, 2, 3], "what came before the fault is done"


@pytest.mark.parametrize("bad", [-1, 3, 2**40, -(2**63), 2**63 - 1])
def test_gathered_index_out_of_range(bad: int) -> None:
    func = of_body(
        'x: T.Buffer((3, 2), "float32"), i: T.Buffer((4,), "int64"), y: T.Buffer((4, 2), "float32")',
        "for a, b in T.grid(4, 2): y[a, b] = x[i[a], b]",
    )
    x, y = np.ones((3, 2), np.float32), np.zeros((4, 2), np.float32)
    native.compile(func)([x, np.array([0, 1, 2, 0]), y])
    error = stopped(func, x, np.array([0, 1, bad, 0]), y)
    assert error.code == "E-tir-bounds"
    assert f"index {bad} " in error.message


def test_a_gather_that_never_happens_is_no_fault() -> None:
    func = of_body(
        'x: T.Buffer((3, "n"), "float32"), i: T.Buffer((4,), "int64"), y: T.Buffer((4, "n"), "float32")',
        "for a, b in T.grid(4, n): y[a, b] = x[i[a], b]",
    )
    wild, empty = np.array([99, -1, 7, 3]), np.zeros((4, 0), np.float32)
    native.compile(func)([np.zeros((3, 0), np.float32), wild, empty])


@pytest.mark.parametrize("text", ["A[0] * A[1]", "A[0] + A[1]", "A[0] - 0 - A[1]"])
def test_index_arithmetic_does_not_wrap(text: str) -> None:
    func = of_body('A: T.Buffer((4,), "int64")', f"A[{text}] = T.int64(7)")
    values = {"*": (2**62, 4), "+": (2**63 - 1, 2**63 - 1), "-": (-(2**63), 1)}[text[5]]
    error = stopped(func, np.array([*values, 0, 0]))
    assert error.code == "E-tir-bounds"


DIVISIONS = ["T.floordiv", "T.floormod", "T.truncdiv", "T.truncmod"]


@pytest.mark.parametrize("operator", DIVISIONS)
@pytest.mark.parametrize("kind", ["int8", "int64", "uint32"])
def test_division_by_zero(operator: str, kind: str) -> None:
    func = of_body(f'A: T.Buffer((2,), "{kind}")', f"A[0] = {operator}(A[0], A[1])")
    error = stopped(func, np.array([1, 0], kind))
    assert isinstance(error, FaultStop)
    assert error.code == "E-tir-divide"


@pytest.mark.parametrize("kind", ["int8", "int32", "int64"])
def test_the_smallest_integer_by_minus_one(kind: str) -> None:
    lines = [f"B[{at}] = {operator}(A[0], A[1])" for at, operator in enumerate(DIVISIONS)]
    func = of_body(f'A: T.Buffer((2,), "{kind}"), B: T.Buffer((4,), "{kind}")', "\n".join(lines))
    least, results = np.iinfo(kind).min, np.ones(4, kind)
    native.compile(func)([np.array([least, -1], kind), results])
    assert results.tolist() == [least, 0, least, 0]


@pytest.mark.parametrize("amount", [-1, 32, 2**31 - 1])
def test_shifts_that_are_too_wide(amount: int) -> None:
    func = of_body('A: T.Buffer((2,), "int32")', "A[0] = T.shift_left(A[0], A[1])")
    assert stopped(func, np.array([1, amount], np.int32)).code == "E-tir-shift-amount"


@pytest.mark.parametrize("value", [np.nan, np.inf, 2.0**31, -(2.0**31) - 1, 1e300])
def test_floats_beyond_an_integer_type(value: float) -> None:
    func = of_body(
        'A: T.Buffer((1,), "float64"), B: T.Buffer((1,), "int32")', 'B[0] = T.Cast("int32", A[0])'
    )
    error = stopped(func, np.array([value]), np.zeros(1, np.int32))
    assert error.code == "E-tir-cast-range"
    assert str(value) in error.message


@pytest.mark.parametrize(
    "body",
    [
        'for i in range(3): B[i] = T.Cast("int32", A[i])',
        'for i in range(3):\n    while T.Cast("int32", A[i]) < 5: B[i] = T.Cast("int32", A[i])',
        'for i in range(3): B[T.Cast("int32", A[i])] = 1',
    ],
)
def test_floats_beyond_an_integer_type_in_loops(body: str) -> None:
    func = of_body('A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "int32")', body)
    for bad in (np.nan, 2.0**31, -np.inf):
        error = stopped(func, np.array([bad, 2, 1], np.float32), np.zeros(3, np.int32))
        assert error.code == "E-tir-cast-range"


def test_endless_loop_ends_when_the_fuel_does() -> None:
    func = of_body('A: T.Buffer((1,), "int32")', "while True:\n    A[0] = A[0] + 1")
    array = np.zeros(1, np.int32)
    error = stopped(func, array, fuel=1000)
    assert isinstance(error, OutOfFuelStop)
    assert error.code == "E-tir-fuel"
    assert array[0] == 100


@pytest.mark.parametrize("extents", ["1000000000, 1000000000", "T.int64(4611686018427387904), 64"])
def test_loops_longer_than_the_fuel(extents: str) -> None:
    func = of_body('A: T.Buffer((1,), "int32")', f"for i, j in T.grid({extents}): A[0] = A[0] + 1")
    assert isinstance(stopped(func, np.zeros(1, np.int32)), OutOfFuelStop)


def test_extents_that_are_loaded_take_fuel() -> None:
    func = of_body('A: T.Buffer((2,), "int64")', "for i in range(A[1]): A[0] = A[0] + T.int64(1)")
    kernel = native.compile(func)
    array = np.array([0, 5])
    kernel([array], 5)
    assert array[0] == 5
    assert isinstance(stopped(func, np.array([0, 6]), fuel=5), OutOfFuelStop)


@pytest.mark.parametrize("shape", ["(1099511627776,)", "(2097152, 2097152, 2097152, 2097152)"])
def test_allocating_too_much(shape: str) -> None:
    func = of_body(
        'A: T.Buffer((1,), "int8")',
        f'B = T.alloc_buffer({shape}, "int8")\nfor i in range(1): A[i] = T.int8(1)',
    )
    error = stopped(func, np.zeros(1, np.int8))
    assert isinstance(error, FaultStop)
    assert error.code == "E-tir-allocate"


def test_allocating_a_symbolic_size_that_is_negative() -> None:
    func = of_body(
        'A: T.Buffer(("n",), "int8")', 'B = T.alloc_buffer((n - 4,), "int8")\nA[0] = T.int8(1)'
    )
    native.compile(func)([np.zeros(4, np.int8)])
    assert stopped(func, np.zeros(3, np.int8)).code == "E-tir-allocate"


NAMES = [
    'x"; system("touch /tmp/pwned"); //',
    "a*/ #include </etc/passwd> /*",
    "line\nbreak\\",
    "a\\\n#error gone\n",
    "größe 变量 \u202e",
    "int",
    "%s%n",
    "v1",
    "",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_never_reach_the_compiler(name: str) -> None:
    size, handle, i = tir.Var(name), tir.Var(name, HANDLE), tir.Var(name, INT64)
    buffer = tir.Buffer(name, (size,), dtype("float32"))
    inner = tir.Buffer(name, (size,), dtype("float32"))
    copy = tir.BufferStore(inner, (i,), tir.BufferLoad(buffer, (i,)))
    back = tir.BufferStore(
        buffer, (i,), tir.Add(tir.BufferLoad(inner, (i,)), tir.FloatImm(1.0, dtype("float32")))
    )
    block = tir.Block(name, (), None, None, None, (), None, tir.SeqStmt((copy, back)))
    loop = tir.For(i, tir.IntImm(0), size, "serial", block)
    body = tir.SeqStmt((tir.AllocBuffer(inner, name), loop))
    func = tir.PrimFunc((handle,), body, None, {handle: buffer}, {"global_symbol": name})
    kernel = native.compile(func)
    source = kernel.source
    assert source.isascii()
    assert not name or len(name) < 5 or name not in source
    array = np.zeros(3, np.float32)
    kernel([array])
    assert array.tolist() == [1, 1, 1]


def test_a_hostile_name_is_only_in_the_message() -> None:
    handle = tir.Var("h", HANDLE)
    buffer = tir.Buffer('"*/{a}\n', (tir.IntImm(2),), dtype("int8"))
    store = tir.BufferStore(buffer, (tir.IntImm(5),), tir.IntImm(0, dtype("int8")))
    func = tir.PrimFunc((handle,), store, None, {handle: buffer}, {})
    assert '"*/' in stopped(func, np.zeros(2, np.int8)).message


def test_intrinsics_that_are_not_known_are_refused() -> None:
    one = tir.IntImm(1, dtype("float32"))
    call = tir.Call("system); //", (one,), dtype("float32"))
    func = tir.PrimFunc((), tir.Evaluate(call), None, {}, {})
    with pytest.raises(UnsupportedStop) as caught:
        native.compile(func)
    assert caught.value.code == "E-native-construct"


@pytest.mark.parametrize(
    "body",
    [
        "A[T.float32(1)] = 1",
        "A[0] = A[1 + T.float32(1)]",
        "for i in range(T.float32(2)): A[i] = 1",
        "for i in T.serial(T.float32(1), 2): A[0] = 1",
        'b = T.alloc_buffer((T.float32(2),), "int32")',
        "A[0] = T.shift_left(A[0], T.float32(1))",
    ],
)
def test_what_must_be_an_integer_is_never_cut_to_one(body: str) -> None:
    func = of_body('A: T.Buffer((4,), "int32")', body)
    with pytest.raises(UnsupportedStop) as caught:
        native.compile(func)
    assert caught.value.code == "E-native-construct"
    assert "the C compiler" not in caught.value.message


def test_deep_nesting_of_expressions() -> None:
    value: tir.PrimExpr = tir.IntImm(1, INT64)
    for _ in range(10_000):
        value = tir.Add(value, tir.IntImm(1, INT64))
    handle = tir.Var("h", HANDLE)
    buffer = tir.Buffer("A", (tir.IntImm(1),), INT64)
    store = tir.BufferStore(buffer, (tir.IntImm(0),), value)
    kernel = native.compile(tir.PrimFunc((handle,), store, None, {handle: buffer}, {}))
    array = np.zeros(1, np.int64)
    kernel([array])
    assert array[0] == 10_001


def test_deep_nesting_of_branches() -> None:
    handle = tir.Var("h", HANDLE)
    buffer = tir.Buffer("A", (tir.IntImm(1),), INT64)
    first = tir.BufferLoad(buffer, (tir.IntImm(0),))
    value: tir.PrimExpr = tir.IntImm(0, INT64)
    for level in range(500):
        condition = tir.LT(first, tir.IntImm(level, INT64))
        value = tir.Call("if_then_else", (condition, tir.IntImm(level, INT64), value), INT64)
    stmt: tir.Stmt = tir.BufferStore(buffer, (tir.IntImm(0),), value)
    for _ in range(500):
        stmt = tir.IfThenElse(tir.GE(first, tir.IntImm(0, INT64)), stmt, None)
    kernel = native.compile(tir.PrimFunc((handle,), stmt, None, {handle: buffer}, {}))
    array = np.array([7])
    kernel([array])
    assert array[0] == 499


def test_deep_nesting_of_loops() -> None:
    handle = tir.Var("h", HANDLE)
    buffer = tir.Buffer("A", (tir.IntImm(1),), INT64)
    total = tir.Add(tir.BufferLoad(buffer, (tir.IntImm(0),)), tir.IntImm(1, INT64))
    stmt: tir.Stmt = tir.BufferStore(buffer, (tir.IntImm(0),), total)
    for _ in range(500):
        stmt = tir.For(tir.Var("i"), tir.IntImm(0), tir.IntImm(1), "serial", stmt)
    kernel = native.compile(tir.PrimFunc((handle,), stmt, None, {handle: buffer}, {}))
    array = np.array([7])
    kernel([array])
    assert array[0] == 8


@pytest.mark.parametrize("kind", ["int8", "int64", "uint32", "uint64"])
def test_constants_beyond_their_type_wrap(kind: str) -> None:
    values = [10**40, -(10**40), 2**64 - 1, 2**63]
    handle = tir.Var("h", HANDLE)
    buffer = tir.Buffer("A", (tir.IntImm(4),), dtype(kind))
    stores = [
        tir.BufferStore(buffer, (tir.IntImm(at),), tir.IntImm(value, dtype(kind)))
        for at, value in enumerate(values)
    ]
    array = np.zeros(4, kind)
    body = tir.SeqStmt(tuple(stores))
    native.compile(tir.PrimFunc((handle,), body, None, {handle: buffer}, {}))([array])
    period = 2 ** np.iinfo(kind).bits
    assert [int(v) % period for v in array] == [v % period for v in values]


def test_opaque_text_is_refused() -> None:
    func = tir.PrimFunc((), tir.OpaqueStmt("anything at all"), None, {}, {})
    with pytest.raises(UnsupportedStop):
        native.compile(func)


def test_floats_of_every_kind_are_constants() -> None:
    func = prim_func(
        "@T.prim_func\n"
        'def f(A: T.Buffer((4,), "float32")):\n'
        '    A[0] = T.float32("inf")\n'
        '    A[1] = T.float32("-inf")\n'
        '    A[2] = T.float32("nan")\n'
        "    A[3] = T.float32(1e300)\n"
    )
    array = np.zeros(4, np.float32)
    native.compile(func)([array])
    assert repr(array.tolist()) == "[inf, -inf, nan, inf]"


@pytest.mark.parametrize("place", ["a[i], j, a[i]", "a[i]", "j, j, a[i]"])
def test_a_loaded_index_beyond_the_axes_is_refused(place: str) -> None:
    x, a, y = 'x: T.Buffer((5, 4), "float32")', 'a: T.Buffer((3,), "int64")', "y: T.Buffer((3, 4))"
    body = f"for i in range(3):\n    for j in range(4): y[i, j] = x[{place}]"
    with pytest.raises(UnsupportedStop, match="memory of that shape for a buffer"):
        native.compile(of_body(f"{x}, {a}, {y}", body))


def test_a_loaded_index_of_memory_that_there_is_not_is_refused() -> None:
    func = of_body(
        'x: T.Buffer((5,), "float32"), a: T.Buffer((3,), "int64"), y: T.Buffer((3, 4), "float32")',
        "for i in range(3):\n    for j in range(4): y[i, j] = x[a[i]]",
    )
    for gone in func.params:
        rest = {param: func.buffer_map[param] for param in func.params if param is not gone}
        with pytest.raises(UnsupportedStop, match="memory of that shape for a buffer"):
            native.compile(tir.PrimFunc(tuple(rest), func.body, None, rest, {}))


def test_branches_that_share_their_parts_are_refused_where_their_code_would_double() -> None:
    """Neither branch computes the parts of the other, so each needs them: 2**60 times here."""
    func = of_body('x: T.Buffer((4,), "int32"), c: T.Buffer((4,), "int32")', "x[0] = x[0] + 1")
    assert isinstance(func.body, tir.BufferStore)
    condition = tir.BufferLoad(func.buffer_map[func.params[1]], (tir.IntImm(0, INT64),))
    value = func.body.value
    for _ in range(60):
        branches = tir.Add(value, condition), tir.Mul(value, condition)
        value = tir.Call("if_then_else", (tir.GT(condition, tir.IntImm(0)), *branches))
    with pytest.raises(UnsupportedStop, match="branches repeat their parts"):
        native.compile(replace(func, body=replace(func.body, value=value)))
