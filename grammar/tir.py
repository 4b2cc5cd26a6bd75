"""TIR as Relax sees it: prim expressions (shape arithmetic) and the bodies of PrimFuncs.

A sum may have 10,000 terms, so nothing that walks a :class:`PrimExpr` may recurse:
:func:`children` and :func:`postorder` are the tools for loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rlx.grammar.dtype import BOOL, FLOAT32, INT64, DataType
from rlx.grammar.dtype import dtype as named_type
from rlx.grammar.node import Node, Span


class PrimExpr(Node):
    """Base of expressions over scalars."""


class Var(PrimExpr):
    """A shape variable, or a variable of a PrimFunc. Two of the same name are two variables."""

    name: str
    dtype: DataType = INT64
    span: Span | None = None


class IntImm(PrimExpr):
    """An integer; with dtype ``bool``, 0 or 1. Any size: range is checked, not assumed."""

    value: int
    dtype: DataType = INT64
    span: Span | None = None


class FloatImm(PrimExpr):
    """A floating-point number; ``value`` may be infinite or NaN."""

    value: float
    dtype: DataType = FLOAT32
    span: Span | None = None


class StringImm(PrimExpr):
    """A string among the arguments of an intrinsic."""

    value: str
    span: Span | None = None


class Binary(PrimExpr):
    """Base of operators with two operands."""

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
    """Base of the six comparisons; the result is a Boolean."""


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

    op: str
    args: tuple[PrimExpr, ...]
    dtype: DataType | None = None
    attrs: Mapping[str, object] = {}
    span: Span | None = None


class BufferLoad(PrimExpr):
    """``buffer[indices]``; an index may be a :class:`Slice` in reads and writes."""

    buffer: Buffer
    indices: tuple[PrimExpr, ...]
    span: Span | None = None


class Slice(PrimExpr):
    """``start:stop`` as an index of a buffer region."""

    start: PrimExpr
    stop: PrimExpr
    span: Span | None = None


class Let(PrimExpr):
    """``T.Let(body, where={var: value})``: the body, in which the variable is the value."""

    var: Var
    value: PrimExpr
    body: PrimExpr
    span: Span | None = None


class OpaqueExpr(PrimExpr):
    """Text of a PrimFunc that is kept as it stands because it is not understood."""

    text: str
    span: Span | None = None


class Buffer(Node):
    """A buffer of a PrimFunc: a name for memory of a shape and an element type.

    ``attrs`` holds the keyword arguments written behind them (``strides``, ``scope``, …).
    """

    name: str
    shape: tuple[PrimExpr, ...]
    dtype: DataType = FLOAT32
    attrs: Mapping[str, object] = {}
    span: Span | None = None


class Stmt(Node):
    """Base of the statements of a PrimFunc."""


class SeqStmt(Stmt):
    """Statements one after the other; empty for ``pass``."""

    stmts: tuple[Stmt, ...]
    span: Span | None = None


class For(Stmt):
    """A loop from ``min``, ``extent`` times.

    ``kind`` is one of ``serial parallel vectorized unroll thread_binding``; ``attrs`` the other keyword
    arguments, for instance ``thread``. Loops of ``T.grid`` are nested serial loops.
    """

    loop_var: Var
    min: PrimExpr
    extent: PrimExpr
    kind: str
    body: Stmt
    attrs: Mapping[str, object] = {}
    span: Span | None = None


class IterVar(Node):
    """An axis of a block: ``var = T.axis.kind(dom, binding)``.

    ``kind`` is ``S`` (spatial), ``R`` (reduce), ``scan`` or ``opaque``; ``dom`` is ``(start, stop)``, or None
    where ``T.axis.remap`` leaves it to the loop.
    """

    var: Var
    kind: str
    dom: tuple[PrimExpr, PrimExpr] | None
    binding: PrimExpr
    span: Span | None = None


class Block(Stmt):
    """``with T.sblock(name):`` — a unit of computation with its axes and regions."""

    name: str
    iter_vars: tuple[IterVar, ...]
    reads: tuple[PrimExpr, ...] | None
    writes: tuple[PrimExpr, ...] | None
    predicate: PrimExpr | None
    alloc_buffers: tuple[Buffer, ...]
    init: Stmt | None
    body: Stmt
    attrs: Mapping[str, object] = {}
    span: Span | None = None


class BufferStore(Stmt):
    """``buffer[indices] = value``"""

    buffer: Buffer
    indices: tuple[PrimExpr, ...]
    value: PrimExpr
    span: Span | None = None


class IfThenElse(Stmt):
    """``if condition: … else: …``"""

    condition: PrimExpr
    then_case: Stmt
    else_case: Stmt | None
    span: Span | None = None


class While(Stmt):
    """``while condition: …``"""

    condition: PrimExpr
    body: Stmt
    span: Span | None = None


class LetStmt(Stmt):
    """``var: dtype = value``, in scope until the end of the enclosing body."""

    var: Var
    value: PrimExpr
    span: Span | None = None


class AllocBuffer(Stmt):
    """``buffer = T.alloc_buffer(…)`` or ``T.decl_buffer(…)``, named by ``op``, outside of a block head."""

    buffer: Buffer
    op: str
    span: Span | None = None


class Assert(Stmt):
    """``assert condition, message``, or ``assert condition, (kind, [parts])``.

    ``message`` holds the parts; ``kind`` is the error's, where it is written.
    """

    condition: PrimExpr
    message: tuple[str, ...] = ()
    kind: str | None = None
    span: Span | None = None


class With(Stmt):
    """``with T.attr(…):`` and ``with T.launch_thread(…) as var:``: an intrinsic around a body.

    Also the statement ``var = T.launch_thread(…)``, whose body is what follows it.
    """

    call: Call
    var: Var | None
    body: Stmt
    span: Span | None = None


class MatchBuffer(Stmt):
    """``buffer = T.match_buffer(source[…], …)`` in a block: a buffer for a region of another."""

    buffer: Buffer
    source: BufferLoad
    span: Span | None = None


class Evaluate(Stmt):
    """``T.evaluate(value)``, or a call that stands as a statement."""

    value: PrimExpr
    span: Span | None = None


class OpaqueStmt(Stmt):
    """Lines of a PrimFunc that are kept as they stand because they are not understood.

    ``text`` is dedented; a compound statement keeps its body in it.
    """

    text: str
    span: Span | None = None


class PrimFunc(Node):
    """`PrimFunc(params, body, ret_type, buffer_map, attrs)` of the specification.

    Attributes
    ----------
    params
        Scalars and handles, in order.
    buffer_map
        The buffer behind each handle; a parameter without one is a scalar (or an opaque handle).
    direct_buffers
        Whether the text wrote buffers as parameters (since 0.26) instead of ``T.match_buffer``.
    attrs
        ``T.func_attr`` and the flags of the decorator (``private``, ``s_tir``).
    """

    params: tuple[Var, ...]
    body: Stmt
    ret_type: DataType | None
    buffer_map: Mapping[Var, Buffer]
    attrs: Mapping[str, object]
    direct_buffers: bool = False
    name_span: Span | None = None
    comments: tuple[str, ...] = ()
    span: Span | None = None


def children(expr: PrimExpr) -> tuple[PrimExpr, ...]:
    """The operands of a prim expression, left to right."""
    if isinstance(expr, Binary):
        return (expr.a, expr.b)
    match expr:
        case Call(args=args):
            return args
        case Select(condition=c, true_value=t, false_value=f):
            return (c, t, f)
        case Cast(value=v):
            return (v,)
        case Not(a=a):
            return (a,)
        case BufferLoad(indices=indices):
            return indices
        case Slice(start=start, stop=stop):
            return (start, stop)
        case Let(value=value, body=body):
            return (value, body)
    return ()


def postorder(expr: PrimExpr) -> Iterator[PrimExpr]:
    """Every sub-expression before the one that contains it, the whole last."""
    stack: list[tuple[PrimExpr, bool]] = [(expr, False)]
    while stack:
        node, ready = stack.pop()
        below = () if ready else children(node)
        if below:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(below))
        else:
            yield node


def free_vars(expr: PrimExpr) -> tuple[Var, ...]:
    """The variables of an expression, each once, in order of first appearance."""
    if isinstance(expr, Var):
        return (expr,)
    return tuple(dict.fromkeys(e for e in postorder(expr) if isinstance(e, Var)))


def type_of(expr: PrimExpr) -> DataType:
    """The data type of a prim expression by TIR's rules: operands of one operator agree.

    Where they disagree the wider one is taken; WF22 reports what that makes of an annotation.
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
        elif type(node.b) is IntImm and type(node.a) in _TYPED:
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
