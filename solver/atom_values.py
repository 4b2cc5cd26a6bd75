"""The values of polynomials for given values of their variables."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from rlx.solver.poly import Atom, Cond, Poly, PolyStore


def poly_value(engine: PolyStore, poly: Poly, known: dict[int, int]) -> int:
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


def negative_somewhere(engine: PolyStore, poly: Poly, samples: Iterable[dict[int, int]]) -> bool:
    """Whether a polynomial is negative at one of some points."""
    for known in samples:
        try:
            if poly_value(engine, poly, known) < 0:
                return True
        except ArithmeticError:
            continue
    return False


def extremes(
    engine: PolyStore, poly: Poly, samples: Iterable[dict[int, int]]
) -> tuple[float, float]:
    """The largest and the smallest value that a polynomial may have everywhere, judged by some
    points: its smallest and largest value there.
    """
    low, high = inf, -inf
    for known in samples:
        try:
            value = poly_value(engine, poly, known)
        except ArithmeticError:
            continue
        low, high = min(low, value), max(high, value)
    return low, high


def holds(engine: PolyStore, cond: Cond, known: dict[int, int]) -> bool:
    """Whether a condition has a value at a point, and is true there."""
    try:
        return _holds(engine, cond, known)
    except ArithmeticError:
        return False


def _atom_value(engine: PolyStore, atom: Atom, known: dict[int, int]) -> int:
    match atom.kind, atom.parts:
        case "div", (Poly() as a, Poly() as b):
            return poly_value(engine, a, known) // poly_value(engine, b, known)
        case "relu", (Poly() as a,):
            return max(poly_value(engine, a, known), 0)
        case "prod", (Poly() as a, Poly() as b):
            return poly_value(engine, a, known) * poly_value(engine, b, known)
        case "ind", (Cond() as c,):
            return int(_holds(engine, c, known))
        case "var", _ if isinstance(atom.key, tuple) and atom.key[0] == "quotient":
            return _atom_value(engine, engine.atoms[atom.key[1]], known)
    raise ArithmeticError(f"{atom.kind} has no value")


def _holds(engine: PolyStore, cond: Cond, known: dict[int, int]) -> bool:
    if cond.poly is None:
        decide = all if cond.kind in ("and", "true") else any
        return decide(_holds(engine, part, known) for part in cond.parts)
    value = poly_value(engine, cond.poly, known)
    return {"eq": value == 0, "ne": value != 0, "ge": value >= 0}[cond.kind]
