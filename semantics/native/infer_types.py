"""The type that each expression has in C, before it is emitted: the same rules as emission
follows.
"""

from __future__ import annotations

from typing import Any

from rlx.grammar import tir
from rlx.grammar.dtype import BOOL, INT32, INT64, DataType, dtype

Types = dict[tir.PrimExpr, DataType]

_BOOLEAN = frozenset(["isnan", "isinf", "isfinite"])
_NAMED = frozenset(["min_value", "max_value", "infinity", "reinterpret"])


def type_of(known: Types, expr: tir.PrimExpr) -> DataType:
    """The type of an expression; ``known`` keeps those of its parts."""
    if expr not in known:
        for node in tir.postorder(expr):
            if node not in known:
                known[node] = _type(known, node)
    return known[expr]


def _type(known: Types, expr: Any) -> DataType:
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


def is_wider(literal: DataType, other: DataType) -> bool:
    """Whether an integer literal has more bits than the integer beside it (E-tir-common)."""
    return not other.is_float and literal.bits > other.bits


def meet(known: Types, a: tir.PrimExpr, b: tir.PrimExpr) -> DataType:
    """Where two operands meet: an integer literal that is no wider follows the other, else it is
    the wider type.
    """
    first, second = known[a], known[b]
    if first == second or (isinstance(b, tir.IntImm) and not is_wider(second, first)):
        return first
    if isinstance(a, tir.IntImm) and not is_wider(first, second):
        return second
    rank = [(t.is_float, t.bits, t.code == "uint") for t in (first, second)]
    return first if rank[0] >= rank[1] else second


def _of_call(known: Types, call: tir.Call) -> DataType:
    args = call.args
    if call.op == "if_then_else" and len(args) == 3:
        return meet(known, args[1], args[2])
    if call.op in _BOOLEAN:
        return BOOL
    if call.op in ("popcount", "clz"):
        return INT32
    if call.op in _NAMED:
        if args and isinstance(args[0], tir.StringImm):
            return dtype(args[0].value)
        return call.dtype or INT64
    return known[args[0]] if args else INT64
