"""A value whose parts are shared: it is computed in the time of its parts, not of its text."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64, dtype
from rlx.semantics import native
from rlx.semantics.tir import evaluate

I = tir.Var("i")
A, B = (tir.Buffer(name, (tir.IntImm(4),), INT64) for name in "AB")
NUMBERS = np.array([3, -5, 0, 7])
_HANDLE = dtype("handle")


def graph(rng: random.Random, size: int, branches: bool) -> tir.PrimExpr:
    """Operations on the last few numbers, so that a number is used again and again; with
    ``branches``, some operands are not always evaluated.
    """
    nodes: list[tir.PrimExpr] = [tir.BufferLoad(A, (I,)), I, tir.IntImm(3)]
    for _ in range(size):
        a, b, c = (rng.choice(nodes[-4:]) for _ in range(3))
        condition: tir.PrimExpr = rng.choice([tir.LT, tir.NE])(a, c)
        if branches and rng.random() < 0.4:
            other = tir.GE(b, tir.IntImm(rng.randint(-9, 9)))
            condition = rng.choice([tir.And, tir.Or])(condition, other)
        chosen: list[tir.PrimExpr] = [tir.Add(a, b), tir.Sub(a, b), tir.Mul(a, b), tir.Max(a, b)]
        chosen += [tir.Select(condition, a, b), tir.Cast(INT64, tir.Cast(dtype("int32"), a))]
        if branches:
            divides = tir.NE(a, tir.IntImm(0))
            chosen.append(tir.Call("if_then_else", (condition, a, b)))
            chosen.append(tir.Call("if_then_else", (divides, tir.FloorDiv(b, a), c)))
        nodes.append(rng.choice(chosen))
    return nodes[-1]


def stored(value: tir.PrimExpr) -> tir.PrimFunc:
    """A function that stores a value of each ``i`` to B."""
    a, b = tir.Var("a", _HANDLE), tir.Var("b", _HANDLE)
    loop = tir.For(I, tir.IntImm(0), tir.IntImm(4), "serial", tir.BufferStore(B, (I,), value))
    return tir.PrimFunc((a, b), loop, None, {a: A, b: B}, {})


def wrapped(value: int, bits: int = 64) -> int:
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


_OPERATIONS: dict[type[tir.PrimExpr], Callable[..., int]] = {
    tir.Add: lambda a, b: wrapped(a + b),
    tir.Sub: lambda a, b: wrapped(a - b),
    tir.Mul: lambda a, b: wrapped(a * b),
    tir.FloorDiv: lambda a, b: wrapped(a // b) if b else 0,  # not evaluated then
    tir.Max: max,
    tir.LT: lambda a, b: a < b,
    tir.NE: lambda a, b: a != b,
    tir.GE: lambda a, b: a >= b,
    tir.And: lambda a, b: a and b,
    tir.Or: lambda a, b: a or b,
    tir.Select: lambda c, a, b: a if c else b,
    tir.Call: lambda c, a, b: a if c else b,
}


def expected(value: tir.PrimExpr, at: int) -> int:
    """The value of one element in Python's integers."""

    def number(node: tir.PrimExpr, operands: list[int]) -> int:
        match node:
            case tir.Var():
                return at
            case tir.IntImm(value=known):
                return known
            case tir.BufferLoad():
                return int(NUMBERS[at])
            case tir.Cast(dtype=kind):
                return wrapped(operands[0], kind.bits)
        return _OPERATIONS[type(node)](*operands)

    return tir.fold(value, number)


@pytest.mark.parametrize("branches", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_a_shared_part_is_evaluated_once(seed: int, branches: bool) -> None:
    value = graph(random.Random(seed), 120, branches)
    found = np.zeros(4, dtype="int64")
    evaluate(stored(value), [NUMBERS, found])
    assert found.tolist() == [expected(value, at) for at in range(4)]


@pytest.mark.skipif(not native.has_compiler(), reason="needs a C compiler")
@pytest.mark.parametrize("seed", range(8))
def test_code_for_a_shared_part_is_written_once(seed: int) -> None:
    value = graph(random.Random(seed), 120, branches=False)
    found = np.zeros(4, dtype="int64")
    native.compile(stored(value))([NUMBERS, found])
    assert found.tolist() == [expected(value, at) for at in range(4)]
