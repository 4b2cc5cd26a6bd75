"""C types: element types in registers and in memory, and types of expressions."""

from __future__ import annotations

import math
import struct
from functools import partial
from typing import Any, NoReturn

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT32, INT64, DataType, dtype, limits
from rlx.grammar.nodes.node import Span
from rlx.semantics.faults import UnsupportedStop
from rlx.spec.registry import refuted

# ---------------------------------------------------------------- constructs without native code


def refuse(what: str, span: Span | None = None) -> NoReturn:
    """Raise :class:`UnsupportedStop`: part of a function has no C code."""
    refuted("E-native-construct")
    raise UnsupportedStop("E-native-construct", f"native code does not support: {what}", span)


ZERO = "rlx_zero"
"""A variable of a kernel that is 0, which the compiler does not know."""

_WIDTHS = (8, 16, 32, 64)

_STORED = {
    **{f"int{bits}": f"int{bits}_t" for bits in _WIDTHS},
    **{f"uint{bits}": f"uint{bits}_t" for bits in _WIDTHS},
    "bool": "uint8_t",
    "float32": "float",
    "float64": "double",
    "float16": "uint16_t",
    "bfloat16": "uint16_t",
}
_SUFFIX = {
    **{f"int{bits}": f"i{bits}" for bits in _WIDTHS},
    **{f"uint{bits}": f"u{bits}" for bits in _WIDTHS},
    "bool": "u8",
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "b16",
}
FLOAT16, FLOAT64, BFLOAT16 = map(dtype, ("float16", "float64", "bfloat16"))
NARROW = ("float16", "bfloat16")
"""Types that are computed in float32 and rounded after every operation."""


class CValue:
    """A C atom (variable or constant) and its type.

    ``known`` is the number of a constant; ``stored`` is the same value in its memory type, if that
    is another C type; ``half`` is the bits of the float16 that has the same value. ``wide`` says that the C variable has 64 bits and a sign, whatever the type:
    it holds a result of index arithmetic, which is exact.
    """

    __slots__ = ("dtype", "half", "known", "stored", "text", "wide")

    def __init__(
        self,
        text: str,
        dtype: DataType,
        known: int | None = None,
        stored: str | None = None,
        wide: bool = False,
        half: str | None = None,
    ) -> None:
        self.wide = wide
        self.half = stored if dtype == FLOAT16 else half
        self.text = text
        self.dtype = dtype
        self.known = known
        self.stored = stored


def check(data_type: DataType) -> str:
    """The name of a type that C code supports; raises :class:`UnsupportedStop` for others."""
    name = str(data_type)
    if name not in _STORED:
        refuse(f"element type {name}")
    return name


def stored(data_type: DataType) -> str:
    """The C type of an element in memory."""
    return _STORED[check(data_type)]


def held(data_type: DataType) -> str:
    """The C type of a value in a variable."""
    name = check(data_type)
    return "float" if name in NARROW else _STORED[name]


def size(data_type: DataType) -> int:
    """The bytes of a value in a variable."""
    return 4 if check(data_type) in NARROW else max(data_type.bits // 8, 1)


def stored_size(data_type: DataType) -> int:
    """The bytes of an element in memory."""
    check(data_type)
    return max(data_type.bits // 8, 1)


def suffix(data_type: DataType) -> str:
    """The suffix of the helper functions of a type: ``i64``, ``f32``, …"""
    return _SUFFIX[check(data_type)]


def is_signed(data_type: DataType) -> bool:
    """Whether values are signed integers."""
    return data_type.code == "int"


def loaded(data_type: DataType, element: str) -> str:
    """The value of an element in memory."""
    match str(data_type):
        case "float16" | "bfloat16":
            return f"rlx_from_{suffix(data_type)}({element})"
        case "bool":
            return f"({element} != 0)"
    return element


def element_of(data_type: DataType, value: str) -> str | None:
    """The argument from which :func:`loaded` made ``value``, if it has another type in memory."""
    head = f"rlx_from_{_SUFFIX.get(str(data_type))}("
    return value.removeprefix(head).removesuffix(")") if value.startswith(head) else None


def saved(data_type: DataType, value: str) -> str:
    """A value converted to its type in memory."""
    return f"rlx_to_{suffix(data_type)}({value})" if str(data_type) in NARROW else value


def rounded(data_type: DataType, value: str) -> str:
    """The result of an operation, in the precision of its type."""
    match str(data_type):
        case "float16" | "bfloat16":
            return loaded(data_type, saved(data_type, value))
        case "float32" | "float64":
            return value
        case "bool":
            return f"({value} != 0)"
    return f"({held(data_type)})({value})"


def wrapped(value: int, data_type: DataType) -> int:
    """The value of an integer constant, wrapped to a type."""
    if data_type == BOOL:
        return int(bool(value))
    low, high = limits(data_type)
    return low + (value - low) % (high - low + 1)


def integer(value: int, data_type: DataType) -> str:
    """An integer constant, wrapped to the width of its type."""
    value = wrapped(value, data_type)
    if data_type == BOOL:
        return str(value)
    if not is_signed(data_type):
        return f"(({held(data_type)})UINT64_C({value}))"
    smallest, _ = limits(INT64)
    if value == smallest:
        return "INT64_MIN"
    return f"(({held(data_type)})INT64_C({value}))"


def floating(value: float, data_type: DataType) -> str:
    """A floating-point constant, rounded once to its type."""
    single = data_type != FLOAT64
    if math.isnan(value):
        return '__builtin_nanf("")' if single else '__builtin_nan("")'
    if single:
        value = _rounded_constant(value, data_type)
    if math.isinf(value):
        return f"({'-' if value < 0 else ''}__builtin_inf{'f' if single else ''}())"
    return f"({value.hex()}{'f' if single else ''})"


def extreme(word: str, data_type: DataType) -> str:
    """``max_value`` or ``min_value``: the largest or smallest finite number of a type, in C."""
    if data_type.is_float:
        import ml_dtypes

        top = float(ml_dtypes.finfo(check(data_type)).max)  # type: ignore[no-untyped-call]
        return floating({"max_value": top, "min_value": -top}[word], data_type)
    low, high = limits(data_type)
    return integer({"max_value": high, "min_value": low}[word], data_type)


def _rounded_constant(value: float, data_type: DataType) -> float:
    if data_type == BFLOAT16:
        import ml_dtypes
        import numpy as np

        with np.errstate(over="ignore"):
            return float(np.array(value, np.float64).astype(ml_dtypes.bfloat16))
    try:
        letter = "e" if data_type == FLOAT16 else "f"
        [rounded] = struct.unpack(letter, struct.pack(letter, value))
        return float(rounded)
    except OverflowError:
        return math.copysign(math.inf, value)


Types = dict[tir.PrimExpr, DataType]

_BOOLEAN = frozenset(["isnan", "isinf", "isfinite"])
_NAMED = frozenset(["min_value", "max_value", "infinity", "reinterpret"])


def type_of(known: Types, expr: tir.PrimExpr) -> DataType:
    """The type of an expression; ``known`` keeps those of its parts."""
    return known[expr] if expr in known else tir.fold(expr, partial(_type, known), known)


def _type(known: Types, expr: Any, operands: list[DataType]) -> DataType:
    match expr:
        case tir.Var() | tir.IntImm() | tir.FloatImm() | tir.Cast():
            found: DataType = expr.dtype
            return found
        case tir.BufferLoad(buffer=buffer):
            return buffer.dtype
        case tir.Comparison() | tir.And() | tir.Or() | tir.Not():
            return BOOL
        case tir.Binary(a=a, b=b) | tir.Select(true_value=a, false_value=b):
            return meet(known, a, b)
        case tir.Let(body=body):
            return known[body]
        case tir.Call():
            return _of_call(known, expr)
    return INT64


def _is_wider(literal: DataType, other: DataType) -> bool:
    """Whether an integer literal is wider than the other operand (E-tir-common)."""
    return not other.is_float and literal.bits > other.bits


def joined(a: DataType, b: DataType, a_is_literal: bool, b_is_literal: bool) -> DataType:
    """The common type of two operands: an integer literal that is not wider takes the other type;
    otherwise it is the wider type.
    """
    if a == b or (b_is_literal and not _is_wider(b, a)):
        return a
    if a_is_literal and not _is_wider(a, b):
        return b
    return max(a, b, key=lambda t: (t.is_float, t.bits, t.code == "uint"))


def meet(known: Types, a: tir.PrimExpr, b: tir.PrimExpr) -> DataType:
    """The common type of two expressions."""
    return joined(known[a], known[b], isinstance(a, tir.IntImm), isinstance(b, tir.IntImm))


def _of_call(known: Types, call: tir.Call) -> DataType:
    match call.op, call.args:
        case "if_then_else", (_, first, second):
            return meet(known, first, second)
        case op, _ if op in _BOOLEAN:
            return BOOL
        case (("popcount" | "clz"), _):
            return INT32
        case op, (tir.StringImm(value=name), *_) if op in _NAMED:
            return dtype(name)
        case op, _ if op in _NAMED:
            return call.dtype or INT64
        case _, (first, *_):
            return known[first]
    return INT64
