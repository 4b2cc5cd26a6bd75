"""Element by element: one operand, or several that are broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlx import te
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, DataType
from rlx.te.scalar import Scalar, binary, bitwise
from rlx.transform.legalization.elements import (
    broadcast,
    convert,
    elementwise,
    equals,
    filled,
    larger,
    need_floats,
    need_numbers,
    smaller,
    wide,
)
from rlx.transform.legalization.result import Result, decline

Definition = Callable[..., Any]

# ---------------------------------------------------------------- one operand


def _gelu(x: Scalar) -> Scalar:
    return x * 0.5 * (te.erf(x * 0.7071067811865476) + 1.0)


def _gelu_tanh(x: Scalar) -> Scalar:
    inner = (x * x * 0.044715 + 1.0) * x * 0.7978845608028654
    return (te.tanh(inner) + 1.0) * x * 0.5


def _sigmoid(x: Scalar) -> Scalar:
    return _one(x) / (te.exp(-x) + 1.0)


def _one(x: Scalar) -> Scalar:
    return te.const(1, x.dtype)


def _zero(x: Scalar) -> Scalar:
    return te.const(0, x.dtype)


def _selu(x: Scalar) -> Scalar:
    below = (te.exp(x) - 1.0) * 1.6732632423543772
    return te.select(x > _zero(x), x, below) * 1.0507009873554805


_FLOATS: dict[str, Callable[[Scalar], Scalar]] = {
    "acos": te.acos,
    "acosh": te.acosh,
    "asin": te.asin,
    "asinh": te.asinh,
    "atan": te.atan,
    "atanh": te.atanh,
    "cos": te.cos,
    "cosh": te.cosh,
    "erf": te.erf,
    "exp": te.exp,
    "log": te.log,
    "rsqrt": lambda x: _one(x) / te.sqrt(x),
    "sigmoid": _sigmoid,
    "sin": te.sin,
    "sinh": te.sinh,
    "sqrt": te.sqrt,
    "tan": te.tan,
    "tanh": te.tanh,
    "nn.gelu": _gelu,
    "nn.gelu_tanh": _gelu_tanh,
    "nn.selu": _selu,
    "nn.silu": lambda x: x * _sigmoid(x),
}
"""Functions of floats."""


def _sign(x: Scalar) -> Scalar:
    negative = _zero(x) - 1 if x.dtype.code != "uint" else _zero(x)
    below = te.select(x < _zero(x), te.cast(x.dtype, negative), x)
    return te.select(x > _zero(x), _one(x), below)


def _rounded(name: str) -> Callable[[Scalar], Scalar]:
    function: Callable[[Any], Scalar] = getattr(te, name)
    return lambda x: function(x) if x.dtype.is_float else x


_NUMBERS: dict[str, Callable[[Scalar], Scalar]] = {
    "negative": lambda x: _zero(x) - x if not x.dtype.is_float else x * -1.0,
    "sign": _sign,
    "square": lambda x: x * x,
}
"""Functions of numbers, which Booleans are not."""

_ALL: dict[str, Callable[[Scalar], Scalar]] = {
    **{name: _rounded(name) for name in ("ceil", "floor", "trunc", "round")},
    "abs": te.abs,
    "isfinite": te.isfinite,
    "isinf": te.isinf,
    "isnan": te.isnan,
    "logical_not": lambda x: equals(x, _zero(x)),
    "nn.relu": lambda x: x if x.dtype == BOOL else larger(x, _zero(x)),
}
"""Functions of all elements."""


def _unary(name: str) -> Definition:
    function = _FLOATS.get(name) or _NUMBERS.get(name) or _ALL[name]

    def define(out: Result, x: te.Tensor) -> te.Tensor:
        if name in _FLOATS:
            need_floats(x.dtype)
        elif name in _NUMBERS:
            need_numbers(x.dtype)
        return elementwise(out, function, x)

    return define


def bitwise_not(out: Result, x: te.Tensor) -> te.Tensor:
    """The inverted bits; for Booleans, the negation."""
    if x.dtype.is_float:
        decline("it is not defined for floats")
    return elementwise(out, lambda v: ~v, x)


def leakyrelu(out: Result, x: te.Tensor, alpha: float) -> te.Tensor:
    """Negative elements times a slope."""
    need_floats(x.dtype)
    return elementwise(out, lambda v: te.select(v > _zero(v), v, v * te.const(alpha, v.dtype)), x)


def softplus(out: Result, x: te.Tensor, beta: float, threshold: float) -> te.Tensor:
    """``log(1 + exp(beta * x)) / beta``; the element itself above the threshold."""
    need_floats(x.dtype)

    def element(v: Scalar) -> Scalar:
        scaled, limit = v * te.const(beta, v.dtype), te.const(threshold, v.dtype)
        smooth = te.log1p(te.exp(smaller(scaled, limit))) / te.const(beta, v.dtype)
        return te.select(scaled > limit, v, smooth)

    return elementwise(out, element, x)


def clip(out: Result, x: te.Tensor, low: Any, high: Any) -> te.Tensor:
    """Elements clamped between two numbers."""
    need_numbers(x.dtype)

    def held(limit: Any, v: Scalar) -> Scalar:
        if isinstance(limit, Scalar):
            decline("its limits are not constant numbers")
        if not v.dtype.is_float:
            least, most = int(te.min_value(x.dtype)), int(te.max_value(x.dtype))
            limit = max(least, min(most, limit))
            if limit != int(limit):
                decline("its limits are not integers")
        return te.const(limit, v.dtype)

    return elementwise(out, lambda v: smaller(larger(v, held(low, v)), held(high, v)), x)


def _triangle(keep: Callable[[Scalar, Scalar], Scalar]) -> Definition:
    def define(out: Result, x: te.Tensor, k: Any) -> te.Tensor:
        def element(*i: Scalar) -> Scalar:
            distance = i[-1] - i[-2]
            zero = te.const(0, x.dtype)
            return te.if_then_else(keep(distance, te.cast("int64", k)), x(*i), zero)

        return filled(out, element)

    return define


def dropout(out: tuple[Result, Result], x: te.Tensor, rate: float) -> tuple[te.Tensor, te.Tensor]:
    """At inference nothing is dropped: the tensor, and a mask of ones."""
    kept = filled(out[0], lambda *i: x(*i), "T_dropout")
    mask = filled(out[1], lambda *i: te.const(1, out[1].dtype), "T_mask")
    return kept, mask


def ewise_fma(out: Result, a: te.Tensor, b: te.Tensor, c: te.Tensor) -> te.Tensor:
    """``a * b + c``, rounded after each."""
    need_numbers(a.dtype)
    return elementwise(out, lambda x, y, z: x * y + z, a, b, c)


def astype(out: Result, x: te.Tensor, dtype: DataType | None) -> te.Tensor:
    """The elements converted."""
    return filled(out, lambda *i: convert(wide(x(*i)), out.dtype))


# ---------------------------------------------------------------- two operands


def _divide(a: Scalar, b: Scalar) -> Scalar:
    return a / b if a.dtype.is_float else te.truncdiv(a, b)


def _floor_divide(a: Scalar, b: Scalar) -> Scalar:
    return te.floor(a / b) if a.dtype.is_float else a // b


def _floor_mod(a: Scalar, b: Scalar) -> Scalar:
    return a - te.floor(a / b) * b if a.dtype.is_float else a % b


def _mod(a: Scalar, b: Scalar) -> Scalar:
    return te.fmod(a, b) if a.dtype.is_float else te.truncmod(a, b)


def _power(a: Scalar, b: Scalar) -> Scalar:
    return te.power(a, b) if a.dtype.is_float else te.call("pow", a, b)


def _log_add_exp(a: Scalar, b: Scalar) -> Scalar:
    apart = te.log1p(te.exp(-te.abs(a - b))) + larger(a, b)
    return te.if_then_else(equals(a, b), a + 0.6931471805599453, apart)


def _truth(x: Scalar) -> Scalar:
    return x if x.dtype == BOOL else binary(tir.NE, x, _zero(x))


_ARITHMETIC: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "subtract": lambda a, b: a - b,
    "divide": _divide,
    "floor_divide": _floor_divide,
    "floor_mod": _floor_mod,
    "mod": _mod,
    "power": _power,
}
"""The operators that are not defined for Booleans."""
_ON_FLOATS: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "atan2": te.atan2,
    "log_add_exp": _log_add_exp,
}
_ON_BITS: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "bitwise_and": lambda a, b: bitwise("bitwise_and", a, b),
    "bitwise_or": lambda a, b: bitwise("bitwise_or", a, b),
    "bitwise_xor": lambda a, b: (
        binary(tir.NE, a, b) if a.dtype == BOOL else bitwise("bitwise_xor", a, b)
    ),
    "left_shift": lambda a, b: bitwise("shift_left", a, b),
    "right_shift": lambda a, b: bitwise("shift_right", a, b),
}
_ANY: dict[str, Callable[[Scalar, Scalar], Scalar]] = {
    "add": lambda a, b: te.any(a, b) if a.dtype == BOOL else a + b,
    "multiply": lambda a, b: te.all(a, b) if a.dtype == BOOL else a * b,
    "maximum": larger,
    "minimum": smaller,
    "logical_and": lambda a, b: te.all(_truth(a), _truth(b)),
    "logical_or": lambda a, b: te.any(_truth(a), _truth(b)),
    "logical_xor": lambda a, b: binary(tir.NE, _truth(a), _truth(b)),
}
_COMPARISONS: dict[str, type[tir.Binary]] = {
    "equal": tir.EQ,
    "greater": tir.GT,
    "greater_equal": tir.GE,
    "less": tir.LT,
    "less_equal": tir.LE,
    "not_equal": tir.NE,
}


def _operands(a: Any, b: Any) -> tuple[Any, Any]:
    """Both operands; a scalar beside a tensor is of the tensor's type."""
    if isinstance(a, Scalar):
        return te.cast(b.dtype, a), b
    return (a, te.cast(a.dtype, b)) if isinstance(b, Scalar) else (a, b)


def _binary(name: str) -> Definition:
    function = (_ARITHMETIC | _ON_FLOATS | _ON_BITS | _ANY)[name]

    def define(out: Result, x1: Any, x2: Any) -> te.Tensor:
        a, b = _operands(x1, x2)
        if name in _ARITHMETIC or "shift" in name:
            need_numbers(a.dtype)
        if name in _ON_FLOATS:
            need_floats(a.dtype)
        if name in _ON_BITS and a.dtype.is_float:
            decline("it is not defined for floats")
        return elementwise(out, function, a, b)

    return define


def _alike(a: DataType, b: DataType) -> DataType:
    """The type that elements of two types are compared in (E-compare)."""
    return max(a, b, key=lambda kind: (kind.is_float, kind.bits, kind.code == "uint"))


def _compared(name: str) -> Definition:
    kind = _COMPARISONS[name]

    def define(out: Result, x1: Any, x2: Any) -> te.Tensor:
        a, b = _operands(x1, x2)
        meet = _alike(a.dtype, b.dtype)

        def element(x: Scalar, y: Scalar) -> Scalar:
            p, q = wide(convert(x, meet)), wide(convert(y, meet))
            if p.dtype == BOOL and kind not in (tir.EQ, tir.NE):
                p, q = te.cast("int8", p), te.cast("int8", q)
            return binary(kind, p, q)

        return te.compute(  # type: ignore[no-any-return]
            out.shape,
            lambda *i: convert(element(broadcast(a, i), broadcast(b, i)), out.dtype),
            name=f"T_{name}",
        )

    return define


def where(out: Result, condition: te.Tensor, x1: te.Tensor, x2: te.Tensor) -> te.Tensor:
    """Elements of one tensor where a condition holds, of another elsewhere."""
    return filled(
        out,
        lambda *i: te.if_then_else(
            _truth(wide(broadcast(condition, i))), broadcast(x1, i), broadcast(x2, i)
        ),
    )


OPERATORS: dict[str, Definition] = {
    **{name: _unary(name) for name in (*_FLOATS, *_NUMBERS, *_ALL)},
    **{name: _binary(name) for name in (*_ARITHMETIC, *_ON_FLOATS, *_ON_BITS, *_ANY)},
    **{name: _compared(name) for name in _COMPARISONS},
    "tril": _triangle(lambda distance, k: distance <= k),
    "triu": _triangle(lambda distance, k: distance >= k),
    "wrap_param": astype,
}
"""The operators that functions of this file make or share, by name."""
