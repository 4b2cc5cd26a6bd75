"""Prim expressions for the prover: the readable ones, and the meaning of intrinsics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from math import log10, prod

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, INT64, DataType
from rlx.grammar.nodes.prim_operators import ON_INTEGERS
from rlx.grammar.nodes.tir import PrimExpr

Range = tuple[int | None, int | None]
"""A smallest and a largest value; None for no limit."""
ZERO = tir.IntImm(0)
ONE = tir.IntImm(1)
TWO = tir.IntImm(2)
TRUE: PrimExpr = tir.IntImm(1, BOOL)


_PAIRS: frozenset[type[PrimExpr]] = frozenset(ON_INTEGERS)


def alike(a: PrimExpr, b: PrimExpr) -> bool:
    """A quick check whether two expressions have the same structure, as most compared dimensions
    do.

    It is False for floats, which need not equal themselves, and for other noninteger expressions.
    """
    if a is not b and (type(a) is not type(b) or shared(a) is not shared(b)):
        return False
    return (type(a) is tir.Var and a.dtype is INT64) or stranger(tir.postorder(a)) is None


def shared(expr: PrimExpr) -> PrimExpr:
    """The object that equal expressions share. An expression with a call or a load is equal only to
    itself: memory may change between two loads that are written alike.
    """
    for node in tir.postorder(expr):
        kind = type(node)
        if kind not in _INTEGERS and kind not in _TYPED:
            return expr
    return tir.interned(expr)


def variables_among(nodes: Iterable[PrimExpr]) -> tuple[tir.Var, ...]:
    """The variables among nodes, in their order."""
    return tuple(node for node in nodes if type(node) is tir.Var)


BITS = 64
"""Only shifts by fewer bits have a value."""


def _power_of_two(node: PrimExpr) -> PrimExpr | None:
    if isinstance(node, tir.IntImm) and 0 <= node.value < BITS:
        return tir.IntImm(1 << node.value)
    return None


def _shift_left(a: PrimExpr, b: PrimExpr) -> PrimExpr | None:
    power = _power_of_two(b)
    if power is not None:
        return tir.Mul(a, power)
    one = isinstance(a, tir.IntImm) and a.value == 1
    return None if one else tir.Mul(a, tir.Call("shift_left", (ONE, b), INT64))


def _shift_right(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return tir.FloorDiv(a, _power_of_two(b) or tir.Call("shift_left", (ONE, b), INT64))


def _bitwise_not(a: PrimExpr) -> PrimExpr:
    kind = _declared(a)
    ones = dtype_range(kind)[1] if kind.code == "uint" else -1
    return tir.Sub(tir.IntImm(ones), a)


_INTRINSICS: dict[tuple[str, int], Callable[..., PrimExpr | None]] = {
    ("abs", 1): lambda a: tir.Max(a, tir.Sub(ZERO, a)),
    ("likely", 1): lambda a: a,
    ("ceildiv", 2): lambda a, b: tir.FloorDiv(tir.Sub(tir.Add(a, b), ONE), b),
    ("shift_left", 2): _shift_left,
    ("shift_right", 2): _shift_right,
    ("bitwise_not", 1): _bitwise_not,
}
"""Integer intrinsics by name and number of arguments, in terms of the operators."""


def expanded(expr: PrimExpr) -> PrimExpr:
    """An expression with integer intrinsics expanded."""
    (found,) = expand([expr])
    return found


_SHIFTS = frozenset(("shift_left", "shift_right"))
_EXPANDED = frozenset(name for name, _ in _INTRINSICS)


def _expand(node: PrimExpr) -> PrimExpr | None:
    if isinstance(node, tir.Call):
        meaning = _INTRINSICS.get((node.op, len(node.args)))
        return meaning(*node.args) if meaning else None
    return None


def expand(exprs: list[PrimExpr], shifts: bool = True) -> list[PrimExpr]:
    """The expressions with integer intrinsics expanded; `shifts`: those too, in terms of ``1 << k``,
    which no program computes for ``n >> k``.
    """
    if has_call(tir.postorder(*exprs)):
        return tir.transform(exprs, _expand if shifts else _without_shifts)
    return exprs


def _without_shifts(node: PrimExpr) -> PrimExpr | None:
    return None if type(node) is tir.Call and node.op in _SHIFTS else _expand(node)


def has_call(nodes: Sequence[PrimExpr]) -> bool:
    """Whether the nodes contain an expandable intrinsic."""
    if tir.Call not in map(type, nodes):  # in C: every question asks
        return False
    return any(node.op in _EXPANDED for node in nodes if type(node) is tir.Call)


_BITWISE = frozenset(("bitwise_and", "bitwise_or", "bitwise_xor", "shift_left"))


def bitwise(node: PrimExpr) -> bool:
    """Whether this is an operation on the bits of two numbers, or ``1 << k``."""
    return type(node) is tir.Call and node.op in _BITWISE and len(node.args) == 2


def is_power(node: PrimExpr) -> bool:
    """Whether this is ``1 << k``, of which all other shifts by a variable are made."""
    return type(node) is tir.Call and node.op == "shift_left"


def conditional(node: PrimExpr) -> bool:
    """Whether this is a choice between two branches, one of which may be undefined."""
    if type(node) is tir.Select:
        return True
    return type(node) is tir.Call and node.op == "if_then_else" and len(node.args) == 3


def has_choice(nodes: Iterable[PrimExpr]) -> bool:
    """Whether one of the nodes is such a choice."""
    return any(conditional(node) for node in nodes if type(node) in _CHOICES)


_CHOICES = frozenset((tir.Select, tir.Call))


def lazily(expr: PrimExpr) -> PrimExpr:
    """The expression with every ``Select`` replaced by an ``if_then_else``."""
    if not any(type(node) is tir.Select for node in tir.postorder(expr)):
        return expr

    def lazy(node: PrimExpr) -> PrimExpr | None:
        return tir.Call("if_then_else", tir.children(node)) if type(node) is tir.Select else None

    return tir.transform([expr], lazy)[0]


_BOOLEAN = (tir.Comparison, tir.And, tir.Or, tir.Not)


def is_boolean(node: PrimExpr) -> bool:
    """Whether the value of an expression is a truth value."""
    while True:
        if isinstance(node, _BOOLEAN):
            return True
        if conditional(node):
            node = tir.children(node)[1]
        else:
            return _declared(node).code == "bool"


def may_be_condition(node: PrimExpr) -> bool:
    """Whether an expression may be a truth value, judging by the types of its parts."""
    while conditional(node):
        node = tir.children(node)[1]
    return (type(node) is tir.Call and node.dtype is None) or is_boolean(node)


def _declared(node: PrimExpr) -> DataType:
    match node:
        case tir.Var(dtype=d) | tir.IntImm(dtype=d) | tir.FloatImm(dtype=d) | tir.Cast(dtype=d):
            return d
        case tir.Call(dtype=d) if d is not None:
            return d
        case tir.BufferLoad(buffer=buffer):
            return buffer.dtype
    return INT64


_INTERPRETED = frozenset((*_PAIRS, tir.Not, tir.Select, tir.IntImm))


def interpreted(node: PrimExpr) -> bool:
    """Whether the prover can compute the value of a node from those of its operands."""
    if type(node) in _INTERPRETED:
        return True
    if isinstance(node, (tir.Var, tir.Cast)):
        return scalar(node.dtype)
    return conditional(node) or bitwise(node)


def scalar(kind: DataType) -> bool:
    """Whether this is a type of single integers or Booleans."""
    return kind is INT64 or (kind.lanes == 1 and (kind.is_integer or kind == BOOL))


def stranger(nodes: Iterable[PrimExpr]) -> PrimExpr | None:
    """The first node without an integer or truth value: a float, a vector, a value that may
    change.
    """
    for node in nodes:
        kind = type(node)
        if kind in _INTEGERS:
            continue
        if kind in _TYPED:
            dtype: DataType = node.dtype  # type: ignore[attr-defined]
            if dtype is not INT64 and not scalar(dtype):
                return node
        elif not _unknown_integer(node):
            return node
    return None


_INTEGERS = frozenset((*_PAIRS, tir.Not, tir.Select))
_TYPED = frozenset((tir.Var, tir.IntImm, tir.Cast))
_EFFECTS = ("call_", "tvm_", "ret")


def _unknown_integer(node: PrimExpr) -> bool:
    """Whether a call or a load gives an integer, though the prover does not know which."""
    if isinstance(node, tir.BufferLoad):
        return scalar(node.buffer.dtype)
    if not isinstance(node, tir.Call) or node.op.startswith(_EFFECTS):
        return False
    if interpreted(node) or (node.op, len(node.args)) in _INTRINSICS:
        return node.dtype is None or scalar(node.dtype)
    return node.dtype is not None and scalar(node.dtype)


def unknown_limits(node: PrimExpr) -> Range:
    """The limits of a call or a load of which only the type is known; a signed one of 64 bits counts
    as an exact integer, which has none.
    """
    kind = node.buffer.dtype if isinstance(node, tir.BufferLoad) else None
    if isinstance(node, tir.Call):
        kind = node.dtype
    if kind is None or not scalar(kind) or (kind.code == "int" and kind.bits >= BITS):
        return (None, None)
    return dtype_range(kind)


def uninterpreted(nodes: Iterable[PrimExpr]) -> PrimExpr | None:
    """The first node that the prover does not interpret."""
    return next((node for node in nodes if not interpreted(node) or stranger([node])), None)


def named(node: PrimExpr) -> str:
    """A description of an expression that is not integer arithmetic."""
    match node:
        case tir.Call(op=op):
            return op
        case tir.Var(name=name, dtype=kind) if not scalar(kind):
            return f"{name} of type {kind}"
        case tir.Cast(dtype=kind) | tir.IntImm(dtype=kind) | tir.FloatImm(dtype=kind):
            return f"a value of type {kind}"
    return type(node).__name__


def wraps_to(cast: tir.Cast) -> tuple[int, int] | None:
    """The range into which a cast wraps, or None if it keeps every value.

    A cast to int64 keeps the exact integer unless its operand contains a value of a type that does
    not fit into int64.
    """
    kind = cast.dtype
    if kind == BOOL:
        return (0, 1)
    if kind.code == "int" and kind.bits >= 64 and not has_wider(cast.value, kind.bits):
        return None
    return dtype_range(kind)


def has_wider(expr: PrimExpr, bits: int) -> bool:
    """Whether a value of a wider type is in an expression; a cast inside has wrapped its own."""

    def below(node: PrimExpr) -> tuple[PrimExpr, ...]:
        return () if isinstance(node, tir.Cast) else tir.children(node)

    return any(
        kind.bits >= bits and (kind.code == "uint" or kind.bits > bits)
        for kind in map(_declared, tir.reached([expr], below))
    )


def dtype_range(kind: DataType) -> tuple[int, int]:
    """The smallest and largest value of an integer type or of bool."""
    if kind == BOOL:
        return (0, 1)
    if kind.code == "uint":
        return (0, (1 << kind.bits) - 1)
    return (-(1 << (kind.bits - 1)), (1 << (kind.bits - 1)) - 1)


_, MOST = dtype_range(INT64)


def natural(expr: PrimExpr, signed: Collection[tir.Var]) -> bool:
    """Whether an expression is obviously not negative: it consists of lengths without a difference.
    `signed`: the scalars that may be negative.
    """
    if type(expr) is tir.IntImm:
        return expr.value >= 0
    stack, seen = [expr], set[PrimExpr]()
    while stack:
        e = stack.pop()
        if e in seen:
            continue
        if isinstance(e, _GROWING):
            seen.add(e)
            stack += (e.a, e.b)
        elif (
            e in signed
            if isinstance(e, tir.Var)
            else not (isinstance(e, tir.IntImm) and e.value >= 0)
        ):
            return False
    return True


_GROWING = (tir.Add, tir.Mul, tir.Min, tir.Max, tir.FloorDiv)


def least_count(shape: Iterable[PrimExpr]) -> int:
    """The product of dimensions if all shape variables are 1, as :func:`smallest` knows it."""
    return prod(map(smallest, shape))


def lower_count(number: int) -> str:
    """A number in a message that says "at least": a huge one is a power of ten that is not larger."""
    if number < 10**24:
        return f"{number:,}"
    return f"10**{int((number.bit_length() - 1) * log10(2) * (1 - 1e-12))}"


def smallest(dim: PrimExpr) -> int:
    """A dimension if all shape variables are 1; 0 if it is not made of variables and positive
    numbers by addition and multiplication.
    """
    kind = type(dim)
    if kind is tir.Var:
        return 1
    if kind is tir.IntImm:
        value: int = dim.value  # type: ignore[attr-defined]
        return max(value, 0)
    if isinstance(dim, tir.Add | tir.Mul):
        one, other = smallest(dim.a), smallest(dim.b)
        return one + other if isinstance(dim, tir.Add) and one and other else one * other
    return 0


def conjunction(conditions: Iterable[PrimExpr]) -> PrimExpr:
    """The conjunction of conditions."""
    result: PrimExpr | None = None
    for condition in conditions:
        result = condition if result is None else tir.And(result, condition)
    return tir.IntImm(1, BOOL) if result is None else result


def conjuncts(condition: PrimExpr) -> list[PrimExpr]:
    """The operands of nested ``and``, left to right."""
    return nested(tir.And, condition)


def nested(kind: type[tir.Binary], expr: PrimExpr) -> list[PrimExpr]:
    """The operands of nested operations of a kind, left to right."""
    found: list[PrimExpr] = []
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, kind):
            stack += (node.b, node.a)
        else:
            found.append(node)
    return found


def weight(expr: PrimExpr) -> int:
    """The number of distinct nodes of an expression."""
    return len(tir.postorder(expr))


_LONGEST = 1_000_000_000


def length(expr: PrimExpr, known: dict[PrimExpr, int] | None = None) -> int:
    """The number of nodes of an expression as a text shows it, where shared ones are repeated; at
    most a billion, because it may grow exponentially.

    ``known`` has the lengths of large expressions that were measured before, and gets the new ones.
    """
    small = tir.written_out([expr])
    if small is not None:
        return len(small)
    return tir.fold(expr, lambda _, below: min(_LONGEST, 1 + sum(below)), known)
