"""How element types appear in C: the type a value has in a register, and the one it has in
memory.
"""

from __future__ import annotations

import math
import struct

from rlx.grammar.dtype import DataType, dtype
from rlx.semantics.native.refusal import refuse

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
NARROW = ("float16", "bfloat16")
"""Types that are computed in float32 and rounded after every operation."""


class CValue:
    """A C atom (variable or constant) and its type.

    ``known`` is the number where it is a constant; ``stored`` the same value as memory holds it,
    where that is another C type.
    """

    __slots__ = ("dtype", "known", "stored", "text")

    def __init__(
        self, text: str, dtype: DataType, known: int | None = None, stored: str | None = None
    ) -> None:
        self.text = text
        self.dtype = dtype
        self.known = known
        self.stored = stored


def check(data_type: DataType) -> str:
    """The name of a type that C code can be made for; raises :class:`UnsupportedStop` for
    others.
    """
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


def suffix(data_type: DataType) -> str:
    """What distinguishes the helper functions of a type: ``i64``, ``f32``, …"""
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
    """What :func:`loaded` was given to make ``value``, if it stands for another type in memory."""
    head = f"rlx_from_{_SUFFIX.get(str(data_type))}("
    return value[len(head) : -1] if value.startswith(head) else None


def saved(data_type: DataType, value: str) -> str:
    """A value as it is put into memory."""
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
    """The integer of a type that a constant stands for."""
    if str(data_type) == "bool":
        return int(bool(value))
    bits = data_type.bits
    value %= 1 << bits
    return value - (1 << bits) if is_signed(data_type) and value >> (bits - 1) else value


def integer(value: int, data_type: DataType) -> str:
    """An integer constant, wrapped to the width of its type."""
    value = wrapped(value, data_type)
    if str(data_type) == "bool":
        return str(value)
    if data_type.code == "uint":
        return f"(({held(data_type)})UINT64_C({value}))"
    if value == -(1 << 63):
        return "INT64_MIN"
    return f"(({held(data_type)})INT64_C({value}))"


def floating(value: float, data_type: DataType) -> str:
    """A floating-point constant, rounded once to its type."""
    single = str(data_type) != "float64"
    if math.isnan(value):
        return '__builtin_nanf("")' if single else '__builtin_nan("")'
    if single:
        value = _rounded_constant(value, str(data_type))
    if math.isinf(value):
        return f"({'-' if value < 0 else ''}__builtin_inf{'f' if single else ''}())"
    return f"({value.hex()}{'f' if single else ''})"


def extreme(largest: bool, data_type: DataType) -> str:
    """The largest or smallest finite number of a type, as a constant."""
    if data_type.is_float:
        import ml_dtypes

        top = float(ml_dtypes.finfo(check(data_type)).max)  # type: ignore[no-untyped-call]
        return floating(top if largest else -top, data_type)
    low = -(1 << (data_type.bits - 1)) if is_signed(data_type) else 0
    return integer(low + (1 << data_type.bits) - 1 if largest else low, data_type)


def _rounded_constant(value: float, name: str) -> float:
    if name == "bfloat16":
        import ml_dtypes
        import numpy as np

        with np.errstate(over="ignore"):
            return float(np.array(value, np.float64).astype(ml_dtypes.bfloat16))
    try:
        letter = "e" if name == "float16" else "f"
        return float(struct.unpack(letter, struct.pack(letter, value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


INT64 = dtype("int64")
BOOL = dtype("bool")
FLOAT32 = dtype("float32")
