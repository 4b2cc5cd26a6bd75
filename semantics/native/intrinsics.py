"""Intrinsics of PrimFuncs in C: a table of libm functions, and a few explicit implementations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NoReturn

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT32, DataType
from rlx.grammar.nodes.prim_operators import BY_INTRINSIC
from rlx.semantics.native import c_types
from rlx.semantics.native.c_types import refuse

LIBM: Mapping[str, tuple[str, int]] = {
    **{name: (name, 1) for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil")},
    **{name: (name, 1) for name in ("cos", "cosh", "erf", "exp", "exp2", "floor", "log")},
    **{
        name: (name, 1) for name in ("log10", "log1p", "log2", "sin", "sinh", "sqrt", "tan", "tanh")
    },
    **{name: (name, 1) for name in ("tgamma", "trunc", "nearbyint")},
    **{name: (name, 2) for name in ("atan2", "copysign", "fmod", "hypot", "nextafter", "pow")},
    "fabs": ("fabs", 1),
    "abs": ("fabs", 1),
    "power": ("pow", 2),
    "round": ("nearbyint", 1),
    "exp10": ("rlx_exp10_", 1),
    "rsqrt": ("rlx_rsqrt_", 1),
    "sigmoid": ("rlx_sigmoid_", 1),
    "ldexp": ("rlx_ldexp_", 2),
}
"""Name in a PrimFunc -> name in C (of the double; ``f`` is appended for the float), number of
operands.
"""

POWERS = {0.5: "rlx_root_", 2.0: "rlx_square_"}
"""Exponent -> name in C of the function with the values of that power, which takes less time."""

VECTORISED = frozenset(
    ["exp", "log", "sin", "cos", "tanh", "erf", "pow", "exp2", "sinh", "cosh", "tan", "asin"]
).union(["acos", "atan", "log10", "log2", "log1p", "atan2", "hypot", "acosh", "asinh", "atanh"])
"""Functions of libm that glibc also has for whole vectors (libmvec, within 4 units in the last
place).
"""

TESTS = {name: f"__builtin_{name}" for name in ("isnan", "isinf", "isfinite")}
SAME = frozenset(["likely", "tvm_thread_invariant", "assume_value"])
WHOLE = frozenset(["floor", "ceil", "trunc", "round", "nearbyint"])


_OPERANDS = {name: arity for name, arity in LIBM.values() if not name.startswith("rlx_")}


def declarations(words: Collection[str]) -> list[str]:
    """Declarations of the libm functions that occur in a text, marked as vectorisable if libmvec
    has them.
    """
    lines = []
    for name, arity in sorted(_OPERANDS.items()):
        for letter, kind in (("", "double"), ("f", "float")):
            if name + letter in words:
                operands = ", ".join([kind] * arity)
                simd = "RLX_SIMD " if name in VECTORISED else ""
                lines.append(f"{simd}{kind} {name}{letter}({operands});")
    for letter, kind in (("", "double"), ("f", "float")):
        if "ldexp" + letter in words:
            lines.append(f"{kind} ldexp{letter}({kind}, int);")
    return lines


def on_floats(op: str, data_type: DataType, operands: Sequence[str]) -> tuple[str, DataType]:
    """A function of floats; narrow types are computed in float32 and rounded."""
    match op, operands:
        case _, (a,) if op in TESTS:
            return f"({TESTS[op]}({a}) != 0)", BOOL
        case "fma", (a, b, c):
            product = c_types.rounded(data_type, f"({a} * {b})")
            return c_types.rounded(data_type, f"({product} + {c})"), data_type
        case "nextafter", _ if str(data_type) in c_types.NARROW:
            unknown(op)
    name, count = LIBM.get(op, ("", None))
    if count != len(operands):
        unknown(op)
    single = "" if data_type == c_types.FLOAT64 else "f"
    return c_types.rounded(data_type, f"{name}{single}({', '.join(operands)})"), data_type


def power(exponent: tir.PrimExpr, base: c_types.CValue) -> str | None:
    """The power of a float if its exponent has a function of its own."""
    if not isinstance(exponent, tir.FloatImm) or exponent.value not in POWERS:
        return None
    single = "" if base.dtype == c_types.FLOAT64 else "f"
    return c_types.rounded(base.dtype, f"{POWERS[exponent.value]}{single}({base.text})")


def on_integers(op: str, data_type: DataType, operands: Sequence[str]) -> tuple[str, DataType]:
    """A function of integers or Booleans that cannot fail."""
    match op, operands:
        case (("bitwise_and" | "bitwise_or" | "bitwise_xor"), (a, b)):
            return c_types.rounded(data_type, BY_INTRINSIC[op].c.format(a=a, b=b)), data_type
        case "bitwise_not", (a,):
            sign = "!" if data_type == BOOL else "~"
            return c_types.rounded(data_type, f"({sign}{a})"), data_type
        case "popcount", (a,):
            return f"__builtin_popcountll({_unsigned(a, data_type)})", INT32
        case "clz", (a,):
            bits = _unsigned(a, data_type)
            return f"rlx_clz({bits}, {data_type.bits})", INT32
        case (("abs" | "fabs"), (a,)):
            return c_types.rounded(data_type, f"({a} < 0 ? 0 - {a} : {a})"), data_type
        case (("isnan" | "isinf"), (_,)):
            return "0", BOOL
        case "isfinite", (_,):
            return "1", BOOL
        case _, (a,) if op in WHOLE:
            return a, data_type
        case _:
            unknown(op)


def _unsigned(value: str, data_type: DataType) -> str:
    mask = (1 << data_type.bits) - 1
    return f"((uint64_t){value} & UINT64_C({mask}))"


def unknown(op: str) -> NoReturn:
    """Reject an intrinsic without C code; its name appears only in the message, not in C."""
    refuse(f"intrinsic T.{op[:60]}")
