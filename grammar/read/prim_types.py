"""The types of expressions in PrimFuncs, as far as the text determines them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT32, DataType, dtype


class Typed(NamedTuple):
    """The known type of a value.

    Attributes
    ----------
    dtype
        Its element type; None if unknown.
    lanes
        The number of its lanes; None if unknown.
    kind
        ``number``, ``buffer``, ``region``, ``text`` or ``pointer``.
    """

    dtype: DataType | None = None
    lanes: int | None = 1
    kind: str = "number"


UNKNOWN = Typed(None, None)
TEXT = Typed(None, 1, "text")
POINTER = Typed(None, 1, "pointer")


def scalar(found: DataType) -> Typed:
    """A value of a type, which may be a vector type; nothing is known for void."""
    if found.is_void:
        return UNKNOWN
    if found.lanes == 1:
        return Typed(found, 1)
    return Typed(DataType(found.code, found.bits), found.lanes or None)


def is_float(given: Typed) -> bool:
    """Whether a value is certainly a float."""
    return given.dtype is not None and given.dtype.is_float


def lanes_of(parts: Sequence[Typed]) -> int | None:
    """The lanes of an operation; a scalar has the same value in each lane."""
    found = {part.lanes for part in parts}
    if None in found:
        return None
    return max((lanes for lanes in found if lanes is not None), default=1)


def common(a: Typed, b: Typed) -> DataType | None:
    """The common type of two operands (E-tir-common)."""
    x, y = a.dtype, b.dtype
    if x is None or y is None or x == y:
        return x if x == y else None
    if x.is_float != y.is_float:
        return x if x.is_float else y
    if x.bits != y.bits:
        return x if x.bits > y.bits else y
    return x if x.code == "uint" else y


def of_call(call: tir.Call, args: Sequence[Typed]) -> Typed:
    """The type of an intrinsic's result."""
    rule = _RESULTS.get(call.op)
    if rule is not None:
        return rule(call, args)
    return UNKNOWN if call.dtype is None else Typed(scalar(call.dtype).dtype, lanes_of(args))


def _named(call: tir.Call, args: Sequence[Typed]) -> Typed:
    """The type that the first argument names."""
    first = call.args[0] if call.args else None
    if not isinstance(first, tir.StringImm):
        return UNKNOWN
    try:
        return scalar(dtype(first.value))
    except ValueError:
        return UNKNOWN


def _same(call: tir.Call, args: Sequence[Typed]) -> Typed:
    return Typed(args[0].dtype, lanes_of(args)) if args else UNKNOWN


def _chosen(call: tir.Call, args: Sequence[Typed]) -> Typed:
    """One of two values, in the type in which they meet."""
    a, b = args[1:3]
    return Typed(common(a, b), lanes_of((a, b)))


def _test(call: tir.Call, args: Sequence[Typed]) -> Typed:
    return Typed(BOOL, lanes_of(args))


def _count(call: tir.Call, args: Sequence[Typed]) -> Typed:
    return Typed(INT32, lanes_of(args))


def _vector(call: tir.Call, args: Sequence[Typed]) -> Typed:
    lanes = call.args[-1] if call.args else None
    if isinstance(lanes, tir.IntImm):
        return Typed(args[0].dtype, lanes.value)
    return Typed(args[0].dtype if args else None, None)


Result = Callable[[tir.Call, Sequence[Typed]], Typed]
_NAMED = ("reinterpret", "min_value", "max_value", "infinity", "call_extern", "call_pure_extern")
_RESULTS: dict[str, Result] = {
    **dict.fromkeys(tir.AS_OPERAND, _same),
    **dict.fromkeys(_NAMED, _named),
    "if_then_else": _chosen,
    **dict.fromkeys(("isnan", "isinf", "isfinite"), _test),
    **dict.fromkeys(("call_packed", "call_cpacked"), lambda call, args: scalar(INT32)),
    **dict.fromkeys(("clz", "q_multiply_shift", "q_multiply_shift_per_axis"), _count),
    "popcount": _same,
    **dict.fromkeys(("Ramp", "ramp", "Broadcast", "broadcast"), _vector),
}


def value_type(expr: tir.PrimExpr) -> Typed:
    """The type of an expression, as far as its text determines it."""
    return tir.fold(expr, _node)


def _node(node: tir.PrimExpr, operands: Sequence[Typed]) -> Typed:
    match node:
        case tir.Var(dtype=known) | tir.IntImm(dtype=known) | tir.FloatImm(dtype=known):
            return UNKNOWN if known.code == "handle" else scalar(known)
        case tir.StringImm():
            return TEXT
        case tir.BufferLoad(buffer=buffer):
            if len(node.indices) != len(buffer.shape):
                return Typed(buffer.dtype, None, "region")
            found = scalar(buffer.dtype)
            return Typed(found.dtype, found.lanes if found.lanes != 1 else lanes_of(operands))
        case tir.Comparison() | tir.And() | tir.Or() | tir.Not():
            return Typed(BOOL, lanes_of(operands))
        case tir.Binary():
            return Typed(common(*operands), lanes_of(operands))
        case tir.Select():
            return Typed(common(operands[1], operands[2]), lanes_of(operands[1:]))
        case tir.Cast(dtype=known):
            return Typed(scalar(known).dtype, operands[0].lanes)
        case tir.Let():
            return operands[1]
        case tir.Call():
            return of_call(node, operands)
    return UNKNOWN


def type_text(given: Typed) -> str:
    """A value's type in words."""
    if given.kind != "number":
        words = {"region": "a region of a buffer", "text": "a string"}
        return words.get(given.kind, f"a {given.kind}")
    return "a number" if given.dtype is None else f"of type {given.dtype}"
