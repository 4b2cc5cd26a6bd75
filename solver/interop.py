"""Conversion of TVM's PrimExprs through their public attributes; TVM itself is not required."""

from __future__ import annotations

from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT64, DataType, dtype
from rlx.grammar.nodes.prim_operators import BY_NAME
from rlx.grammar.nodes.tir import PrimExpr

_EXPECTED = (
    "expected an expression over integers (variables, literals, + - * // %, truncdiv, truncmod,"
    " min, max, comparisons, And, Or, Not, Select, if_then_else, casts, shifts by literals)"
)


def from_tvm(expr: object, variables: dict[object, tir.Var]) -> PrimExpr:
    """The expression for a TVM PrimExpr; each TVM variable becomes one variable.

    Parameters
    ----------
    variables
        The known variables by TVM variable; new ones are added.

    Raises
    ------
    TypeError
        If it is not a PrimExpr, or of an unsupported kind.
    """
    order: list[tuple[Any, int]] = []
    stack: list[Any] = [_compared(expr)]
    while stack:
        node = stack.pop()
        below = _operands(node)
        order.append((node, len(below)))
        stack.extend(below)
    values: list[PrimExpr] = []
    for node, count in reversed(order):
        operands = tuple(values[len(values) - count :])
        del values[len(values) - count :]
        values.append(_node(node, operands, variables))
    (found,) = values
    return found


def _compared(expr: Any) -> Any:
    """``n == m`` and ``n != m`` of TVM are not expressions yet: they wait for a ``bool()`` that
    asks for identity.
    """
    return expr.asobject() if hasattr(expr, "asobject") else expr


def _operands(node: Any) -> tuple[Any, ...]:
    match type(node).__name__:
        case name if name in BY_NAME:
            return (node.a, node.b)
        case "Select":
            return (node.condition, node.true_value, node.false_value)
        case "Cast":
            return (node.value,)
        case "Not":
            return (node.a,)
        case "LShift" | "RShift":
            return (node.a, node.b)
        case "Call":
            return tuple(node.args)
    return ()


def _node(node: Any, operands: tuple[PrimExpr, ...], variables: dict[object, tir.Var]) -> PrimExpr:
    name = type(node).__name__
    match name, operands:
        case _, (a, b) if name in BY_NAME:
            return BY_NAME[name](a, b)
        case "Var" | "SizeVar", _:
            return variables.setdefault(node, _variable(node))
        case "IntImm", _:
            return tir.IntImm(int(node.value), _dtype(node) or INT64)
        case "Select", (condition, a, b):
            return tir.Select(condition, a, b)
        case "Cast", (value,):
            return tir.Cast(_dtype(node) or INT64, value)
        case "Not", (a,):
            return tir.Not(a)
        case "LShift", _:
            return tir.Call("shift_left", operands)
        case "RShift", _:
            return tir.Call("shift_right", operands)
        case "Call", _:
            _, _, op = str(node.op.name).rpartition(".")
            return tir.Call(op, operands, _dtype(node))
    raise TypeError(f"{_EXPECTED}, found {name}")


def _variable(node: Any) -> tir.Var:
    kind = _dtype(node)
    if kind is None or kind.code == "handle":
        raise TypeError(f"{_EXPECTED}, found the variable {_name(node)}, which is not a number")
    return tir.Var(_name(node), kind)


def _name(node: Any) -> str:
    return str(getattr(node, "name", None) or node.name_hint)


def _dtype(node: Any) -> DataType | None:
    """Newer TVM keeps the data type in ``ty``, older in ``dtype``; None for what is no number."""
    found = getattr(getattr(node, "ty", None), "dtype", None) or getattr(node, "dtype", None)
    return None if found is None else dtype(str(found))
