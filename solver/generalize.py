"""Generalisation of goals: repeated expressions are replaced by variables.

A goal about ``a//b`` may hold for any number instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs

_LEVELS = 3

Replaced = tuple[list[PrimExpr], dict[tir.Var, PrimExpr]]
"""Conditions over new variables, and the replaced expressions."""


def generalizations(conditions: Sequence[PrimExpr]) -> Iterator[Replaced]:
    """The conditions with repeated expressions replaced: first the largest expressions, then their
    parts, and so on.
    """
    shared = [prim_exprs.shared(condition) for condition in conditions]
    repeated = _repeated(shared, tir.postorder(*shared))
    for _ in range(_LEVELS):
        if not repeated:
            return
        largest = _largest(shared, repeated)
        yield _replaced(
            shared,
            {
                node
                for node in largest
                if not any(below in largest for below in tir.postorder(node) if below is not node)
            },
        )
        repeated -= largest


def _repeated(roots: Sequence[PrimExpr], order: Sequence[PrimExpr]) -> set[PrimExpr]:
    """Compound integer expressions that are written more than once, without those of which a cast
    to int64 wraps: it would not wrap the variable.
    """
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
        and not prim_exprs.has_wider(node, INT64.bits)
        and any(isinstance(below, tir.Var) for below in tir.postorder(node))
    }


def _largest(roots: Sequence[PrimExpr], repeated: set[PrimExpr]) -> set[PrimExpr]:
    """The repeated parts that can be reached without passing another one."""
    nodes = tir.reached(roots, lambda e: () if e in repeated else tir.children(e))
    return repeated.intersection(nodes)


def _replaced(conditions: Sequence[PrimExpr], chosen: set[PrimExpr]) -> Replaced:
    names: dict[PrimExpr, PrimExpr] = {
        node: tir.Var(f"part{place}")
        for place, node in enumerate(n for n in tir.postorder(*conditions) if n in chosen)
    }
    images = {var: node for node, var in names.items() if isinstance(var, tir.Var)}
    return [tir.fold(condition, tir.with_operands, names) for condition in conditions], images
