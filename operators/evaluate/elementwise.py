"""Element by element: one operand, or two that are broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlx.grammar.nodes.dtype import DataType
from rlx.operators.evaluate.arrays import (
    Array,
    Function,
    Kind,
    back,
    bits_of,
    broadcast,
    integer_range,
    is_float,
    kind_of,
    number,
    operand,
    quiet,
    undefined,
    wide,
    width,
    working,
)
from rlx.operators.evaluate.erf import erf
from rlx.operators.evaluation import OperatorFault
from rlx.spec.registry import rule

# ---------------------------------------------------------------- one operand


def _gelu_tanh(x: Array) -> Array:
    # Step by step in one array, and products for powers, which are slow in NumPy. (Of rank 0 a
    # product is no array.)
    inner = np.asarray(x * x)
    inner *= 0.044715
    inner += 1
    inner *= x
    inner *= 0.7978845608028654
    np.tanh(inner, out=inner)
    inner += 1
    inner *= x
    inner *= 0.5
    return inner


def _sigmoid(x: Array) -> Any:
    # Of large negative x, exp(-x) is infinite, and 1 / infinity the right 0.
    return 1 / (1 + np.exp(-x))


UNARY: dict[str, Function] = {
    **{
        name: getattr(np, name)
        for name in [
            "ceil",
            "cos",
            "cosh",
            "exp",
            "floor",
            "isfinite",
            "isinf",
            "isnan",
            "log",
            "logical_not",
            "negative",
            "sign",
            "sin",
            "sinh",
            "sqrt",
            "square",
            "tan",
            "tanh",
            "trunc",
        ]
    },
    **{
        f"a{name}": getattr(np, f"arc{name}")
        for name in ["cos", "cosh", "sin", "sinh", "tan", "tanh"]
    },
    "abs": np.abs,
    "bitwise_not": np.invert,
    "erf": erf,
    "round": np.round,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": _sigmoid,
    "nn.relu": lambda x: np.maximum(x, x.dtype.type(0)),
    "nn.gelu": lambda x: 0.5 * x * (1 + erf(x * 0.7071067811865476)),
    "nn.gelu_tanh": _gelu_tanh,
    "nn.selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "nn.silu": lambda x: x * _sigmoid(x),
}
_EXACT_ON_INTEGERS = frozenset(["ceil", "floor", "trunc", "round"])
_BOOLEAN = frozenset(["isfinite", "isinf", "isnan"])


def unary(name: str) -> Function:
    """The evaluation of an operator with one operand."""
    function = UNARY[name]

    def evaluate(x: Array) -> Array:
        if name in _EXACT_ON_INTEGERS and not is_float(x.dtype):
            return x.copy()
        kind = np.dtype(np.bool_) if name in _BOOLEAN else x.dtype
        try:
            return back(quiet(function, wide(x)), kind)
        except TypeError:
            raise OperatorFault(
                "E-operator-dtype", f"{name} is not defined for elements of type {x.dtype}"
            ) from None

    return evaluate


def leakyrelu(x: Array, alpha: float) -> Array:
    """Negative elements times ``alpha``."""
    w = wide(x)
    return back(np.where(w > 0, w, w * w.dtype.type(alpha)), x.dtype)


def softplus(x: Array, beta: float, threshold: float) -> Array:
    """``log(1 + exp(beta * x)) / beta``; ``x`` itself above the threshold."""
    w = wide(x)
    scaled = w * w.dtype.type(beta)
    smooth = quiet(lambda: np.log1p(np.exp(np.minimum(scaled, threshold))) / beta)
    return back(np.where(scaled > threshold, w, smooth), x.dtype)


def clip(x: Array, low: Any, high: Any) -> Array:
    """Elements clamped between two numbers."""
    w = wide(x)
    if not is_float(x.dtype):
        return back(np.minimum(np.maximum(w, _held(low, x)), _held(high, x)), x.dtype)
    return back(np.minimum(np.maximum(w, w.dtype.type(low)), w.dtype.type(high)), x.dtype)


def _held(limit: Any, x: Array) -> Any:
    """A limit as far as the type can hold it."""
    if x.dtype.kind == "b":
        return np.bool_(limit)
    least, most = integer_range(x.dtype)
    return working(x.dtype).type(max(least, min(most, limit)))


def _distance(x: Array) -> Array:
    """How far each place of the last two axes lies above the main diagonal."""
    rows, columns = x.shape[-2:]
    return np.arange(columns) - np.arange(rows)[:, None]


def tril(x: Array, k: Any) -> Array:
    """The lower triangle of the last two axes, up to the diagonal ``k``, which is any number."""
    return np.where(_distance(x) <= float(k), wide(x), 0).astype(x.dtype)


def triu(x: Array, k: Any) -> Array:
    """The upper triangle of the last two axes, from the diagonal ``k`` on, which is any number."""
    return np.where(_distance(x) >= float(k), wide(x), 0).astype(x.dtype)


def dropout(x: Array, rate: float) -> tuple[Array, Array]:
    """At inference nothing is dropped: the tensor, and a mask of ones."""
    return x.copy(), np.ones(x.shape).astype(x.dtype)


def ewise_fma(a: Array, b: Array, c: Array) -> Array:
    """``a * b + c``, rounded after each."""
    return back(quiet(lambda: wide(a) * wide(b) + wide(c)), a.dtype)


def astype(x: Array, kind: DataType | None) -> Array:
    """The elements converted; see :func:`convert`."""
    return convert(x, kind_of(kind, x.dtype))


@rule("E-convert", "b7e97269", "computation")
def convert(x: Array, kind: Kind) -> Array:
    """Elements converted to another type (E-convert).

    Integers wrap, and floats are rounded to nearest, ties to even. A float out of the range of an
    integer type becomes the nearest integer, and NaN becomes 0.
    """
    if kind == x.dtype:
        return x.copy()
    w = wide(x)
    if is_float(x.dtype) and not is_float(kind) and kind.kind != "b":
        return _to_integer(w, kind)
    if kind.kind == "b":
        return np.asarray(w != 0)
    return back(w, kind)


def _to_integer(x: Array, kind: Kind) -> Array:
    low, high = integer_range(kind)
    whole = np.trunc(np.where(np.isnan(x), 0, x)).astype(np.float64)
    inside = np.clip(whole, float(low), float(high))
    # The largest 64-bit integers are no floats: what rounds up to 2**63 is past the end.
    edge = inside >= float(high)
    with np.errstate(all="ignore"):
        made = np.where(edge, 0, inside).astype(working(kind))
    made = np.asarray(made)
    made[edge] = high
    return made.astype(kind)


# ---------------------------------------------------------------- two operands


@rule("E-divide", "1bfb03e5", "computation")
def _divisor(b: Array) -> None:
    if b.size and b.dtype.kind in "iu" and not np.all(b):
        raise OperatorFault("E-divide-zero", "an integer is divided by zero")


def _divide(a: Array, b: Array) -> Any:
    if a.dtype.kind not in "iu":
        return a / b
    _divisor(b)
    whole = np.floor_divide(a, b)
    # Towards zero: where signs differ and something is left, one more.
    return whole + ((whole < 0) & (whole * b != a)).astype(a.dtype)


def _floor_divide(a: Array, b: Array) -> Any:
    if a.dtype.kind not in "iu":
        return np.floor(a / b)
    _divisor(b)
    return np.floor_divide(a, b)


def _floor_mod(a: Array, b: Array) -> Any:
    if a.dtype.kind not in "iu":
        return a - np.floor(a / b) * b
    _divisor(b)
    return np.mod(a, b)


def _mod(a: Array, b: Array) -> Any:
    _divisor(b)
    return np.fmod(a, b)


@rule("E-power", "7a1aa037", "computation")
def _power(a: Array, b: Array) -> Any:
    if b.dtype.kind == "i" and b.size and b.min() < 0:
        raise OperatorFault("E-power-negative", f"an integer is raised to the power {b.min()}")
    found = np.power(a, b)
    if a.dtype.kind in "iub" or not (b == 0.5).any():
        return found
    # NumPy takes one exponent of 0.5 for the square root, which differs at -0 and at -inf.
    found = np.where((b == 0.5) & (a == 0), np.abs(a), found)
    return np.where((b == 0.5) & (a == -np.inf), np.abs(a), found)


@rule("E-shift", "855db241", "computation")
def _counts(kind: Kind, b: Array) -> None:
    bits = bits_of(kind)
    if b.dtype.kind in "iu" and b.size and (b.min() < 0 or b.max() >= bits):
        wrong = b.min() if b.min() < 0 else b.max()
        raise OperatorFault("E-shift-range", f"a number of {bits} bits is shifted by {wrong}")


BINARY: dict[str, Function] = {
    **{
        name: getattr(np, name)
        for name in [
            "add",
            "subtract",
            "multiply",
            "maximum",
            "minimum",
            "bitwise_and",
            "bitwise_or",
            "bitwise_xor",
            "left_shift",
            "right_shift",
            "logical_and",
            "logical_or",
            "logical_xor",
            "equal",
            "greater",
            "greater_equal",
            "less",
            "less_equal",
            "not_equal",
        ]
    },
    "atan2": np.arctan2,
    "divide": _divide,
    "floor_divide": _floor_divide,
    "floor_mod": _floor_mod,
    "log_add_exp": np.logaddexp,
    "mod": _mod,
    "power": _power,
}
_COMPARISONS = frozenset(["equal", "greater", "greater_equal", "less", "less_equal", "not_equal"])
_SHIFTS = frozenset(["left_shift", "right_shift"])
_SCALARS = (bool, int, float)


@rule("E-compare", "cefc62c1", "computation")
def alike(a: Array, b: Array) -> tuple[Array, Array]:
    """Operands of a comparison converted to a common type: the float type, the wider type, or the
    unsigned one of two integer types of the same width.
    """

    def rank(kind: Kind) -> tuple[bool, int, bool]:
        return is_float(kind), width(kind), kind.kind == "u"

    kind = max(a.dtype, b.dtype, key=rank)
    return a.astype(kind), b.astype(kind)


def binary(name: str) -> Function:
    """The evaluation of an operator with two operands."""
    function = BINARY[name]

    def evaluate(x1: Any, x2: Any) -> Any:
        a, b = operand(x1, x2), operand(x2, x1)
        shape = broadcast(a, b)
        if name in _SHIFTS and not is_float(a.dtype):
            _counts(a.dtype, wide(b))
        if name in _COMPARISONS and a.dtype != b.dtype:
            a, b = alike(a, b)
        try:
            found = quiet(function, wide(a), wide(b))
        except TypeError:
            raise undefined(name, a) from None
        if isinstance(x1, _SCALARS) and isinstance(x2, _SCALARS):
            return number(np.asarray(found)).item()
        kind = np.dtype(np.bool_) if name in _COMPARISONS else a.dtype
        return back(found, kind).reshape(shape)

    return evaluate


OPERATORS = {
    **{name: unary(name) for name in UNARY},
    **{name: binary(name) for name in BINARY},
    "wrap_param": astype,
}
"""The operators that functions of this file make or share, by name."""
