"""Sums of equations with integers before them that are a multiple of a divisor."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.solver.proofs.checker import Mono, Poly, combine

Counts = dict[int, int]
"""How often each generator is taken."""


def as_sum(poly: Poly, generators: Sequence[Poly]) -> Counts | None:
    """How often each of some polynomials is taken in a sum that is `poly`; None if none is. By Gauss'
    elimination over the integers.
    """
    rows = [(dict(each), {number: 1}) for number, each in enumerate(generators) if each]
    rest, counts = dict(poly), Counts()
    monos: list[Mono] = sorted({m for each in generators for m in each})
    for mono in monos:
        inside = [row for row in rows if mono in row[0]]
        rows = [row for row in rows if mono not in row[0]]
        while len(inside) > 1:  # Euclid's algorithm on the coefficients
            inside.sort(key=lambda row: abs(row[0][mono]))
            least, *others = inside
            inside = [least]
            for row in others:
                times = row[0][mono] // least[0][mono]
                less = combine((1, row[0]), (-times, least[0]))
                taken = _taken((1, row[1]), (-times, least[1]))
                (inside if mono in less else rows).append((less, taken))
        if inside and mono in rest:
            pivot, taken = inside[0]
            if rest[mono] % pivot[mono]:
                return None
            times = rest[mono] // pivot[mono]
            rest = combine((1, rest), (-times, pivot))
            counts = _taken((1, counts), (times, taken))
        elif mono in rest:
            return None
        rows = [row for row in rows if row[0]]
    return None if rest else counts


def _taken(*parts: tuple[int, Counts]) -> Counts:
    total = Counts()
    for factor, counts in parts:
        for number, count in counts.items():
            total[number] = total.get(number, 0) + factor * count
    return {number: count for number, count in total.items() if count}
