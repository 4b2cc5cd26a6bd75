"""Calls in questions: operators by name, choices, casts, and the intrinsics of TIR."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT64, dtype
from rlx.grammar.nodes.prim_operators import OPERATORS
from rlx.grammar.nodes.tir import PrimExpr
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


def call_of(name: str, operands: Sequence[PrimExpr]) -> PrimExpr:
    """The expression for a call with these operands. Raises ValueError if there is no such call, or
    it has another number of operands.
    """
    low, count = name.lower(), len(operands)
    operator = _NAMED.get(low)
    if operator is not None and (count == 2 or (count > 2 and operator in _SEVERAL)):
        return joined(operator, operands)
    match low, operands:
        case "not", [operand]:
            return tir.Not(operand)
        case "select", [condition, a, b]:
            return tir.Select(condition, a, b)
        case "if_then_else", [condition, a, b]:
            kind = BOOL if is_boolean(a) and is_boolean(b) else None
            return tir.Call(low, (condition, a, b), kind)
        case "likely", [operand]:
            return tir.Call(low, (operand,), BOOL if is_boolean(operand) else INT64)
        case _, [operand] if _CAST.match(name):
            return cast(name, operand)
    if _INTRINSICS.get(low) == count:
        return tir.Call(low, tuple(operands), INT64)
    if _FLOAT.match(name):
        raise ValueError(
            f"expected integers and conditions, found {name}: the prover does not support floats"
        )
    arguments = _arguments(count)
    if (wanted := _takes(low)) is not None:
        raise ValueError(f"expected {wanted} of {name}, found {arguments}")
    raise ValueError(f"{name} with {arguments} is not known; {KNOWN}")


def _takes(name: str) -> str | None:
    """How many arguments a call of that name takes; None if there is none."""
    if name in _NAMED:
        return "2 arguments or more" if _NAMED[name] in _SEVERAL else "2 arguments"
    count = 3 if name in ("select", "if_then_else") else _INTRINSICS.get(name)
    return None if count is None else _arguments(count)


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def cast(name: str, operand: PrimExpr) -> PrimExpr:
    """A cast to the integer type with this name. Raises ValueError if it is neither a scalar
    integer type nor bool.
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
    return reduce(kind, operands)
