"""Integers that are rounded from what one index gives, as the places that a resized image reads: compared at
each value of the index.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.prim_operators import BY_NODE, INTEGER_DIVISIONS
from rlx.grammar.nodes.tir import PrimExpr
from rlx.refine.facts import Facts, made_of_floats

VALUES = 1024
"""The most values of an index."""

_ROUNDED: dict[str, Callable[[Fraction], int]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": round,
    "nearbyint": round,
}


def index_of_equal(facts: Facts, x: PrimExpr, y: PrimExpr) -> tir.Var | None:
    """The one index at each value of which two integers are equal, with floats as exact real numbers and
    with rounded ones, since rounding may step over a whole number; None if they depend on others, or are
    not equal.
    """
    found = tir.free_vars(x, y)
    if len(found) != 1 or not made_of_floats(x, y):
        return None
    (index,) = found
    low, high = facts.prover.limits(index)
    if low is None or high is None or not 0 <= high - low < VALUES:
        return None
    for value, rounds in product(range(low, high + 1), (False, True)):
        here = [_number(each, {index: Fraction(value)}, rounds) for each in (x, y)]
        if here[0] is None or here[0] != here[1]:
            return None
    return index


def _number(expr: PrimExpr, values: dict[tir.Var, Fraction], rounds: bool) -> Fraction | None:
    """The number, if no node is of another kind, divides by zero or wraps."""

    def node(each: PrimExpr, operands: list[Fraction | None]) -> Fraction | None:
        made = None if None in operands else _computed(each, operands, values)
        if made is not None and rounds and tir.type_of(each).is_float:
            return _rounded(made, tir.type_of(each))
        if made is not None and tir.type_of(each).is_integer:
            bits = tir.type_of(each).bits - 1
            return made if -(1 << bits) <= made < 1 << bits else None
        return made

    return tir.fold(expr, node)


def _rounded(number: Fraction, kind: DataType) -> Fraction | None:
    """The float of a type that a number is rounded to; None if it is infinite."""
    import numpy as np

    from rlx.grammar.nodes.dtype import numpy_type

    known = numpy_type(kind)
    found = math.inf if known is None else float(np.array(float(number)).astype(known))
    return Fraction(found) if math.isfinite(found) else None


def _computed(
    node: PrimExpr, operands: list[Any], values: dict[tir.Var, Fraction]
) -> Fraction | None:
    match node:
        case tir.Var():
            return values.get(node)
        case tir.IntImm(value=number):
            return Fraction(number)
        case tir.FloatImm(value=number) if math.isfinite(number):
            return Fraction(number)
        case tir.Cast(dtype=kind) if kind.is_float:
            return Fraction(operands[0])
        case tir.Cast(dtype=kind) if kind.is_integer:
            return Fraction(math.trunc(operands[0]))
        case tir.Call(op=name) if name in _ROUNDED and len(operands) == 1:
            return Fraction(_ROUNDED[name](operands[0]))
        case tir.Div() if operands[1] and tir.type_of(node).is_float:
            return Fraction(operands[0] / operands[1])
        case tir.Add() | tir.Sub() | tir.Mul() | tir.Min() | tir.Max():
            pass
        case tir.Binary() if isinstance(node, INTEGER_DIVISIONS) and operands[1]:
            operands = [int(each) for each in operands]
        case _:
            return None
    exact = BY_NODE[type(node)].exact
    return None if exact is None else Fraction(exact(*operands))
