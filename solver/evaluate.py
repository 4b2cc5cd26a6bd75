"""An independent evaluator: exact integers, floor semantics, wrapping casts.

Every counterexample is replayed here before it is reported. It shares no code with the normal form,
the point search or the SMT encodings.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs

INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1
INT64_VALUES = range(INT64_MIN, INT64_MAX + 1)
_BIT_LIMIT = 1 << 20


class UndefinedError(ArithmeticError):
    """The expression has no value at this point.

    Attributes
    ----------
    node
        The undefined subexpression.
    overflow
        Whether its value does not fit into int64 (checked with ``int64=True``).
    """

    def __init__(self, reason: str, node: PrimExpr, overflow: bool = False) -> None:
        super().__init__(reason)
        self.node = node
        self.overflow = overflow


Value = int | UndefinedError


def evaluate(expr: PrimExpr, point: Mapping[tir.Var, int], int64: bool = False) -> int:
    """The value of an expression; truth values are 0 and 1.

    Parameters
    ----------
    point
        The value of every variable.
    int64
        Whether an intermediate value beyond 64 bits is a fault.

    Raises
    ------
    UndefinedError
        For a division by zero, an overflow, an unknown variable or an operation that is not integer
        arithmetic, if it is really evaluated: not in an untaken branch of ``if_then_else``, and not
        in a short-circuited operand of ``and`` or ``or``.
    """
    values: dict[PrimExpr, Value] = {}
    order = tir.postorder(expr)
    if prim_exprs.has_call(order):
        (expr,) = prim_exprs.expand([expr], shifts=False)
        order = tir.postorder(expr)
    for node in order:
        value = _node(node, values, point)
        if int64 and isinstance(value, int) and value not in INT64_VALUES:
            value = UndefinedError(f"{value} does not fit into int64", node, overflow=True)
        values[node] = value
    result = values[expr]
    if isinstance(result, UndefinedError):
        raise result
    return result


def _node(node: PrimExpr, values: dict[PrimExpr, Value], point: Mapping[tir.Var, int]) -> Value:
    operation = _OPERATIONS.get(type(node))
    if operation is not None:
        assert isinstance(node, tir.Binary)
        return _binary(operation, node, values[node.a], values[node.b])
    match node:
        case tir.IntImm(value=number):
            return int(number)
        case tir.Var():
            found = point.get(node)
            return UndefinedError(f"{node.name} has no value", node) if found is None else found
        case tir.And(a=a, b=b):
            return _lazy(values[a], values[b], decided=0)
        case tir.Or(a=a, b=b):
            return _lazy(values[a], values[b], decided=1)
        case tir.Call(args=(c, t, f)) if prim_exprs.conditional(node):
            condition = values[c]
            return values[t if condition else f] if isinstance(condition, int) else condition
    operands: list[int] = []
    for child in tir.children(node):
        value = values[child]
        if isinstance(value, UndefinedError):
            return value
        operands.append(value)
    return _strict(node, operands)


def _binary(operation: Callable[[int, int], int], node: tir.Binary, a: Value, b: Value) -> Value:
    if isinstance(a, UndefinedError):
        return a
    if isinstance(b, UndefinedError):
        return b
    if b == 0 and isinstance(node, _DIVISIONS):
        return UndefinedError("division by zero", node)
    if a.bit_length() + b.bit_length() > _BIT_LIMIT:
        return UndefinedError("a number of more than a million bits", node)
    return int(operation(a, b))


def _lazy(left: Value, right: Value, decided: int) -> Value:
    if isinstance(left, UndefinedError):
        return left
    if bool(left) == bool(decided):
        return decided
    return right if isinstance(right, UndefinedError) else int(bool(right))


def _strict(node: PrimExpr, operands: list[int]) -> Value:
    match node:
        case tir.Not():
            return int(not operands[0])
        case tir.Select():
            return operands[1] if operands[0] else operands[2]
        case tir.Cast() if prim_exprs.interpreted(node):
            value = operands[0]
            if node.dtype == BOOL:
                return int(value != 0)
            limits = prim_exprs.wraps_to(node)
            if limits is None:
                return value
            low, high = limits
            return low + (value - low) % (high - low + 1)
        case tir.Call(op=op) if function := _CALLS.get((op, len(operands))):
            return function(*operands)
        case tir.Call(op=op, args=(_, _)) if op in _SHIFTS:
            return _shifted(node, *operands)
    return UndefinedError(f"{type(node).__name__} is not integer arithmetic", node)


def _shifted(node: tir.Call, value: int, amount: int) -> Value:
    """A number that is moved by some bits, whose amount a 64-bit integer allows."""
    if amount not in range(64):
        return UndefinedError(f"a shift by {amount}", node)
    return _SHIFTS[node.op](value, amount)


_SHIFTS: dict[str, Callable[[int, int], int]] = {
    "shift_left": operator.lshift,
    "shift_right": operator.rshift,
}
_CALLS: dict[tuple[str, int], Callable[..., int]] = {
    ("abs", 1): abs,
    ("bitwise_and", 2): operator.and_,
    ("bitwise_not", 1): operator.invert,
    ("bitwise_or", 2): operator.or_,
    ("bitwise_xor", 2): operator.xor,
}
"""Functions by name and number of operands."""


def _truncdiv(a: int, b: int) -> int:
    quotient, rest = divmod(a, b)
    return quotient + 1 if quotient < 0 and rest else quotient


_DIVISIONS = (tir.FloorDiv, tir.FloorMod, tir.TruncDiv, tir.TruncMod)
_OPERATIONS: dict[type[PrimExpr], Callable[[int, int], int]] = {
    tir.Add: operator.add,
    tir.Sub: operator.sub,
    tir.Mul: operator.mul,
    tir.FloorDiv: operator.floordiv,
    tir.FloorMod: operator.mod,
    tir.TruncDiv: _truncdiv,
    tir.TruncMod: lambda a, b: a - b * _truncdiv(a, b),
    tir.Min: min,
    tir.Max: max,
    tir.EQ: operator.eq,
    tir.NE: operator.ne,
    tir.LT: operator.lt,
    tir.LE: operator.le,
    tir.GT: operator.gt,
    tir.GE: operator.ge,
}
