"""What a cast that succeeded says of shape variables."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.checker.derive.state import State
from rlx.grammar import tir
from rlx.grammar.ast import (
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.solver.order.parts import dimensions

LIMIT = 256
"""Equations remembered of one scope's casts: each makes every later question a little dearer."""

Pair = tuple[tir.PrimExpr, tir.PrimExpr]


def learn(state: State, found: StructInfo, target: StructInfo, bound: Sequence[tir.Var]) -> None:
    """Remember the equations between the dimensions of a value and those it was cast to.

    A variable that the cast binds stands for the dimension that it meets first.
    """
    pairs: list[Pair] = []
    _meet(found, target, pairs)
    new = set(bound)
    for given, said in pairs:
        if given is said or state.scope.facts >= LIMIT:
            continue
        if said in new and type(said) is tir.Var:
            new.discard(said)
            state.assumptions().define(said, given)
        else:
            state.assumptions().assume(tir.EQ(given, said))


def _meet(found: StructInfo, target: StructInfo, pairs: list[Pair]) -> None:
    match found, target:
        case (
            (TensorStructInfo(), TensorStructInfo()) | (ShapeStructInfo(), ShapeStructInfo())
        ) as both:
            given, said = dimensions(both[0]), dimensions(both[1])
            if given and said and len(given) == len(said):
                pairs.extend(p for p in zip(given, said, strict=True) if not _trivial(*p))
        case PrimStructInfo(value=tir.PrimExpr() as a), PrimStructInfo(value=tir.PrimExpr() as b):
            pairs.append((a, b))
        case TupleStructInfo(fields=xs), TupleStructInfo(fields=ys):
            for x, y in zip(xs, ys, strict=False):
                _meet(x, y, pairs)


def _trivial(a: tir.PrimExpr, b: tir.PrimExpr) -> bool:
    return type(a) is tir.IntImm and type(b) is tir.IntImm and a.value == b.value
