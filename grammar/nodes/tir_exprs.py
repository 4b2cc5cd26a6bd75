"""Prim expressions: arithmetic over scalars, in shapes and in PrimFuncs.

:mod:`rlx.grammar.nodes.scalars` walks over them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from operator import methodcaller

from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT64, DataType
from rlx.grammar.nodes.dtype import dtype as named_type
from rlx.grammar.nodes.node import Node, Span, nodes_in
from rlx.grammar.nodes.overloads import ScalarOperators


class PrimExpr(Node, ScalarOperators["PrimExpr"]):
    """Base class of expressions over scalars; their children are scalars, too."""

    __slots__ = ("__weakref__", "_form")  # see scalars.py

    _shared = True


class Var(PrimExpr):
    """A shape variable, or a variable of a PrimFunc. Two variables may have the same name.

    Attributes
    ----------
    pointee
        The words in the type of a pointer: `T.handle("float32", "global")`; None without any.
    is_size
        True for a size, which is not negative: `T.int64(is_size_var=True)`; None otherwise.
    """

    name: str
    dtype: DataType = INT64
    span: Span | None = None
    pointee: tuple[str, ...] | None = None
    is_size: bool | None = None


class IntImm(PrimExpr):
    """An integer; with dtype ``bool``, 0 or 1. The range is checked elsewhere. It is Python's number
    where one is expected, and equal to it.
    """

    value: int
    dtype: DataType = INT64
    span: Span | None = None

    __hash__ = PrimExpr.__hash__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, IntImm):
            return self.value == other.value
        return self is other if isinstance(other, PrimExpr) else self.value == other

    def __index__(self) -> int:
        return self.value


class FloatImm(PrimExpr):
    """A floating-point number; ``value`` may be infinite or NaN."""

    value: float
    dtype: DataType = FLOAT32
    span: Span | None = None

    def __float__(self) -> float:
        return self.value


class StringImm(PrimExpr):
    """A string argument of an intrinsic."""

    value: str
    span: Span | None = None


class Binary(PrimExpr):
    """Base class of binary operators."""

    a: PrimExpr
    b: PrimExpr
    span: Span | None = None


class Add(Binary):
    """``a + b``"""


class Sub(Binary):
    """``a - b``; ``-b`` is ``0 - b``."""


class Mul(Binary):
    """``a * b``"""


class Div(Binary):
    """``a / b`` on floats."""


class FloorDiv(Binary):
    """``a // b``: the quotient rounded towards minus infinity."""


class FloorMod(Binary):
    """``a % b``: the remainder of :class:`FloorDiv`, with the divisor's sign."""


class TruncDiv(Binary):
    """``T.truncdiv(a, b)``, and ``a / b`` on integers: the quotient rounded towards zero."""


class TruncMod(Binary):
    """``T.truncmod(a, b)``: the remainder of :class:`TruncDiv`."""


class Min(Binary):
    """``T.min(a, b)``"""


class Max(Binary):
    """``T.max(a, b)``"""


class Comparison(Binary):
    """Base class of the six comparisons; the result is a Boolean."""


class EQ(Comparison):
    """``a == b``"""


class NE(Comparison):
    """``a != b``"""


class LT(Comparison):
    """``a < b``"""


class LE(Comparison):
    """``a <= b``"""


class GT(Comparison):
    """``a > b``"""


class GE(Comparison):
    """``a >= b``"""


class And(Binary):
    """``a and b``"""


class Or(Binary):
    """``a or b``"""


class Not(PrimExpr):
    """``not a``"""

    a: PrimExpr
    span: Span | None = None


class Select(PrimExpr):
    """``T.Select(condition, true_value, false_value)``: both values are evaluated."""

    condition: PrimExpr
    true_value: PrimExpr
    false_value: PrimExpr
    span: Span | None = None


class Cast(PrimExpr):
    """``T.Cast("dtype", value)``: narrowing integer casts wrap."""

    dtype: DataType
    value: PrimExpr
    span: Span | None = None


class Call(PrimExpr):
    """A call of an intrinsic, ``T.exp(x)``; ``op`` is the name without the leading ``T.``.

    ``T.if_then_else`` is one of them. ``attrs`` holds keyword arguments.
    """

    _children = ("args",)

    op: str
    args: tuple[PrimExpr, ...]
    dtype: DataType | None = None
    attrs: Mapping[str, object] = {}
    span: Span | None = None


class BufferLoad(PrimExpr):
    """``buffer[indices]``; an index may be a :class:`Slice` in reads and writes."""

    _children = ("indices",)

    buffer: Buffer
    indices: tuple[PrimExpr, ...]
    span: Span | None = None


class Slice(PrimExpr):
    """``start:stop`` or ``start:stop:step`` as an index of a buffer region."""

    start: PrimExpr
    stop: PrimExpr
    step: PrimExpr | None = None
    span: Span | None = None


class Let(PrimExpr):
    """``T.Let(body, where={var: value})``: the body, in which the variable has the value."""

    _children = ("value", "body")

    var: Var
    value: PrimExpr
    body: PrimExpr
    span: Span | None = None


class OpaqueExpr(PrimExpr):
    """Uninterpreted text of a PrimFunc."""

    text: str
    span: Span | None = None


class Buffer(Node):
    """A buffer of a PrimFunc: named memory with a shape and an element type.

    ``attrs`` has the keyword arguments (``strides``, ``scope``, …).
    """

    _children = ()

    name: str
    shape: tuple[PrimExpr, ...]
    dtype: DataType = FLOAT32
    attrs: Mapping[str, object] = {}
    span: Span | None = None

    def declared(self) -> tuple[Node, ...]:
        return (*self.shape, *nodes_in(self.attrs))


children: Callable[[PrimExpr], tuple[PrimExpr, ...]] = methodcaller("children")
"""The operands of a prim expression, left to right."""


def converted(value: PrimExpr, kind: DataType, span: Span | None) -> PrimExpr:
    """A number converted to another type as in TVM: a literal becomes another literal, and a number
    that already has the type is unchanged.
    """
    literal = type(value) is IntImm or type(value) is FloatImm
    if literal and kind.lanes == 1 and (kind.is_float or kind.is_integer):
        number: int | float = value.value  # type: ignore[attr-defined]
        if kind.is_float:
            return FloatImm(float(number), kind, span)
        if math.isfinite(number):
            return IntImm(int(number), kind, span)
    said = not (
        isinstance(value, OpaqueExpr | StringImm) or (type(value) is Call and value.dtype is None)
    )
    return value if said and type_of(value) == kind else Cast(kind, value, span)


def negated(value: PrimExpr, kind: DataType, span: Span | None) -> PrimExpr:
    """A negated number: as in TVM, its product with -1, which keeps the sign of zero."""
    if isinstance(value, IntImm):
        return IntImm(-value.value, value.dtype, span)
    if isinstance(value, FloatImm):
        return FloatImm(-value.value, value.dtype, span)
    minus = FloatImm(-1.0, kind, span) if kind.is_float else IntImm(-1, kind, span)
    return Mul(value, minus, span)


def is_zero(expr: object) -> bool:
    """Whether an expression is the integer literal 0."""
    return isinstance(expr, IntImm) and expr.value == 0


def type_of(expr: PrimExpr) -> DataType:
    """The data type of a prim expression by TIR's rules: operands of one operator agree.

    If they disagree, the wider type is used; WF22 reports the effect on an annotation.
    """
    node = expr
    while isinstance(node, (Binary, Select, Let, Call)):
        if isinstance(node, Call):
            if node.dtype is not None or node.op not in AS_OPERAND or not node.args:
                break
            node = node.args[0]
            continue
        if isinstance(node, (Comparison, And, Or)):
            return BOOL
        if isinstance(node, Let):
            node = node.body
            continue
        if isinstance(node, Select):
            node = node.true_value
        elif (type(node.b) is IntImm and type(node.a) in _TYPED) or isinstance(
            node.b, (Comparison, And, Or, Not)
        ):
            node = node.a
        else:
            # The right side: chains are deep on the left.
            node = node.b
    match node:
        case Var(dtype=d) | IntImm(dtype=d) | FloatImm(dtype=d) | Cast(dtype=d):
            return d
        case Call(dtype=d) if d is not None:
            return d
        case Call(
            op="Ramp" | "ramp" | "Broadcast" | "broadcast", args=(first, *_, IntImm(value=lanes))
        ):
            return named_type(f"{type_of(first)}x{lanes}") if 0 < lanes < 10_000 else type_of(first)
        case BufferLoad(buffer=buffer):
            return buffer.dtype
        case Not():
            return BOOL
    return INT64


AS_OPERAND = frozenset(
    [
        *("abs", "fabs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh"),
        *("erf", "exp", "exp10", "exp2", "floor", "log", "log10", "log1p", "log2", "nearbyint"),
        *("round", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "likely"),
        *("atan2", "copysign", "fmod", "hypot", "ldexp", "nextafter", "pow", "power", "fma"),
        *("bitwise_not", "shift_left", "shift_right", "bitwise_and", "bitwise_or", "bitwise_xor"),
        "tgamma",
    ]
)
"""Intrinsics whose result has the type of their first operand."""

_TYPED = frozenset([Var, FloatImm, Cast, BufferLoad])
