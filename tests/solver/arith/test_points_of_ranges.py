"""The points at which a counterexample is looked for are within the limits; a counterexample that is made smaller remains one."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from rlx.solver import search
from rlx.solver.prim_exprs import Range

LIMITS: tuple[Range, ...] = (
    *((0, None), (0, None), (0, None), (1, None), (None, None), (None, None), (None, -1)),
    *((None, 0), (None, 5), (-3, None), (0, 7), (-4, 4), (-6, -2), (3, 3), (0, 300), (-1, 0)),
    *((5, 4), (1 << 40, None), (None, -(1 << 40)), (-(1 << 63), (1 << 63) - 1)),
)


def ranges_of(random: Random) -> list[Range]:
    return [random.choice(LIMITS) for _ in range(random.choice((0, 1, 1, 2, 2, 3, 4, 6, 7, 9)))]


def inside(point: search.Point, ranges: list[Range]) -> bool:
    return all(
        (low is None or low <= value) and (high is None or value <= high)
        for value, (low, high) in zip(point, ranges, strict=True)
    )


@pytest.mark.parametrize("seed", range(60))
def test_points_of_ranges(seed: int) -> None:
    random = Random(seed)
    ranges, budget = ranges_of(random), random.choice((8, 48, 48, 200, 600))
    found = [*search.points(ranges, budget)]
    assert len(found) <= budget
    assert all(inside(point, ranges) for point in found)


@pytest.mark.parametrize("seed", range(80))
def test_points_become_smaller(seed: int) -> None:
    """The condition still holds at the smaller point, and no coordinate is further from its start."""
    random = Random(seed)
    ranges = [limits for limits in ranges_of(random) if limits != (5, 4)] or [(0, None)]
    asked: list[search.Point] = []
    factors = [random.choice((1, 1, 2, -1, 0)) for _ in ranges]
    modulus, sign = random.choice((1, 1, 2, 5)), random.choice((1, -1))

    def total(point: search.Point) -> int:
        return sum(factor * value for factor, value in zip(factors, point, strict=True))

    points = [*islice(search.points(ranges, 600), 400)]
    point = random.choice(points[-40:])
    least, rest = total(point) // 2, total(point) % modulus

    def holds(trial: search.Point) -> bool:
        asked.append(trial)
        return sign * total(trial) >= sign * least and total(trial) % modulus == rest

    if not holds(point):
        return
    tries = random.choice((0, 1, 7, 100, 600))
    found = search.smaller(point, ranges, holds, tries)
    assert holds(found)
    assert len(asked) <= tries + 2
    floors = [
        low if low is not None else min(high, 0) if high is not None else 0 for low, high in ranges
    ]
    for before, after, floor in zip(point, found, floors, strict=True):
        assert abs(after - floor) <= abs(before - floor)
