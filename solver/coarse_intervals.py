"""Coarse limits of expressions, computed from those of the operands in linear time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import intervals, prim_exprs

Limits = tuple[int, int]


def of_node(node: PrimExpr, operands: Sequence[Limits]) -> Limits | None:
    """The smallest and largest value of a node, wherever it is defined; None if unknown."""
    rule = _RULES.get(type(node))
    if rule is not None:
        return rule(operands[0], operands[1])
    if prim_exprs.is_boolean(node):
        return 0, 1
    match node:
        case tir.IntImm(value=value):
            return int(value), int(value)
        case tir.Call(op=op) if prim_exprs.bitwise(node):
            if op == "shift_left":
                most = 1 << max(0, min(operands[1][1], prim_exprs.BITS - 1))
                return _product(operands[0], (1, most))
            low, high = intervals.of_bits(op[8:], operands)
            return None if low is None or high is None else (low, high)
        case tir.Call(op="shift_right"):
            return _truncated(*operands)
        case tir.Select() | tir.Call() if prim_exprs.interpreted(node):
            _, a, b = operands
            return min(a[0], b[0]), max(a[1], b[1])
        case tir.Cast() if prim_exprs.interpreted(node):
            return prim_exprs.wraps_to(node) or operands[0]
    return None


def _product(a: Limits, b: Limits) -> Limits:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _quotient(a: Limits, b: Limits) -> Limits:
    """No quotient by an integer is larger than what is divided."""
    size = max(abs(a[0]), abs(a[1]))
    return (0 if a[0] >= 0 and b[0] >= 0 else -size), size


def _remainder(a: Limits, b: Limits) -> Limits:
    return min(b[0] + 1, 0), max(b[1] - 1, 0)


def _truncated(a: Limits, b: Limits) -> Limits:
    return min(a[0], 0), max(a[1], 0)


_RULES: dict[type[PrimExpr], Callable[[Limits, Limits], Limits]] = {
    tir.Add: lambda a, b: (a[0] + b[0], a[1] + b[1]),
    tir.Sub: lambda a, b: (a[0] - b[1], a[1] - b[0]),
    tir.Mul: _product,
    tir.FloorDiv: _quotient,
    tir.TruncDiv: _quotient,
    tir.FloorMod: _remainder,
    tir.TruncMod: _truncated,
    tir.Min: lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    tir.Max: lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
}
