"""Values in C and their types: new variables, constants, conversions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT32, INT64, DataType, limits
from rlx.grammar.nodes.dtype import dtype as dtype_of
from rlx.semantics.native import c_types
from rlx.semantics.native.c_types import FLOAT64, ZERO, CValue
from rlx.semantics.native.state import Generation


def define(state: Generation, text: str, dtype: DataType) -> CValue:
    """A new variable that holds ``text``."""
    name = state.out.fresh()
    element = c_types.element_of(dtype, text)
    if element is None:
        state.out.put(f"const {c_types.held(dtype)} {name} = {text};")
        return CValue(name, dtype)
    stored = state.out.fresh()
    state.out.put(f"const {c_types.stored(dtype)} {stored} = {element};")
    state.out.put(f"const {c_types.held(dtype)} {name} = {c_types.loaded(dtype, stored)};")
    return CValue(name, dtype, None, stored)


def converted(state: Generation, value: CValue, dtype: DataType) -> CValue:
    """``value`` converted to another type, if the operands of an operator disagree."""
    if value.dtype == dtype:
        return value
    if value.known is not None and not dtype.is_float:
        return constant(value.known, dtype)
    return cast(state, value, dtype, None)


def constant(value: int, dtype: DataType) -> CValue:
    """An integer literal wrapped to its type, so that its known value is the one in C."""
    return CValue(c_types.integer(value, dtype), dtype, c_types.wrapped(value, dtype))


def common(a: CValue, b: CValue) -> DataType:
    """The common type of two operands: that of the other operand for a constant, otherwise the
    wider one.
    """
    return c_types.joined(a.dtype, b.dtype, a.known is not None, b.known is not None)


def unforeseen(number: str, dtype: DataType) -> str:
    """The same number, but the compiler does not know it."""
    return f"({number} + ({c_types.held(dtype)}){ZERO})"


_LONG = frozenset(map(dtype_of, ("int32", "int64", "uint32", "uint64")))
"""Integers that a float of 32 bits cannot all hold."""


def cast(
    state: Generation, value: CValue, target: DataType, span: Any, within: Bounds | None = None
) -> CValue:
    """A conversion; a float without a value in an integer type is a fault. `within`: the bounds of
    a float that is surely a number between them.
    """
    if value.wide:
        value = CValue(value.text, INT64)
    source = value.dtype
    if source == target:
        return value
    if target == BOOL:
        unknown = state.guarding and source.is_integer
        zero = unforeseen("0", source) if unknown else "0"
        return define(state, f"({value.text} != {zero})", target)
    if not source.is_float:
        if target.is_float and target != FLOAT64 and source in _LONG:
            return define(state, _from_wide(value, target), target)
        return define(
            state, c_types.rounded(target, f"({c_types.held(target)}){value.text}"), target
        )
    if target.is_float:
        if str(source) in c_types.NARROW and target == FLOAT32:  # it is held as one
            return CValue(value.text, target, half=value.half)
        text = value.text
        if source == FLOAT64 and str(target) in c_types.NARROW:
            text = f"rlx_narrow({text})"
        return define(state, c_types.rounded(target, f"({c_types.held(target)}){text}"), target)
    low, high = limits(target)
    if within is not None and low <= within[0] and within[1] <= high:
        return define(state, f"RLX_WHOLE({c_types.held(target)}, {value.text})", target)
    return _to_integer(state, value, target, span)


Bounds = tuple[float, float]


def bounds(expr: tir.PrimExpr, known: Mapping[tir.PrimExpr, Bounds] = {}) -> Bounds | None:
    """The bounds between which a chain of choices holds a float, None if it may be NaN or any.
    `known`: the bounds of floats that are numbers.
    """
    match expr:
        case tir.FloatImm(value=value):
            return (value, value) if math.isfinite(value) else None
        case tir.Select(condition=condition, true_value=first, false_value=second):
            held = dict(known)
            match condition:
                case tir.Call(op="isnan", args=(x,)):
                    held[x] = (-math.inf, math.inf)
                case tir.LT(a=x, b=tir.FloatImm(value=value)) if x in held:
                    held[x] = (max(held[x][0], value), held[x][1])
                case tir.LT(a=tir.FloatImm(value=value), b=x) if x in held:
                    held[x] = (held[x][0], min(held[x][1], value))
            a, b = bounds(first, known), bounds(second, held)
            return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))
    return known.get(expr)


def _to_integer(state: Generation, value: CValue, target: DataType, span: Any) -> CValue:
    """The integer part of a float; in loops, one without a value in the type is noticed behind
    them.
    """
    low, high = limits(target)
    holds = f"does not fit into {target}, whose range is {low} to {high}"
    letter, least = ("", INT64) if value.dtype == FLOAT64 else ("f", INT32)
    below = f"{value.text} > {float(low - 1)}"
    if target.bits >= least.bits and low:  # no float lies between the smallest and one less
        below = f"{value.text} >= {float(low)}"
    fits = f"(({below}{letter}) & ({value.text} < {float(high + 1)}{letter}))"
    if state.deferring:
        flag = state.deferred(state.out.site("E-tir-cast-range", f"a float {holds}", span))
        state.out.put(f"{flag} |= !{fits};")
        text = f"RLX_WHOLE({c_types.held(target)}, {fits} ? {value.text} : 0)"
        return define(state, text, target)
    site = state.out.site("E-tir-cast-range", f"{{f}} {holds}", span)
    state.out.stop_if(f"!{fits}", site, f"(int64_t)rlx_bits64((double){value.text})")
    return define(state, f"RLX_WHOLE({c_types.held(target)}, {value.text})", target)


def _from_wide(value: CValue, target: DataType) -> str:
    if target == FLOAT32:
        return f"(float){value.text}"
    return c_types.rounded(target, f"rlx_odd_{c_types.suffix(value.dtype)}({value.text})")
