"""Name resolution: the four scopes of the specification.

Global names, function parameters, SeqExpr variables and dataflow variables are in one table with a
log that is rolled back at the end of a scope, so a lookup is one dictionary access at any depth.
Shape variables have their own table: a parameter `n` and a dimension `"n"` are different.

Dataflow variables stay visible after their block; WF01 reports such uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rlx.grammar.dialects import STRING_OPERATORS
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64, DataType
from rlx.grammar.nodes.node import Node, Span, complete, replace
from rlx.grammar.nodes.rewrite import rebuild
from rlx.grammar.nodes.struct_infos import binding_positions

Functions = dict[ast.GlobalVar, ast.Function | tir.PrimFunc]

_ABSENT = object()


class Frame:
    """An open scope.

    Attributes
    ----------
    kind
        ``"function"``, ``"prim_func"``, ``"branch"``, ``"dataflow"`` or ``"block"`` (of a
        PrimFunc).
    infos
        Annotations already parsed in this scope, by their text.
    bound
        The shape variables that are bound in it.
    own
        For a dataflow block, the variables that it binds; `R.output` exports some to the function.
    attrs, shape_vars
        For a function, the attributes declared in its body, and the shape variables bound by its
        head.
    buffers, unknown_buffers
        For a PrimFunc, the buffers of its parameters, and undeclared buffers that it indexes.
    """

    __slots__ = (
        *("attrs", "bound", "buffers", "infos", "kind", "mark", "own"),
        *("shape_vars", "unknown_buffers"),
    )

    def __init__(self, kind: str, mark: int) -> None:
        self.kind = kind
        self.mark = mark
        self.infos: dict[str, ast.StructInfo] = {}
        self.own: set[ast.Var] = set()
        self.attrs: dict[str, object] = {}
        self.bound: list[tir.Var] = []
        self.shape_vars: tuple[tir.Var, ...] = ()
        self.buffers: dict[tir.Var, tir.Buffer] = {}
        self.unknown_buffers: dict[str, tir.Buffer] = {}


class Scope:
    """The names visible at the current position of the parser.

    Attributes
    ----------
    tuples
        The variables that are bound to tuples, with the tuples.
    types
        The types that calls and casts give to variables without annotation.
    shape_holders
        The variables that hold shapes, judging by the text of their values.
    unknown
        The dimensions that are written `_`.
    declared
        The names declared as shape variables by statements.
    literals
        Those beside shape variables in the head of a PrimFunc, which has no types yet.
    may_be_scalars
        The variables without an annotation that may be scalars according to the text.
    in_head
        Whether the head of a function is being parsed.
    lost
        The variables of statements that could not be read.
    missing
        How many names of the function may be bound where it could not be read.
    found
        Names of the function that nothing binds, as statements that could not be read may bind
        them.
    doubtful
        A place in the function where something was left out that may have bound or exported
        something, or where the layout is wrong.
    undeclared
        The results of calls of 2022 whose element types the PrimFunc determines, with callee and
        arguments.
    """

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.shapes: dict[str, tir.Var] = {}
        self.bound: set[tir.Var] = set()
        self.parameters: dict[ast.Var, bool] = {}
        self.scalars: dict[ast.Var, DataType] = {}
        self.globals: dict[str, ast.GlobalVar] = {}
        self._global_names: frozenset[str] = frozenset()
        self._outline: Callable[[], Iterable[str]] | None = None
        self.modules: set[str] = {"cls", "Module", "self"}
        self._log: list[tuple[dict[str, Any], str, Any]] = []
        self.frames: list[Frame] = [Frame("module", 0)]
        self.tuples: dict[ast.Var, ast.Tuple] = {}
        self.types: dict[ast.Expr, ast.StructInfo] = {}
        self.shape_holders: set[ast.Expr] = set()
        self.unknown: set[tir.PrimExpr] = set()
        self.declared: set[str] = set()
        self.literals: dict[tir.Var, list[tir.IntImm]] = {}
        self.may_be_scalars: set[ast.Expr] = set()
        self.undeclared: list[tuple[tuple[ast.TensorStructInfo, ...], ast.Expr, ast.Expr]] = []
        self.in_head = False
        self.lost: set[ast.Var] = set()
        self.missing = 0
        self.found: set[str] = set()
        self.doubtful: Span | None = None

    def expect(self, names: Callable[[], Iterable[str]]) -> None:
        """Set the function that finds all functions of the module, including later ones, on
        demand.
        """
        self._outline = names

    @property
    def global_names(self) -> frozenset[str]:
        """The functions of the module."""
        if self._outline is not None:
            self._global_names, self._outline = frozenset(self._outline()), None
        return self._global_names

    @property
    def frame(self) -> Frame:
        """The innermost open scope."""
        return self.frames[-1]

    def open(self, kind: str) -> Frame:
        """Enter a scope."""
        frame = Frame(kind, len(self._log))
        self.frames.append(frame)
        return frame

    def close(self) -> Frame:
        """Leave the innermost scope; its names get their previous meanings."""
        frame = self.frames.pop()
        self.bound.difference_update(frame.bound)
        log = self._log
        while len(log) > frame.mark:
            table, name, before = log.pop()
            if before is _ABSENT:
                table.pop(name, None)
            else:
                table[name] = before
        return frame

    def close_to(self, depth: int) -> None:
        """Leave scopes until this number is open; for recovery."""
        while len(self.frames) > depth:
            self.close()

    def keep(self) -> None:
        """Leave a dataflow block; its names stay visible until the end of the enclosing scope.

        A dataflow variable no longer shadows another meaning of its name.
        """
        kept = self.frames.pop()
        self.frame.bound += kept.bound
        before: dict[str, Any] = {}
        for table, name, meaning in self._log[kept.mark :]:
            if table is self.names:
                before.setdefault(name, meaning)
        for name, meaning in before.items():
            if not isinstance(self.names.get(name), ast.DataflowVar):
                continue
            if meaning is not _ABSENT:
                self.bind(name, meaning)
            elif name in self.shapes or name in self.global_names:
                self._log.append((self.names, name, self.names.pop(name)))

    def bind(self, name: str, value: object) -> None:
        """Bind a name in the innermost scope, shadowing other meanings."""
        before = self.names.get(name, _ABSENT)
        self._log.append((self.names, name, before))
        if name in self.shapes or (isinstance(before, ast.Var) and before.shape_var is not None):
            self.frame.infos.clear()  # a dimension of this name is another one from here on
        self.names[name] = value

    def binds_here(self, name: str) -> bool:
        """Whether the innermost scope binds a name."""
        bound = self._log[self.frame.mark :]
        return any(table is self.names and word == name for table, word, _ in bound)

    def in_prim_func(self) -> bool:
        """Whether the innermost function is a PrimFunc."""
        for frame in reversed(self.frames):
            if frame.kind == "function":
                return False
            if frame.kind == "prim_func":
                return True
        return False

    def in_outer_head(self) -> bool:
        """Whether the head of a function outside all others is read, which Python evaluates."""
        kinds = [frame.kind for frame in self.frames]
        return self.in_head and kinds.count("function") + kinds.count("prim_func") <= 1

    def owner_named(self, word: str) -> Any:
        """The meaning of the first word of a dotted name, if any; in a PrimFunc also a shape
        variable.
        """
        value = self.names.get(word)
        if value is None and self.in_prim_func():
            return self.shapes.get(word)
        return value

    def in_relax_body(self) -> bool:
        """Whether statements of a Relax function are being parsed."""
        return not self.in_head and self.function_frame().kind == "function"

    def in_prim_body(self) -> bool:
        """Whether the innermost open scope is one of a PrimFunc."""
        return self.frame.kind in ("prim_func", "block")

    def function_frame(self) -> Frame:
        """The frame of the innermost function, or of the module."""
        whole = ("function", "prim_func", "module")
        return next(frame for frame in reversed(self.frames) if frame.kind in whole)

    # ------------------------------------------------------------ variables

    def new_var(
        self, name: str, info: ast.StructInfo | None, info_span: Span | None, where: Span
    ) -> ast.Var:
        """A new variable of the innermost scope; in a dataflow block it is local to the block."""
        frame = self.frame
        if frame.kind != "dataflow":
            return ast.Var(name, info, info_span, where)
        var = ast.DataflowVar(name, info, info_span, where)
        frame.own.add(var)
        return var

    def begin_function(self) -> None:
        """Begin a function of the module: what was lost in others is no part of it."""
        self.missing = 0
        self.found.clear()
        self.doubtful = None

    def found_missing(self) -> bool:
        """Whether a name that nothing binds may be that of a statement that could not be read;
        each of these bound one name.
        """
        found = self.missing > 0
        self.missing -= found
        return found

    def undefined(self, name: str, span: Span) -> ast.Expr:
        """The meaning of a name that nothing binds."""
        if name not in self.found:
            if not self.found_missing():
                return ast.Var(name, None, None, span)
            self.found.add(name)
        return ast.ErrorExpr(False, span)

    # ------------------------------------------------------------ shape variables

    def shape_var(self, name: str, span: Span | None, dtype: DataType = INT64) -> tir.Var:
        """The shape variable with this name, or a new, unbound one."""
        found = self.shapes.get(name)
        if found is None:
            found = tir.Var(name, dtype, span)
            self._log.append((self.shapes, name, _ABSENT))
            self.shapes[name] = found
        return found

    def declare_shape_var(
        self, name: str, span: Span | None, dtype: DataType, is_size: bool = False
    ) -> tir.Var:
        """Declare the shape variable with this name; if the signature has used it before, its type
        is set now.
        """
        found = self.shape_var(name, span, dtype)
        self.declared.add(name)
        if found.dtype != dtype:
            complete(found, dtype=dtype)
            for literal in self.literals.pop(found, ()):
                complete(literal, dtype=dtype)
        if is_size:
            complete(found, is_size=True)
        return found

    def take_shape_var(self, name: str, dtype: DataType) -> tir.Var:
        """Remove the meaning of a name and return its variable."""
        found = self.declare_shape_var(name, None, dtype)
        self._log.append((self.shapes, name, found))
        del self.shapes[name]
        return found

    def new_shape_var(self, name: str, span: Span | None) -> tir.Var:
        """A new shape variable that shadows other meanings of the name."""
        self.declared.add(name)
        self._log.append((self.shapes, name, self.shapes.get(name, _ABSENT)))
        made = self.shapes[name] = tir.Var(name, INT64, span)
        self.frame.infos.clear()
        return made

    def unknown_dim(self, span: Span | None) -> tir.Var:
        """A dimension written `_`; each is a new variable."""
        made = tir.Var("_", INT64, span)
        self.unknown.add(made)
        return made

    def bind_shapes(self, infos: Iterable[ast.StructInfo]) -> tuple[tir.Var, ...]:
        """Bind the unbound shape variables that appear alone as a dimension in these
        annotations.
        """
        found: dict[tir.Var, None] = {}
        for info in infos:
            for value in binding_positions(info):
                if type(value) is tir.Var and value not in self.bound:
                    found[value] = None
        self.bound.update(found)
        self.frame.bound += found
        return tuple(found)

    def declare_results(self, functions: Functions) -> Functions:
        """The functions, with the element types of the buffers for the results of calls of 2022."""
        known: dict[Node, Node] = {}
        for infos, callee, args in self.undeclared:
            function = functions.get(callee) if isinstance(callee, ast.GlobalVar) else None
            if isinstance(function, tir.PrimFunc) and isinstance(args, ast.Tuple):
                params = function.params[len(args.fields) :]
                for info, param in zip(infos, params, strict=False):
                    buffer = function.buffer_map.get(param)
                    if buffer is not None:
                        known[info] = replace(info, dtype=buffer.dtype)
        self.undeclared.clear()
        if not known:
            return functions
        made: Functions = rebuild(functions, lambda node: known.get(node, node))
        return made

    # ------------------------------------------------------------ scalars

    def scalar_type(self, var: ast.Var) -> DataType | None:
        """The data type of a variable that is known to be a scalar."""
        info = var.struct_info_annotation
        return info.dtype if isinstance(info, ast.PrimStructInfo) else self.scalars.get(var)

    def may_be_scalar(self, value: object) -> bool:
        """Whether a value may be a scalar according to the text, such as the result of a function
        call.
        """
        match value:
            case ast.Var(struct_info_annotation=info) if info is not None:
                return isinstance(info, ast.PrimStructInfo | ast.ObjectStructInfo)
            case ast.Var():
                return value in self.may_be_scalars or value in self.parameters
            case ast.Call(op=ast.Op(op_name=name)):
                return name.startswith(STRING_OPERATORS)
        return isinstance(value, ast.Call | ast.TupleGetItem | ast.If)

    def dimension_of(self, var: ast.Var, quoted: bool) -> tir.Var:
        """The shape variable that a name denotes in a dimension: since 0.26, that of the variable
        with this name.

        Before, dimensions were quoted, and a name denoted different variables as a dimension and as
        a parameter. This is still so if the parameter is not a scalar.
        """
        if var.shape_var is not None:
            return var.shape_var
        info, kind = var.struct_info_annotation, self.scalar_type(var)
        if isinstance(info, ast.PrimStructInfo) and isinstance(info.value, tir.Var):
            return info.value
        apart = kind is None and (quoted or info is None)
        if self.parameters.get(var, False) or (var in self.parameters and apart):
            return self.shape_var(var.name_hint, var.span)
        return self._link(var, tir.Var(var.name_hint, kind or INT64, var.span))

    def _link(self, var: ast.Var, shape_var: tir.Var) -> tir.Var:
        complete(var, shape_var=shape_var)
        self.bound.add(shape_var)
        return shape_var

    def bind_parameter(self, var: ast.Var, of_0_26: bool) -> None:
        """Bring a parameter into scope; a dimension with its name may precede it.

        ``of_0_26`` means that its annotation has the spelling of versions in which both are one
        variable.
        """
        name = var.name_hint
        log = self._log[self.frame.mark :]
        used = name in self.shapes and any(t is self.shapes and n == name for t, n, _ in log)
        if used and of_0_26:
            self._link(var, self.shapes[name])
        self.parameters[var] = used and not of_0_26
        self.bind(name, var)

    # ------------------------------------------------------------ global names

    def global_var(self, name: str, span: Span | None) -> ast.GlobalVar:
        """The global variable with this name, always the same object in the module."""
        found = self.globals.get(name)
        if found is None:
            found = self.globals[name] = ast.GlobalVar(name, span)
        return found

    def look_up(self, name: str) -> Any:
        """The value that a bare name denotes: a variable, a shape variable, a global variable, or
        None.
        """
        found = self.names.get(name)
        if found is None:
            found = self.shapes.get(name)
            if found is None and name in self.global_names:
                return self.global_var(name, None)
        return found


def export(var: ast.Var) -> None:
    """Export a dataflow variable to the function, by the last statement of its block."""
    complete(var, __class__=ast.Var)
