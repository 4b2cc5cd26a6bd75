"""Calls in questions: operators by name, choices, casts, and the intrinsics of TIR."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rlx.grammar import tir
from rlx.grammar.dtype import BOOL, INT64, DataType, dtype
from rlx.grammar.prim_operators import OPERATORS
from rlx.grammar.tir import PrimExpr
from rlx.solver.prim_exprs import dtype_range, is_boolean

PREFIXES = frozenset(("T", "tir", "tirx", "tvm.tir", "tvm.tirx"))
"""Module prefixes of calls, as in TVMScript and Python."""

_NAMED: dict[str, type[tir.Binary]] = {
    name.lower(): found.node
    for found in OPERATORS
    if found.node not in (None, tir.Div)
    for name in (found.name, *found.names, *found.short)
    if name.isidentifier()
}
"""Operators by their names in TVM or in questions; class names such as ``FloorDiv`` are in lower
case.
"""
_SEVERAL = frozenset((tir.Min, tir.Max, tir.And, tir.Or))
"""Operators of two or more operands."""
_INTRINSICS = {
    "abs": 1,
    "likely": 1,
    "ceildiv": 2,
    "shift_left": 2,
    "shift_right": 2,
    "bitwise_and": 2,
    "bitwise_or": 2,
    "bitwise_xor": 2,
    "bitwise_not": 1,
    "popcount": 1,
    "clz": 1,
}
"""Intrinsics on integers, with their numbers of operands."""
_CAST = re.compile(r"(?:bool|u?int[1-9]\d{0,3})\Z")
_FLOAT = re.compile(r"(?:b?float|handle)\w*\Z")
COMMON = (
    *("min", "max", "select", "if_then_else", "floordiv", "floormod", "truncdiv", "truncmod"),
    *("ceildiv", "abs"),
)
"""The calls listed in help texts and messages."""
KNOWN = f"{', '.join(COMMON)}, shift_left, shift_right and casts like int32 are"


def made(name: str, operands: Sequence[PrimExpr]) -> PrimExpr:
    """The expression for a call with these operands.

    Raises
    ------
    ValueError
        If there is no such call, or it has another number of operands.
    """
    low, count = name.lower(), len(operands)
    operator = _NAMED.get(low)
    if operator is not None and (count == 2 or (count > 2 and operator in _SEVERAL)):
        return joined(operator, operands)
    if low == "not" and count == 1:
        return tir.Not(operands[0])
    if low in ("select", "if_then_else") and count == 3:
        return _choice(low, operands)
    if _INTRINSICS.get(low) == count:
        return tir.Call(low, tuple(operands), _type(low, operands))
    if count == 1 and _CAST.match(name):
        return cast(name, operands[0])
    if _FLOAT.match(name):
        raise ValueError(
            f"expected integers and conditions, found {name}: the prover does not support floats"
        )
    arguments = "1 argument" if count == 1 else f"{count} arguments"
    if (wanted := _takes(low)) is not None:
        raise ValueError(f"expected {wanted} of {name}, found {arguments}")
    raise ValueError(f"{name} with {arguments} is not known; {KNOWN}")


def _takes(name: str) -> str | None:
    """How many arguments a call of that name takes; None if there is none."""
    if name in _NAMED:
        return "2 arguments or more" if _NAMED[name] in _SEVERAL else "2 arguments"
    count = 3 if name in ("select", "if_then_else") else _INTRINSICS.get(name)
    return None if count is None else f"{count} argument{'s' * (count != 1)}"


def cast(name: str, operand: PrimExpr) -> PrimExpr:
    """A cast to the integer type with this name.

    Raises
    ------
    ValueError
        If it is neither a scalar integer type nor bool.
    """
    if not _CAST.match(name):
        raise ValueError(f"expected an integer type or bool to cast to, found {name!r:.60}")
    kind = dtype(name)
    if type(operand) is tir.IntImm:
        low, high = dtype_range(kind)
        if low <= operand.value <= high:
            return tir.IntImm(operand.value, kind)
    return tir.Cast(kind, operand)


def joined(kind: type[tir.Binary], operands: Sequence[PrimExpr]) -> PrimExpr:
    """Several operands joined by one left-associative operator."""
    result = operands[0]
    for operand in operands[1:]:
        result = kind(result, operand)
    return result


def _choice(name: str, operands: Sequence[PrimExpr]) -> PrimExpr:
    condition, a, b = operands
    if name == "select":
        return tir.Select(condition, a, b)
    return tir.Call(name, (condition, a, b), BOOL if is_boolean(a) and is_boolean(b) else None)


def _type(name: str, operands: Sequence[PrimExpr]) -> DataType:
    return BOOL if name == "likely" and is_boolean(operands[0]) else INT64
