"""Points that satisfy the facts, generated from solved variables where facts solve them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rlx.solver import intervals, search
from rlx.solver.context import Range
from rlx.solver.engine import Engine
from rlx.solver.poly import Atom, Cond, Poly
from rlx.solver.search import Point, Tape

_EFFORT = 30_000


class Samples:
    """The points of a question: its tape ends with the goal, the roots before it are facts."""

    def __init__(self, tape: Tape, ranges: Sequence[Range], engine: Engine | None) -> None:
        self._tape = tape
        self._ranges = ranges
        self._engine = engine if engine is not None and engine.solved else None

    def find(self, budget: int) -> Point | None:
        """A point at which the goal is false, made smaller, or None."""
        points: Iterable[Point]
        if self._engine is None:
            points = search.points(self._ranges, budget)
        else:
            points = self._solved_points(self._engine, budget)
        for point in points:
            if self.refutes(point):
                # Small points come first and in order of size: only later ones can be improved.
                small = self._engine is None and sum(map(abs, point)) <= search.SMALL
                return point if small else self.shrink(point)
        return None

    def refutes(self, point: Point) -> bool:
        """Whether all facts hold and the goal does not."""
        results = self._tape.run(point)
        return results is not None and not results[-1] and all(results[:-1])

    def shrink(self, point: Point) -> Point:
        """A smaller point of the same kind."""
        return search.smaller(point, self._ranges, self._admissible, _EFFORT // len(self._tape))

    def _admissible(self, point: Point) -> bool:
        return self._in_range(point) and self.refutes(point)

    def _in_range(self, point: Point) -> bool:
        return all(
            (low is None or value >= low) and (high is None or value <= high)
            for value, (low, high) in zip(point, self._ranges, strict=True)
        )

    def _solved_points(self, engine: Engine, budget: int) -> list[Point]:
        """Choose values of the free variables, compute the solved ones."""
        wanted = [engine.atom("var", (), v) for v in self._tape.variables]
        polys = [engine.solved.get(a.index) or engine.of_atom(a) for a in wanted]
        free = [a for a in engine.atoms_in(*polys) if a.kind == "var"]
        limits = [intervals.atom_interval(engine, a) for a in free]
        found: list[Point] = []
        for values in search.points(limits, budget):
            known = {a.index: v for a, v in zip(free, values, strict=True)}
            try:
                point = tuple(poly_value(engine, p, known) for p in polys)
            except ArithmeticError:
                continue
            if self._in_range(point):
                found.append(point)
        return found


def poly_value(engine: Engine, poly: Poly, known: dict[int, int]) -> int:
    """The value of a polynomial; values of atoms are added to ``known``.

    Raises
    ------
    ArithmeticError
        On a division by zero or an atom without a value.
    """
    total = 0
    for mono, coef in poly.terms.items():
        for index in mono:
            value = known.get(index)
            if value is None:
                value = known[index] = _atom_value(engine, engine.atoms[index], known)
            coef *= value
        total += coef
    return total


def _atom_value(engine: Engine, atom: Atom, known: dict[int, int]) -> int:
    match atom.kind, atom.parts:
        case "div", (Poly() as a, Poly() as b):
            return poly_value(engine, a, known) // poly_value(engine, b, known)
        case "relu", (Poly() as a,):
            return max(poly_value(engine, a, known), 0)
        case "prod", (Poly() as a, Poly() as b):
            return poly_value(engine, a, known) * poly_value(engine, b, known)
        case "ind", (Cond() as c,):
            return int(_holds(engine, c, known))
    raise ArithmeticError(f"{atom.kind} has no value")


def _holds(engine: Engine, cond: Cond, known: dict[int, int]) -> bool:
    if cond.poly is None:
        decide = all if cond.kind in ("and", "true") else any
        return decide(_holds(engine, part, known) for part in cond.parts)
    value = poly_value(engine, cond.poly, known)
    return {"eq": value == 0, "ne": value != 0, "ge": value >= 0}[cond.kind]
