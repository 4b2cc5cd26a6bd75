"""PrimFuncs as text: heads with parameters, buffers and flags."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from rlx.grammar.dialects import Dialect
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import FLOAT32, HANDLE, INT32, INT64
from rlx.grammar.nodes.node import tuple_text
from rlx.grammar.nodes.tir import PrimExpr, PrimFunc
from rlx.grammar.nodes.visit import shape_vars_of
from rlx.grammar.print.prim import PrimPrinter, quoted
from rlx.grammar.print.tir_names import PrimFuncNames
from rlx.grammar.read.comments import Remarks, put
from rlx.grammar.read.prim_scalars import scalar_buffers

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
        self.prim = PrimPrinter(self.names, INT32, scalars=scalars)
        self.lines: list[str] = []
        self.known: set[tir.Var] = set()
        self.loops: dict[PrimExpr, tir.For] = {}
        self.remarks = remarks or Remarks()

    def type_vars(self) -> tuple[str, ...]:
        """Names of the shape variables that can be declared before the class."""
        return tuple(self._name(v) for v in self.scope.shape_vars if v.dtype == INT64)

    def rename_declared(self, outside: AbstractSet[str]) -> None:
        """Rename the shape variables that the body declares and that have the name of one that is
        declared before the class.
        """
        for var in self.scope.shape_vars:
            if self._name(var) in outside and var.dtype != INT64:
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
        body.

        A shape variable that is no int64 is declared in the body, so its buffer is matched behind
        that.
        """
        found = shape_vars_of(buffer)
        implicit = (v for v in found if v not in self.function.params)
        return not found or (
            self.dialect.direct_buffers and all(v.dtype == INT64 for v in implicit)
        )

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
        outside = self.dialect.type_vars
        declared = [v for v in self.scope.shape_vars if not outside or v.dtype != INT64]
        # The parser reads what `T.Let` binds as a name that it knows.
        lets = {self._name(v): v for v in self.scope.lets}.values()
        for var in (*declared, *lets):
            found = self.remarks.named(f"{var.name} = T.", self.function.span)
            put(self.lines, f"{self._name(var)} = {declaration(var, self.dialect)}", pad, found)
        for param, buffer in self.function.buffer_map.items():
            if not self._is_direct(buffer):
                name = self._name(buffer)
                head = f"{name} = T.match_buffer({self._param_name(param)}, "
                line = f"{head}{self._buffer(buffer, self.prim.text)})"
                found = self.remarks.named(f"{buffer.name} = T.", self.function.span)
                put(self.lines, line, pad, found)

    def _quoted_dim(self, dim: PrimExpr) -> str:
        """A dimension of a parameter: quoted unless all it mentions is known in front of it."""
        text = self.prim.text(dim)
        found = tir.free_vars(dim)
        if all(v in self.known for v in found):
            return text
        if type(dim) is tir.Var and self.dialect.type_vars and dim not in self.function.params:
            return text
        return quoted(text)

    def _buffer(self, buffer: tir.Buffer, dim: object, always: bool = True) -> str:
        """Shape, element type and the rest of a buffer, as arguments."""
        show = self.prim.text if not callable(dim) else dim
        parts = [tuple_text([show(d) for d in buffer.shape])]
        if always or buffer.dtype != FLOAT32:
            parts.append(f'"{buffer.dtype}"')
        parts += [f"{key}={self._buffer_value(key, v)}" for key, v in buffer.attrs.items()]
        return ", ".join(parts)

    def _buffer_value(self, key: str, value: object) -> str:
        if isinstance(value, tuple) and all(isinstance(v, PrimExpr) for v in value):
            return self.prim.tupled(value)
        return self.prim.text(value) if isinstance(value, PrimExpr) else self.prim.value(value)

    def _name(self, node: tir.Var | tir.Buffer) -> str:
        return self.names.get(node) or node.name
