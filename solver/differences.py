"""Chains of many simple facts: ``a < b``, ``b + 2 <= c``, ``c == d`` as paths of a graph.

Each fact ``x - y <= c`` is an edge. A path from the one side of a goal to the other proves it, so
that thousands of facts take as long as it takes to read them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import permutations
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.prim_exprs import Range

CHAIN = 40
"""The number of facts from which chains of them are followed."""
_PASSES = 4
"""How often all facts may raise values before the search for values ends."""
_FEW = 8
"""The maximum number of variables, and of other facts, to which many facts are reduced."""
_LINEAR = 12
"""The maximum number of nodes of a side of a comparison."""
_ROUNDS = 20
"""How often distances may fall before the search ends, for each fact."""

Side = tuple[tir.Var | None, int]
"""A variable, if there is one, plus a constant."""


Edges = dict[tir.Var | None, dict[tir.Var | None, int]]
"""By ``y`` and ``x``, the least ``c`` for which ``x - y <= c`` is known; None is 0."""


def proves(goal: PrimExpr, facts: Iterable[PrimExpr], range_of: Callable[[tir.Var], Range]) -> bool:
    """Whether a comparison follows from a chain of facts."""
    wanted = _edges(goal)
    if not wanted:
        return False
    edges = _graph(facts, range_of)
    return all(_distances(edges, y).get(x, most + 1) <= most for x, y, most in wanted)


def between(
    goal: PrimExpr, facts: Iterable[PrimExpr], range_of: Callable[[tir.Var], Range]
) -> list[PrimExpr]:
    """What many facts say of the few variables of a goal, and the facts that are no such inequalities;
    none if there are many of either.
    """
    others = [fact for fact in facts if not _edges(fact)]
    variables = tir.free_vars(goal, *others[:_FEW])
    if len(others) > _FEW or len(variables) > _FEW:
        return []
    edges = _graph(facts, range_of)
    distances = {y: _distances(edges, y) for y in variables}
    found = list(others)
    for x, y in permutations(variables, 2):
        most, least = distances[y].get(x), distances[x].get(y)
        if most is not None:
            kind = tir.EQ if least is not None and least == -most else tir.LE
            found.append(kind(x, tir.Add(y, tir.IntImm(most))))
    return found


def _graph(facts: Iterable[PrimExpr], range_of: Callable[[tir.Var], Range]) -> Edges:
    edges: Edges = {}

    def add(x: tir.Var | None, y: tir.Var | None, most: int) -> None:
        known = edges.setdefault(y, {})
        known[x] = min(most, known.get(x, most))

    for fact in facts:
        for edge in _edges(fact):
            add(*edge)
    for var in {*edges, *(x for known in edges.values() for x in known)} - {None}:
        assert var is not None
        low, high = range_of(var)
        if low is not None:
            add(None, var, -low)
        if high is not None:
            add(var, None, high)
    return edges


def values(
    facts: Iterable[PrimExpr], range_of: Callable[[tir.Var], Range]
) -> dict[tir.Var, int] | None:
    """The smallest values for which the facts hold that are such inequalities; None if none are
    found.
    """
    above: dict[tir.Var | None, list[tuple[tir.Var | None, int]]] = {}
    for fact in facts:
        for x, y, most in _edges(fact):
            above.setdefault(x, []).append((y, -most))
            above.setdefault(y, [])
    found = {var: 0 if var is None else _first(range_of(var)) for var in above}
    order = _from_below(above)
    for _ in range(_PASSES):
        settled = True
        for x in order:
            for y, least in above[x]:
                if found[y] < found[x] + least:
                    found[y] = found[x] + least
                    settled = False
        if settled:
            return {var: value for var, value in found.items() if var is not None}
        if found.get(None):
            return None
    return None


def _first(limits: Range) -> int:
    """The value of a range with which the search begins."""
    low, high = limits
    return low if low is not None else 0 if high is None else min(0, high)


def _from_below(above: dict[tir.Var | None, list[tuple[tir.Var | None, int]]]) -> list[Any]:
    """The nodes of a graph, each before those above it unless there is a circle."""
    order: list[tir.Var | None] = []
    entered: set[tir.Var | None] = set()
    for start in above:
        stack = [(start, False)]
        while stack:
            node, left = stack.pop()
            if left:
                order.append(node)
            elif node not in entered:
                entered.add(node)
                stack.append((node, True))
                stack.extend((other, False) for other, _ in above[node])
    return order[::-1]


def _distances(edges: Edges, y: tir.Var | None) -> dict[tir.Var | None, int]:
    """By ``x``, the length of the shortest path: ``x - y`` is at most that. Empty if that takes long."""
    distance: dict[tir.Var | None, int] = {y: 0}
    left = _ROUNDS * sum(map(len, edges.values()))
    waiting = deque([y])
    while waiting:
        at = waiting.popleft()
        for other, length in edges.get(at, {}).items():
            new = distance[at] + length
            if other not in distance or new < distance[other]:
                distance[other] = new
                left -= 1
                if left < 0:
                    return {}
                waiting.append(other)
    return distance


_OPPOSITE: dict[type[PrimExpr], type[tir.Comparison]] = {
    tir.LT: tir.GE,
    tir.LE: tir.GT,
    tir.GT: tir.LE,
    tir.GE: tir.LT,
    tir.NE: tir.EQ,
}


def _edges(condition: PrimExpr) -> list[tuple[tir.Var | None, tir.Var | None, int]]:
    """``x - y <= c`` for each inequality that a comparison is; none if it is another condition."""
    if isinstance(condition, tir.Not) and type(condition.a) in _OPPOSITE:
        opposite = condition.a
        assert isinstance(opposite, tir.Comparison)
        condition = _OPPOSITE[type(opposite)](opposite.a, opposite.b)
    if not isinstance(condition, tir.Comparison):
        return []
    a, b = _side(condition.a), _side(condition.b)
    if a is None or b is None or (a[0] is None and b[0] is None):
        return []
    (x, low), (y, high) = a, b
    up, down = (x, y, high - low), (y, x, low - high)
    match condition:
        case tir.LE():
            return [up]
        case tir.LT():
            return [(x, y, high - low - 1)]
        case tir.GE():
            return [down]
        case tir.GT():
            return [(y, x, low - high - 1)]
        case tir.EQ():
            return [up, down]
    return []


def _side(expr: PrimExpr) -> Side | None:
    """A side that is a variable plus a constant."""
    try:
        order = tir.postorder(expr, limit=_LINEAR)
    except tir.TooLargeError:
        return None
    known: dict[PrimExpr, Side] = {}
    for node in order:
        match node:
            case tir.Var(dtype=kind) if kind.is_integer:
                known[node] = node, 0
            case tir.IntImm(value=value):
                known[node] = None, int(value)
            case tir.Add(a=a, b=b) | tir.Sub(a=a, b=b) if a in known and b in known:
                (x, c), (y, d) = known[a], known[b]
                if y is not None and (x is not None or isinstance(node, tir.Sub)):
                    return None
                known[node] = x or y, c + d if isinstance(node, tir.Add) else c - d
            case _:
                return None
    return known[expr]
