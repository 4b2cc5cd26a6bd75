"""Generalisation of goals by replacing repeated expressions by variables: a goal about ``a//b`` may
hold for any number instead.

A goal that holds for all values of a new variable, within the limits of the replaced expression,
holds for this expression. If the expression is undefined, so is a goal that evaluates it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs

_LEVELS = 3

Replaced = tuple[list[PrimExpr], dict[tir.Var, PrimExpr]]
"""Conditions over new variables, and the replaced expressions."""


def generalizations(conditions: Sequence[PrimExpr]) -> Iterator[Replaced]:
    """The conditions with repeated expressions replaced: first the largest expressions, then their
    parts, and so on.
    """
    shared = _interned(conditions)
    repeated = _repeated(shared, prim_exprs.topological(*shared))
    for _ in range(_LEVELS):
        if not repeated:
            return
        largest = _largest(shared, repeated)
        yield _replaced(shared, {node for node in largest if not _contains(node, largest)})
        repeated -= largest


def _interned(conditions: Sequence[PrimExpr]) -> list[PrimExpr]:
    """The same conditions, equal expressions one object."""
    known: dict[object, PrimExpr] = {}
    done: dict[PrimExpr, PrimExpr] = {}
    for node in prim_exprs.topological(*conditions):
        below = tuple(done[child] for child in tir.children(node))
        match node:
            case tir.IntImm(value=value, dtype=kind):
                key: object = (value, kind)
            case tir.Binary() | tir.Not() | tir.Select():
                key = (type(node), *below)
            case tir.Cast(dtype=kind):
                key = (tir.Cast, kind, *below)
            case _:
                key = node
        found = known.get(key)
        if found is None:
            found = known[key] = prim_exprs.rebuild(node, below) if below else node
        done[node] = found
    return [done[condition] for condition in conditions]


def _repeated(roots: Sequence[PrimExpr], order: Sequence[PrimExpr]) -> set[PrimExpr]:
    """Compound integer expressions that are written more than once."""
    uses = dict.fromkeys(order, 0)
    for root in roots:
        uses[root] += 1
    for node in reversed(order):
        for child in tir.children(node):
            uses[child] = min(uses[child] + uses[node], 2)
    return {
        node
        for node in order
        if uses[node] > 1
        and tir.children(node)
        and not prim_exprs.is_boolean(node)
        and any(isinstance(below, tir.Var) for below in prim_exprs.topological(node))
    }


def _largest(roots: Sequence[PrimExpr], repeated: set[PrimExpr]) -> set[PrimExpr]:
    """Those that can be reached without passing another."""
    found: set[PrimExpr] = set()
    seen: set[PrimExpr] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in repeated:
            found.add(node)
        else:
            stack.extend(tir.children(node))
    return found


def _contains(node: PrimExpr, others: set[PrimExpr]) -> bool:
    return any(below in others for below in prim_exprs.topological(node) if below is not node)


def _replaced(conditions: Sequence[PrimExpr], chosen: set[PrimExpr]) -> Replaced:
    images: dict[tir.Var, PrimExpr] = {}
    done: dict[PrimExpr, PrimExpr] = {}
    for node in prim_exprs.topological(*conditions):
        if node in chosen:
            var = tir.Var(f"part{len(images)}")
            images[var] = node
            done[node] = var
        else:
            below = tir.children(node)
            done[node] = prim_exprs.rebuild(node, tuple(done[c] for c in below)) if below else node
    return [done[condition] for condition in conditions], images
