"""The forms of scalars: typed literals, operators written as calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT32, INT64, SCALAR_NAMES, DataType, dtype
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.prim_operators import BY_NAME
from rlx.grammar.read.arithmetic import beside
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.forms import Arguments, form
from rlx.grammar.read.partial_nodes import Form, Sequence, describe
from rlx.grammar.read.prim_scalars import scalar_type
from rlx.grammar.read.reports import NOT_UNDERSTOOD
from rlx.grammar.read.source_tokens import on_one_line

if TYPE_CHECKING:
    from rlx.grammar.read.reports import ReadContext

SHORT_NAMES = {
    "bf16": "bfloat16",
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}
"""The short names of `tirx` for types: `T.f32(1)` is `T.float32(1)`."""


@form(*(f"T.{name}" for name in (*SCALAR_NAMES, *SHORT_NAMES)))
def scalar(context: ReadContext, a: Arguments) -> Any:
    """`T.int64(4)`, `T.float32("inf")`; without argument the declaration of a variable."""
    a.head = f"T.{SHORT_NAMES.get(a.head[2:], a.head[2:])}"
    if not a.positional:
        for name, given in a.keywords.items():
            if name not in ("is_size_var", "is_unknown_type"):
                words = f"{a.head} has no argument {name!r}"
                raise Rejected(words, *given.span, certain=True)
        return Form(a.head, [], a.keywords)
    a.done(1)
    value, start, end = a.positional[0]
    data_type = dtype(a.head[2:])
    if isinstance(value, str):
        try:
            value = float(value) if data_type.is_float else int(value)
        except ValueError:
            words = f"expected a number, found {value!r}"
            raise Rejected(words, start, end, certain=True) from None
        a.positional[0] = Entry(value, start, end)
    if isinstance(value, (int, float)) and data_type.is_float:
        return tir.FloatImm(float(value), data_type, a.span)
    if isinstance(value, int):
        if a.head == "T.bool" and value not in (0, 1):
            raise Rejected(f"T.bool takes 0 or 1, found {value}", start, end, certain=True)
        return tir.IntImm(context.coerce.integer(a.positional[0]), data_type, a.span)
    if isinstance(value, (Sequence, dict)):
        words = f"{a.head} takes a scalar, found {describe(value)}"
        raise Rejected(words, start, end, certain=True)
    literal = INT32 if context.scope.in_prim_func() else INT64
    return tir.converted(context.coerce.prim(a.positional[0], literal), data_type, a.span)


@form("T.Cast", "T.cast")
def cast(context: ReadContext, a: Arguments) -> tir.PrimExpr:
    """`T.Cast("float32", x)`, `T.cast(x, "float32")`."""
    swapped = a.head == "T.cast"
    first, second = a.need(swapped, "dtype"), a.need(1 - swapped, "value")
    a.done(2)
    if isinstance(second[0], str) or isinstance(first.value, tir.PrimExpr):
        right = '"dtype", value' if a.head == "T.Cast" else 'value, "dtype"'
        raise Rejected(f"the arguments are {a.head}({right})", a.start, a.end, certain=True)
    literal = INT32 if context.scope.in_prim_func() else INT64
    data_type, value = context.coerce.data_type(first), context.coerce.prim(second, literal)
    return (tir.converted if swapped else _as_written)(value, data_type, a.span)


def _as_written(value: tir.PrimExpr, data_type: DataType, span: Span) -> tir.PrimExpr:
    return tir.Cast(data_type, value, span)


_BINARY = {f"T.{name}": made for name, made in BY_NAME.items()}


@form(*_BINARY)
def binary(context: ReadContext, a: Arguments) -> Any:
    """`T.min(a, b)` and the operators written as calls."""
    if len(a.positional) != 2 or a.keywords:
        return Form(a.head, a.positional, a.keywords)
    left, right = operands(context, a)
    made = _BINARY[a.head]
    if a.head[2].isupper() and context.coerce.captured.isdisjoint(tir.free_vars(left, right)):
        # The node that `T.Add` names does not convert its operands; `+` does.
        types = [scalar_type(each) for each in (left, right)]
        literals = any(isinstance(each.value, int | float) for each in a.positional)
        if None not in types and types[0] != types[1] and not literals:
            words = f"{a.head} takes operands of one type, found {types[0]} and {types[1]}"
            raise Rejected(words, a.start, a.end, "convert one of them: T.Cast(…)", certain=True)
    if made is tir.TruncDiv and a.head == "T.Div" and tir.type_of(left).is_float:
        made = tir.Div
    return made(left, right, a.span)


def operands(context: ReadContext, a: Arguments) -> tuple[tir.PrimExpr, tir.PrimExpr]:
    """Both operands; the data type of a literal depends on the other operand."""
    literal = INT32 if context.scope.in_prim_func() else INT64
    first, second = a.positional[:2]
    if isinstance(first.value, (int, float)):
        right = context.coerce.prim(second, literal)
        left = context.coerce.prim(first, beside(first.value, tir.type_of(right), literal))
    else:
        left = context.coerce.prim(first, literal)
        right = context.coerce.prim(second, beside(second[0], tir.type_of(left), literal))
    return left, right


@form("T.ceildiv")
def ceildiv(context: ReadContext, a: Arguments) -> tir.PrimExpr:
    """`T.ceildiv(a, b)` is `(a + b - 1) // b`."""
    a.need(1, "rhs")
    a.keywords.pop("dtype", None)
    a.done(2)
    left, right = operands(context, a)
    kind = max(map(tir.type_of, (left, right)), key=lambda each: each.bits)
    left, right = (tir.converted(each, kind, each.span) for each in (left, right))  # type: ignore[attr-defined]
    one = tir.IntImm(1, kind, a.span)
    total = tir.Sub(tir.Add(left, right, a.span), one, a.span)
    return tir.FloorDiv(total, right, a.span)


@form("T.Not")
def negation(context: ReadContext, a: Arguments) -> tir.PrimExpr:
    """`T.Not(x)`"""
    value = a.need(0, "a")
    a.done(1)
    return tir.Not(context.coerce.prim(value), a.span)


@form("T.Select")
def select(context: ReadContext, a: Arguments) -> tir.PrimExpr:
    """`T.Select(condition, a, b)`"""
    condition = context.coerce.prim(a.need(0, "condition"))
    a.need(2, "false_value")
    a.done(3)
    branches = Arguments(a.head, a.positional[1:], {}, a.start, a.end)
    if context.scope.in_prim_func():  # a literal has its own type: T.Select converts nothing
        left, right = (context.coerce.prim(each, INT32) for each in branches.positional)
    else:
        left, right = operands(context, branches)
    return tir.Select(condition, left, right, a.span)


def _type_of(value: tir.PrimExpr) -> DataType:
    """The type of a value; of an intrinsic whose type is not written,
    that of its first argument.
    """
    while True:
        match value:
            case tir.Call(dtype=None, args=(first, *_)):
                value = first
            case tir.Comparison() | tir.And() | tir.Or():
                return tir.type_of(value)
            case tir.Binary(a=left):
                value = left
            case _:
                return tir.type_of(value)


@form("T.Let")
def let(context: ReadContext, a: Arguments) -> Any:
    """`T.Let(body, where={x: value})`; the variable is used in the body before it is defined."""
    where = a.keywords.get("where")
    found: Any = None if where is None else where.value
    known = context.scope.names
    if where is None or not isinstance(found, dict) or len(found) != 1 or len(a.positional) != 1:
        words = "T.Let takes a body and where={variable: value}"
        raise Rejected(words, a.start, a.end, certain=True)
    if any(name in known for name in found):  # no name of its own: kept as text
        context.reports.note(NOT_UNDERSTOOD, a.span)
        return tir.OpaqueExpr(on_one_line(context.text, a.span), a.span)
    [(name, given)] = found.items()
    value = context.coerce.prim(Entry(given, *where.span), INT32)
    body = context.coerce.prim(a.positional[0], INT32)
    var = context.scope.take_shape_var(name, _type_of(value))
    return tir.Let(var, value, body, a.span)


@form("T.if_then_else")
def if_then_else(context: ReadContext, a: Arguments) -> tir.PrimExpr:
    """`T.if_then_else(condition, a, b)`: only one branch is evaluated."""
    condition = context.coerce.prim(a.need(0, "condition"))
    a.need(2, "f")
    a.keywords.pop("dtype", None)  # of versions before 0.10; it is the type of the branches
    a.done(3)
    branches = Arguments(a.head, a.positional[1:3], {}, a.start, a.end)
    left, right = operands(context, branches)
    return tir.Call("if_then_else", (condition, left, right), tir.type_of(left), {}, a.span)
