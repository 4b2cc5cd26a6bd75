"""Scalars against exact definitions: fractions, C's types, NumPy and ml_dtypes."""

from __future__ import annotations

import ctypes
import itertools
import math
import struct
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import dtype, limits
from rlx.grammar.nodes.prim_operators import truncated_quotient, truncated_remainder
from rlx.semantics.faults import FaultStop, UnsupportedStop
from rlx.semantics.tir.intrinsics import intrinsic
from rlx.semantics.tir.values import (
    binary,
    cast,
    extremum,
    from_integer,
    into,
)

INTEGERS = {
    f"{sign}int{bits}": getattr(ctypes, f"c_{sign}int{bits}")
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
FLOATS: dict[str, Any] = {
    "float16": np.float16,
    "float32": np.float32,
    "bfloat16": ml_dtypes.bfloat16,
}
names, floats = st.sampled_from(sorted(INTEGERS)), st.sampled_from(sorted(FLOATS))
whole = st.integers(-(2**70), 2**70)
doubles = st.floats(allow_subnormal=True)


def same(a: float, b: float) -> bool:
    """Equal, signs of zeros included; NaN is NaN."""
    return (math.isnan(a) and math.isnan(b)) or (
        a == b and math.copysign(1, a) == math.copysign(1, b)
    )


@given(names, whole)
def test_integers_wrap_as_in_c(name: str, value: int) -> None:
    assert into(dtype(name))(value) == INTEGERS[name](value).value


@given(floats, doubles)
def test_floats_round_as_numpy_does(name: str, value: float) -> None:
    with np.errstate(all="ignore"):
        assert same(float(into(dtype(name))(value)), float(FLOATS[name](value)))


@given(floats, doubles, doubles, st.sampled_from("+-*/"))
def test_float_arithmetic_is_rounded_once(name: str, a: float, b: float, sign: str) -> None:
    kinds: dict[str, type[tir.Binary]] = {"+": tir.Add, "-": tir.Sub, "*": tir.Mul, "/": tir.Div}
    kind = into(dtype(name))
    x, y = FLOATS[name](kind(a)), FLOATS[name](kind(b))
    with np.errstate(all="ignore"):
        expected = {"+": x + y, "-": x - y, "*": x * y, "/": x / y}
        found = binary(kinds[sign], dtype(name))(float(x), float(y))
        assert same(float(found), float(expected[sign]))


@given(whole, whole.filter(bool))
def test_divisions_of_integers(a: int, b: int) -> None:
    exact = Fraction(a, b)
    assert truncated_quotient(a, b) == math.trunc(exact)
    assert truncated_remainder(a, b) == a - math.trunc(exact) * b
    dt = dtype("int64")
    x, y = into(dt)(a), into(dt)(b)
    if y:
        assert binary(tir.FloorDiv, dt)(x, y) == into(dt)(math.floor(Fraction(int(x), int(y))))
        assert binary(tir.FloorMod, dt)(x, y) == int(x) - math.floor(Fraction(int(x), int(y))) * y


def test_the_smallest_integer_by_minus_one_wraps() -> None:
    low, _ = limits(dtype("int32"))
    assert binary(tir.FloorDiv, dtype("int32"))(low, -1) == low
    assert binary(tir.TruncDiv, dtype("int32"))(low, -1) == low


@pytest.mark.parametrize("kind", [tir.FloorDiv, tir.FloorMod, tir.TruncDiv, tir.TruncMod])
def test_division_by_zero(kind: type[tir.Binary]) -> None:
    with pytest.raises(FaultStop) as caught:
        binary(kind, dtype("int32"))(1, 0)
    assert caught.value.code == "E-tir-divide"
    assert not math.isfinite(binary(kind, dtype("float32"))(1.0, 0.0))


@given(st.integers(-(2**63), 2**64), st.sampled_from(["float32", "float16", "bfloat16"]))
def test_integers_become_the_nearest_float(value: int, name: str) -> None:
    found = from_integer(value, dtype(name))
    if math.isinf(found):
        return
    kind = FLOATS[name]
    ulp = [float(np.nextafter(kind(found), kind(way))) for way in (-math.inf, math.inf)]
    away = [abs(Fraction(v) - value) for v in ulp if math.isfinite(v)]
    assert all(abs(Fraction(found) - value) <= other for other in away)


@given(doubles, names)
def test_a_float_has_its_integer_part(value: float, name: str) -> None:
    low, high = limits(dtype(name))
    convert = cast(dtype("float64"), dtype(name))
    if math.isfinite(value) and low <= math.trunc(value) <= high:
        assert convert(value) == math.trunc(value)
    else:
        with pytest.raises(FaultStop) as caught:
            convert(value)
        assert caught.value.code == "E-tir-cast-range"


def test_other_casts() -> None:
    assert cast(dtype("int64"), dtype("int8"))(300) == 44
    assert cast(dtype("float32"), dtype("bool"))(math.nan) is True
    assert cast(dtype("int32"), dtype("bool"))(0) is False
    assert cast(dtype("bool"), dtype("float16"))(True) == 1.0
    assert cast(dtype("float32"), dtype("float8_e4m3fn"))(17.0) == 16.0


def test_extrema_of_unordered_numbers_are_the_second() -> None:
    for kind in (tir.Min, tir.Max):
        assert extremum(kind)(math.nan, 1.0) == 1.0
        assert math.isnan(extremum(kind)(1.0, math.nan))
    assert extremum(tir.Max)(2, 3) == 3 and extremum(tir.Min)(2, 3) == 2


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-2, 40))
def test_shifts(value: int, by: int) -> None:
    int32 = dtype("int32")
    left, right = (intrinsic(f"shift_{way}", [int32, int32])[1] for way in ("left", "right"))
    if 0 <= by < 32:
        assert left(value, by) == ctypes.c_int32(value << by).value
        assert right(value, by) == value // 2**by
    else:
        for shift in (left, right):
            with pytest.raises(FaultStop) as caught:
                shift(value, by)
            assert caught.value.code == "E-tir-shift-amount"


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_bits(a: int, b: int) -> None:
    uint32 = dtype("uint32")
    one = {n: intrinsic(n, [uint32])[1](a) for n in ("bitwise_not", "popcount", "clz")}
    assert one == {
        "bitwise_not": int(np.bitwise_not(np.uint32(a))),
        "popcount": f"{a:b}".count("1"),
        "clz": len(f"{a:032b}") - len(f"{a:032b}".lstrip("0")),
    }
    assert intrinsic("bitwise_xor", [uint32, uint32])[1](a, b) == (a | b) - (a & b)


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-1, 100))
def test_powers_of_integers_wrap(base: int, exponent: int) -> None:
    power = intrinsic("pow", [dtype("int32")] * 2)[1]
    if exponent >= 0:
        assert power(base, exponent) == ctypes.c_int32(base**exponent).value
    else:
        with pytest.raises(FaultStop) as caught:
            power(base, exponent)
        assert caught.value.code == "E-tir-power-exponent"


@pytest.mark.parametrize(
    "name",
    [
        *("exp", "exp2", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "sinh"),
        *("cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "floor", "ceil"),
        *("trunc", "round", "fabs"),
    ],
)
def test_functions_of_floats_everywhere(name: str) -> None:
    words = {"round": "rint", "asin": "arcsin", "acos": "arccos", "atan": "arctan"}
    words |= {"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
    places = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1.0, -1.0, 100.0, -1e30, 1e30]
    points = np.array([*places, math.inf, -math.inf, math.nan], np.float64)
    with np.errstate(all="ignore"):
        expected = getattr(np, words.get(name, name))(points)
    result, function = intrinsic(name, [dtype("float64")])
    assert result == dtype("float64")
    np.testing.assert_allclose([function(float(p)) for p in points], expected, rtol=1e-13)


def test_more_functions_of_floats() -> None:
    f32 = dtype("float32")
    assert intrinsic("rsqrt", [f32])[1](0.0) == math.inf
    assert intrinsic("sigmoid", [f32])[1](-1000.0) == 0.0
    assert intrinsic("pow", [f32, f32])[1](-8.0, 2.0) == 64.0
    assert math.isnan(intrinsic("pow", [f32, f32])[1](-8.0, 0.5))
    assert intrinsic("fma", [f32] * 3)[1](2.0, 3.0, 4.0) == 10.0
    assert intrinsic("tgamma", [f32])[1](5.0) == 24.0
    assert math.isnan(intrinsic("tgamma", [f32])[1](-1.0))
    assert intrinsic("tgamma", [f32])[1](1000.0) == math.inf
    assert intrinsic("nextafter", [f32, f32])[1](1.0, 2.0) == 1.0 + 2.0**-23
    assert math.isnan(intrinsic("fmod", [f32, f32])[1](1.0, 0.0))
    assert intrinsic("ldexp", [f32, dtype("int32")])[1](1.5, 3) == 12.0
    assert intrinsic("q_multiply_shift", [dtype("int32")] * 4)[1](100, 1 << 30, 31, 0) == 50
    assert intrinsic("isnan", [f32]) == (dtype("bool"), math.isnan)
    assert intrinsic("isfinite", [dtype("int8")])[1](3) is True
    assert intrinsic("isinf", [dtype("int8")])[1](3) is False
    assert intrinsic("round", [dtype("int8")])[1](3) == 3
    assert intrinsic("abs", [dtype("int8")])[1](-128) == -128
    assert intrinsic("likely", [dtype("bool")])[1](True) is True


@pytest.mark.parametrize(
    ("name", "operands"), [("frobnicate", ["float32"]), ("exp", ["int32"]), ("exp", [])]
)
def test_an_intrinsic_without_meaning(name: str, operands: list[str]) -> None:
    with pytest.raises(UnsupportedStop) as caught:
        intrinsic(name, [dtype(o) for o in operands])
    assert caught.value.code == "E-tir-intrinsic-unknown"


@pytest.mark.parametrize("name", ["handle", "float4_e9m9"])
def test_a_type_without_arithmetic(name: str) -> None:
    with pytest.raises(UnsupportedStop) as caught:
        into(dtype(name))
    assert caught.value.code == "E-tir-type"


@given(st.integers(-(2**31), 2**31 - 1))
def test_reinterpretation_keeps_the_bits(value: int) -> None:
    from rlx.semantics.tir.intrinsics import reinterpret

    there = reinterpret(dtype("int32"), dtype("float32"))(value)
    assert math.isnan(there) or struct.pack("<f", there) == struct.pack("<i", value)
    with pytest.raises(UnsupportedStop) as caught:
        reinterpret(dtype("int32"), dtype("float64"))
    assert caught.value.code == "E-tir-reinterpret-size"


def test_q_multiply_shift_rounds_halves_upwards() -> None:
    """Against fractions: `x * y * 2 ** (s - q)`, to the nearest integer, halves to the greater one."""
    function = intrinsic("q_multiply_shift", [dtype("int32")] * 4)[1]
    numbers = (-(1 << 31), -(1 << 30) - 1, -7, -3, -2, -1, 0, 1, 2, 3, 5, 1 << 30, (1 << 31) - 1)
    for x, y in itertools.product(numbers, numbers):
        for q, s in ((1, 0), (2, 0), (3, 1), (31, 0), (31, 5), (31, 29)):
            exact = Fraction(x * y, 1 << (q - s))
            rounded = math.floor(exact + Fraction(1, 2))
            wrapped = (rounded + (1 << 31)) % (1 << 32) - (1 << 31)
            assert function(x, y, q, s) == wrapped, (x, y, q, s)
