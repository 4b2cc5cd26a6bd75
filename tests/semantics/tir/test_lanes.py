"""Lanes of vectors by number, bits read as other types, and the intrinsics of LLVM."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.semantics.tir import evaluate
from tests.semantics.tir.programs import computed, of_body, stopped, vector

LANES = "A[T.Ramp(0, 1, 4)], A[T.Ramp(4, 1, 4)]"


@given(st.lists(st.integers(-1, 8), min_size=2, max_size=6))
def test_lanes_are_picked_by_number(places: list[int]) -> None:
    body = f"O[T.Ramp(0, 1, {len(places)})] = T.Shuffle([{LANES}], {places})"
    func = of_body(f"{vector('int32', 8)}, {vector('int32', len(places), 'O')}", body)
    array, out = np.arange(10, 18, dtype=np.int32), np.zeros(len(places), np.int32)
    if min(places) < 0 or max(places) > 7:
        assert stopped(func, array, out).code == "E-tir-bounds"
    else:
        evaluate(func, [array, out])
        assert out.tolist() == array[places].tolist()


def test_one_lane_is_a_number_and_halves_are_vectors() -> None:
    array = np.arange(8, dtype=np.int32)
    body = """
        v: T.let[T.int32x8] = T.vectorcombine("int32x8", A[T.Ramp(4, 1, 4)], A[T.Ramp(0, 1, 4)])
        A[0] = T.Shuffle([v], [3]) + T.Shuffle([A[1], A[2]], [1])
        A[T.Ramp(4, 1, 4)] = T.vectorlow("int32x4", v) * 10 + T.vectorhigh("int32x4", v)
    """
    evaluate(of_body(vector("int32", 8), dedent(body)), [array])
    assert array.tolist() == [9, 1, 2, 3, 40, 51, 62, 73]


FORMATS = [
    *("int8", "uint8", "int16", "uint16", "int32", "uint64", "float16", "float32", "float64"),
    *("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e3m4"),
]


def _numpy(kind: str) -> Any:
    return np.dtype(getattr(ml_dtypes, kind, kind))


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("target", FORMATS)
def test_bits_are_read_as_another_type(source: str, target: str) -> None:
    a, b = _numpy(source), _numpy(target)
    given_ = np.array([1, 2, 3, 1, 0, 4, 1, 2], a)
    lanes, others = 16 // a.itemsize, 16 // b.itemsize
    if a.itemsize < 2:
        given_ = np.concatenate([given_, given_])
    given_ = given_[:lanes]
    left, right = (f"T.Ramp(0, 1, {n})" for n in (others, lanes))
    body = f'O[{left}] = T.reinterpret("{target}x{others}", A[{right}])'
    func = of_body(f"{vector(source, lanes)}, {vector(target, others, 'O')}", body)
    out = np.zeros(others, b)
    evaluate(func, [given_, out])
    numbers = given_.view(b).astype(np.float64)
    assert np.array_equal(out.astype(np.float64), numbers, equal_nan=True)


INTEGERS = st.integers(-(1 << 31), (1 << 31) - 1) | st.sampled_from([0, 1, -1, -(1 << 31)])
UNSIGNED: dict[str, Any] = {
    "llvm.ctpop": lambda a, b: a.bit_count(),
    "llvm.bswap": lambda a, b: int.from_bytes(a.to_bytes(4, "little"), "big"),
    "llvm.bitreverse": lambda a, b: int(f"{a:032b}"[::-1], 2),
    "llvm.umax": max,
    "llvm.umin": min,
    "llvm.uadd.sat": lambda a, b: min(a + b, (1 << 32) - 1),
    "llvm.usub.sat": lambda a, b: max(a - b, 0),
}
SIGNED: dict[str, Any] = {
    "llvm.smax": max,
    "llvm.smin": min,
    "llvm.sadd.sat": lambda a, b: min(max(a + b, -(1 << 31)), (1 << 31) - 1),
    "llvm.ssub.sat": lambda a, b: min(max(a - b, -(1 << 31)), (1 << 31) - 1),
}
ONE = ("llvm.ctpop", "llvm.bswap", "llvm.bitreverse")


@pytest.mark.parametrize("name", [*UNSIGNED, *SIGNED])
@given(a=INTEGERS, b=INTEGERS)
def test_integers_of_llvm(name: str, a: int, b: int) -> None:
    mask = (1 << 32) - 1
    model = UNSIGNED[name](a & mask, b & mask) if name in UNSIGNED else SIGNED[name](a, b)
    operands = "a[0]" if name in ONE else "a[0], b[0]"
    suffix = ".i32" if a % 2 else ""
    call = f'T.call_llvm_pure_intrin("int32", "{name}{suffix}", {operands})'
    assert int(computed(call, "int32", a, b)) & mask == model & mask


@given(INTEGERS, st.integers(0, 70))
def test_zeros_and_funnels_of_llvm(a: int, by: int) -> None:
    bits = f"{a & 0xFFFFFFFF:032b}"
    for name, model in (
        ("ctlz", len(bits) - len(bits.lstrip("0"))),
        ("cttz", len(bits) - len(bits.rstrip("0"))),
    ):
        call = f'T.call_llvm_pure_intrin("int32", "llvm.{name}", a[0], T.bool(False))'
        assert computed(call, "int32", a) == model
    turned = int(bits[by % 32 :] + bits[: by % 32], 2)
    call = 'T.call_llvm_pure_intrin("int32", "llvm.fshl", a[0], a[0], b[0])'
    assert int(computed(call, "int32", a, by)) & 0xFFFFFFFF == turned
    call = 'T.call_llvm_pure_intrin("int32", "llvm.fshr", a[0], a[0], b[0])'
    assert int(computed(call, "int32", turned - (turned >> 31 << 32), by)) == a


REDUCED: dict[str, Any] = {
    "add": np.sum,
    "mul": np.prod,
    "smax": np.max,
    "smin": np.min,
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
}


@pytest.mark.parametrize("name", REDUCED)
@given(st.lists(INTEGERS, min_size=4, max_size=4))
def test_lanes_are_combined(name: str, values: list[int]) -> None:
    call = f'T.call_llvm_pure_intrin("int32", "llvm.vector.reduce.{name}", A[T.Ramp(0, 1, 4)])'
    array = np.array(values, np.int32)
    options = {"dtype": np.int32} if name in ("add", "mul") else {}
    wanted = REDUCED[name](array, **options)
    evaluate(of_body(vector("int32", 4), f"A[0] = {call}"), [array])
    assert array[0] == wanted


def test_functions_of_llvm_on_vectors_and_floats() -> None:
    array = np.array([-1.5, 2.5, -0.0, 9], np.float32)
    lanes = "A[T.Ramp(0, 1, 4)]"
    body = f"""
        A[T.Ramp(0, 1, 4)] = T.call_llvm_pure_intrin("float32x4", "llvm.fabs.v4f32", {lanes})
        A[0] = T.call_llvm_pure_intrin("float32", "llvm.vector.reduce.fadd", A[0], {lanes})
        A[1] = T.call_llvm_pure_intrin("float32", "llvm.roundeven", A[1])
        A[2] = T.call_llvm_pure_intrin("float32", "llvm.maximum", A[2], T.float32("nan"))
        A[3] = T.call_llvm_pure_intrin("float32", "llvm.fmuladd", A[3], A[3], A[3])
    """
    evaluate(of_body(vector("float32", 4), dedent(body)), [array])
    assert array.tolist()[:2] == [14.5, 2] and np.isnan(array[2]) and array[3] == 90


@given(st.integers(-999, 999), *[st.integers(0, 3)] * 2, *[st.booleans()] * 2)
def test_fixed_point_products_with_shifts(
    x: int, left: int, right: int, do_left: bool, do_right: bool
) -> None:
    flags = f"T.bool({do_left}), T.bool({do_right})"
    call = f"T.q_multiply_shift_per_axis(a[0], 1073741824, {left}, {right}, 31, {flags})"
    shift = 1 + right * do_right
    wanted = ((x << left * do_left) + (1 << (shift - 1))) >> shift
    assert computed(call, "int32", x) == wanted
