"""Limits of operations, for all small limits of their operands: true, and exact where they can be.

The values themselves are the oracle; a limit that is far away takes the place of a missing one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import dtype
from rlx.solver import coarse_intervals, intervals
from rlx.solver.normal_form import Engine
from rlx.solver.poly import Poly
from rlx.solver.prim_exprs import Range
from tests.solver.values import value_at

NUMBERS = range(-2, 3)
CLOSED = [(low, high) for low in NUMBERS for high in NUMBERS if low <= high]
OPEN: list[Range] = [
    *CLOSED,
    *((low, None) for low in NUMBERS),
    *((None, high) for high in NUMBERS),
    (None, None),
]
FAR = 9
X, Y = tir.Var("x"), tir.Var("y")

EXACT: list[type[tir.Binary]] = [tir.Add, tir.Sub, tir.Mul, tir.Min, tir.Max]
ROUNDED: list[type[tir.Binary]] = [tir.FloorDiv, tir.FloorMod, tir.TruncDiv, tir.TruncMod]


def values(limits: Range) -> range:
    low, high = limits
    return range(-FAR if low is None else low, (FAR if high is None else high) + 1)


def assert_true(found: Range, wanted: list[int]) -> None:
    low, high = found
    assert all((low is None or low <= v) and (high is None or v <= high) for v in wanted)


@pytest.mark.parametrize("kind", [*EXACT, *ROUNDED], ids=lambda kind: kind.__name__)
def test_coarse_limits(kind: type[tir.Binary]) -> None:
    node = kind(X, Y)
    table = {(x, y): value_at(node, {X: x, Y: y}) for x in NUMBERS for y in NUMBERS}
    for a, b in product(CLOSED, CLOSED):
        found = coarse_intervals.of_node(node, (a, b))
        wanted = [v for at in product(values(a), values(b)) if (v := table[at]) is not None]
        assert found is not None
        assert_true(found, wanted)
        if kind in EXACT:
            assert found == (min(wanted), max(wanted))


def test_coarse_limits_of_choices_and_casts() -> None:
    for a, b in product(CLOSED, CLOSED):
        for choice in (tir.Select(X, X, Y), tir.Call("if_then_else", (X, X, Y))):
            found = coarse_intervals.of_node(choice, ((0, 1), a, b))
            assert found == (min(a[0], b[0]), max(a[1], b[1]))
        for truth in (tir.LT(X, Y), tir.Not(X), tir.And(X, Y), tir.Cast(dtype("bool"), X)):
            assert coarse_intervals.of_node(truth, (a, b)) == (0, 1)
        wrapped = coarse_intervals.of_node(tir.Cast(dtype("uint8"), X), (a,))
        assert wrapped == (0, 255)
        assert coarse_intervals.of_node(tir.Cast(dtype("int64"), X), (a,)) == a


Operation = Callable[[Engine, Poly, Poly], Poly]
OPERATIONS: dict[str, tuple[Operation, tir.PrimExpr]] = {
    "x + y": (lambda e, x, y: e.add(x, y), tir.Add(X, Y)),
    "x - 2*y": (lambda e, x, y: e.sub(x, e.scale(2, y)), tir.Sub(X, tir.Mul(Y, tir.IntImm(2)))),
    "x*y": (lambda e, x, y: e.mul(x, y), tir.Mul(X, Y)),
    "x*x": (lambda e, x, y: e.mul(x, x), tir.Mul(X, X)),
    "x*x*x": (lambda e, x, y: e.mul(x, e.mul(x, x)), tir.Mul(X, tir.Mul(X, X))),
    "x*x*y": (lambda e, x, y: e.mul(y, e.mul(x, x)), tir.Mul(Y, tir.Mul(X, X))),
    "x//y": (lambda e, x, y: e.of_atom(e.atom("div", (x, y))), tir.FloorDiv(X, Y)),
    "(x*y)": (lambda e, x, y: e.of_atom(e.atom("prod", (x, y))), tir.Mul(X, Y)),
    "max(x, 0)": (lambda e, x, y: e.of_atom(e.atom("relu", (x,))), tir.Max(X, tir.IntImm(0))),
}
CLOSEST = {"x + y", "x - 2*y", "x*y", "x*x", "(x*y)"}
"""What has exact limits where both operands have two."""


@pytest.mark.parametrize("name", OPERATIONS)
def test_limits_of_polynomials(name: str) -> None:
    operation, expr = OPERATIONS[name]
    numbers = range(-FAR, FAR + 1)
    table = {(x, y): value_at(expr, {X: x, Y: y}) for x in numbers for y in numbers}
    for a, b in product(OPEN, OPEN):
        engine = Engine(10_000)
        x, y = (engine.atom("var", (), var) for var in (X, Y))
        engine.ranges |= {x.index: a, y.index: b}
        poly = operation(engine, engine.of_atom(x), engine.of_atom(y))
        found = intervals.interval(engine, poly)
        signs = [intervals.nonneg(engine, poly, effort) for effort in range(5)]
        wanted = [v for at in product(values(a), values(b)) if (v := table[at]) is not None]
        assert_true(found, wanted)
        assert not any(signs) or all(v >= 0 for v in wanted)
        if name in CLOSEST and None not in (*a, *b):
            assert found == (min(wanted), max(wanted))
