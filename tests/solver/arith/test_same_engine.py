"""The engine of the prover on random polynomials: their values are Python's, and all that it says of them is as it was.

Questions reach much of it only by rare ways, and a weaker or dearer answer shows in none. So polynomials, limits, signs,
quotients, facts and proofs are told one by one here, with the work that each took.
`RLX_UPDATE_SNAPSHOTS=1 pytest tests/solver/arith/test_same_engine.py` writes the digests anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, product
from pathlib import Path
from random import Random

import pytest

from rlx.grammar import tir
from rlx.solver import assumptions, condition_proofs, intervals, known_store
from rlx.solver.context import Range
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.normal_form import Engine, variable
from rlx.solver.poly import DEPTH_LIMIT, Cond, Part, Poly, TooMuchWorkError
from rlx.solver.question import poly_value
from rlx.solver.question_parser import parse, show
from rlx.solver.rebuild import rebuilt
from tests.snapshots import assert_digest

KEPT = Path(__file__).parent / "snapshots" / "engine.txt"
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
        self.possible = self.load(ranges, facts)
        self.points = [*islice(self.admissible(ranges, facts), 12)]

    def load(self, ranges: list[tuple[tir.Var, Range]], facts: list[tir.PrimExpr]) -> str:
        try:
            return str(assumptions.load(self.engine, ranges, (), facts))
        except TooMuchWorkError as error:
            return str(error)

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
            if all(inside) and all(_holds(fact, values) for fact in facts):
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

    def conditions(self, a: Poly, b: Poly) -> list[Cond]:
        e = self.engine
        plain = [e.compare(a), e.equate(e.sub(a, b)), e.equate(b, equal=False), e.at_least_zero(b)]
        return [*plain, e.join("and", plain), e.join("or", plain), e.negate(e.join("and", plain))]

    def told(self, a: Poly, b: Poly) -> Iterator[Callable[[], object]]:
        """All questions about two polynomials."""
        e, atoms = self.engine, self.engine.atoms_in(a, b)
        for p in (a, b):
            yield lambda p=p: intervals.interval(e, p)  # type: ignore[misc]
            for effort in range(4):
                yield lambda p=p, n=effort: intervals.nonneg(e, p, n)  # type: ignore[misc]
            yield lambda p=p: intervals.shift_to_zero(e, p)  # type: ignore[misc]
            yield lambda p=p: intervals._weaker(e, p)  # type: ignore[misc]
            yield lambda p=p: e.positive_part(p)  # type: ignore[misc]
        yield lambda: known_store.split(e, a, b) if b.terms else None
        yield lambda: e.div(a, b)
        yield lambda: e.truncdiv(a, b)
        yield lambda: e.mul(e.sub(a, b), e.add(a, b))
        for atom in atoms:
            yield lambda i=atom.index: intervals.coefficient(e, a, i)  # type: ignore[misc]
            yield lambda i=atom.index: e.replace(a, {i: b})  # type: ignore[misc]
        for cond in self.conditions(a, b):
            yield lambda c=cond: (c, condition_proofs.prove(e, c, 2))  # type: ignore[misc]
            yield lambda c=cond: list(condition_proofs._questions(e, c))  # type: ignore[misc]
            yield lambda c=cond: condition_proofs._periods(e, c)  # type: ignore[misc]

    def lines(self) -> Iterator[str]:
        yield f"{self.possible} {sorted(self.engine.ranges.items())}"
        yield str({i: self.said(p) for i, p in self.engine.solved.items()})
        yield str([self.said(p) for p in self.engine.inequalities])
        for depth in (1, 2, 3, 4):
            self.engine.fuel = FUEL
            try:
                (a, f), (b, g) = self.made(depth), self.made(2)
            except TooMuchWorkError:
                continue
            for poly, value in ((a, f), (b, g)):
                yield self.said(poly)
                self.compare(poly, value)
            for ask in self.told(a, b):
                self.engine.fuel = FUEL
                try:
                    yield f"{self.said(ask())} {self.engine.fuel}"
                except TooMuchWorkError as error:
                    yield str(error)

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

    def said(self, answer: object) -> str:
        match answer:
            case Poly() | Cond():
                return self.written(answer)
            case list() | tuple():
                return str([self.said(each) for each in answer])
        return str(answer)

    def written(self, part: Part) -> str:
        found = rebuilt(self.engine, part)
        if found is not None:
            return show(found)
        return str(part.terms) if isinstance(part, Poly) else part.kind


def _holds(fact: tir.PrimExpr, values: dict[tir.Var, int]) -> bool:
    try:
        return bool(evaluate(fact, values))
    except UndefinedError:
        return False


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
def test_what_is_said_of_polynomials(seed: int) -> None:
    assert_digest(KEPT, str(seed), "\n".join(Case(seed).lines()))
