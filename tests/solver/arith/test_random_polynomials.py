"""Random polynomials of the prover: their values are Python's, and their limits and signs are true."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice, product
from random import Random

import pytest

from rlx.grammar.nodes import tir
from rlx.solver import assumptions, intervals
from rlx.solver.atom_values import poly_value
from rlx.solver.normal_form import Engine, variable
from rlx.solver.poly import DEPTH_LIMIT, Poly, TooMuchWorkError
from rlx.solver.prim_exprs import Range
from rlx.solver.question_parser import parse
from tests.solver.values import value_at

SEEDS = 150
FUEL = 12_000
"""For each answer."""

LIMITS: tuple[Range, ...] = (
    *((0, None), (0, None), (1, None), (None, None), (2, None), (None, 0), (None, 5), (-3, None)),
    *((0, 7), (1, 4), (-4, 4), (-6, -2), (3, 3), (0, 1), (0, 0), (4, 64)),
)
FACTS = (
    *("x % 4 == 0", "x < y", "x <= y + 2", "x == 2*y", "x*y >= 1", "x + y + z <= 10", "z == 3"),
    *("x // 3 >= 2", "x != 0", "y % x == 0", "x < 5 or y > 2", "max(x, y) <= 6", "x*y == z"),
    *("-x >= z", "x - y >= 1", "x % 2 + y == 3", "2*x + 3*y <= 12", "x // y >= 1", "y != z"),
)
VALUES = (-5, -2, -1, 0, 1, 2, 3, 4, 6, 9)

Point = tuple[int, ...]
Value = Callable[[Point], int]
Made = tuple[Poly, Value]


class Case:
    """An engine with variables that have limits, some facts about them, and polynomials of both."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.engine = Engine(FUEL)
        self.variables = tuple(tir.Var(name) for name in "xyz")
        named = {var.name: var for var in self.variables}
        ranges = [(var, self.random.choice(LIMITS)) for var in self.variables]
        texts = self.random.sample(FACTS, self.random.choice((0, 0, 1, 1, 2)))
        facts = [parse(text, named) for text in texts]
        self.known: list[tir.PrimExpr] = []
        with suppress(TooMuchWorkError):
            if assumptions.load(self.engine, ranges, facts):
                self.known = facts
        self.points = [*islice(self.admissible(ranges, facts), 12)]

    def admissible(
        self, ranges: list[tuple[tir.Var, Range]], facts: list[tir.PrimExpr]
    ) -> Iterator[Point]:
        points = [*product(VALUES, repeat=3)]
        self.random.shuffle(points)
        for point in points:
            values = dict(zip(self.variables, point, strict=True))
            inside = (
                (low is None or low <= values[v]) and (high is None or values[v] <= high)
                for v, (low, high) in ranges
            )
            if all(inside) and all(value_at(fact, values) for fact in facts):
                yield point

    def leaf(self) -> Made:
        place = self.random.randrange(4)
        if place == 3:
            value = self.random.choice((0, 1, -1, 2, 3, -4, 6, 12))
            return self.engine.const(value), lambda _: value
        return variable(self.engine, self.variables[place]), lambda point: point[place]

    def made(self, depth: int) -> Made:
        """A polynomial, and its value by Python."""
        if depth == 0:
            return self.leaf()
        (a, f), (b, g) = (self.made(self.random.randint(0, depth - 1)) for _ in range(2))
        e = self.engine
        match self.random.randrange(14):
            case 0 | 1:
                return e.add(a, b), lambda p: f(p) + g(p)
            case 2 | 3:
                return e.sub(a, b), lambda p: f(p) - g(p)
            case 4 | 5:
                return e.mul(a, b), lambda p: f(p) * g(p)
            case 6:
                factor = self.random.choice((-3, -1, 2, 4))
                return e.shift(e.scale(factor, a), 1), lambda p: factor * f(p) + 1
            case 7:
                return e.div(a, b), lambda p: f(p) // g(p)
            case 8:
                size = self.random.choice((2, 3, 4, -2, 8, 12))
                return e.div(a, e.const(size)), lambda p: f(p) // size
            case 9:
                size = self.random.choice((2, 3, 4, 6))
                return e.mod(a, e.const(size)), lambda p: f(p) % size
            case 10:
                return e.maximum(a, b), lambda p: max(f(p), g(p))
            case 11:
                return e.minimum(a, b), lambda p: min(f(p), g(p))
            case 12:
                return e.choose(e.compare(a), a, b), lambda p: f(p) if f(p) >= 0 else g(p)
            case _:
                low, high = self.random.choice(((0, 7), (-2, 1), (-128, 127)))
                return e.wrap(a, low, high), lambda p: low + (f(p) - low) % (high - low + 1)

    def check(self) -> None:
        for depth in (1, 2, 3, 4):
            self.engine.fuel = FUEL
            try:
                made = self.made(depth), self.made(2)
            except TooMuchWorkError:
                continue
            for poly, value in made:
                self.compare(poly, value)

    def compare(self, poly: Poly, value: Value) -> None:
        """The polynomial has the value, and its limits and its sign are true, wherever it is defined."""
        engine = self.engine
        low, high = intervals.interval(engine, poly)
        never_negative = intervals.nonneg(engine, poly)
        for point in self.points:
            try:
                wanted = value(point)
            except ZeroDivisionError:
                continue
            known = {
                engine.atom("var", (), var).index: at
                for var, at in zip(self.variables, point, strict=True)
            }
            assert (low is None or low <= wanted) and (high is None or wanted <= high)
            assert wanted >= 0 or not never_negative
            try:
                assert poly_value(engine, poly, known) == wanted
            except ArithmeticError:
                continue  # a quotient that is not needed divides by zero here


def test_atoms_and_conditions_nest_up_to_the_limit() -> None:
    engine = Engine(1_000_000)
    part = variable(engine, tir.Var("x"))
    for _ in range(DEPTH_LIMIT - 1):
        part = engine.of_atom(engine.atom("relu", (part,)))
    with pytest.raises(TooMuchWorkError, match="nested too deeply"):
        engine.atom("relu", (part,))
    inside = engine.at_least_zero(part)
    with pytest.raises(TooMuchWorkError, match="nested too deeply"):
        engine.join("and", [inside, engine.is_zero(variable(engine, tir.Var("y")))])
    flat = engine.at_least_zero(variable(engine, tir.Var("z")))
    for at in range(DEPTH_LIMIT - 1):
        other = engine.is_zero(variable(engine, tir.Var(f"x{at}")))
        flat = engine.join(("and", "or")[at % 2], [flat, other])
    with pytest.raises(TooMuchWorkError, match="nested too deeply"):
        engine.join("or", [flat, engine.is_zero(variable(engine, tir.Var("u")))])


@pytest.mark.parametrize("seed", range(SEEDS))
def test_polynomials_have_the_values_of_python(seed: int) -> None:
    Case(seed).check()


@pytest.mark.parametrize("seed", range(60))
def test_samples_satisfy_what_is_known(seed: int) -> None:
    case = Case(seed)
    places = {var: case.engine.atom("var", (), var).index for var in case.variables}
    for known in case.engine.samples:
        values = {var: known[place] for var, place in places.items()}
        assert all(value_at(fact, values) for fact in case.known)
