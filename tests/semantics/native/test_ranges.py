"""Bounds of sums over loops: what is claimed holds at every point. The safety of memory rests on it."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.grammar.nodes import tir
from rlx.semantics.native.ranges import Bounds, LoopScope, literal
from rlx.semantics.native.recognise_reduction import same_indices
from rlx.solver.poly import Polynomial

I, J, N, M = (Polynomial.of(name) for name in "ijnm")
ONE = Polynomial.of(1)


def value(poly: Polynomial, numbers: dict[str, int]) -> int:
    total = 0
    for monomial, factor in poly.terms.items():
        for name in monomial:
            factor *= numbers[name]
        total += factor
    return total


def test_accesses_that_are_certainly_alike() -> None:
    """Each pair of indices: the same variable, or the same number."""
    i, j = tir.Var("i"), tir.Var("j")
    indices = [i, j, tir.IntImm(0), tir.IntImm(0), tir.IntImm(1), i + 1]
    for a, b in itertools.product(indices, repeat=2):
        alike = a is b or (isinstance(a, tir.IntImm) and str(a) == str(b))
        assert same_indices((a,), (b,)) is alike
        assert same_indices((i, a), (i, b)) is alike
        assert not same_indices((a,), (a, b)) and not same_indices((i, a), (j, b))


polys = st.lists(
    st.tuples(
        st.sampled_from(
            [(), ("i",), ("j",), ("n",), ("i", "n"), ("j", "m"), ("m", "n"), ("i", "j")]
        ),
        st.integers(-4, 4),
    ),
    max_size=5,
).map(lambda terms: sum((Polynomial({m: c}) for m, c in terms), Polynomial({})))


@given(polys, polys, polys, st.integers(0, 10**6))
def test_bounds_hold_at_every_point(
    wanted: Polynomial, fact: Polynomial, last: Polynomial, seed: int
) -> None:
    inner = Polynomial({m: c for m, c in last.terms.items() if "j" not in m})
    loops = {"i": Bounds(Polynomial({}), N - ONE), "j": Bounds(Polynomial.of(-1), inner)}
    scope = LoopScope(loops, {"n", "m"}, (fact,))
    claimed = scope.lower(wanted)
    numbers = random.Random(seed)
    n, m = numbers.randrange(5), numbers.randrange(5)
    for i, j in itertools.product(range(n), range(-1, 12)):
        here = {"i": i, "j": j, "n": n, "m": m}
        if j <= value(inner, here) and value(fact, here) >= 0:
            for bound in claimed:
                assert value(bound, here) <= value(wanted, here)


@given(polys, polys, polys)
def test_sums_are_a_ring(a: Polynomial, b: Polynomial, c: Polynomial) -> None:
    assert ((a + b) * c).terms == (a * c + b * c).terms
    assert (a - a).terms == {}
    assert (a * b).terms == (b * a).terms


@pytest.mark.parametrize(
    ("wanted", "proven"),
    [
        (I, True),
        (N - ONE - I, True),
        (N - I - Polynomial.of(2), False),
        (N * M - ONE - (I * M + J), True),
        (N * M - Polynomial.of(2) - (I * M + J), False),
        (I - J, False),
    ],
)
def test_indices_of_whole_arrays_are_in_range(wanted: Polynomial, proven: bool) -> None:
    loops = {"i": Bounds(Polynomial({}), N - ONE), "j": Bounds(Polynomial({}), M - ONE)}
    assert LoopScope(loops, {"n", "m"}).proves(wanted) is proven


def test_facts_tighten_the_bounds_of_padding() -> None:
    loops = {"i": Bounds(Polynomial({}), N + ONE)}
    inside = LoopScope(loops, {"n"}, (I - ONE, N - I))
    assert inside.proves(I - ONE) and inside.proves(N - ONE - (I - ONE))
    outside = LoopScope(loops, {"n"})
    assert not outside.proves(I - ONE) and not outside.proves(N - I)


def test_triangles() -> None:
    scope = LoopScope({"i": Bounds(Polynomial({}), N - ONE), "j": Bounds(Polynomial({}), I)}, {"n"})
    assert scope.proves(N - ONE - J)
    assert not scope.proves(I - J - ONE)


def test_symbols_that_may_be_negative_prove_nothing() -> None:
    scope = LoopScope({"i": Bounds(Polynomial({}), N - ONE)}, set())
    assert not scope.proves(N)
    assert scope.proves(N - ONE - I)


def test_constants_in_c() -> None:
    assert literal(2**63) == literal(-(2**63)) == "INT64_MIN"
    assert literal(2**64 + 5) == "INT64_C(5)"
