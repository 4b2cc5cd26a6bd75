"""Arithmetic on dimensions, with literals folded and results in readable form."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable

from rlx.grammar.nodes.tir import (
    Add,
    Binary,
    FloorDiv,
    IntImm,
    Max,
    Min,
    Mul,
    PrimExpr,
    Sub,
    interned,
)

_SHARED: dict[int, IntImm] = {}


def const(value: int) -> IntImm:
    """An int64 literal, interned; small ones are kept."""
    found = _SHARED.get(value)
    if found is None:
        found = interned(IntImm(value))
        if -1 <= value <= 4096:
            _SHARED[value] = found
    return found


MINUS_ONE, ZERO, ONE = const(-1), const(0), const(1)


def literal(dim: PrimExpr | None) -> int | None:
    """The value of a dimension that is a literal, or arithmetic on literals (``4 + 1``); otherwise
    None.
    """
    if type(dim) is IntImm:
        return dim.value
    return _folded(dim, 4) if isinstance(dim, Binary) else None


_FOLDS: dict[type, Callable[[int, int], int]] = {
    Add: operator.add,
    Sub: operator.sub,
    Mul: operator.mul,
    Min: min,
    Max: max,
}


def _folded(dim: PrimExpr, depth: int) -> int | None:
    """The value of arithmetic on literals, nested no deeper than people write it."""
    if type(dim) is IntImm:
        return dim.value
    fold = _FOLDS.get(type(dim))
    if fold is None or not depth or not isinstance(dim, Binary):
        return None
    b = _folded(dim.b, depth - 1)
    a = None if b is None else _folded(dim.a, depth - 1)
    return None if a is None or b is None else fold(a, b)


def same(a: PrimExpr, b: PrimExpr) -> bool:
    """Whether two dimensions are trivially equal: the same object, or equal literals."""
    return a is b or (type(a) is IntImm and type(b) is IntImm and a.value == b.value)


def add(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    x, y = literal(a), literal(b)
    if x is not None and y is not None:
        return const(x + y)
    if x is not None:
        a, b, y = b, a, x
    if y is None:
        return Add(a, b)
    if y == 0:
        return a
    if type(a) is Add and (inner := literal(a.b)) is not None:
        return add(a.a, const(inner + y))
    if type(a) is Sub and (inner := literal(a.b)) is not None:
        return add(a.a, const(y - inner))
    return Add(a, const(y)) if y > 0 else Sub(a, const(-y))


def sub(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    y = literal(b)
    if y is not None:
        return add(a, const(-y))
    if a is b:
        return ZERO
    if type(a) is Add and a.b is b:
        return a.a
    if type(a) is Add and a.a is b:
        return a.b
    return Sub(a, b)


def mul(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    x, y = literal(a), literal(b)
    if x is not None and y is not None:
        return const(x * y)
    if x is not None:
        a, b, y = b, a, x
    if y is None:
        return Mul(a, b)
    if y == 0:
        return ZERO
    if y == 1:
        return a
    inner = literal(a.b) if isinstance(a, Binary) else None
    if inner is None:
        return Mul(a, const(y))
    if type(a) is Mul:
        return mul(a.a, const(inner * y))
    if type(a) is Add or type(a) is Sub:
        return add(mul(a.a, const(y)), const(inner * y if type(a) is Add else -inner * y))
    return Mul(a, const(y))


def floordiv(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """``a // b``; a literal divisor must not be 0."""
    x, y = literal(a), literal(b)
    if x is not None and y:
        return const(x // y)
    if y == 1:
        return a
    if y and type(a) is Mul and (inner := literal(a.b)) is not None and inner % y == 0:
        return mul(a.a, const(inner // y))
    return FloorDiv(a, b)


def exact(a: PrimExpr, by: int) -> PrimExpr | None:
    """``a // by`` if ``by`` obviously divides ``a``; otherwise None."""
    if by == 1:
        return a
    value = literal(a)
    if value is not None:
        return const(value // by) if value % by == 0 else None
    if type(a) is Mul and (factor := literal(a.b)) is not None and factor % by == 0:
        return mul(a.a, const(factor // by))
    return None


def ceildiv(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """``a // b`` rounded up, for a positive ``b``."""
    y = literal(b)
    whole = exact(a, y) if y else None
    return floordiv(add(a, sub(b, ONE)), b) if whole is None else whole


def minimum(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    x, y = literal(a), literal(b)
    if x is not None and y is not None:
        return const(min(x, y))
    return a if a is b else Min(a, b)


def maximum(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    x, y = literal(a), literal(b)
    if x is not None and y is not None:
        return const(max(x, y))
    return a if a is b else Max(a, b)


def product(dims: Iterable[PrimExpr]) -> PrimExpr:
    """The product of all dimensions (1 if there are none), with one literal factor at the end."""
    whole, symbolic = 1, None
    for dim in dims:
        value = literal(dim)
        if value is not None:
            whole *= value
        else:
            symbolic = dim if symbolic is None else Mul(symbolic, dim)
    return const(whole) if symbolic is None else mul(symbolic, const(whole))


def total(dims: Iterable[PrimExpr]) -> PrimExpr:
    """The sum of all dimensions (0 if there are none)."""
    given = tuple(dims)
    values = [value for value in map(literal, given) if value is not None]
    if len(values) == len(given):
        return const(sum(values))
    result: PrimExpr = ZERO
    for dim in given:
        result = add(result, dim)
    return result
