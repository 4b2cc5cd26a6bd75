"""The intrinsics of LLVM that PrimFuncs may call by name, on scalars and lane by lane."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from rlx.grammar.nodes.dtype import DataType
from rlx.semantics.tir.c_math import C_MATH, OPERANDS
from rlx.semantics.tir.intrinsics import bitwise
from rlx.semantics.tir.terms import Evaluate, Term, lifted
from rlx.semantics.tir.values import Number, into

Function = Callable[..., Number]


def _mask(dtype: DataType) -> int:
    return (1 << dtype.bits) - 1


def _unsigned(dtype: DataType, pick: Callable[..., int]) -> Function:
    """A choice among integers that are read without a sign."""
    return lambda a, b: pick(a, b, key=lambda value: value & _mask(dtype))


def _saturating(dtype: DataType, signed: bool, apply: Callable[[int, int], int]) -> Function:
    """A result outside of the type becomes the nearest number in it."""
    mask, bring = _mask(dtype), into(dtype)
    low, high = (-(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1) if signed else (0, mask)

    def read(value: int) -> int:
        value &= mask
        return value - mask - 1 if signed and value > high else value

    return lambda a, b: bring(min(max(apply(read(a), read(b)), low), high))


def _funnel(dtype: DataType, left: bool) -> Function:
    """Two integers side by side are shifted; the high half is the result, or the low half."""
    bits, mask, bring = dtype.bits, _mask(dtype), into(dtype)

    def shift(a: int, b: int, by: int) -> Number:
        both, by = ((a & mask) << bits) | (b & mask), (by & mask) % bits
        return bring(both << by >> bits if left else both >> by)

    return shift


def _reversed(dtype: DataType, width: int) -> Function:
    """The bits in groups of a width, the last group first."""
    bring, starts = into(dtype), range(0, dtype.bits, width)
    group = (1 << width) - 1
    return lambda a: bring(sum((a >> at & group) << (dtype.bits - width - at) for at in starts))


def _trailing(dtype: DataType) -> Function:
    mask = _mask(dtype)
    return lambda a, _: dtype.bits if not a & mask else (a & -a).bit_length() - 1


def _propagating(pick: Callable[[float, float], float]) -> Function:
    return lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else pick(a, b)


def _fused(dtype: DataType) -> Function:
    bring = into(dtype)
    return lambda a, b, c: bring(a * b + c)


_BY_TYPE: dict[str, tuple[int, Callable[[DataType], Function]]] = {
    "abs": (2, lambda d: lambda a, _: into(d)(abs(a))),
    "bitreverse": (1, lambda d: _reversed(d, 1)),
    "bswap": (1, lambda d: _reversed(d, 8)),
    "ctlz": (2, lambda d: lambda a, _: bitwise("clz", d)(a)),
    "ctpop": (1, lambda d: bitwise("popcount", d)),
    "cttz": (2, _trailing),
    "fmuladd": (3, _fused),
    "fshl": (3, lambda d: _funnel(d, True)),
    "fshr": (3, lambda d: _funnel(d, False)),
    "maximum": (2, lambda d: _propagating(max)),
    "minimum": (2, lambda d: _propagating(min)),
    "roundeven": (1, lambda d: C_MATH["rint"]),
    "sadd.sat": (2, lambda d: _saturating(d, True, operator.add)),
    "smax": (2, lambda d: max),
    "smin": (2, lambda d: min),
    "ssub.sat": (2, lambda d: _saturating(d, True, operator.sub)),
    "uadd.sat": (2, lambda d: _saturating(d, False, operator.add)),
    "umax": (2, lambda d: _unsigned(d, max)),
    "umin": (2, lambda d: _unsigned(d, min)),
    "usub.sat": (2, lambda d: _saturating(d, False, operator.sub)),
}
_REDUCING: dict[str, Callable[[DataType], Function]] = {
    **{word: _BY_TYPE[word][1] for word in ("smax", "smin", "umax", "umin")},
    "and": lambda d: operator.and_,
    "or": lambda d: operator.or_,
    "xor": lambda d: operator.xor,
    "add": lambda d: lambda a, b: into(d)(a + b),
    "mul": lambda d: lambda a, b: into(d)(a * b),
    "fmax": lambda d: C_MATH["llvm.maxnum"],
    "fmin": lambda d: C_MATH["llvm.minnum"],
    "fadd": lambda d: lambda a, b: into(d)(a + b),
    "fmul": lambda d: lambda a, b: into(d)(a * b),
}
_SUFFIX = re.compile(r"(?:\.v?\d*[if]\d+)+\Z")
"""The types of the operands in a name: `llvm.fabs.v4f32`."""


def _reduced(word: str, operands: Sequence[Term]) -> tuple[Evaluate, bool] | None:
    """All lanes of the last operand, combined from the first on, after a number before it."""
    make, lanes = _REDUCING.get(word), operands[-1]
    starts = 1 if word in ("fadd", "fmul") else 0
    if make is None or not lanes.vector or len(operands) != starts + 1:
        return None
    function, runs = make(lanes.dtype), [term.run for term in operands]

    def combined(frame: Any) -> Any:
        *start, values = (run(frame) for run in runs)
        return reduce(function, (*start, *values))

    return combined, False


def intrinsic_of_llvm(name: str, operands: Sequence[Term]) -> tuple[Evaluate, bool] | None:
    """The value of a call, and whether it is a vector; None for other names or numbers of operands.

    Before 0.19, the number of operands whose types select the function stands before them.
    """
    known = _SUFFIX.sub("", name)
    word = known.removeprefix("llvm.")
    if word == known or not operands:
        return None
    if word.startswith("vector.reduce."):
        return _reduced(word.removeprefix("vector.reduce."), operands)
    if word in _BY_TYPE:
        arity, make = _BY_TYPE[word]
    elif known in C_MATH:
        arity, make = OPERANDS.get(word, 1), lambda _: C_MATH[known]
    else:
        return None
    operands = operands[1:] if len(operands) == arity + 1 else operands
    if len(operands) != arity:
        return None
    function = make(operands[0].dtype)
    return lifted(function, *operands), any(term.vector for term in operands)
