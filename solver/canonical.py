"""The part of a context that matters for a goal, in an order that names do not influence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rlx.grammar import tir
from rlx.grammar.prim_operators import INTEGER_DIVISIONS
from rlx.grammar.tir import PrimExpr
from rlx.solver import prim_exprs
from rlx.solver.context import ContextState

_REFINED = 64


def constraints(state: ContextState) -> list[PrimExpr]:
    """Facts and definitions as conditions."""
    equations: list[PrimExpr] = [tir.EQ(v, e) for v, e in state.definitions.items()]
    return equations + prim_exprs.expand(list(state.facts))


class Components:
    """Conditions grouped by the variables they share.

    Attributes
    ----------
    groups
        Conditions of each group.
    """

    def __init__(self, conditions: Sequence[PrimExpr]) -> None:
        self._parent: dict[tir.Var, tir.Var] = {}
        closed: list[PrimExpr] = []
        owners: list[tuple[PrimExpr, tir.Var]] = []
        for condition in conditions:
            used = prim_exprs.variables([condition])
            if not used:
                closed.append(condition)
                continue
            owners.append((condition, used[0]))
            for var in used:
                self._parent[self._root(var)] = self._root(used[0])
        by_root: dict[tir.Var, list[PrimExpr]] = {}
        for condition, var in owners:
            by_root.setdefault(self._root(var), []).append(condition)
        self._by_root = by_root
        self.closed = closed

    def _root(self, var: tir.Var) -> tir.Var:
        parent = self._parent
        while (above := parent.setdefault(var, var)) is not var:
            parent[var] = parent[above]
            var = above
        return var

    def split(self, used: Iterable[tir.Var]) -> tuple[list[PrimExpr], list[list[PrimExpr]]]:
        """The conditions connected to some variables, and the groups that are not."""
        roots = {self._root(v) for v in used if v in self._parent}
        near = [c for root, group in self._by_root.items() if root in roots for c in group]
        far = [group for root, group in self._by_root.items() if root not in roots]
        if self.closed:
            far.append(self.closed)
        return near, far


def order(
    goal: PrimExpr, facts: Sequence[PrimExpr], state: ContextState
) -> tuple[list[tir.Var], list[PrimExpr]]:
    """Variables by first appearance in the goal, then in the facts; facts sorted by their
    structure.
    """
    numbers: dict[tir.Var, int] = {}
    for var in prim_exprs.variables([goal]):
        numbers[var] = len(numbers)
    left = list(facts)
    if not left:
        return list(numbers), left
    placed: list[PrimExpr] = []
    while left:
        keys = {id(f): _key(f, numbers, state) for f in left}
        left.sort(key=lambda f: keys[id(f)])
        place = next((i for i, f in enumerate(left) if _unknown(f, numbers)), len(left) - 1)
        if len(left) > _REFINED:
            place = len(left) - 1
        for fact in left[: place + 1]:
            for var in prim_exprs.variables([fact]):
                numbers.setdefault(var, len(numbers))
        placed += left[: place + 1]
        left = left[place + 1 :]
    return list(numbers), sorted(placed, key=lambda f: _key(f, numbers, state))


def _unknown(fact: PrimExpr, numbers: dict[tir.Var, int]) -> bool:
    return any(v not in numbers for v in prim_exprs.variables([fact]))


def _key(expr: PrimExpr, numbers: dict[tir.Var, int], state: ContextState) -> tuple[int, int]:
    """Size and a hash of the structure; hashes of tuples of integers are the same in every
    process.
    """
    codes: dict[PrimExpr, int] = {}
    nodes = prim_exprs.topological(expr)
    for node in nodes:
        match node:
            case tir.Var():
                low, high = state.range_of(node)
                limits = (-1 if low is None else low, -2 if high is None else high)
                codes[node] = hash((1, numbers.get(node, -1), limits))
            case tir.IntImm(value=value):
                codes[node] = hash((2, value))
            case _:
                kind = sum(ord(c) * 31**i for i, c in enumerate(type(node).__name__))
                codes[node] = hash((3, kind, *(codes[c] for c in tir.children(node))))
    return len(nodes), codes[expr]


_PROTECTING = (tir.And, tir.Or, tir.Call, tir.Select)


def divisors(goals: Sequence[PrimExpr], order: Iterable[PrimExpr] | None = None) -> list[PrimExpr]:
    """The divisors, constants left out, that are evaluated whenever the goals are.

    ``order`` holds the nodes of the goals, where the caller has them.
    """
    nodes = prim_exprs.topological(*goals) if order is None else order
    found = dict.fromkeys(
        node.b
        for node in nodes
        if isinstance(node, INTEGER_DIVISIONS)
        and (not isinstance(node.b, tir.IntImm) or node.b.value == 0)
    )
    if found and any(isinstance(n, _PROTECTING) for n in nodes):
        certain = _certain(goals)
        return [d for d in found if d in certain]
    return list(found)


def _certain(goals: Iterable[PrimExpr]) -> set[PrimExpr]:
    """The divisors that no ``and``, ``or`` or branch protects."""
    found: set[PrimExpr] = set()
    seen: set[PrimExpr] = set()
    stack = list(goals)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, (tir.And, tir.Or)):
            stack.append(node.a)
            continue
        if prim_exprs.conditional(node):
            stack.append(tir.children(node)[0])
            continue
        if isinstance(node, INTEGER_DIVISIONS):
            found.add(node.b)
        stack.extend(tir.children(node))
    return found
