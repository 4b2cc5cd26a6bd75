"""The names of a PrimFunc's variables and buffers in printed text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.tir import PrimExpr, Stmt
from rlx.grammar.nodes.visit import shape_vars_of
from rlx.grammar.print.names import (
    BIND,
    CLOSE,
    OPEN,
    RESERVED,
    USE,
    Fresh,
    hint_of,
    rename_apart,
    usable,
)


class PrimFuncNames:
    """The names in a PrimFunc; ``also`` has names that must not be used.

    Attributes
    ----------
    names
        The new names of renamed variables and buffers.
    shape_vars
        Shape variables that the shapes of the parameters' buffers bind, in order of first
        appearance.
    lets
        The variables that `T.Let` binds, in order.
    has_blocks
        Whether the body contains a block.
    fresh
        Makes names that are unused in the function.
    """

    fresh: Fresh

    def __init__(self, function: tir.PrimFunc, also: Iterable[str] = ()) -> None:
        self._events: list[tuple[int, Node]] = []
        self.has_blocks = False
        self.lets: list[tir.Var] = []
        params = dict.fromkeys(function.params)
        buffers = tuple(function.buffer_map.values())
        self.shape_vars = tuple(
            dict.fromkeys(v for b in buffers for v in shape_vars_of(b) if v not in params)
        )
        # A handle goes by its buffer's name wherever buffers are parameters.
        scalars = [p for p in function.params if p not in function.buffer_map]
        self._events += [(BIND, node) for node in (*self.shape_vars, *scalars, *buffers)]
        # No two parameters may share a name, whether they are used or not.
        self._events += [(USE, node) for node in (*scalars, *buffers)]
        for buffer in buffers:
            self._shape(buffer)
        self._stmt(function.body)
        self.names = self._choose(set(also))

    def _choose(self, also: set[str]) -> dict[Node, str]:
        bound = {node for kind, node in self._events if kind == BIND}
        hints = {hint_of(node) for node in bound}
        free = {node for kind, node in self._events if kind == USE and node not in bound}
        outside = {hint_of(node) for node in free}
        self.fresh = Fresh({*hints, *outside, *RESERVED})
        if len(hints) == len(bound) and not hints & outside and all(map(usable, hints)):
            return {}
        return rename_apart(self._events, self.fresh, set(), free)

    def _use(self, expr: PrimExpr) -> None:
        if type(expr) is tir.Var:
            self._events.append((USE, expr))
        elif type(expr) is not tir.IntImm:
            nodes = tir.postorder(expr)
            lets = [node.var for node in nodes if isinstance(node, tir.Let)]
            self._events += [(BIND, var) for var in lets]
            self.lets += lets
            for node in nodes:
                if type(node) is tir.Var:
                    self._events.append((USE, node))
                elif isinstance(node, tir.BufferLoad):
                    self._events.append((USE, node.buffer))
                elif isinstance(node, tir.Call) and node.attrs:
                    self._attrs(node.attrs)

    def _uses(self, exprs: Iterable[PrimExpr] | None) -> None:
        for expr in exprs or ():
            self._use(expr)

    def _attrs(self, value: object) -> None:
        match value:
            case PrimExpr():
                self._use(value)
            case tir.Buffer():
                self._events.append((USE, value))
            case tuple() | list():
                for each in value:
                    self._attrs(each)
            case Mapping():
                for key, each in value.items():
                    self._attrs(key)
                    self._attrs(each)

    def _shape(self, buffer: tir.Buffer) -> None:
        self._uses(buffer.shape)
        self._attrs(buffer.attrs)

    def _allocate(self, buffer: tir.Buffer) -> None:
        self._shape(buffer)
        self._events.append((BIND, buffer))

    def _scoped(self, stmt: Stmt) -> None:
        self._events.append((OPEN, stmt))
        self._stmt(stmt)
        self._events.append((CLOSE, stmt))

    def _stmt(self, stmt: Stmt) -> None:
        match stmt:
            case tir.SeqStmt(stmts=stmts):
                for each in stmts:
                    self._stmt(each)
            case tir.For():
                self._uses((stmt.min, stmt.extent, *(() if stmt.step is None else (stmt.step,))))
                self._attrs(stmt.attrs)
                self._events += [(OPEN, stmt), (BIND, stmt.loop_var)]
                self._stmt(stmt.body)
                self._events.append((CLOSE, stmt))
            case tir.Block():
                self._block(stmt)
            case tir.BufferStore(buffer=buffer, indices=indices, value=value):
                self._uses((*indices, value))
                self._events.append((USE, buffer))
            case tir.IfThenElse(condition=condition, then_case=then, else_case=otherwise):
                self._use(condition)
                for branch in (then, *([] if otherwise is None else [otherwise])):
                    self._scoped(branch)
            case tir.While(condition=condition, body=body):
                self._use(condition)
                self._scoped(body)
            case tir.LetStmt(var=var, value=value):
                self._use(value)
                self._events.append((BIND, var))
            case tir.AllocBuffer(buffer=buffer):
                self._allocate(buffer)
            case tir.Evaluate(value=value) | tir.Assert(condition=value):
                self._use(value)
            case tir.MatchBuffer(buffer=buffer, source=source):
                self._use(source)
                self._allocate(buffer)
            case tir.With(call=call, var=var, body=body):
                self._use(call)
                self._events.append((OPEN, stmt))
                if var is not None:
                    self._events.append((BIND, var))
                self._stmt(body)
                self._events.append((CLOSE, stmt))

    def _block(self, block: tir.Block) -> None:
        self.has_blocks = True
        self._events.append((OPEN, block))
        for axis in block.iter_vars:
            self._uses((*(axis.dom or ()), axis.binding))
            self._events.append((BIND, axis.var))
        if block.predicate is not None:
            self._use(block.predicate)
        for buffer in block.alloc_buffers:
            self._allocate(buffer)
        self._uses(block.reads)
        self._uses(block.writes)
        self._attrs(block.attrs)
        if block.init is not None:
            self._scoped(block.init)
        self._stmt(block.body)
        self._events.append((CLOSE, block))
