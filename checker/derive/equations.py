"""Equations and bounds between dimensions that follow from a successful check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import (
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.nodes.struct_infos import numbers, of_the_value
from rlx.solver.order.substitute import Image, Key, dimensions

if TYPE_CHECKING:
    from rlx.checker.derive.state import DerivationState

_ZERO = tir.IntImm(0)

Pair = tuple[tir.PrimExpr, tir.PrimExpr]


def learn(
    state: DerivationState, found: StructInfo, target: StructInfo, images: Mapping[Key, Image]
) -> None:
    """Remember the equations between the dimensions of a value and those it was cast to.

    Parameters
    ----------
    images
        The dimensions that the shape variables bound by the cast stand for.
    """
    pairs: list[Pair] = []
    _meet(found, target, pairs, set())
    for given, said in pairs:
        if given is said:
            continue
        if type(said) is tir.Var and images.get(said) is given:
            state.prover.alias(said, given)
            if not _is_natural(given):
                state.remember(tir.GE(given, _ZERO))
        else:
            state.remember(tir.EQ(given, said))


def learn_sizes(state: DerivationState, info: StructInfo) -> None:
    """Remember that the dimensions of a tensor are at least 0, where they do not show it (D15)."""
    for part in of_the_value(info):
        if isinstance(part, TensorStructInfo):
            for size in numbers(part):
                if not _is_natural(size) and not _of_naturals(state, size):
                    state.remember(tir.GE(size, _ZERO))


def learn_signed(state: DerivationState, info: StructInfo) -> None:
    """Remember it of a value that was computed, where a scalar decides: elsewhere the operator's
    rule has seen to it.
    """
    for part in of_the_value(info):
        if isinstance(part, TensorStructInfo):
            for size in numbers(part):
                if not state.signed.isdisjoint(tir.free_vars(size)):
                    state.remember(tir.GE(size, _ZERO))


def _is_natural(expr: tir.PrimExpr) -> bool:
    """Whether an expression is plainly never negative, so that its being a dimension says
    nothing.
    """
    return type(expr) is tir.Var or (type(expr) is tir.IntImm and expr.value >= 0)


def _of_naturals(state: DerivationState, size: tir.PrimExpr) -> bool:
    """Whether a size is a sum, product or quotient of what is not negative by itself."""
    range_of = state.prover.context.state.range_of
    for node in tir.postorder(size):
        match node:
            case tir.Var():
                least = range_of(node)[0]
            case tir.IntImm(value=least):
                pass
            case tir.Add() | tir.Mul() | tir.FloorDiv() | tir.Max():
                continue
            case _:
                return False
        if least is None or least < 0:
            return False
    return True


def _meet(
    found: StructInfo, target: StructInfo, pairs: list[Pair], met: set[tuple[int, int]]
) -> None:
    """Add the pairs of dimensions; ``met`` are the pairs of tuples that were compared."""
    match found, target:
        case (
            (TensorStructInfo(), TensorStructInfo()) | (ShapeStructInfo(), ShapeStructInfo())
        ) as both:
            given, said = map(dimensions, both)
            if given and said and len(given) == len(said):
                pairs.extend(p for p in zip(given, said, strict=True) if not _trivial(*p))
        case PrimStructInfo(value=tir.PrimExpr() as a), PrimStructInfo(value=tir.PrimExpr() as b):
            pairs.append((a, b))
        case TupleStructInfo(fields=xs), TupleStructInfo(fields=ys):
            if (id(found), id(target)) in met:
                return
            met.add((id(found), id(target)))
            for x, y in zip(xs, ys, strict=False):
                _meet(x, y, pairs, met)


def _trivial(a: tir.PrimExpr, b: tir.PrimExpr) -> bool:
    return type(a) is tir.IntImm and type(b) is tir.IntImm and a.value == b.value
