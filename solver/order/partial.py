"""Dimensions that are undefined for some values of the variables: ``m // m`` where ``m`` is 0.

The prover decides what holds wherever both sides are defined. The order requires more: one
dimension *follows* another if it has the same value wherever the other is defined. So ``1`` follows
``m // m``, and ``m // m`` does not follow ``1``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.node import same
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs
from rlx.solver.definedness import both, defined, partial
from rlx.solver.order.substitute import Dimensions, identical, same_text

if TYPE_CHECKING:
    from rlx.solver.prover import Prover


def demand(given: PrimExpr, wanted: PrimExpr) -> PrimExpr | None:
    """The remaining condition for one of two equal dimensions to follow the other; None if there is
    none. `given` and `wanted`: expressions that are equal wherever both are defined.

    Returns
    -------
    PrimExpr or None
        The condition that ``wanted`` is defined wherever ``given`` is.
    """
    if not partial(wanted) or identical(given, wanted) or same_text(given, wanted):
        return None
    strict = _implied(defined(given), defined(wanted))
    if not any(type(node) is tir.Select for node in tir.postorder(given, wanted)):
        return strict
    # Nobody says whether a Select evaluates the branch that it does not take.
    return both(
        strict, _implied(defined(prim_exprs.lazily(given)), defined(prim_exprs.lazily(wanted)))
    )


def _implied(given: PrimExpr, wanted: PrimExpr) -> PrimExpr:
    return wanted if given is prim_exprs.TRUE else tir.Or(tir.Not(given), wanted)


def follows(wanted: PrimExpr, given: PrimExpr, prover: Prover) -> bool:
    """Whether one dimension is proved to have the same value as another wherever the other is
    defined.
    """
    if identical(given, wanted):
        return True
    verdict = prover.equal(given, wanted)
    if not verdict.proved:
        return verdict.unknown and same_text(given, wanted)
    left = demand(given, wanted)
    return left is None or prover.always(left).proved


def upper(xs: Dimensions, ys: Dimensions, prover: Prover) -> Dimensions | None:
    """Dimensions that follow those of both lists; ``xs`` itself if it does, None if none are
    found.
    """
    return _chosen(xs, ys, prover, lower=False)


def lower(xs: Dimensions, ys: Dimensions, prover: Prover) -> Dimensions | None:
    """Dimensions that those of both lists follow; ``xs`` itself if they do, None if none are
    found.
    """
    return _chosen(xs, ys, prover, lower=True)


def _chosen(xs: Dimensions, ys: Dimensions, prover: Prover, lower: bool) -> Dimensions | None:
    if len(xs) != len(ys):
        return None
    chosen: list[PrimExpr] = []
    for x, y in zip(xs, ys, strict=True):
        if follows(x, y, prover):
            chosen.append(y if lower and not follows(y, x, prover) else x)
        elif follows(y, x, prover):
            chosen.append(x if lower else y)
        else:
            return None
    return same(xs, chosen)
