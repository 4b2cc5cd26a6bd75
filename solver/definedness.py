"""Conditions on everything that is evaluated: no divisor is zero, all values fit."""

from __future__ import annotations

from collections.abc import Callable

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.prim_operators import INTEGER_DIVISIONS
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs

Demand = Callable[[PrimExpr], PrimExpr]
"""The condition on one evaluated node; :data:`rlx.solver.prim_exprs.TRUE` if there is none."""


def everywhere(expr: PrimExpr, demand: Demand, lazy: bool) -> PrimExpr:
    """The condition that a requirement holds for every evaluated node, over exact integers. `lazy`:
    whether only the taken branch of a ``Select`` is evaluated; for ``if_then_else`` this is always
    so.
    """
    return tir.fold(expr, lambda node, below: both(_operands(node, below, lazy), demand(node)))


def _operands(node: PrimExpr, below: list[PrimExpr], lazy: bool) -> PrimExpr:
    """The same of the operands of a node, of which some may not be evaluated."""
    match node:
        case tir.And(a=a):
            always, then = below
            return both(always, _either(tir.Not(a), then))
        case tir.Or(a=a):
            always, then = below
            return both(always, _either(a, then))
    if prim_exprs.conditional(node) and (lazy or isinstance(node, tir.Call)):
        chosen, _, _ = tir.children(node)
        always, if_true, if_false = below
        first = _either(tir.Not(chosen), if_true)
        return both(always, both(first, _either(chosen, if_false)))
    inside = prim_exprs.TRUE
    for operand in below:
        inside = both(inside, operand)
    return inside


def both(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """The conjunction of two conditions."""
    if a is b or b is prim_exprs.TRUE:
        return a
    return b if a is prim_exprs.TRUE else tir.And(a, b)


def _either(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return b if b is prim_exprs.TRUE else tir.Or(a, b)


def defined(expr: PrimExpr) -> PrimExpr:
    """The condition that an expression has a value: no evaluated divisor is zero."""
    return everywhere(prim_exprs.expanded(expr), _divides, lazy=False)


def _divides(node: PrimExpr) -> PrimExpr:
    if prim_exprs.is_power(node):
        _, exponent = tir.children(node)
        return tir.And(
            tir.LE(prim_exprs.ZERO, exponent), tir.LT(exponent, tir.IntImm(prim_exprs.BITS))
        )
    if not isinstance(node, INTEGER_DIVISIONS):
        return prim_exprs.TRUE
    if isinstance(node.b, tir.IntImm) and node.b.value:
        return prim_exprs.TRUE
    return tir.NE(node.b, prim_exprs.ZERO)


def partial(expr: PrimExpr) -> bool:
    """Whether an expression may be undefined, by a quick check."""
    order = tir.postorder(prim_exprs.expanded(expr))
    return any(_divides(node) is not prim_exprs.TRUE for node in order)
