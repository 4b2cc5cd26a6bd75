"""The operators of scalar arithmetic, each said once: how it is written and called, what it is on
exact integers, in C, in SMT-LIB.

The parsers and printers of programs and of questions, the machine, the C of PrimFuncs and the
prover make their tables from this one. Only :mod:`rlx.solver.evaluate`, which replays
counterexamples, has its own meaning of each operator, so that a mistake here does not confirm
itself.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from rlx.grammar import tir
from rlx.grammar.node import Record

NOT, COMPARISON, SIGN, POWER, ATOM = 3, 4, 11, 12, 13
"""How strongly ``not``, comparisons, signs, powers and atoms bind;
a higher number binds tighter, as in Python.
"""


class PrimOperator(Record):
    """One operator of two operands.

    Attributes
    ----------
    name
        What TVMScript calls it without the leading ``T.``; an intrinsic is a
        :class:`rlx.grammar.tir.Call` of that name.
    node
        The class of its nodes; None for an intrinsic.
    symbol, strength
        How it stands between its operands, and how strongly it binds; it is called by name where
        there is no symbol.
    exact
        What it is on integers of any size; ``ZeroDivisionError`` where it has no value. None where
        that depends on the width of its type.
    c
        The C of it, of operands ``{a}`` and ``{b}``, and of the type ``{t}`` for a helper that
        every kernel has. What is ``/`` there divides floats; on integers it is ``truncdiv``.
    smt
        The SMT-LIB of it, of ``{a}`` and ``{b}``; divisions are made of the ``{floor}`` quotient,
        its ``{rest}``, and the ``{trunc}`` quotient.
    names
        Further names that TVM has for it.
    short
        Further names, and symbols, that questions to the prover may use.
    """

    name: str
    node: type[tir.Binary] | None
    symbol: str = ""
    strength: int = ATOM
    exact: Callable[[Any, Any], Any] | None = None
    c: str = ""
    smt: str = ""
    names: tuple[str, ...] = ()
    short: tuple[str, ...] = ()


def truncated_quotient(a: int, b: int) -> int:
    """The quotient of integers, rounded towards zero."""
    return a // b if (a >= 0) == (b > 0) else -(-a // b)


def truncated_remainder(a: int, b: int) -> int:
    """The remainder of :func:`truncated_quotient`, with the sign of ``a``."""
    return a - b * truncated_quotient(a, b)


def _both(a: object, b: object) -> bool:
    return bool(a and b)


def _either(a: object, b: object) -> bool:
    return bool(a or b)


def _infix(
    symbol: str,
    strength: int,
    node: type[tir.Binary],
    exact: Callable[[Any, Any], Any],
    smt: str,
    *short: str,
) -> PrimOperator:
    """An operator that C writes as TVMScript does, between its operands,
    and SMT-LIB before them.
    """
    c, first = f"({{a}} {_IN_C.get(symbol, symbol)} {{b}})", f"({smt} {{a}} {{b}})"
    return PrimOperator(node.__name__, node, symbol, strength, exact, c, first, (), short)


def _bits(symbol: str, strength: int, name: str, exact: Callable[[int, int], int]) -> PrimOperator:
    """An intrinsic on bits, which no question has a meaning for."""
    return PrimOperator(name, None, symbol, strength, exact, f"({{a}} {symbol} {{b}})")


_IN_C = {"or": "||", "and": "&&"}
_MIN = ("({a} < {b} ? {a} : {b})", "(ite (<= {a} {b}) {a} {b})")
_MAX = ("({a} > {b} ? {a} : {b})", "(ite (>= {a} {b}) {a} {b})")
_FLOOR = ("rlx_fdiv_{t}({a}, {b})", "{floor}")
_REST = ("rlx_fmod_{t}({a}, {b})", "{rest}")
_TRUNC = ("rlx_tdiv_{t}({a}, {b})", "{trunc}")
_LEFT = ("rlx_tmod_{t}({a}, {b})", "(- {a} (* {b} {trunc}))")
_QUOTIENT, _REMAINDER = truncated_quotient, truncated_remainder

OPERATORS: tuple[PrimOperator, ...] = (
    _infix("or", 1, tir.Or, _either, "or", "||", "any"),
    _infix("and", 2, tir.And, _both, "and", "&&", "all"),
    _infix("==", 4, tir.EQ, operator.eq, "="),
    _infix("!=", 4, tir.NE, operator.ne, "distinct"),
    _infix("<", 4, tir.LT, operator.lt, "<"),
    _infix("<=", 4, tir.LE, operator.le, "<="),
    _infix(">", 4, tir.GT, operator.gt, ">"),
    _infix(">=", 4, tir.GE, operator.ge, ">="),
    _bits("|", 5, "bitwise_or", operator.or_),
    _bits("^", 6, "bitwise_xor", operator.xor),
    _bits("&", 7, "bitwise_and", operator.and_),
    _bits("<<", 8, "shift_left", operator.lshift),
    _bits(">>", 8, "shift_right", operator.rshift),
    _infix("+", 9, tir.Add, operator.add, "+"),
    _infix("-", 9, tir.Sub, operator.sub, "-"),
    _infix("*", 10, tir.Mul, operator.mul, "*"),
    PrimOperator("/", tir.Div, "/", 10, _QUOTIENT, "({a} / {b})"),
    PrimOperator("floordiv", tir.FloorDiv, "//", 10, operator.floordiv, *_FLOOR, ("FloorDiv",)),
    PrimOperator("floormod", tir.FloorMod, "%", 10, operator.mod, *_REST, ("FloorMod",)),
    PrimOperator("truncdiv", tir.TruncDiv, "", ATOM, _QUOTIENT, *_TRUNC, ("Div",), ("tdiv",)),
    PrimOperator("truncmod", tir.TruncMod, "", ATOM, _REMAINDER, *_LEFT, ("Mod",), ("tmod",)),
    PrimOperator("min", tir.Min, "", ATOM, min, *_MIN, ("Min",)),
    PrimOperator("max", tir.Max, "", ATOM, max, *_MAX, ("Max",)),
    PrimOperator("pow", None, "**", POWER),
)

BY_NODE: dict[type[tir.PrimExpr], PrimOperator] = {o.node: o for o in OPERATORS if o.node}
BY_SYMBOL: dict[str, PrimOperator] = {o.symbol: o for o in OPERATORS if o.symbol}
BY_INTRINSIC: dict[str, PrimOperator] = {o.name: o for o in OPERATORS if o.node is None}
BY_NAME: dict[str, type[tir.Binary]] = {
    # What TVM names `Div` is the truncated quotient of integers, and only of floats `/`.
    name: o.node
    for o in OPERATORS
    if o.node not in (None, tir.Div)
    for name in (o.name, *o.names)
}
"""The node that a call by a name of TVM makes of two integers."""

INTEGER_DIVISIONS: tuple[type[tir.Binary], ...] = (
    tir.FloorDiv,
    tir.FloorMod,
    tir.TruncDiv,
    tir.TruncMod,
)
"""The operators on integers without a value where the divisor is zero."""
DIVISIONS: tuple[type[tir.Binary], ...] = (tir.Div, *INTEGER_DIVISIONS)
"""The same, with ``/``, which on integers truncates."""
ON_INTEGERS = tuple(kind for kind in BY_NODE if kind is not tir.Div)
"""The operators that questions of the prover are made of."""


def exact(kind: type[tir.PrimExpr]) -> Callable[[Any, Any], Any]:
    """What the operator of a node is on integers of any size."""
    found = BY_NODE[kind].exact
    assert found is not None
    return found
