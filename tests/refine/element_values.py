"""Elements computed by NumPy, for many values of their variables at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, DataType

Values = Mapping[tir.Var, Any]
"""The values of each variable, an array of one length for all."""


class Point:
    """Elements at given values.

    Parameters
    ----------
    real
        Whether floats stand for real numbers: they are float64 then.

    Attributes
    ----------
    undefined
        At which values a float that was computed is none, or infinite.
    """

    def __init__(self, values: Values, real: bool = False) -> None:
        self._values, self._real = values, real
        self._known: dict[tir.PrimExpr, tuple[Any, Any]] = {}
        self._none = np.zeros(len(next(iter(values.values()))), bool)
        self.undefined = self._none.copy()

    def of(self, expr: tir.PrimExpr) -> tuple[Any, Any]:
        """The values of an element, and where its computation fails."""
        if expr not in self._known:
            found, fails = self._of(expr)
            self._known[expr] = found, fails
            if found.dtype.kind == "f" and not isinstance(expr, tir.Select):
                self.undefined |= ~np.isfinite(found)
        return self._known[expr]

    def _type(self, kind: DataType) -> Any:
        return np.dtype("float64" if self._real and kind.is_float else str(kind))

    def _of(self, expr: tir.PrimExpr) -> tuple[Any, Any]:
        kind = self._type(tir.type_of(expr))
        match expr:
            case tir.Var():
                return self._values[expr].astype(kind), self._none
            case tir.IntImm(value=value) | tir.FloatImm(value=value):
                return np.full(len(self._none), value).astype(kind), self._none
            case tir.And(a=a, b=b) | tir.Or(a=a, b=b):
                (x, fails), (y, other) = self.of(a), self.of(b)
                needed = x if isinstance(expr, tir.And) else ~x
                return (x & y if isinstance(expr, tir.And) else x | y), fails | (other & needed)
            case tir.Call(op="if_then_else", args=(c, a, b)):
                (test, fails), (x, one), (y, other) = map(self.of, (c, a, b))
                return np.where(test, x, y), fails | np.where(test, one, other)
        parts = [self.of(each) for each in tir.children(expr)]
        fails = self._none
        for _, part in parts:
            fails = fails | part
        with np.errstate(all="ignore"):
            found, more = self._computed(expr, [value for value, _ in parts], kind)
            return found.astype(kind), fails | more

    def _computed(self, expr: tir.PrimExpr, parts: list[Any], kind: Any) -> tuple[Any, Any]:
        none = self._none
        match expr, parts:
            case tir.Cast(dtype=target), [x]:
                return (x != 0 if target == BOOL else x), none
            case tir.Select(), [test, x, y]:
                return np.where(test, x, y), none
            case tir.Not(), [x]:
                return ~x, none
            case tir.Min(), [x, y]:
                return np.where(x < y, x, y), none
            case tir.Max(), [x, y]:
                return np.where(x > y, x, y), none
            case tir.Call(op="shift_left" | "shift_right"), [x, y]:
                bad = (y < 0) | (y >= kind.itemsize * 8)
                shift = np.left_shift if expr.op == "shift_left" else np.right_shift
                return shift(x, np.where(bad, 0, y).astype(kind)), bad
            case tir.Call(op=name), _:
                renamed = {"fabs": "abs", "round": "rint", "nearbyint": "rint"}
                return getattr(np, renamed.get(name, name))(*parts), none
            case ((tir.FloorDiv() | tir.FloorMod() | tir.TruncDiv() | tir.TruncMod()), [x, y]):
                return _divided(type(expr), x, y, kind), y == 0
            case tir.Binary(), [x, y]:
                return _OPERATIONS[type(expr)](x, y), none
        raise AssertionError(expr)


def _divided(operation: type[tir.Binary], x: Any, y: Any, kind: Any) -> Any:
    """Quotients and remainders of Python's integers, which wrap like those of the type."""
    found = []
    for a, b in zip(x.tolist(), np.where(y == 0, 1, y).tolist(), strict=True):
        quotient = a // b
        if operation in (tir.TruncDiv, tir.TruncMod) and a % b and quotient < 0:
            quotient += 1
        quotients = operation in (tir.FloorDiv, tir.TruncDiv)
        found.append(quotient if quotients else a - quotient * b)
    bits = kind.itemsize * 8
    wrapped = [n % (1 << bits) for n in found]
    return np.array(wrapped, f"uint{bits}").astype(kind)


_OPERATIONS: dict[type[tir.PrimExpr], Callable[[Any, Any], Any]] = {
    tir.Add: np.add,
    tir.Sub: np.subtract,
    tir.Mul: np.multiply,
    tir.Div: np.divide,
    tir.LT: np.less,
    tir.LE: np.less_equal,
    tir.GT: np.greater,
    tir.GE: np.greater_equal,
    tir.EQ: np.equal,
    tir.NE: np.not_equal,
}
