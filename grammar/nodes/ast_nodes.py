"""The abstract syntax of Relax: the nodes of the specification's grammar, with their names.

In addition to the specification's fields, nodes have spans. All uses of a variable share one
object, so the spans of its uses are in the nodes that use it (``arg_spans``, ``value_span``).
Repeated annotations in a text are shared: their nodes have the spans of the first occurrence, and
the node that contains an annotation has the span of this occurrence (``annotation_span``).
:func:`locate` combines both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import VOID, DataType
from rlx.grammar.nodes.encoded import LateBytes
from rlx.grammar.nodes.node import Attributed, Node, Span, replace
from rlx.grammar.nodes.overloads import ValueOperators
from rlx.grammar.nodes.tir import PrimExpr, PrimFunc

if TYPE_CHECKING:
    import numpy as np


class StructInfo(Node):
    """Base class of structural information: what is known about a value before the program runs."""

    _shared = True


class ObjectStructInfo(StructInfo):
    """Any value."""

    span: Span | None = None


class TensorStructInfo(StructInfo):
    """A tensor.

    ``ndim`` is -1 and ``dtype`` is Void if unknown. ``shape`` is a variable that holds a shape
    value, a shape literal, or None. ``vdevice`` is None if the device is not given.
    ``distribution`` has the mesh of devices and the placement of a tensor that is distributed over
    them (`R.DTensor`); they are kept, and no rule speaks of them.
    """

    _children = ("shape", "vdevice")

    shape: Expr | None = None
    dtype: DataType = VOID
    ndim: int = -1
    vdevice: VDevice | None = None
    span: Span | None = None
    distribution: tuple[object, object] | None = None


class ShapeStructInfo(StructInfo):
    """A shape value; ``values`` is None if only the rank (or, with ``ndim`` -1, nothing) is
    known.
    """

    values: tuple[PrimExpr, ...] | None = None
    ndim: int = -1
    span: Span | None = None


class PrimStructInfo(StructInfo):
    """An immutable scalar; ``value`` is None if only its type is known."""

    dtype: DataType
    value: PrimExpr | None = None
    span: Span | None = None


class TupleStructInfo(StructInfo):
    """A tuple, field by field."""

    __slots__ = ("__weakref__",)

    fields: tuple[StructInfo, ...]
    span: Span | None = None


class FuncStructInfo(StructInfo):
    """A closure (``params`` given) or an opaque function (``derive_func`` given, ``params`` None).

    Attributes
    ----------
    binders
        The shape variables that a call binds. They are explicit, so a variable that only goes out
        of scope is not mistaken for one of them (ledger 10).
    derive_func
        ``"default"`` (the type arguments of the call) or ``"empty"`` (Object), or None.
    """

    __slots__ = ("__weakref__",)

    _children = ("params", "ret")

    params: tuple[StructInfo, ...] | None
    ret: StructInfo
    purity: bool = True
    derive_func: str | None = None
    binders: tuple[tir.Var, ...] = ()
    span: Span | None = None


class VDevice(Node):
    """A virtual device in an annotation: ``"llvm"``, ``"cuda:0"``, or an entry of the module's
    list.

    ``target`` is the target's text, ``index`` its index among the devices of this kind, and
    ``memory_scope`` the memory.
    """

    target: str
    index: int = 0
    memory_scope: str = "global"
    span: Span | None = None


class Expr(Node, ValueOperators["Call", "TupleGetItem"]):
    """Base class of Relax expressions."""


class Literal(Node):
    """The data of a constant, as far as the text gives it.

    Attributes
    ----------
    value
        A number, a Boolean, or tuples of them nested to the rank; None if the text omits the data.
    shape
        None if the text gives neither data nor shape.
    key
        The reference in the text that replaces the data: ``metadata["ir.GenericConst"][0]``.
    content
        The data of a reference: the elements one after the other, little-endian; ``bytes(…)`` gives
        them.
    """

    _children = ()  # the data may have millions of numbers

    value: object
    dtype: DataType
    shape: tuple[int, ...] | None
    key: str | None = None
    content: bytes | LateBytes | None = None

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements as an array, which the caller may change.

        Raises
        ------
        MisuseError
            If the text leaves them out.
        """
        return import_module("rlx.grammar.nodes.overloaded").array(self)  # type: ignore[no-any-return]


class Constant(Expr):
    """A tensor constant; ``distribution`` is that of its type, as in `R.dist.const`."""

    _children = ("data",)

    data: Literal
    span: Span | None = None
    distribution: tuple[object, object] | None = None

    @property
    def struct_info(self) -> TensorStructInfo:
        """The type that the data has."""
        shape, kind = self.data.shape, self.data.dtype
        if shape is None:
            return TensorStructInfo(None, kind)
        sizes = ShapeExpr(tuple([tir.IntImm(extent) for extent in shape]))
        return TensorStructInfo(sizes, kind, len(shape))


class Var(Expr):
    """A variable of a function or a SeqExpr. Two variables may have the same name.

    Attributes
    ----------
    span
        The span of its binding, or of its use if it is not bound.
    shape_var
        The shape variable with its value: since 0.26 a dimension may be the name of a scalar. None
        if no dimension and no arithmetic mentions it.
    """

    _children = ()

    name_hint: str
    struct_info_annotation: StructInfo | None = None
    annotation_span: Span | None = None
    span: Span | None = None
    shape_var: tir.Var | None = None

    @property
    def struct_info(self) -> StructInfo | None:
        """The annotation of the variable, from the text or from the code that made it."""
        return self.struct_info_annotation

    def declared(self) -> tuple[Node, ...]:
        return () if self.struct_info_annotation is None else (self.struct_info_annotation,)


class DataflowVar(Var):
    """A variable that is local to its dataflow block."""


class GlobalVar(Expr):
    """The name of a function of the module; one object for each name and module."""

    name_hint: str
    span: Span | None = None


class ErrorExpr(Expr):
    """A part that could not be read; an error says why, and nothing else is reported about it.

    A statement that could not be read binds the names that it would have bound to one of these.

    Attributes
    ----------
    may_bind
        Whether the text may have bound more than the tree shows: other names, or shape variables.
    """

    may_bind: bool = False
    span: Span | None = None


class Tuple(Expr):
    """A tuple of values; as in Python, it has a length, and its fields by index."""

    fields: tuple[Expr, ...]
    field_spans: tuple[Span, ...] = ()
    span: Span | None = None

    def __getitem__(self, index: Any) -> Any:
        return self.fields[index]


class SeqExpr(Expr):
    """Binding blocks followed by the result."""

    __slots__ = ("__weakref__",)  # so that what is known of one can be kept beside it

    blocks: tuple[BindingBlock, ...]
    body: Expr
    body_span: Span | None = None
    span: Span | None = None


class PrimValue(Expr):
    """An immutable scalar, boxed."""

    value: PrimExpr
    span: Span | None = None


class StringImm(Expr):
    """A string."""

    value: str
    span: Span | None = None


class DataTypeImm(Expr):
    """A data type as a value."""

    value: DataType
    span: Span | None = None


class Function(Expr, Attributed):
    """A function: a global one, or a literal that evaluates to a closure.

    Attributes
    ----------
    is_pure
        The decorator's ``pure=``; None if the text omits it, which means True.
    attrs
        ``R.func_attr``, and ``private`` of the decorator. A global function that is not private has
        ``global_symbol``.
    ret_span
        The span of this occurrence of the return annotation, which may be shared.
    shape_vars
        The shape variables that the signature binds.
    returns_none
        Whether the text says ``-> None``, which TVM reads as an empty tuple and does not check.
    """

    _children, _binds = ("params", "body", "ret_struct_info"), ("params",)

    params: tuple[Var, ...]
    body: Expr
    ret_struct_info: StructInfo | None = None
    is_pure: bool | None = None
    attrs: Mapping[str, object] = {}
    shape_vars: tuple[tir.Var, ...] = ()
    ret_span: Span | None = None
    name_span: Span | None = None
    comments: tuple[str, ...] = ()
    span: Span | None = None
    returns_none: bool = False

    def bind_params(self, values: Mapping[str | Var, object]) -> Function:
        """See :func:`rlx.transform.bind_params`."""
        return import_module(_BINDING).bind_params(self, values)  # type: ignore[no-any-return]

    def bind_symbolic_vars(self, sizes: Mapping[str | tir.Var, int | PrimExpr]) -> Function:
        """See :func:`rlx.transform.bind_symbolic_vars`."""
        return import_module(_BINDING).bind_symbolic_vars(self, sizes)  # type: ignore[no-any-return]


_BINDING = "rlx.transform.passes.parameters"
"""The module that binds parameters, by name, because it is above this one."""


class If(Expr):
    """``if cond: … else: …``; each branch is a scope."""

    cond: Expr
    true_branch: Expr
    false_branch: Expr
    cond_span: Span | None = None
    span: Span | None = None


class ExternFunc(Expr):
    """A packed function, found by name at run time. ``struct_info`` is given since 0.24."""

    global_symbol: str
    struct_info: StructInfo | None = None
    span: Span | None = None


class Call(Expr):
    """A call of an operator, a packed function, or a function value.

    ``attrs`` has the keyword arguments in the order of the text. ``sinfo_args`` has the type
    arguments (``out_sinfo``, ``sinfo_args``, ``out_ty``, ``ty_args``), and ``sinfo_spans`` their
    spans. ``attr_spans`` has the spans of each keyword and its value, and ``op_span`` that of the
    operator's name. ``spelled`` gives, by position or keyword, the arguments that the text writes
    as ``None``, as a ``number``, as a ``typed`` one (``T.int64(3)``) or in a box
    (``R.prim_value``, ``R.str``, ``R.dtype``, ``R.null_value``), because TVM expects attributes
    unboxed, and gives only a bare number the type of the other operand.
    """

    _children = ("op", "args", "attrs", "sinfo_args")  # types are not evaluated: they are last

    op: Expr
    args: tuple[Expr, ...]
    attrs: Mapping[str, object] = {}
    sinfo_args: tuple[StructInfo, ...] = ()
    arg_spans: tuple[Span, ...] = ()
    sinfo_spans: tuple[Span, ...] = ()
    span: Span | None = None
    attr_spans: Mapping[str, tuple[Span, Span]] = {}
    op_span: Span | None = None
    spelled: Mapping[int | str, str] = {}

    @property
    def op_name(self) -> str:
        """The full name of the called operator, such as ``relax.nn.relu``; empty if the callee is a
        function.
        """
        return self.op.op_name if isinstance(self.op, Op) else ""


class ShapeExpr(Expr):
    """A shape literal; as in Python, it has a length, and its dimensions by index."""

    values: tuple[PrimExpr, ...]
    span: Span | None = None

    def __getitem__(self, index: Any) -> Any:
        return self.values[index]

    def __len__(self) -> int:
        return len(self.values)


class TupleGetItem(Expr):
    """``tuple_value[index]``"""

    tuple_value: Expr
    index: int
    span: Span | None = None


class Op(Expr):
    """A built-in operator, by its full name: ``relax.nn.relu``.

    Obtain instances from :func:`op`.
    """

    op_name: str
    span: Span | None = None


class Binding(Node):
    """Base class of bindings: :class:`VarBinding` and :class:`MatchCast`."""

    if TYPE_CHECKING:  # what both have
        var: Var | None
        value: Expr

        @property
        def span(self) -> Span | None: ...
        @property
        def value_span(self) -> Span | None: ...


class VarBinding(Binding):
    """``var = value``. An expression statement binds a variable named ``_``."""

    _children, _binds = ("value", "var"), ("var",)

    var: Var
    value: Expr
    value_span: Span | None = None
    span: Span | None = None


class MatchCast(Binding):
    """``var = R.match_cast(value, struct_info)``; ``var`` is None if no variable is bound.

    ``shape_vars`` are the shape variables that this cast binds. ``by_shape`` means that the text
    compares only shapes (`R.match_shape` of 2022): the struct info of the value determines whether
    the target is a tensor or a shape.
    """

    _children, _binds = ("value", "struct_info", "var"), ("var",)

    var: Var | None
    value: Expr
    struct_info: StructInfo
    shape_vars: tuple[tir.Var, ...] = ()
    value_span: Span | None = None
    struct_info_span: Span | None = None
    span: Span | None = None
    by_shape: bool = False

    @property
    def compared_dims(self) -> tuple[PrimExpr, ...] | None:
        """The dimensions that a match of shapes compares; None for a cast."""
        info = self.struct_info
        shape = info.shape if isinstance(info, TensorStructInfo) else info
        compares = self.by_shape and isinstance(shape, ShapeExpr | ShapeStructInfo)
        return shape.values if compares else None  # type: ignore[union-attr]


class BindingBlock(Node):
    """Bindings in order; effects and control flow are allowed."""

    bindings: tuple[Binding, ...]
    span: Span | None = None


class DataflowBlock(BindingBlock):
    """Bindings without effects and control flow."""


@cache
def op(name: str) -> Op:
    """The operator with this full name, always the same object."""
    return Op(name)


def locate(node: Node, root: Node | None, use: Span | None) -> Span | None:
    """The span of a node in a shared annotation, for the occurrence at ``use``.

    Parameters
    ----------
    node, root
        A node of an annotation, and the annotation itself.
    use
        The span of the occurrence.
    """
    span: Span | None = getattr(node, "span", None)
    first: Span | None = getattr(root, "span", None)
    if span is None or use is None or first is None:
        return use or span
    shift = use[0] - first[0]
    return (span[0] + shift, span[1] + shift)


GRAPHS = "rlx.graphs"
"""The package that draws modules, by name, because it is above this one."""


class IRModule(Node, Attributed):
    """`IRModule(funcs)`: global names and their functions, in the order of the text.

    Attributes
    ----------
    name
        The name of the class; ``"Module"`` for functions without a class (``bare`` is then
        True).
    attrs, global_infos
        ``I.module_attrs`` and ``I.module_global_infos``; the virtual devices are under
        ``"vdevice"``.
    type_vars
        Names that the text declares with ``TypeVar`` before the class.
    comments
        Comment lines above the class (without those of the printed import header).
    bases
        The base classes in parentheses after the name of the class; they have no meaning.
    externs
        Packed functions that the class declares: ``sort = R.ExternFunc("sort")``.
    lost
        Names of functions that the text may define where it could not be read.
    """

    _children = ("functions",)

    functions: Mapping[GlobalVar, Function | PrimFunc]
    attrs: Mapping[str, object] = {}
    global_infos: Mapping[str, tuple[object, ...]] = {}
    name: str = "Module"
    bare: bool = False
    type_vars: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    span: Span | None = None
    bases: str | None = None
    externs: Mapping[str, ExternFunc] = {}
    lost: frozenset[str] = frozenset()

    @classmethod
    def from_expr(cls, function: Function | PrimFunc) -> IRModule:
        """The module of one function, under its own name or `main`."""
        attrs = getattr(function, "attrs", {})
        name: Any = str(attrs.get("global_symbol", "main"))
        return cls({name: function})

    @property
    def relax_functions(self) -> dict[GlobalVar, Function]:
        """The functions that are not PrimFuncs, by their names."""
        return {gv: f for gv, f in self.functions.items() if isinstance(f, Function)}

    @property
    def prim_funcs(self) -> dict[GlobalVar, PrimFunc]:
        """The PrimFuncs, by their names."""
        return {gv: f for gv, f in self.functions.items() if isinstance(f, PrimFunc)}

    def map_relax_functions(self, change: Callable[[GlobalVar, Function], Function]) -> IRModule:
        """This module with other Relax functions, or itself if all of them stay."""
        if not callable(change):
            raise TypeError(
                f"expected a function of (name, function), found {type(change).__name__}"
            )
        functions = {
            gv: change(gv, f) if isinstance(f, Function) else f for gv, f in self.functions.items()
        }
        same = all(functions[gv] is f for gv, f in self.functions.items())
        return self if same else replace(self, functions=functions)

    def graph(self) -> Any:
        """The dataflow graph, an object of :mod:`rlx.graphs`: a notebook shows it as a page, and
        ``html()``, ``svg()`` and ``dot()`` return it as a text.

        Raises
        ------
        IllFormedError
            If the module has errors.
        """
        return import_module(GRAPHS).graph(self)

    def get_global_vars(self) -> tuple[GlobalVar, ...]:
        """The names of its functions, in their order."""
        return tuple(self.functions)

    def get_global_var(self, name: str) -> GlobalVar:
        """The name of a function, as calls have it. Raises KeyError if there is no such function."""
        if not isinstance(name, str):
            raise TypeError(f"expected the name of a function, found {type(name).__name__}")
        for gv in self.functions:
            if gv.name_hint == name:
                return gv
        known = ", ".join(gv.name_hint for gv in self.functions) or "none"
        raise KeyError(f"the module has no function {name!r}; it has: {known}")

    def __getitem__(self, name: str | GlobalVar) -> Function | PrimFunc:
        """The function of a name.

        Raises
        ------
        KeyError
            If there is none; the message has the names that there are.
        """
        if isinstance(name, GlobalVar):
            found = self.functions.get(name)
            return self[name.name_hint] if found is None else found
        return self.functions[self.get_global_var(name)]

    def __contains__(self, name: object) -> bool:
        """Whether it has a function of a name."""
        text = name.name_hint if isinstance(name, GlobalVar) else name
        return isinstance(text, str) and any(gv.name_hint == text for gv in self.functions)

    def __iter__(self) -> Iterator[GlobalVar]:
        """The names of its functions, in their order."""
        return iter(self.functions)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            hint = f": write {_OF_TVM[name]}" if name in _OF_TVM else ""
            raise AttributeError(f"'IRModule' object has no attribute {name!r}{hint}")

        def __setitem__(self, name: str | GlobalVar, function: object) -> NoReturn:
            raise TypeError(f"modules do not change: write {_OF_TVM['update_func']}")


_make_module, _NAMES = IRModule.__init__, frozenset([GlobalVar])


@wraps(_make_module)
def _with_names(self: IRModule, functions: Mapping[Any, Any], *rest: Any, **named: Any) -> None:
    """Make a module; texts among the names become the objects by which the functions are called.

    Raises
    ------
    MisuseError
        If the functions are not given by name.
    """
    if type(functions) is not dict or not _NAMES.issuperset(map(type, functions)):
        functions = import_module("rlx.grammar.nodes.overloaded").named_functions(functions)
    _make_module(self, functions, *rest, **named)


type.__setattr__(IRModule, "__init__", _with_names)


_OF_TVM = {
    "clone": "the module itself: modules do not change",
    "functions_items": "module.functions.items()",
    "script": "rlx.show(module)",
    "show": "rlx.show(module)",
    "update": "rlx.BlockBuilder(module), then update_func and get",
    "update_func": "rlx.BlockBuilder(module), then update_func and get",
}
"""The text to write in place of each of TVM's methods of modules."""
