"""Casts of casts, beside Python at the edges of all types."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from rlx.solver import prove

TYPES = {f"{sign}int{bits}": (sign, bits) for sign in ("", "u") for bits in (8, 32, 64)}
EDGES = sorted({
    sign * (1 << bits) + near
    for sign, bits, near in product((1, -1), (7, 8, 31, 32, 63, 64), (-1, 0, 1))
} | {0})  # fmt: skip


def wrapped(number: int, kind: str) -> int:
    sign, bits = TYPES[kind]
    low = 0 if sign else -(1 << bits - 1)
    return (number - low) % (1 << bits) + low


def cast_of_cast(number: int, outer: str, inner: str) -> int:
    """A cast to int64 keeps the integer, but where its operand has a type of larger values."""
    inside = number if inner == "int64" else wrapped(number, inner)
    return inside if outer == "int64" and inner != "uint64" else wrapped(inside, outer)


FORMS: dict[str, Callable[[int, int, int], bool]] = {
    "{outer}({inner}(n)) == {inner}(n)": lambda both, inner, _: both == inner,
    "{outer}({inner}(n)) - {inner}(n) <= 0": lambda both, inner, _: both <= inner,
    "{outer}({inner}(n)) == {outer}(n)": lambda both, _, outer: both == outer,
    "{outer}({inner}(n)) + {inner}(n) == 2 * {outer}(n)": lambda both, inner, outer: (
        both + inner == 2 * outer
    ),
}


@pytest.mark.parametrize("outer", TYPES)
@pytest.mark.parametrize("inner", TYPES)
@pytest.mark.parametrize("lowest", [0, None])
def test_casts_of_casts_are_as_in_python(outer: str, inner: str, lowest: int | None) -> None:
    edges = [n for n in EDGES if lowest is None or n >= 0]
    for form, holds in FORMS.items():
        values = [
            holds(
                cast_of_cast(n, outer, inner),
                n if inner == "int64" else wrapped(n, inner),
                n if outer == "int64" else wrapped(n, outer),
            )
            for n in edges
        ]
        goal = form.format(outer=outer, inner=inner)
        verdict = prove(goal, lower={"n": lowest})
        assert verdict.status == ("proved" if all(values) else "refuted"), goal
