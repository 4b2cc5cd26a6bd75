"""The functions of C's mathematical library that PrimFuncs may call by name.

The intrinsics of LLVM with the same meaning use them, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from rlx.semantics.tir.intrinsics import REAL, half_even
from rlx.semantics.tir.values import floor, trunc


def _away_from_zero(value: float) -> float:
    """Rounding to the nearest integer, ties away from zero."""
    if not math.isfinite(value) or abs(value) >= 1 << 52:
        return value
    whole = trunc(value)
    return math.copysign(abs(whole) + (abs(value - whole) >= 0.5), value)


def _least(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else min(a, b)


def _greatest(a: float, b: float) -> float:
    return b if math.isnan(a) else a if math.isnan(b) else max(a, b)


_OTHERS: dict[str, Callable[..., float]] = {
    "abs": abs,
    "fabs": math.fabs,
    "labs": abs,
    "fdim": lambda a, b: a - b if not a <= b else 0.0,
    "fma": lambda a, b, c: a * b + c,
    "fmax": _greatest,
    "fmin": _least,
    "rint": half_even,
    "round": _away_from_zero,
}
_SAME = """
    acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh erf exp exp2 fmod hypot log log10 log1p log2
    nearbyint pow sin sinh sqrt tan tanh tgamma trunc
"""
_DOUBLE = {**{name: REAL[name] for name in _SAME.split()}, "floor": floor, **_OTHERS}
_LLVM = """
    ceil copysign cos exp exp2 fabs floor fma log log10 log2 nearbyint pow rint round sin sqrt trunc
"""

C_MATH: Mapping[str, Callable[..., float]] = {
    **_DOUBLE,
    **{f"{name}f": function for name, function in _DOUBLE.items()},
    **{f"llvm.{name}": _DOUBLE[name] for name in _LLVM.split()},
    "llvm.minnum": _least,
    "llvm.maxnum": _greatest,
}
"""The functions by name: `sqrt` on doubles, `sqrtf` on floats, `llvm.sqrt` on both."""

OPERANDS = {"copysign": 2, "fma": 3, "maxnum": 2, "minnum": 2, "pow": 2}
"""How many operands LLVM's functions of more than one have."""
