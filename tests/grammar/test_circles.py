"""The circles of a call graph, against reachability by brute force."""

from __future__ import annotations

import random

from rlx.grammar.nodes.visit import circles, reached


def below(graph: dict[int, list[int]], name: int) -> set[int]:
    """A name, and those that it can reach."""
    return reached([name], lambda at: graph.get(at, ()))


def test_circles_are_mutual_reachability() -> None:
    rng = random.Random(3)
    for _ in range(300):
        size = rng.randrange(1, 9)
        graph = {
            name: [rng.randrange(size + 1) for _ in range(rng.choice((0, 1, 2)))]
            for name in range(size)
        }  # the last name is called, and not defined
        reach = {name: below(graph, name) for name in graph}
        for name, circle in circles(graph).items():
            assert circle == {other for other in reach[name] if name in reach.get(other, ())}


def test_a_chain_has_circles_of_one() -> None:
    chain = {name: [name + 1] for name in range(50_000)}
    found = circles(chain)
    assert all(found[name] == {name} for name in chain)
