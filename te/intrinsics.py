"""Functions of scalars: conditions, conversions, mathematics."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, DataType, limits
from rlx.te.errors import fail
from rlx.te.scalar import Scalar, binary, cast, common, condition, const, kind_of, logical, scalar


def if_then_else(condition_: Any, then: Any, otherwise: Any) -> Scalar:
    """One value if a condition holds, otherwise another; only the chosen one is evaluated."""
    given, a, b = _choice(condition_, then, otherwise)
    if given.value is not None:
        return a if given.value else b
    return Scalar(tir.Call("if_then_else", (given.node, a.node, b.node)), a.dtype)


def select(condition_: Any, then: Any, otherwise: Any) -> Scalar:
    """One value if a condition holds, otherwise another; both are evaluated."""
    given, a, b = _choice(condition_, then, otherwise)
    return Scalar(tir.Select(given.node, a.node, b.node), a.dtype)


def _choice(given: Any, then: Any, otherwise: Any) -> tuple[Scalar, Scalar, Scalar]:
    a, b = scalar(then), scalar(otherwise)
    meet = common(a, b)
    return condition(given), cast(meet, a), cast(meet, b)


def all(*conditions: Any) -> Scalar:
    """Whether every condition holds; conditions after a false one are not evaluated."""
    return _joined(tir.And, conditions, "all")


def any(*conditions: Any) -> Scalar:
    """Whether one of the conditions holds; conditions after it are not evaluated."""
    return _joined(tir.Or, conditions, "any")


def _joined(kind: type[tir.Binary], conditions: tuple[Any, ...], name: str) -> Scalar:
    if not conditions:
        fail(f"te.{name} takes at least one condition")
    return reduce(partial(logical, kind), map(condition, conditions))


def min_value(dtype: str | DataType) -> Scalar:
    """The smallest number of a type; of floats the smallest finite one."""
    kind = kind_of(dtype)
    if kind.is_float:
        return const(-largest(kind), kind)
    low, _ = limits(kind)
    return const(low, kind)


def max_value(dtype: str | DataType) -> Scalar:
    """The largest number of a type; of floats the largest finite one."""
    kind = kind_of(dtype)
    if kind.is_float:
        return const(largest(kind), kind)
    _, high = limits(kind)
    return const(high, kind)


def infinity(dtype: str | DataType) -> Scalar:
    """The infinity of a type of floats."""
    return const(math.inf, dtype)


def largest(kind: DataType) -> float:
    """The largest finite number of a type of floats."""
    import ml_dtypes

    from rlx.grammar.nodes.dtype import numpy_type

    found = numpy_type(kind)
    if found is None:
        fail(f"there are no numbers of type {kind}")
    info: Any = ml_dtypes.finfo
    return float(info(found).max)


def truncdiv(a: Any, b: Any) -> Scalar:
    """The quotient of integers, rounded towards zero."""
    return binary(tir.TruncDiv, a, b)


def truncmod(a: Any, b: Any) -> Scalar:
    """The remainder of :func:`truncdiv`."""
    return binary(tir.TruncMod, a, b)


def floordiv(a: Any, b: Any) -> Scalar:
    """The quotient of integers, rounded down: ``a // b``."""
    return binary(tir.FloorDiv, a, b)


def floormod(a: Any, b: Any) -> Scalar:
    """The remainder of :func:`floordiv`: ``a % b``."""
    return binary(tir.FloorMod, a, b)


indexdiv, indexmod = floordiv, floormod


def popcount(x: Any) -> Scalar:
    """The number of ones among the bits of an integer."""
    given = scalar(x)
    if not given.dtype.is_integer:
        fail(f"popcount takes an integer, found {given.dtype}")
    return call("popcount", given, dtype=given.dtype)


def ceildiv(a: Any, b: Any) -> Scalar:
    """The quotient of integers, rounded up."""
    return (scalar(a) + scalar(b) - 1) // scalar(b)


def minimum(a: Any, b: Any) -> Scalar:
    """The smaller of two numbers."""
    return _extremum(tir.Min, a, b)


def maximum(a: Any, b: Any) -> Scalar:
    """The larger of two numbers."""
    return _extremum(tir.Max, a, b)


def _extremum(kind: type[tir.Binary], left: Any, right: Any) -> Scalar:
    a, b = scalar(left), scalar(right)
    return a if a.node is b.node else binary(kind, a, b)


def abs(x: Any) -> Scalar:
    """The distance from 0."""
    given = scalar(x)
    if given.dtype.code == "uint" or given.dtype == BOOL:
        return given
    if given.dtype.is_integer:
        zero = const(0, given.dtype)
        chosen = tir.Select(tir.GE(given.node, zero.node), given.node, (zero - given).node)
        return Scalar(chosen, given.dtype)
    return Scalar(tir.Call("fabs", (given.node,)), given.dtype)


def call(name: str, *args: Any, dtype: str | DataType | None = None) -> Scalar:
    """A call of an intrinsic, of the type of its first argument unless one is given.

    Raises
    ------
    TensorExpressionError
        If there is neither an argument nor a type, or one of them is none.
    """
    if not isinstance(name, str):
        fail(f"expected the name of an intrinsic, found {type(name).__name__}")
    given = [scalar(each) for each in args]
    if not given and dtype is None:
        fail(f"a call of {name} without arguments needs a dtype")
    kind = given[0].dtype if dtype is None else kind_of(dtype)
    return Scalar(tir.Call(name, tuple(g.node for g in given)), kind)


def _real(name: str) -> Callable[[Any], Scalar]:
    def function(x: Any) -> Scalar:
        given = scalar(x)
        if not given.dtype.is_float:
            fail(
                f"te.{name} takes a float, found {given} of type {given.dtype}: "
                "convert it, as in x.astype('float32')"
            )
        return call(name, given)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}(x)`` of a float."
    return function


acos, acosh, asin, asinh = (_real(name) for name in ("acos", "acosh", "asin", "asinh"))
atan, atanh, cos, cosh = (_real(name) for name in ("atan", "atanh", "cos", "cosh"))
erf, exp, log, log2, log10 = (_real(name) for name in ("erf", "exp", "log", "log2", "log10"))
log1p, sigmoid, sin, sinh = (_real(name) for name in ("log1p", "sigmoid", "sin", "sinh"))
sqrt, rsqrt, tan, tanh = (_real(name) for name in ("sqrt", "rsqrt", "tan", "tanh"))
ceil, floor, trunc, round = (_real(name) for name in ("ceil", "floor", "trunc", "round"))
nearbyint = _real("nearbyint")


def _test(name: str) -> Callable[[Any], Scalar]:
    def function(x: Any) -> Scalar:
        given = scalar(x)
        if not given.dtype.is_float:
            return const(name == "isfinite", BOOL)
        return call(name, given, dtype=BOOL)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}(x)``: a condition; integers are finite."
    return function


TESTS = ("isnan", "isinf", "isfinite")
"""The intrinsics whose value is a condition."""
isnan, isinf, isfinite = (_test(name) for name in TESTS)


def fmod(a: Any, b: Any) -> Scalar:
    """The remainder of a division of floats, with the sign of ``a``."""
    return _two("fmod", a, b)


def atan2(a: Any, b: Any) -> Scalar:
    """The angle of the point (b, a)."""
    return _two("atan2", a, b)


def _two(name: str, left: Any, right: Any) -> Scalar:
    a, b = scalar(left), scalar(right)
    meet = common(a, b)
    if not meet.is_float:
        fail(f"te.{name} takes floats, found {a.dtype} and {b.dtype}")
    return call(name, cast(meet, a), cast(meet, b))
