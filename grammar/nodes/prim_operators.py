"""The table of the operators of scalar arithmetic: spelling, names, and meaning on exact integers,
in C and in SMT-LIB.

The parsers and printers of programs and of prover questions, the machine, the C code generator and
the prover derive their tables from this one. Only :mod:`rlx.solver.evaluate`, which replays
counterexamples, defines each operator itself, so that an error here cannot confirm itself.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.node import Record

BARE, OR, AND, NOT, COMPARISON, BIT_OR, BIT_XOR, BIT_AND, *_ABOVE = range(15)
SHIFT, SUM, PRODUCT, SIGN, POWER, ATOM, TYPED = _ABOVE
"""The precedences of operators; higher numbers bind tighter, as in Python. ``BARE`` is that of a
place that never needs parentheses, ``TYPED`` that of one where an integer literal must be written
with its type.
"""


class PrimOperator(Record):
    """A binary operator.

    Attributes
    ----------
    name
        Its name in TVMScript without the leading ``T.``; an intrinsic is a
        :class:`rlx.grammar.nodes.tir.Call` of this name.
    node
        The class of its nodes; None for an intrinsic.
    symbol, strength
        Its symbol between operands, and its precedence; without a symbol, it is called by name.
    exact
        Its meaning on integers of any size; raises ``ZeroDivisionError`` if it has no value. None
        if the meaning depends on the width of the type.
    c
        Its C code for operands ``{a}`` and ``{b}``, with the type ``{t}`` for a helper function in
        every kernel. ``/`` there divides floats; on integers it is ``truncdiv``.
    smt
        Its SMT-LIB text for ``{a}`` and ``{b}``; divisions use the ``{floor}`` quotient, its
        ``{rest}``, and the ``{trunc}`` quotient.
    names
        Further names in TVM.
    short
        Further names and symbols for questions to the prover.
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
    _infix("or", OR, tir.Or, _either, "or", "||", "any"),
    _infix("and", AND, tir.And, _both, "and", "&&", "all"),
    _infix("==", COMPARISON, tir.EQ, operator.eq, "="),
    _infix("!=", COMPARISON, tir.NE, operator.ne, "distinct"),
    _infix("<", COMPARISON, tir.LT, operator.lt, "<"),
    _infix("<=", COMPARISON, tir.LE, operator.le, "<="),
    _infix(">", COMPARISON, tir.GT, operator.gt, ">"),
    _infix(">=", COMPARISON, tir.GE, operator.ge, ">="),
    _bits("|", BIT_OR, "bitwise_or", operator.or_),
    _bits("^", BIT_XOR, "bitwise_xor", operator.xor),
    _bits("&", BIT_AND, "bitwise_and", operator.and_),
    _bits("<<", SHIFT, "shift_left", operator.lshift),
    _bits(">>", SHIFT, "shift_right", operator.rshift),
    _infix("+", SUM, tir.Add, operator.add, "+"),
    _infix("-", SUM, tir.Sub, operator.sub, "-"),
    _infix("*", PRODUCT, tir.Mul, operator.mul, "*"),
    PrimOperator("/", tir.Div, "/", PRODUCT, _QUOTIENT, "({a} / {b})"),
    PrimOperator(
        "floordiv", tir.FloorDiv, "//", PRODUCT, operator.floordiv, *_FLOOR, ("FloorDiv",)
    ),
    PrimOperator("floormod", tir.FloorMod, "%", PRODUCT, operator.mod, *_REST, ("FloorMod",)),
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
"""The node class for calls on two integers by a name of TVM."""

INTEGER_DIVISIONS: tuple[type[tir.Binary], ...] = (
    tir.FloorDiv,
    tir.FloorMod,
    tir.TruncDiv,
    tir.TruncMod,
)
"""The operators on integers that are undefined for a zero divisor."""
DIVISIONS: tuple[type[tir.Binary], ...] = (tir.Div, *INTEGER_DIVISIONS)
"""The same with ``/``, which truncates on integers."""


def divides_by_zero(node: tir.PrimExpr) -> bool:
    """Whether a node is a division by a literal 0, which a PrimFunc may not have (TIR04-zero)."""
    return (
        isinstance(node, INTEGER_DIVISIONS) and isinstance(node.b, tir.IntImm) and not node.b.value
    )


ON_INTEGERS = tuple(kind for kind in BY_NODE if kind is not tir.Div)
"""The operators in questions to the prover."""


def exact(kind: type[tir.PrimExpr]) -> Callable[[Any, Any], Any]:
    """The meaning of a node's operator on integers of any size."""
    found = BY_NODE[kind].exact
    assert found is not None
    return found
