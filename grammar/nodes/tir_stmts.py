"""PrimFuncs and the statements of their bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.node import Attributed, Node, Span, walk
from rlx.grammar.nodes.tir_exprs import (
    Buffer,
    BufferLoad,
    Call,
    OpaqueExpr,
    PrimExpr,
    Slice,
    Var,
)


class Stmt(Node):
    """Base class of the statements of a PrimFunc."""


class SeqStmt(Stmt):
    """A sequence of statements; empty for ``pass``."""

    stmts: tuple[Stmt, ...]
    span: Span | None = None


def in_order(stmts: Sequence[Stmt]) -> Stmt:
    """Statements one after the other; one alone needs no sequence."""
    return stmts[0] if len(stmts) == 1 else SeqStmt(tuple(stmts))


class For(Stmt):
    """A loop from ``min`` to ``min + extent``, which it does not reach, by ``step`` (None for 1).

    ``kind`` is one of ``serial parallel vectorized unroll thread_binding``; ``attrs`` the other
    keyword arguments, for instance ``thread``. Loops of ``T.grid`` are nested serial loops.
    """

    _children, _binds = ("min", "extent", "step", "attrs", "loop_var", "body"), ("loop_var",)

    loop_var: Var
    min: PrimExpr
    extent: PrimExpr
    kind: str
    body: Stmt
    attrs: Mapping[str, object] = {}
    span: Span | None = None
    step: PrimExpr | None = None


class IterVar(Node):
    """An axis of a block: ``var = T.axis.kind(dom, binding)``.

    ``kind`` is ``S`` (spatial), ``R`` (reduce), ``scan`` or ``opaque``; ``dom`` is ``(start,
    stop)``, or None if ``T.axis.remap`` takes it from the loop.
    """

    _children, _binds = ("dom", "binding", "var"), ("var",)

    var: Var
    kind: str
    dom: tuple[PrimExpr, PrimExpr] | None
    binding: PrimExpr
    span: Span | None = None


class Block(Stmt):
    """``with T.sblock(name):`` — a unit of computation with its axes and regions."""

    _children = (
        *("iter_vars", "predicate", "alloc_buffers", "reads", "writes", "attrs", "init", "body"),
    )
    _binds = ("alloc_buffers",)

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

    _children = ("indices", "value")

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

    _children, _binds = ("value", "var"), ("var",)

    var: Var
    value: PrimExpr
    span: Span | None = None


class AllocBuffer(Stmt):
    """``buffer = T.alloc_buffer(…)`` or ``T.decl_buffer(…)``, as given by ``op``, outside a block
    head.
    """

    _binds = ("buffer",)

    buffer: Buffer
    op: str
    span: Span | None = None


class Assert(Stmt):
    """``assert condition, message``, or ``assert condition, (kind, [parts])``.

    ``message`` has the parts; ``kind`` is the kind of error, if given.
    """

    condition: PrimExpr
    message: tuple[str, ...] = ()
    kind: str | None = None
    span: Span | None = None


class With(Stmt):
    """``with T.attr(…):`` and ``with T.launch_thread(…) as var:``: an intrinsic around a body.

    Also the statement ``var = T.launch_thread(…)``, whose body is the rest of the enclosing body.
    """

    _binds = ("var",)

    call: Call
    var: Var | None
    body: Stmt
    span: Span | None = None


class MatchBuffer(Stmt):
    """``buffer = T.match_buffer(source[…], …)`` in a block: a buffer for a region of another."""

    _children, _binds = ("source", "buffer"), ("buffer",)

    buffer: Buffer
    source: BufferLoad
    span: Span | None = None


class Evaluate(Stmt):
    """``T.evaluate(value)``, or a call as a statement."""

    value: PrimExpr
    span: Span | None = None


class OpaqueStmt(Stmt):
    """Uninterpreted lines of a PrimFunc.

    ``text`` is dedented and includes the body of a compound statement. ``known`` has the scalars in
    it that are understood, for the checker: no walk visits them, because the text stays.
    """

    _children = ()

    text: str
    span: Span | None = None
    known: tuple[PrimExpr, ...] = ()


class PrimFunc(Node, Attributed):
    """`PrimFunc(params, body, ret_type, buffer_map, attrs)` of the specification.

    Attributes
    ----------
    params
        Scalars and handles, in order.
    buffer_map
        The buffer of each handle; a parameter without one is a scalar (or an opaque handle).
    attrs
        ``T.func_attr`` and the flags of the decorator (``private``, ``s_tir``).
    returns_none
        Whether the text says ``-> None``, which is what a PrimFunc without an annotation returns.
    """

    _children = ("params", "buffer_map", "body")
    _binds = ("params", "buffer_map")

    params: tuple[Var, ...]
    body: Stmt
    ret_type: DataType | None
    buffer_map: Mapping[Var, Buffer]
    attrs: Mapping[str, object]
    name_span: Span | None = None
    comments: tuple[str, ...] = ()
    span: Span | None = None
    returns_none: bool = False


def flat(stmt: Stmt) -> list[Stmt]:
    """The statements of a sequence, nested sequences opened, in order."""
    found: list[Stmt] = []
    stack = [stmt]
    while stack:
        part = stack.pop()
        if isinstance(part, SeqStmt):
            stack.extend(reversed(part.stmts))
        else:
            found.append(part)
    return found


def sliced_values(root: Node) -> Iterator[BufferLoad]:
    """The slices of buffers in the values that the statements of a program store."""
    for store in walk(root):
        for load in walk(store.value) if isinstance(store, BufferStore) else ():
            if isinstance(load, BufferLoad) and any(map(is_slice, load.indices)):
                yield load


def is_slice(index: PrimExpr) -> bool:
    """Whether a subscript of a buffer reaches several elements, as `0:4` and `:` do."""
    return isinstance(index, Slice) or (isinstance(index, OpaqueExpr) and index.text == ":")
