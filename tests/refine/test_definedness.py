"""Operations on elements have a result wherever NumPy or Python's integers have one."""

from __future__ import annotations

import random

import numpy as np
import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import FLOAT32, dtype
from rlx.refine.definedness import decided, requirement
from tests.refine.element_values import Point

X, Y = tir.Var("x", FLOAT32), tir.Var("y", FLOAT32)
N = tir.Var("n", dtype("int8"))
NUMBERS = (
    *(0.0, -0.0, 1.0, -1.5, 2.5, 127.0, -129.0, 3e4, 2.0**31, -(2.0**31), 1e30, 3e38),
    *(0.1, 0.3, 16777217.0),
)
"""The last of them are rounded."""
VALUES = np.array([*NUMBERS, np.nan, np.inf, -np.inf, 1e-40], np.float32)
PLACES = {
    X: np.repeat(VALUES, len(VALUES)),
    Y: np.tile(VALUES, len(VALUES)),
    N: np.resize(np.array([-128, -1, 0, 3, 127], np.int8), len(VALUES) ** 2),
}
"""All pairs of the values, and an integer with each."""


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int32", "uint32", "int64"])
def test_a_float16_is_cast_where_its_integer_part_fits(kind: str) -> None:
    half = tir.Var("h", dtype("float16"))
    found = requirement(tir.Cast(dtype(kind), half))
    assert found is not None
    limits = np.iinfo(kind)
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    wide = np.nan_to_num(halves.astype(np.float64))
    near = (abs(wide - float(limits.min)) < 2) | (abs(wide - float(limits.max)) < 2)
    near[::61] = True
    said, _ = Point({half: halves[near]}).of(found[0])
    for value, condition in zip(halves[near], said, strict=True):
        fits = bool(np.isfinite(value)) and limits.min <= int(value) <= limits.max
        assert condition == fits, value


@pytest.mark.parametrize(("kind", "edge"), [("int32", 2**31), ("uint64", 2**64), ("int64", 2**63)])
def test_the_last_float_that_is_cast(kind: str, edge: int) -> None:
    for width in (np.float32, np.float64):
        x = tir.Var("x", dtype(width.__name__))
        found = requirement(tir.Cast(dtype(kind), x))
        assert found is not None
        limits = np.iinfo(kind)
        ends = np.array([edge, -edge, -1, -edge - 1], width)
        values = np.concatenate([np.nextafter(ends, width(sign * np.inf)) for sign in (-1, 1)])
        values = np.concatenate([ends, values])
        said, _ = Point({x: values}).of(found[0])
        for value, condition in zip(values, said, strict=True):
            assert condition == (int(limits.min) <= int(value) <= int(limits.max)), value


def element(rng: random.Random, depth: int) -> tir.PrimExpr:
    if depth == 0:
        return rng.choice([X, Y, tir.FloatImm(rng.choice(NUMBERS), FLOAT32), tir.Cast(FLOAT32, N)])
    a, b = element(rng, depth - 1), element(rng, depth - 1)
    return rng.choice(
        [
            tir.Add(a, b),
            tir.Sub(a, b),
            tir.Mul(a, b),
            tir.Min(a, b),
            tir.Max(a, b),
            tir.Select(condition(rng, a, b), a, b),
            tir.Call(rng.choice(["floor", "ceil", "trunc", "nearbyint", "fabs"]), (a,), FLOAT32),
            tir.Cast(FLOAT32, tir.Cast(dtype("float16"), a)),
        ]
    )


def condition(rng: random.Random, a: tir.PrimExpr, b: tir.PrimExpr) -> tir.PrimExpr:
    literal = tir.FloatImm(rng.choice(NUMBERS), FLOAT32)
    kind = rng.choice([tir.LT, tir.LE, tir.GT, tir.GE])
    compared = kind(*rng.choice([(a, literal), (literal, a), (b, literal), (a, b)]))
    nan = tir.Call("isnan", (a,), dtype("bool"))
    return rng.choice(
        [compared, tir.Not(compared), nan, tir.Or(nan, compared), tir.And(tir.Not(nan), compared)]
    )


def test_what_is_decided_by_limits_holds_for_all_floats() -> None:
    rng = random.Random(7)
    said = 0
    for _ in range(1200):
        x = element(rng, rng.choice([1, 2, 3]))
        literal = tir.FloatImm(rng.choice(NUMBERS), FLOAT32)
        known = condition(rng, X, Y)
        compared = rng.choice([tir.LT, tir.LE])(*rng.choice([(x, literal), (literal, x)]))
        asked = rng.choice([compared, compared, tir.Call("isnan", (x,), dtype("bool"))])
        found = decided(asked, {known: True}, lambda n: (-128, 127))
        if found is None:
            continue
        said += 1
        point = Point(PLACES)
        wrong = point.of(known)[0] & (point.of(asked)[0] != found)
        assert not wrong.any(), (asked, known)
    assert said > 200, said
