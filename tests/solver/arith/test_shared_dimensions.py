"""Nested minima and maxima, and expressions whose parts are shared: correct, and bounded work."""

from __future__ import annotations

import random
from itertools import product

import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.print.show import show
from rlx.solver import Context, Prover, prove
from rlx.solver.evaluate import evaluate
from rlx.solver.prim_exprs import length

N, M = tir.Var("n"), tir.Var("m")


def nested(rng: random.Random, depth: int, variables: list[tir.Var]) -> tir.PrimExpr:
    """Random minima, maxima, sums and differences."""
    if not depth or rng.random() < 0.1:
        return rng.choice(variables) if rng.random() < 0.6 else tir.IntImm(rng.randint(-6, 9))
    kind = rng.choice((tir.Min, tir.Max, tir.Min, tir.Max, tir.Add, tir.Sub))
    return kind(nested(rng, depth - 1, variables), nested(rng, depth - 1, variables))


@pytest.mark.parametrize("seed", range(40))
def test_simplified_expressions_have_the_same_values(seed: int) -> None:
    rng = random.Random(seed)
    variables = [N] if seed % 2 else [N, M]
    context = Context()
    limits = {}
    for var in variables:
        limits[var] = rng.choice(((0, None), (None, None), (2, None), (-5, 7)))
        context.declare(var, *limits[var])
    expr = nested(rng, rng.randint(2, 6), variables)
    simple = Prover(context).simplify(expr)
    ranges = [
        range(-20 if low is None else low, 21 if high is None else high + 1)
        for low, high in limits.values()
    ]
    for values in product(*ranges):
        point = dict(zip(variables, values, strict=True))
        assert evaluate(expr, point) == evaluate(simple, point), (expr, simple, point)


def chain(steps: int) -> tir.PrimExpr:
    """The length of a slice of a slice of …, which mentions the sliced length twice each time."""
    size: tir.PrimExpr = N
    for step in range(steps):
        size = tir.Sub(tir.Min(tir.IntImm(1000 - step), size), tir.Min(tir.IntImm(step % 3), size))
    return size


def test_a_slice_of_slices_is_short() -> None:
    assert length(chain(60)) == 1_000_000_000
    assert length(Prover().simplify(chain(60))) <= 9
    assert prove("min(5, n + 7) - min(0, n + 7) == 5").proved


@pytest.mark.parametrize("name", ["min", "max"])
def test_operands_may_be_nested_in_any_way(name: str) -> None:
    variables = [f"x{i}" for i in range(24)]
    rng = random.Random(name)

    def tree(items: list[str]) -> str:
        if len(items) == 1:
            return items[0]
        cut = rng.randint(1, len(items) - 1)
        return f"{name}({tree(items[:cut])}, {tree(items[cut:])})"

    for _ in range(5):
        left, right = [*variables, *variables[:6]], [*variables[9:], *variables]
        rng.shuffle(left)
        rng.shuffle(right)
        assert prove(f"{tree(left)} == {tree(right)}").proved
    assert prove(f"{tree(variables)} == {tree(variables[1:])}").refuted


def doubled(steps: int) -> tir.PrimExpr:
    """An expression with exponentially more occurrences of nodes than nodes, which stays so."""
    size: tir.PrimExpr = N
    for step in range(steps):
        size = tir.Add(tir.FloorDiv(size, tir.Var(f"k{step}")), tir.FloorMod(size, M))
    return size


def test_walks_visit_a_shared_node_once() -> None:
    size = doubled(80)
    assert len(tir.postorder(size)) == len(set(tir.postorder(size))) == 322
    assert len(tir.free_vars(size)) == 82
    assert structural_equal(chain(80), chain(80), map_free_vars=True)


def test_texts_of_shared_dimensions_are_short_and_explain_their_names() -> None:
    text = show(doubled(80))
    assert len(text) < 1000
    assert ", where d1 = " in text
    d1 = tir.Var("d1")
    assert ", where d2 = " in show(tir.Mul(doubled(20), d1))
