"""The intrinsics of PrimFuncs on scalars: their values and types.

A floating-point function is the real function, computed in double and rounded to the type of the
operand.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT32, INT64, DataType, limits
from rlx.grammar.nodes.dtype import numpy_type as element_type
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.prim_operators import BY_INTRINSIC
from rlx.grammar.read.script_vocabulary import ARITY
from rlx.semantics.tir.values import (
    Number,
    divide,
    fault,
    floor,
    fmod,
    into,
    trunc,
    unsupported,
)
from rlx.spec.registry import rule

Function = Callable[..., Number]


def total(function: Function, everywhere: Callable[..., Any]) -> Function:
    """A function of :mod:`math` that returns infinity or NaN as in IEEE 754 instead of raising."""

    def apply(*values: float) -> float:
        try:
            return float(function(*values))
        except (ValueError, OverflowError):
            with np.errstate(all="ignore"):
                return float(everywhere(*map(np.float64, values)))

    return apply


def half_even(value: float) -> float:
    """Rounding to the nearest integer, ties to even."""
    return math.copysign(round(value), value) if math.isfinite(value) else value


def sigmoid(value: float) -> float:
    """`1 / (1 + exp(-x))`"""
    return 1.0 / (1.0 + _exp(-value))


def _gamma(value: float) -> float:
    try:
        return math.gamma(value)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.copysign(math.inf, value) if value == 0 else math.nan


def _next_after(dtype: DataType) -> Function:
    if dtype == FLOAT32:
        return lambda a, b: float(np.nextafter(np.float32(a), np.float32(b)))
    return math.nextafter


_exp = total(math.exp, np.exp)
_sqrt = total(math.sqrt, np.sqrt)

REAL: dict[str, Function] = {
    "acos": total(math.acos, np.arccos),
    "acosh": total(math.acosh, np.arccosh),
    "asin": total(math.asin, np.arcsin),
    "asinh": total(math.asinh, np.arcsinh),
    "atan": math.atan,
    "atan2": math.atan2,
    "atanh": total(math.atanh, np.arctanh),
    "ceil": lambda x: -floor(-x),
    "copysign": math.copysign,
    "cos": total(math.cos, np.cos),
    "cosh": total(math.cosh, np.cosh),
    "erf": math.erf,
    "exp": _exp,
    "exp10": total(lambda x: math.pow(10.0, x), lambda x: np.power(10.0, x)),
    "exp2": total(math.exp2, np.exp2),
    "floor": floor,
    "fmod": fmod,
    "hypot": math.hypot,
    "ldexp": total(lambda x, n: math.ldexp(x, int(n)), np.ldexp),
    "log": total(lambda x: math.log(x), np.log),
    "log10": total(math.log10, np.log10),
    "log1p": total(math.log1p, np.log1p),
    "log2": total(math.log2, np.log2),
    "nearbyint": half_even,
    "pow": total(math.pow, np.power),
    "power": total(math.pow, np.power),
    "round": half_even,
    "rsqrt": lambda x: divide(1.0, _sqrt(x)),
    "sigmoid": sigmoid,
    "sin": total(math.sin, np.sin),
    "sinh": total(math.sinh, np.sinh),
    "sqrt": _sqrt,
    "tan": total(math.tan, np.tan),
    "tanh": math.tanh,
    "tgamma": _gamma,
    "trunc": trunc,
}


@rule("E-tir-real", "TIR expression")
def real(name: str, dtype: DataType) -> Function:
    """A real function on scalars of a floating-point type."""
    function, bring = REAL[name], into(dtype)
    return lambda *values: bring(function(*values))


@rule("E-tir-shift", "TIR expression")
def amount(value: int, dtype: DataType) -> int:
    """The checked amount of a shift."""
    if not 0 <= value < dtype.bits:
        fault("E-tir-shift-amount", f"an integer of {dtype.bits} bits is shifted by {value}")
    return value


@rule("E-tir-power", "TIR expression")
def integer_power(base: int, exponent: int, dtype: DataType) -> Number:
    """`base ** exponent` in an integer type."""
    if exponent < 0:
        fault("E-tir-power-exponent", f"an integer is raised to the negative power {exponent}")
    low, high = limits(dtype)
    return into(dtype)(pow(base, exponent, high - low + 1))


@rule("E-tir-bits", "TIR expression")
def bitwise(name: str, dtype: DataType) -> Function:
    """An operation on the bits of integers in two's complement."""
    bring, (low, high) = into(dtype), limits(dtype)
    mask = high - low  # all bits set
    found = BY_INTRINSIC.get(name)
    if found is not None and found.exact is not None:
        whole = found.exact
        if name in ("shift_left", "shift_right"):
            return lambda a, n: bring(whole(a, amount(n, dtype)))
        return lambda a, b: bring(whole(a, b))
    table: dict[str, Function] = {
        "bitwise_not": lambda a: (not a) if dtype == BOOL else bring(~a),
        "popcount": lambda a: (a & mask).bit_count(),
        "clz": lambda a: dtype.bits - (a & mask).bit_length(),
    }
    return table[name]


BITWISE = frozenset(["bitwise_not", *(o.name for o in BY_INTRINSIC.values() if o.exact)])


@rule("E-tir-reinterpret", "TIR expression")
def reinterpret(source: DataType, target: DataType) -> Function:
    """The scalar of another type with the same bits."""
    a, b = _FORMATS.get(str(source)), _FORMATS.get(str(target))
    if a and b and source.bits == target.bits:

        def same_bits(value: Any) -> Any:
            [found] = struct.unpack(b, struct.pack(a, value))
            return found

        return same_bits
    lanes = regrouped(source, target)
    if source.bits != target.bits:
        _no_reinterpretation(source, target)
    return lambda value: lanes((value,), 1)


def regrouped(source: DataType, target: DataType) -> Callable[[Sequence[Any], int], Any]:
    """The lanes, or the one number, with the bits of the lanes of another type."""
    element, other = element_type(source), element_type(target)
    if element is None or other is None or source.bits % 8 or target.bits % 8:
        _no_reinterpretation(source, target)

    def regroup(values: Sequence[Any], lanes: int) -> Any:
        bits = np.array(values, element)
        if bits.nbytes != lanes * np.dtype(other).itemsize:
            _no_reinterpretation(source, target)
        found = bits.view(other)
        numbers = found.astype(np.float64) if target.is_float else found
        return numbers.item() if lanes == 1 else tuple(numbers.tolist())

    return regroup


def _no_reinterpretation(source: DataType, target: DataType) -> NoReturn:
    unsupported("E-tir-reinterpret-size", f"cannot reinterpret {source} as {target}")


_FORMATS = {
    "int8": "<b",
    "int16": "<h",
    "int32": "<i",
    "int64": "<q",
    "uint8": "<B",
    "uint16": "<H",
    "uint32": "<I",
    "uint64": "<Q",
    "float16": "<e",
    "float32": "<f",
    "float64": "<d",
}

_TESTS: dict[str, Function] = {
    "isnan": math.isnan,
    "isinf": math.isinf,
    "isfinite": math.isfinite,
}
_SAME = frozenset(["likely", "tvm_thread_invariant", "assume_value"])
_COUNTS: dict[str, DataType] = {"popcount": INT32, "clz": INT32}


def absolute(dtype: DataType) -> Function:
    """`|a|`; for the smallest integer of a signed type, the integer itself."""
    bring = into(dtype)
    return lambda a: bring(abs(a))


def fused_multiply_add(dtype: DataType) -> Function:
    """`a * b + c`, the product rounded before the sum."""
    bring = into(dtype)
    return lambda a, b, c: bring(bring(a * b) + c)


def q_multiply_shift(x: int, y: int, q: int, s: int) -> int:
    """`round(x * y * 2 ** (s - q))` in fixed-point numbers of 32 bits, halves upwards."""
    by, product = q - s, x * y
    amount(abs(by), INT64)
    found = (product + (1 << (by - 1))) >> by if by > 0 else product << -by
    return int(into(INT32)(found))


def q_multiply_shift_per_axis(
    x: int, y: int, left: int, right: int, q: int, shifts_left: bool, shifts_right: bool
) -> int:
    """`round(x * 2 ** left * y * 2 ** -(q + right))`, with a shift where its flag is set."""
    x = x << amount(left, INT64) if shifts_left else x
    return q_multiply_shift(x, y, q, -right if shifts_right else 0)


def intrinsic(name: str, operands: Sequence[DataType]) -> tuple[DataType, Function]:
    """The scalar function of an intrinsic, and the type of its result.

    Parameters
    ----------
    name
        Without the leading ``T.``.
    operands
        The scalar types of the arguments.

    Raises
    ------
    UnsupportedStop
        `E-tir-intrinsic-unknown`, for an unknown name.
    FaultStop
        When the function is applied: `E-tir-shift-amount`, `E-tir-power-exponent`, `E-tir-divide`.
    """
    first = operands[0] if operands else None
    if first is None or ARITY.get(name, len(operands)) != len(operands):
        unknown(name)
    if name in ("abs", "fabs"):
        return first, absolute(first)
    if name in _SAME:
        return first, lambda a: a
    if name in _TESTS and first.is_float:
        return BOOL, _TESTS[name]
    if (name in BITWISE or name in _COUNTS) and not any(d.is_float for d in operands):
        return _COUNTS.get(name, first), bitwise(name, first)
    if name == "nextafter" and first.is_float:
        return first, _next_after(first)
    if name == "fma":
        return first, fused_multiply_add(first)
    if name == "q_multiply_shift" and not any(d.is_float for d in operands):
        return INT32, q_multiply_shift
    if name == "q_multiply_shift_per_axis" and not any(d.is_float for d in operands):
        return INT32, q_multiply_shift_per_axis
    if not first.is_float:
        return _on_integers(name, first)
    if name in REAL:
        return first, real(name, first)
    unknown(name)


def _on_integers(name: str, dtype: DataType) -> tuple[DataType, Function]:
    if name in ("pow", "power"):
        return dtype, lambda a, b: integer_power(a, b, dtype)
    if name in ("floor", "ceil", "trunc", "round", "nearbyint"):
        return dtype, lambda a: a
    if name == "isnan" or name == "isinf":
        return BOOL, lambda a: False
    if name == "isfinite":
        return BOOL, lambda a: True
    unknown(name)


@rule("E-tir-intrinsic", "TIR expression", refuses=True)
def unknown(name: str, span: Span | None = None) -> NoReturn:
    """The exception for an unknown intrinsic."""
    shown = f"the evaluator does not support the intrinsic T.{name}"
    unsupported("E-tir-intrinsic-unknown", shown, span)
