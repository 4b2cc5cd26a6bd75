"""PrimFuncs as text: names of variables and buffers, and heads with parameters, buffers and flags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet

from rlx.grammar.dialects import Dialect
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import FLOAT32, HANDLE, INT32, INT64
from rlx.grammar.nodes.node import Node, tuple_text
from rlx.grammar.nodes.tir import PrimExpr, PrimFunc, Stmt
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
from rlx.grammar.print.prim import PrimPrinter, quoted
from rlx.grammar.read.comments import Remarks, put
from rlx.grammar.read.prim_scalars import scalar_buffers


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
        # They are declared at the top, so each has a name of its own.
        self._events[:0] = [(BIND, var) for var in dict.fromkeys(self.lets)]
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
            self.lets += [node.var for node in nodes if isinstance(node, tir.Let)]
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


FLAGS = ("private", "s_tir")
"""Attributes that the decorator expresses."""


def declaration(var: tir.Var, dialect: Dialect) -> str:
    """The declaration of a shape variable."""
    size = "is_size_var=True" if var.is_size and dialect.size_vars else ""
    return f"T.{var.dtype}({size})"


def type_text(var: tir.Var) -> str:
    """The type of a variable; that of a pointer may say what it points to."""
    if var.dtype != HANDLE:
        return f"T.{var.dtype}"
    return f"T.handle({', '.join(map(quoted, var.pointee))})" if var.pointee else "T.handle"


class PrimHeadPrinter:
    """Prints the head of one PrimFunc.

    Parameters
    ----------
    function
        The PrimFunc.
    dialect
        The spelling.
    global_names
        Names of functions of the module, if there is no class.
    remarks
        Comments of the source between statements, which are printed at the same positions.
    """

    def __init__(
        self,
        function: PrimFunc,
        dialect: Dialect,
        global_names: Iterable[str] = (),
        remarks: Remarks | None = None,
    ) -> None:
        self.function = function
        self.dialect = dialect
        self.scope = PrimFuncNames(function, global_names)
        self.names = self.scope.names
        scalars = scalar_buffers(function) if dialect.mutable_scalars else frozenset()
        self.remarks = remarks or Remarks()
        self.prim = PrimPrinter(self.names, INT32, scalars=scalars, source=self.remarks.text)
        self.lines: list[str] = []
        self.known: set[tir.Var] = set()
        self.loops: dict[PrimExpr, tir.For] = {}

    def _outside(self) -> frozenset[tir.Var]:
        """The shape variables that are declared before the class: those of parameters that are
        buffers.
        """
        if not self.dialect.type_vars:
            return frozenset()
        buffers = filter(self._is_direct, self.function.buffer_map.values())
        found = {v for buffer in buffers for v in shape_vars_of(buffer) if v.dtype == INT64}
        return frozenset(found.difference(self.function.params))

    def type_vars(self) -> tuple[str, ...]:
        """Names of the shape variables that are declared before the class."""
        return tuple(map(self._name, self._outside()))

    def rename_declared(self, outside: AbstractSet[str]) -> None:
        """Rename the shape variables that the body declares and that have the name of one that is
        declared before the class.
        """
        own = self._outside()
        for var in self.scope.shape_vars:
            if self._name(var) in outside and var not in own:
                self.names[var] = self.scope.fresh(var.name)

    def is_schedulable(self) -> bool:
        """Whether the function may have blocks."""
        return bool(self.function.attrs.get("s_tir")) or self.scope.has_blocks

    def _flags(self) -> str:
        flags = ["private=True"] if self.function.attrs.get("private") else []
        if self.dialect.function_flag and self.is_schedulable():
            flags.append("s_tir=True")
        return f"({', '.join(flags)})" if flags else ""

    def _is_direct(self, buffer: tir.Buffer) -> bool:
        """Whether a buffer can stand as a parameter; older spellings match symbolic ones in the
        body. Strides and offset may have variables that are declared before the class.
        """
        symbolic = shape_vars_of(buffer)
        if not self.dialect.direct_buffers:
            return not symbolic
        extra = set(symbolic).difference(tir.free_vars(*buffer.shape))
        return not extra or (self.dialect.type_vars and all(v.dtype == INT64 for v in extra))

    def _param(self, param: tir.Var) -> str:
        buffer = self.function.buffer_map.get(param)
        if buffer is not None and self._is_direct(buffer):
            name = self._name(buffer)
            return f"{name}: T.Buffer({self._buffer(buffer, self._quoted_dim)})"
        self.known.add(param)
        return f"{self._param_name(param)}: {type_text(param)}"

    def _param_name(self, param: tir.Var) -> str:
        """A handle has a name of its own only where its buffer is matched in the body."""
        buffer = self.function.buffer_map.get(param)
        if buffer is None:
            return self._name(param)
        if param not in self.names:
            own = self._name(buffer)
            hint = f"var_{own}" if param.name in (own, buffer.name) else param.name
            self.names[param] = self.scope.fresh.unless_free(hint)
        return self.names[param]

    def _declare(self, pad: str) -> None:
        outside = self._outside()
        declared = [v for v in self.scope.shape_vars if v not in outside]
        # The parser reads what `T.Let` binds as a name that it knows.
        for var in (*declared, *dict.fromkeys(self.scope.lets)):
            found = self.remarks.named(f"{var.name} = T.", self.function.span)
            put(self.lines, f"{self._name(var)} = {declaration(var, self.dialect)}", pad, found)
        for param, buffer in self.function.buffer_map.items():
            if not self._is_direct(buffer):
                name = self._name(buffer)
                head = f"{name} = T.match_buffer({self._param_name(param)}, "
                line = f"{head}{self._buffer(buffer)})"
                found = self.remarks.named(f"{buffer.name} = T.", self.function.span)
                put(self.lines, line, pad, found)

    def _quoted_dim(self, dim: PrimExpr) -> str:
        """A dimension of a parameter: quoted unless all it mentions is known in front of it."""
        text = self.prim.text(dim)
        found = tir.free_vars(dim)
        if all(v in self.known for v in found):
            return text
        alone = type(dim) is tir.Var and dim.dtype == INT64  # declared in front of the class
        if alone and self.dialect.type_vars and dim not in self.function.params:
            return text
        return quoted(text)

    def _buffer(
        self,
        buffer: tir.Buffer,
        dim: Callable[[PrimExpr], str] | None = None,
        always: bool = True,
    ) -> str:
        """Shape, element type and the rest of a buffer, as arguments. `always`: also if the type is
        the default one.
        """
        parts = [tuple_text([*map(dim or self.prim.text, buffer.shape)])]
        if always or buffer.dtype != FLOAT32:
            parts.append(f'"{buffer.dtype}"')
        parts += [f"{key}={self._buffer_value(v)}" for key, v in buffer.attrs.items()]
        return ", ".join(parts)

    def _buffer_value(self, value: object) -> str:
        if isinstance(value, tuple) and all(isinstance(v, PrimExpr) for v in value):
            return self.prim.tupled(value)
        return self.prim.text(value) if isinstance(value, PrimExpr) else self.prim.value(value)

    def _name(self, node: tir.Var | tir.Buffer) -> str:
        return self.names.get(node) or node.name
