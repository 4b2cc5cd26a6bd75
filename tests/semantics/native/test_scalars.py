"""Every operator, cast and intrinsic, on each type, beside the scalar semantics of the reference evaluator."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, HANDLE, INT64, DataType, dtype
from rlx.grammar.nodes.node import Record
from rlx.semantics import native
from rlx.semantics.arrays import numpy_type
from rlx.semantics.faults import FaultStop
from rlx.semantics.native.intrinsics import LIBM
from rlx.semantics.tir.intrinsics import intrinsic
from rlx.semantics.tir.values import binary, cast
from tests.semantics.tir.programs import of_body

INTEGERS = [dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = [dtype(name) for name in ("float32", "float64", "float16", "bfloat16")]
BINARY: list[type[tir.Binary]] = [tir.Add, tir.Sub, tir.Mul, tir.FloorDiv, tir.FloorMod]
BINARY += [tir.TruncDiv, tir.TruncMod]
BINARY += [tir.Min, tir.Max, tir.EQ, tir.NE, tir.LT, tir.LE, tir.GT, tir.GE]
LOGICAL: list[type[tir.Binary]] = [tir.And, tir.Or, tir.EQ, tir.NE, tir.Min, tir.Max]


def samples(kind: DataType) -> list[Any]:
    """Numbers of a type at which something happens."""
    if kind == BOOL:
        return [False, True]
    if kind.is_integer:
        low = -(1 << (kind.bits - 1)) if kind.code == "int" else 0
        high = low + (1 << kind.bits) - 1
        near = {low, low + 1, low // 2, -3, -2, -1, 0, 1, 2, 3, 7, 100, high // 3, high - 1, high}
        return sorted(v for v in near if low <= v <= high)
    values = [0.0, -0.0, 1.0, -1.0, 0.1, 1.5, 2.5, -2.5, 3.14159, 1e-3, 1e-7, 6e-8, 2e-8, 1e-40]
    values += [65504.0, 65519.0, 65520.0, 3e38, -7.25, 1000.5, 1e300, 5e-324, math.inf, math.nan]
    made = np.array([*values, -math.inf], np.float64)
    with np.errstate(all="ignore"):
        return [float(v) for v in made.astype(numpy_type(kind))]


class Case(Record):
    """An expression of some operands, the type of its result, and the rows of operands to try."""

    result: DataType
    make: Callable[..., tir.PrimExpr]
    operands: tuple[DataType, ...]
    rows: list[tuple[Any, ...]]


def computed(cases: list[Case]) -> list[np.ndarray[Any, Any]]:
    """The results of native code for each case's rows: one kernel, with columns of its own for each case."""
    n = tir.Var("n")
    length = max(len(case.rows) for case in cases)
    buffers: dict[tir.Var, tir.Buffer] = {}
    arrays: list[np.ndarray[Any, Any]] = []
    loops: list[tir.Stmt] = []

    def column(kind: DataType, values: list[Any]) -> tir.Buffer:
        buffer = tir.Buffer("x", (n,), kind)
        buffers[tir.Var("h", HANDLE)] = buffer
        array = np.ones(length, numpy_type(kind))
        array[: len(values)] = np.array(values, numpy_type(kind))
        arrays.append(array)
        return buffer

    results = []
    for case in cases:
        inputs = [
            column(kind, [row[at] for row in case.rows]) for at, kind in enumerate(case.operands)
        ]
        output = column(case.result, [])
        results.append(arrays[-1])
        i = tir.Var("i", INT64)
        value = case.make(*(tir.BufferLoad(buffer, (i,)) for buffer in inputs))
        store = tir.BufferStore(output, (i,), value)
        loops.append(tir.For(i, tir.IntImm(0), n, "serial", store))
    body = tir.SeqStmt(tuple(loops))
    native.compile(tir.PrimFunc(tuple(buffers), body, None, buffers, {}))(arrays)
    return [got[: len(case.rows)] for got, case in zip(results, cases, strict=True)]


def same(got: Any, wanted: Any) -> bool:
    """Whether two numbers are the same, signs of zero and NaN included."""
    if isinstance(wanted, float):
        if math.isnan(wanted):
            return math.isnan(float(got))
        return float(got) == wanted and math.copysign(1, float(got)) == math.copysign(1, wanted)
    return bool(int(got) == int(wanted))


def defined(function: Callable[..., Any], row: tuple[Any, ...]) -> bool:
    try:
        function(*row)
    except FaultStop:
        return False
    return True


def exactly(cases: list[Case], functions: list[Callable[..., Any]]) -> None:
    """Hold that native code computes what the functions do."""
    for case, function, got in zip(cases, functions, computed(cases), strict=True):
        for row, value in zip(case.rows, got, strict=True):
            assert same(value, function(*row)), (case.make, row, value, function(*row))


@pytest.mark.parametrize("kind", [*INTEGERS, *FLOATS, BOOL], ids=str)
def test_binary_operators(kind: DataType) -> None:
    kinds: list[type[tir.Binary]] = (
        LOGICAL if kind == BOOL else [*BINARY, *([tir.Div] if kind.is_float else [])]
    )
    rows = list(itertools.product(samples(kind), repeat=2))
    if kind.is_integer:
        rows = [row for row in rows if row[1] != 0]
    logical = (tir.Comparison, tir.And, tir.Or)
    cases = []
    for op in kinds:
        cases.append(Case(BOOL if issubclass(op, logical) else kind, op, (kind, kind), rows))
    exactly(cases, [binary(op, kind) for op in kinds])


def conversion(target: DataType) -> Callable[..., tir.PrimExpr]:
    return lambda value: tir.Cast(target, value)


@pytest.mark.parametrize("source", [*INTEGERS, *FLOATS, BOOL], ids=str)
def test_casts(source: DataType) -> None:
    targets = [*INTEGERS, *FLOATS, BOOL]
    values = samples(source)
    if source.is_integer:  # these are rounded twice where that is done wrong
        odd = [2**61 + 1, 2**53 + 1, 2**24 + 1, 2**25 + 2**13 + 1, -(2**40) - 1, 33_554_433, 2049]
        least = -(1 << (source.bits - 1)) if source.code == "int" else 0
        values += [v for v in odd if least <= v < least + (1 << source.bits)]
    cases = []
    for target in targets:
        rows = [(v,) for v in values if defined(cast(source, target), (v,))]
        cases.append(Case(target, conversion(target), (source,), rows))
    exactly(cases, [cast(source, target) for target in targets])


def call(op: str, kind: DataType) -> Callable[..., tir.PrimExpr]:
    return lambda *operands: tir.Call(op, operands, kind)


@pytest.mark.parametrize("kind", FLOATS, ids=str)
def test_intrinsics_of_floats(kind: DataType) -> None:
    ops = [op for op in LIBM if op not in ("ldexp", "nextafter")]
    if str(kind) in ("float16", "bfloat16"):  # computed by the functions of float32, and rounded
        ops = ["exp", "sigmoid", "atan2", "round"]
    elif str(kind) == "float64":  # the same table without the letter f
        ops = ops[::4]
    cases = []
    for op in ops:
        values = [v for v in samples(kind) if abs(v) <= 1000 or not math.isfinite(v)]
        rows = list(itertools.product(values, repeat=LIBM[op][1]))
        cases.append(Case(kind, call(op, kind), (kind,) * LIBM[op][1], rows))
    tolerance = {"float16": 2**-9, "bfloat16": 2**-6, "float32": 2**-18}.get(str(kind), 1e-13)
    for op, case, got in zip(ops, cases, computed(cases), strict=True):
        function = intrinsic(op, case.operands)[1]
        for row, value in zip(case.rows, map(float, got), strict=True):
            wanted = float(function(*row))
            close = math.isclose(value, wanted, rel_tol=tolerance, abs_tol=1e-38)
            assert close or (math.isnan(wanted) and math.isnan(value)), (op, row, value, wanted)


@pytest.mark.parametrize("kind", INTEGERS[::3], ids=str)
def test_intrinsics_of_integers(kind: DataType) -> None:
    ops = {"bitwise_and": 2, "bitwise_or": 2, "bitwise_xor": 2, "bitwise_not": 1, "abs": 1}
    ops |= {"popcount": 1, "clz": 1, "shift_left": 2, "shift_right": 2, "pow": 2}
    cases, functions = [], []
    for op, arity in ops.items():
        result, function = intrinsic(op, [kind] * arity)
        rows = list(itertools.product(samples(kind), repeat=arity))
        if op == "pow":
            rows = [row for row in rows if row[1] < 200]
        rows = [row for row in rows if defined(function, row)]
        cases.append(Case(result, call(op, result), (kind,) * arity, rows))
        functions.append(function)
    exactly(cases, functions)


def test_every_half_is_read_and_written_exactly() -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    wide = dtype("float32")
    for kind, made in (("float16", np.float16), ("bfloat16", ml_dtypes.bfloat16)):
        source = bits.view(made)
        rows = [(v,) for v in source]
        there = Case(wide, conversion(wide), (dtype(kind),), rows)
        back = Case(
            dtype(kind),
            lambda x, k=kind: tir.Add(x, tir.FloatImm(0.0, dtype(k))),
            (dtype(kind),),
            rows,
        )
        as_float, again = computed([there, back])
        np.testing.assert_array_equal(as_float, source.astype(np.float32))
        np.testing.assert_array_equal(again.astype(np.float32), source.astype(np.float32))


def test_vectors_of_floats_are_rounded_to_halves() -> None:
    """Every half, what lies in the middle between two, and the neighbours of both; in vectors and one by one."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    with np.errstate(invalid="ignore"):
        middles = (halves[:-1] + halves[1:]) / 2
    at = np.concatenate([halves, middles, np.array([65519, 65520, 3e38], np.float32)])
    with np.errstate(invalid="ignore", over="ignore"):
        beside = [np.nextafter(at, np.float32(end)) for end in (-math.inf, math.inf)]
        given = np.concatenate([at, *beside, -at])
        wanted = given.astype(np.float16)
    func = of_body(
        'x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float16")',
        'for i in range(n): y[i] = T.Cast("float16", x[i])',
    )
    kernel = native.compile(func)
    for size in (given.size, *range(40)):
        made = np.zeros(size, np.float16)
        kernel([given[given.size - size :], made])
        np.testing.assert_array_equal(made, wanted[given.size - size :])
