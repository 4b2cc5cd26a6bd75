"""Scalars of PrimFuncs: representation of numbers, arithmetic, comparisons, casts.

A scalar is a Python ``int``, ``float`` or ``bool`` that its data type can represent. Every
operation is the exact one followed by :func:`into`, which converts the result to the type: integers
wrap, and floats are rounded to nearest. (Adding, subtracting, multiplying and dividing in double
and rounding the result once more gives the correctly rounded result for every type of at most 24
bits of precision.)
"""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Callable
from typing import Any, NoReturn

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, DataType, limits
from rlx.grammar.nodes.dtype import dtype as named
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.prim_operators import DIVISIONS, exact
from rlx.semantics.faults import FaultStop, UnsupportedStop
from rlx.spec.registry import refuted, rule

Number = int | float | bool
Unary = Callable[[Any], Number]
Operation = Callable[[Any, Any], Number]


def fault(code: str, message: str) -> NoReturn:
    """Raise a fault, and record the failure of its premise."""
    refuted(code)
    raise FaultStop(code, message)


def unsupported(code: str, message: str, span: Span | None = None) -> NoReturn:
    """Raise the error that this evaluator does not support the program, and record the failure of
    the premise.
    """
    refuted(code)
    raise UnsupportedStop(code, message, span)


# ---------------------------------------------------------------- types

FLOAT64 = named("float64")


def vector_element(dtype: DataType) -> DataType:
    """The scalar type of a type with one or several lanes."""
    return dtype if dtype.lanes <= 1 else named(str(dtype).rpartition("x")[0])


def into(dtype: DataType) -> Unary:
    """The function that converts an exact result to a scalar type.

    Raises
    ------
    UnsupportedStop
        `E-tir-type`, for an unsupported type.
    """
    if dtype == BOOL:
        return bool
    if dtype.is_integer:
        return wrapping(dtype)
    if dtype.is_float:
        return rounding(dtype)
    unsupported("E-tir-type", f"arithmetic on scalars of type {dtype} is not supported")


@rule("E-tir-integer", "TIR expression")
def wrapping(dtype: DataType) -> Unary:
    """Wrapping in two's complement: the number of the type that is equal modulo two to the
    width.
    """
    low, high = limits(dtype)
    period = high - low + 1

    def wrap(value: int) -> int:
        return value if low <= value <= high else low + (value - low) % period

    return wrap


@rule("E-tir-float", "TIR expression")
def rounding(dtype: DataType) -> Unary:
    """Rounding to nearest, ties to even; beyond the largest number, the result is infinity (or its
    replacement in a narrow type).
    """
    if dtype == FLOAT64:
        return float
    if dtype == FLOAT32:
        single = ctypes.c_float
        return lambda value: single(value).value
    layout = _LAYOUTS.get(str(dtype))
    return _narrow(dtype) if layout is None else lambda value: to_nearest(value, *layout)


_LAYOUTS = {"float16": (11, 15), "bfloat16": (8, 127)}
"""Bits of precision and the largest exponent."""


def to_nearest(value: float, precision: int, largest: int) -> float:
    """Round to a binary format of the IEEE kind, given its precision in bits and its largest
    exponent.
    """
    if value == 0 or not math.isfinite(value):
        return float(value)
    exponent = math.frexp(value)[1] - 1
    if exponent > largest:
        return math.copysign(math.inf, value)
    exponent = max(exponent, 1 - largest)  # below the normal numbers spacing is constant
    spacing = exponent - precision + 1
    rounded = math.ldexp(round(math.ldexp(value, -spacing)), spacing)
    if abs(rounded) >= math.ldexp(1.0, largest + 1):
        return math.copysign(math.inf, value)
    return math.copysign(rounded, value)


def _narrow(dtype: DataType) -> Unary:
    """The formats that ml_dtypes defines: some have no infinity, some no zero."""
    import ml_dtypes

    made = getattr(ml_dtypes, str(dtype), None)
    if made is None:
        unsupported("E-tir-type", f"arithmetic on scalars of type {dtype} is not supported")
    return lambda value: float(made(value))


# ---------------------------------------------------------------- arithmetic


def divide(a: float, b: float) -> float:
    """`a / b` on floats; unlike in Python, a division by zero is infinite, or NaN for `0 / 0`."""
    try:
        return a / b
    except ZeroDivisionError:
        if a == 0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)


def floor(value: float) -> float:
    """The greatest integer that is not greater, as a float; infinities and NaN stay."""
    return float(math.copysign(math.floor(value), value)) if math.isfinite(value) else value


def trunc(value: float) -> float:
    """The integer part, as a float; infinities and NaN stay."""
    return float(math.copysign(math.trunc(value), value)) if math.isfinite(value) else value


def fmod(a: float, b: float) -> float:
    """`a - trunc(a / b) * b`, computed exactly; NaN if undefined."""
    if b == 0 or math.isinf(a):
        return math.nan
    return math.fmod(a, b)


@rule("E-tir-divide", "TIR expression")
def nonzero(divisor: int) -> int:
    """The divisor of an integer division."""
    if divisor == 0:
        fault("E-tir-divide", "integer division by zero")
    return divisor


@rule("E-tir-extremum", "TIR expression")
def extremum(kind: type[tir.Binary]) -> Operation:
    """`min(a, b)` is `a` where `a < b`, else `b`; `max(a, b)` is `a` where `a > b`, else `b`."""
    if kind is tir.Min:
        return lambda a, b: a if a < b else b  # noqa: FURB136 - which one, if unordered, matters
    return lambda a, b: a if a > b else b  # noqa: FURB136


_FLOATS: dict[type[tir.Binary], Operation] = {
    tir.Add: operator.add,
    tir.Sub: operator.sub,
    tir.Mul: operator.mul,
    tir.Div: divide,
    tir.TruncMod: fmod,
}


def binary(kind: type[tir.Binary], dtype: DataType) -> Operation:
    """The operation of a binary node on two scalars of the same type.

    Parameters
    ----------
    kind
        The node's class; ``And`` and ``Or`` get both operands here.
    dtype
        The scalar type of both operands (of the result too, unless the node compares).

    Raises
    ------
    UnsupportedStop
        `E-tir-type`, for a type without arithmetic.
    FaultStop
        When the operation is applied: `E-tir-divide`.
    """
    if issubclass(kind, (tir.Comparison, tir.And, tir.Or)):
        return exact(kind)
    if kind in (tir.Min, tir.Max):
        return extremum(kind)
    bring = into(dtype)
    if not dtype.is_float:
        whole = exact(kind)
        if kind in DIVISIONS:
            return lambda a, b: bring(whole(a, nonzero(b)))
        return lambda a, b: bring(whole(a, b))
    if kind is tir.FloorDiv:
        return lambda a, b: floor(bring(divide(a, b)))
    if kind is tir.TruncDiv:
        return lambda a, b: trunc(bring(divide(a, b)))
    if kind is tir.FloorMod:
        return lambda a, b: bring(a - bring(floor(bring(divide(a, b))) * b))
    result = _FLOATS[kind]
    return lambda a, b: bring(result(a, b))


# ---------------------------------------------------------------- casts


def cast(source: DataType, target: DataType) -> Unary:
    """The conversion of a scalar from one type to another (lanes are the caller's).

    Raises
    ------
    UnsupportedStop
        `E-tir-type`, for a type without arithmetic.
    FaultStop
        When the conversion is applied: `E-tir-cast-range`.
    """
    if source.is_float and target.is_integer:
        return lambda value: to_integer(value, target)
    if target == BOOL:
        return lambda value: bool(value != 0)
    if target.is_float and not source.is_float:
        return lambda value: from_integer(value, target)
    return into(target)


@rule("E-tir-cast", "TIR expression")
def to_integer(value: float, target: DataType) -> int:
    """The integer part of a float, if it fits the target type."""
    low, high = limits(target)
    if not math.isfinite(value) or not low <= math.trunc(value) <= high:
        fault(
            "E-tir-cast-range",
            f"{value} does not fit into {target}, whose range is {low} to {high}",
        )
    return math.trunc(value)


def from_integer(value: int, target: DataType) -> float:
    """The float nearest to an integer, rounded once."""
    precision = _PRECISION.get(str(target), 53)
    excess = max(int(value).bit_length() - 2 * precision - 2, 0)
    # Bits far below the last one that is kept can only decide a tie: one sticky bit is enough.
    low = int(value) & ((1 << excess) - 1)
    sticky = (int(value) >> excess) | bool(low)
    return into(target)(math.ldexp(sticky, excess) if excess else int(value))


_PRECISION = {"float32": 24, "float16": 11, "bfloat16": 8}
