"""The words at the head of a form, in every dialect, and the node each one makes.

A word that is not here is an operator (`R.nn.relu`) or an intrinsic (`T.exp`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rlx.grammar import ast, tir
from rlx.grammar.dtype import BOOL, FLOAT32, INT32, INT64, VOID, DataType, dtype
from rlx.grammar.lalr import Entry, Rejected
from rlx.grammar.neutral import Form, Name, Sequence, Wildcard, describe
from rlx.grammar.node import Span, replace
from rlx.grammar.scope import bind_callable

if TYPE_CHECKING:
    from rlx.grammar.actions import Expressions
    from rlx.grammar.coerce import Coerce

ALIASES = {"relax": "R", "tir": "T", "tirx": "T"}
"""Module names that other texts use for `R` and `T`."""

METHODS = {"astype": "relax.astype", "reshape": "relax.reshape"}

PROTOTYPE_OPERATORS = {"dot": "matmul", "ewise_add": "add"}
"""Operators that 2022 named otherwise."""

TYPE_ARGUMENTS = ("out_sinfo", "sinfo_args", "out_ty", "ty_args", "type_args")
"""Keywords that carry type arguments, oldest last but one."""


class Arguments:
    """The arguments of a form, and where it stands."""

    __slots__ = ("end", "head", "keywords", "positional", "start")

    def __init__(
        self, head: str, positional: list[Entry], keywords: dict[str, Entry], start: int, end: int
    ) -> None:
        self.head = head
        self.positional = positional
        self.keywords = keywords
        self.start = start
        self.end = end

    @property
    def span(self) -> Span:
        """Where the whole form stands."""
        return (self.start, self.end)

    def take(self, position: int, *names: str) -> Entry | None:
        """The argument at a position or under one of some names; taken out of the keywords."""
        for name in names:
            if name in self.keywords:
                return self.keywords.pop(name)
        return self.positional[position] if position < len(self.positional) else None

    def need(self, position: int, *names: str) -> Entry:
        """As :meth:`take`, but it must be there."""
        found = self.take(position, *names)
        if found is None:
            raise Rejected(f"{self.head} needs an argument {names[0]!r}", self.start, self.end)
        return found

    def done(self) -> None:
        """Refuse keywords that nobody took."""
        for name, value in self.keywords.items():
            raise Rejected(f"{self.head} has no argument {name!r}", value[1], value[2])

    def at_most(self, count: int) -> None:
        """Refuse more positional arguments than so many."""
        if len(self.positional) > count:
            extra = self.positional[count]
            raise Rejected(
                f"{self.head} takes at most {count} arguments, {len(self.positional)} are given",
                extra[1],
                extra[2],
            )

    def type_arguments(self, coerce: Coerce) -> tuple[tuple[ast.StructInfo, ...], tuple[Span, ...]]:
        """The type arguments, taken out of the keywords; a list is several."""
        for name in TYPE_ARGUMENTS:
            entry = self.keywords.pop(name, None) if self.keywords else None
            if entry is not None:
                value = entry[0]
                items = value.items if isinstance(value, Sequence) else [entry]
                return (
                    tuple(coerce.info(item) for item in items),
                    tuple((item[1], item[2]) for item in items),
                )
        return (), ()


Handler = Callable[["Expressions", Arguments], Any]
FORMS: dict[str, Handler] = {}
"""The forms by their head."""


def form(*heads: str) -> Callable[[Handler], Handler]:
    """Register the handler of some heads."""

    def register(handler: Handler) -> Handler:
        for head in heads:
            FORMS[head] = handler
        return handler

    return register


# ---------------------------------------------------------------- annotations


def dims(actions: Expressions, items: list[Entry]) -> tuple[tir.PrimExpr, ...]:
    """A list of dimensions."""
    coerce = actions.coerce
    return tuple(coerce.prim(item) for item in items)


@form("R.Tensor", "R.DTensor")
def tensor(actions: Expressions, a: Arguments) -> ast.StructInfo:
    """`R.Tensor(shape, dtype, vdevice, ndim)`, any part left out; `R.Tensor("float32")`."""
    if a.head == "R.DTensor":
        a.positional = a.positional[:2]
        for name in ("device_mesh", "placement"):
            a.keywords.pop(name, None)
    shape_entry, dtype_entry = a.take(0, "shape"), a.take(1, "dtype")
    device, rank = a.take(2, "vdevice"), a.take(3, "ndim")
    a.done()
    a.at_most(4)
    if shape_entry is not None and isinstance(shape_entry[0], str) and dtype_entry is None:
        shape_entry, dtype_entry = None, shape_entry
    shape = None if shape_entry is None else tensor_shape(actions, shape_entry)
    data_type = VOID if dtype_entry is None else actions.coerce.data_type(dtype_entry)
    ndim = -1
    if rank is not None:
        ndim = _rank(rank)
    elif isinstance(shape, ast.ShapeExpr):
        ndim = len(shape.values)
    elif isinstance(shape, ast.Var):
        annotation = shape.struct_info_annotation
        ndim = annotation.ndim if isinstance(annotation, ast.ShapeStructInfo) else -1
    return ast.TensorStructInfo(shape, data_type, ndim, _vdevice(actions, device), a.span)


def tensor_shape(actions: Expressions, entry: Entry) -> ast.Expr | None:
    """The shape of a tensor annotation: dimensions, a variable, or `_`."""
    value, start, end = entry
    match value:
        case None | Wildcard() | Name(text="_"):
            return None
        case Sequence(items=items):
            return ast.ShapeExpr(dims(actions, items), (start, end))
        case ast.ShapeExpr() | ast.Var():
            return value
        case Name():
            return actions.coerce.expr(entry)
    raise Rejected(
        f"expected the shape of a tensor, such as (n, 4), found {describe(value)}", start, end
    )


def _rank(entry: Entry) -> int:
    value, start, end = entry
    if isinstance(value, int) and -1 <= value <= 2**31:
        return value
    raise Rejected(f"expected a rank, found {describe(value)}", start, end)


def _vdevice(actions: Expressions, entry: Entry | None) -> ast.VDevice | None:
    if entry is None or entry[0] is None:
        return None
    text = actions.coerce.text(entry)
    target, _, rest = text.partition(":")
    index, _, scope = rest.partition(":")
    if index and not index.isdigit():
        raise Rejected(f"expected a device such as 'cuda:0', found {text!r}", entry[1], entry[2])
    return ast.VDevice(target, int(index or 0), scope or "global", (entry[1], entry[2]))


@form("R.Shape")
def shape_info(actions: Expressions, a: Arguments) -> ast.StructInfo:
    """`R.Shape([n, 4])`, `R.Shape(ndim=2)`."""
    values, rank = a.take(0, "values"), a.take(1, "ndim")
    a.done()
    if values is None or values[0] is None:
        return ast.ShapeStructInfo(None, -1 if rank is None else _rank(rank), a.span)
    if not isinstance(values[0], Sequence):
        raise Rejected("R.Shape takes a list of dimensions", values[1], values[2])
    found = dims(actions, values[0].items)
    return ast.ShapeStructInfo(found, len(found) if rank is None else _rank(rank), a.span)


@form("R.Prim")
def prim_info(actions: Expressions, a: Arguments) -> ast.StructInfo:
    """`R.Prim("int64")`, `R.Prim(value=n + 1)`."""
    data_type, value = a.take(0, "dtype"), a.take(1, "value")
    a.done()
    if value is not None:
        given = None if data_type is None else actions.coerce.data_type(data_type)
        found = actions.coerce.prim(value, given or INT64)
        return ast.PrimStructInfo(given or tir.type_of(found), found, a.span)
    if data_type is None:
        raise Rejected("R.Prim needs a data type or a value", a.start, a.end)
    return ast.PrimStructInfo(actions.coerce.data_type(data_type), None, a.span)


@form("R.Object", "R.Any", "I.StringType")
def object_info(actions: Expressions, a: Arguments) -> ast.StructInfo:
    """`R.Object()`"""
    a.at_most(0)
    a.done()
    return ast.ObjectStructInfo(a.span)


@form("R.Tuple")
def tuple_info(actions: Expressions, a: Arguments) -> ast.StructInfo:
    """`R.Tuple(R.Tensor(…), …)`, also with one list."""
    a.done()
    items = a.positional
    if len(items) == 1 and isinstance(items[0][0], Sequence):
        items = items[0][0].items
    return ast.TupleStructInfo(tuple(actions.coerce.info(item) for item in items), a.span)


@form("R.Callable")
def callable_info(actions: Expressions, a: Arguments) -> ast.StructInfo:
    """`R.Callable((params…), ret, purity)`; without parameters an opaque function."""
    params, ret = a.take(0, "params"), a.take(1, "ret")
    purity, derive = a.take(2, "purity"), a.take(3, "derive_func")
    a.done()
    pure = purity[0] if purity is not None else True
    if not isinstance(pure, bool):
        raise Rejected("purity is True or False", a.start, a.end)
    if params is None or params[0] is None:
        result = ast.ObjectStructInfo() if ret is None else actions.coerce.info(ret)
        kind = "default" if derive is not None else "empty" if ret is None else None
        return ast.FuncStructInfo(
            None, result, pure if purity is not None else False, kind, (), a.span
        )
    items = params[0].items if isinstance(params[0], Sequence) else [params]
    found = tuple(actions.coerce.info(item) for item in items)
    result = ast.ObjectStructInfo() if ret is None else actions.coerce.info(ret)
    info = ast.FuncStructInfo(found, result, pure, None, (), a.span)
    bind_callable(info, actions.scope.bound)
    return info


# ---------------------------------------------------------------- values


@form("R.const")
def const(actions: Expressions, a: Arguments) -> ast.Expr:
    """`R.const(1.5, "float32")`; without a data type that of the Python literal in TVM."""
    value = a.need(0, "value")
    data_type = a.take(1, "dtype")
    a.done()
    given = None if data_type is None else actions.coerce.data_type(data_type)
    data, kind = _data(actions, value)
    return ast.Constant(ast.Literal(data, given or kind, _shape_of(data, value)), a.span)


def _data(actions: Expressions, entry: Entry) -> tuple[object, DataType]:
    value, start, end = entry
    match value:
        case bool():
            return value, BOOL
        case int():
            return actions.coerce.integer(entry), INT32
        case float():
            return value, FLOAT32
        case "inf" | "-inf" | "nan":  # TVM's spelling of what Python has no literal for
            return float(value), FLOAT32
        case Sequence(items=items):
            parts = [_data(actions, item) for item in items]
            kinds = [kind for _, kind in parts]
            return tuple(p for p, _ in parts), FLOAT32 if FLOAT32 in kinds else (
                kinds or [FLOAT32]
            )[0]
        case tir.IntImm() | tir.FloatImm():
            return value.value, value.dtype
        case Form(head=head) if head.startswith("T."):
            return _data(actions, (actions.coerce.prim(entry), start, end))
    raise Rejected(f"expected the data of a constant, found {describe(value)}", start, end)


def _shape_of(data: object, entry: Entry) -> tuple[int, ...]:
    if not isinstance(data, tuple):
        return ()
    inner = {_shape_of(item, entry) for item in data}
    if len(inner) > 1:
        raise Rejected("the rows of this constant differ in length", entry[1], entry[2])
    return (len(data), *(inner.pop() if inner else ()))


@form("R.shape", "R.ShapeExpr")
def shape(actions: Expressions, a: Arguments) -> ast.Expr:
    """`R.shape([n, 4])`"""
    values = a.need(0, "values")
    a.done()
    if not isinstance(values[0], Sequence):
        raise Rejected("R.shape takes a list of dimensions", values[1], values[2])
    return ast.ShapeExpr(dims(actions, values[0].items), a.span)


@form("R.tuple")
def make_tuple(actions: Expressions, a: Arguments) -> ast.Expr:
    """`R.tuple(a, b)`"""
    a.done()
    return actions.coerce.expr((Sequence(a.positional, "("), a.start, a.end))


@form("R.prim_value")
def prim_value(actions: Expressions, a: Arguments) -> ast.Expr:
    """`R.prim_value(n + 1)`"""
    value = a.need(0, "value")
    a.done()
    return ast.PrimValue(actions.coerce.prim(value), a.span)


@form("R.str")
def string(actions: Expressions, a: Arguments) -> ast.Expr:
    """`R.str("text")`"""
    value = a.need(0, "value")
    a.done()
    return ast.StringImm(actions.coerce.text(value), a.span)


@form("R.dtype")
def data_type_value(actions: Expressions, a: Arguments) -> ast.Expr:
    """`R.dtype("float32")`"""
    value = a.need(0, "value")
    a.done()
    return ast.DataTypeImm(actions.coerce.data_type(value), a.span)


@form("R.ExternFunc", "R.extern")
def extern(actions: Expressions, a: Arguments) -> ast.Expr:
    """`R.ExternFunc("name")`, since 0.24 with a type."""
    name, info = a.need(0, "global_symbol"), a.take(1, "struct_info", "ty")
    a.done()
    given = None if info is None else actions.coerce.info(info)
    return ast.ExternFunc(actions.coerce.text(name), given, a.span)


# ---------------------------------------------------------------- calls


def function_value(actions: Expressions, entry: Entry) -> ast.Expr:
    """A function given to an operator: a name, or a string for a packed function."""
    value, start, end = entry
    if isinstance(value, str):
        return ast.ExternFunc(value, None, (start, end))
    return actions.coerce.expr(entry)


def _spans(entries: list[Entry]) -> tuple[Span, ...]:
    return tuple((entry[1], entry[2]) for entry in entries)


@form("R.call_packed")
def call_packed(actions: Expressions, a: Arguments) -> ast.Expr:
    """`R.call_packed("name", x, sinfo_args=R.Tensor(…))`: a call of the packed function itself."""
    callee = function_value(actions, a.need(0, "func"))
    infos, info_spans = a.type_arguments(actions.coerce)
    attrs = {name: actions.coerce.attr(value) for name, value in a.keywords.items()}
    rest = a.positional[1:]
    args = tuple(actions.coerce.expr(entry) for entry in rest)
    return ast.Call(callee, args, infos, attrs, _spans(rest), info_spans, a.span)


@form("R.call_pure_packed", "R.call_inplace_packed")
def call_pure_packed(actions: Expressions, a: Arguments) -> ast.Expr:
    """`R.call_pure_packed("name", x, sinfo_args=…)`: the packed function is the first argument."""
    a.need(0, "func")
    infos, info_spans = a.type_arguments(actions.coerce)
    attrs = {name: actions.coerce.attr(value) for name, value in a.keywords.items()}
    first, *rest = a.positional
    args = (function_value(actions, first), *(actions.coerce.expr(entry) for entry in rest))
    op = ast.op("relax." + a.head[2:])
    return ast.Call(op, args, infos, attrs, _spans(a.positional), info_spans, a.span)


@form(
    "R.call_tir",
    "R.call_tir_inplace",
    "R.call_tir_with_grad",
    "R.call_dps_packed",
    "R.call_builtin_with_ctx",
    "R.invoke_closure",
    "R.invoke_pure_closure",
    "R.vm.call_tir_dyn",
)
def call_with_tuple(actions: Expressions, a: Arguments) -> ast.Expr:
    """`R.call_tir(f, (x, y), out_sinfo=…, tir_vars=…)` and its relatives: one tuple holds the arguments."""
    if a.head in ("R.call_tir", "R.call_dps_packed") and _is_prototype(actions, a):
        return prototype_call_tir(actions, a)
    callee, arguments = a.need(0, "gvar", "func", "closure"), a.need(1, "args")
    positional = [callee, arguments]
    infos, info_spans = a.type_arguments(actions.coerce)
    if not infos and len(a.positional) > 2:
        infos, info_spans = _out_infos(actions, a.positional[2])
        if len(a.positional) > 3:
            positional.append(a.positional[3])
    elif len(a.positional) > 2:
        positional.extend(a.positional[2:])
    tir_vars = a.keywords.pop("tir_vars", None)
    if tir_vars is not None and tir_vars[0] is not None:
        positional.append(tir_vars)
    args: list[ast.Expr] = [function_value(actions, callee)]
    args.append(_argument_tuple(actions, arguments))
    args.extend(actions.coerce.expr(entry) for entry in positional[2:])
    if a.head[2:6] == "call" and a.head != "R.call_builtin_with_ctx" and len(infos) > 1:
        whole = (info_spans[0][0], info_spans[-1][1])
        infos, info_spans = (ast.TupleStructInfo(infos, whole),), (whole,)
    attrs = {name: actions.coerce.attr(value) for name, value in a.keywords.items()}
    op = ast.op("relax." + a.head[2:])
    return ast.Call(op, tuple(args), infos, attrs, _spans(positional), info_spans, a.span)


def _out_infos(
    actions: Expressions, entry: Entry
) -> tuple[tuple[ast.StructInfo, ...], tuple[Span, ...]]:
    value = entry[0]
    items = value.items if isinstance(value, Sequence) else [entry]
    return tuple(actions.coerce.info(item) for item in items), _spans(items)


def _argument_tuple(actions: Expressions, entry: Entry) -> ast.Expr:
    """The arguments as one tuple; a single tensor stands for a tuple of one, as TVM reads it."""
    value, start, end = entry
    if isinstance(value, Sequence):
        return actions.coerce.expr(entry)
    found = actions.coerce.expr(entry)
    annotation = found.struct_info_annotation if isinstance(found, ast.Var) else None
    if isinstance(found, ast.Tuple) or isinstance(annotation, ast.TupleStructInfo):
        return found
    return ast.Tuple((found,), ((start, end),), (start, end))


def _is_prototype(actions: Expressions, a: Arguments) -> bool:
    """Whether the output shape comes first, as in 2022."""
    if len(a.positional) < 3 or a.keywords:
        return False
    first, second = a.positional[0][0], a.positional[1][0]
    if isinstance(first, (Sequence, ast.ShapeExpr)):
        return True
    callee = isinstance(second, (str, ast.GlobalVar, Name, ast.ExternFunc))
    return callee and isinstance(first, (ast.Var, ast.Call, ast.TupleGetItem))


def prototype_call_tir(actions: Expressions, a: Arguments) -> ast.Expr:
    """`R.call_tir((n, m), f, [x])` of 2022: the data type is that of the annotation, if there is one.

    A function named by a string is a packed one.
    """
    out, callee, arguments = a.positional[:3]
    shapes = [out]
    items = out[0].items if isinstance(out[0], Sequence) else []
    if items and all(isinstance(item[0], (Sequence, ast.ShapeExpr)) for item in items):
        shapes = items
    infos = tuple(_prototype_info(actions, entry) for entry in shapes)
    where = (out[1], out[2])
    info = infos[0] if len(infos) == 1 else ast.TupleStructInfo(infos, where)
    extra = a.positional[3:]
    args = (
        function_value(actions, callee),
        _argument_tuple(actions, arguments),
        *(actions.coerce.expr(_as_shape(actions, entry)) for entry in extra),
    )
    name = "call_dps_packed" if isinstance(callee[0], str) else a.head[2:]
    return ast.Call(
        ast.op("relax." + name),
        args,
        (info,),
        {},
        _spans([callee, arguments, *extra]),
        (where,),
        a.span,
    )


def _as_shape(actions: Expressions, entry: Entry) -> Entry:
    if isinstance(entry[0], Sequence):
        made = ast.ShapeExpr(dims(actions, entry[0].items), (entry[1], entry[2]))
        return made, entry[1], entry[2]
    return entry


def _prototype_info(actions: Expressions, entry: Entry) -> ast.StructInfo:
    value, start, end = entry
    if isinstance(value, (Sequence, ast.ShapeExpr, ast.Var)):
        found = tensor_shape(actions, entry)
        ndim = len(found.values) if isinstance(found, ast.ShapeExpr) else -1
        return ast.TensorStructInfo(found, VOID, ndim, None, (start, end))
    return ast.TensorStructInfo(None, VOID, -1, None, (start, end))


# ---------------------------------------------------------------- statements of Relax


class Cast:
    """`R.match_cast(value, info)`, before its statement makes a binding of it.

    Where ``shape_only``, the text says nothing of the data type, and the annotation of the variable does.
    """

    __slots__ = ("info", "info_span", "shape_only", "value", "value_span")

    def __init__(
        self,
        value: ast.Expr,
        info: ast.StructInfo,
        value_span: Span,
        info_span: Span,
        shape_only: bool = False,
    ) -> None:
        self.value = value
        self.info = info
        self.value_span = value_span
        self.info_span = info_span
        self.shape_only = shape_only

    def under(self, annotation: ast.StructInfo | None) -> ast.StructInfo:
        """What the value is cast to, given the annotation of the variable."""
        match self.info, annotation:
            case (
                ast.TensorStructInfo(dtype=own) as info,
                ast.TensorStructInfo(dtype=data_type),
            ) if self.shape_only and own.is_void:
                return replace(info, dtype=data_type)
        return self.info


@form("R.match_cast")
def match_cast(actions: Expressions, a: Arguments) -> Cast:
    """`R.match_cast(x, R.Tensor((n,), "float32"))`"""
    value, info = a.need(0, "value"), a.need(1, "struct_info", "ty")
    a.done()
    return Cast(
        actions.coerce.expr(value),
        actions.coerce.info(info),
        (value[1], value[2]),
        (info[1], info[2]),
    )


@form("R.match_shape")
def match_shape(actions: Expressions, a: Arguments) -> Cast:
    """`R.match_shape(x, (n, m))` of 2022: casts a tensor, or a shape where the value is one.

    `n, m = R.match_shape(s)` gives the pattern on the left: its statement fills it in.
    """
    value, pattern = a.need(0, "value"), a.take(1, "pattern")
    a.done()
    found = actions.coerce.expr(value)
    if pattern is None:
        return Cast(found, ast.ShapeStructInfo(), (value[1], value[2]), a.span)
    if not isinstance(pattern[0], Sequence):
        raise Rejected("R.match_shape takes a list of dimensions", pattern[1], pattern[2])
    where = (pattern[1], pattern[2])
    values = dims(actions, pattern[0].items)
    info: ast.StructInfo
    if is_shape(found):
        info = ast.ShapeStructInfo(values, len(values), where)
    else:
        shape_expr = ast.ShapeExpr(values, where)
        info = ast.TensorStructInfo(shape_expr, _element_type(found), len(values), None, where)
    return Cast(found, info, (value[1], value[2]), where, shape_only=True)


def _element_type(value: ast.Expr) -> DataType:
    """The data type that the annotation of a variable gives; matching a shape keeps it."""
    match value:
        case ast.Var(struct_info_annotation=ast.TensorStructInfo(dtype=data_type)):
            return data_type
    return VOID


def is_shape(value: ast.Expr) -> bool:
    """Whether an expression is a shape value by its own look."""
    match value:
        case ast.ShapeExpr():
            return True
        case ast.Call(op=ast.Op(op_name="relax.shape_of")):
            return True
        case ast.Var(struct_info_annotation=ast.ShapeStructInfo()):
            return True
    return False


@form(
    *("R.func_attr", "R.output", "R.outputs", "R.dataflow", "R.function", "R.func", "R.macro"),
    *("R.device_mesh", "R.dist.device_mesh", "R.dist.Placement"),
)
def statement_form(_: Expressions, a: Arguments) -> Form:
    """What only a statement, a decorator or a module attribute can be."""
    return Form(a.head, a.positional, a.keywords)


# ---------------------------------------------------------------- scalars of TIR

_SCALARS = [
    *(f"int{bits}" for bits in (1, 4, 8, 16, 32, 64)),
    *(f"uint{bits}" for bits in (1, 4, 8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
    "bfloat16",
    "bool",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
]


@form(*(f"T.{name}" for name in _SCALARS))
def scalar(actions: Expressions, a: Arguments) -> Any:
    """`T.int64(4)`, `T.float32("inf")`; without argument the declaration of a variable."""
    if not a.positional:
        return Form(a.head, [], a.keywords)
    value, start, end = a.positional[0]
    data_type = dtype(a.head[2:])
    if isinstance(value, str) and not data_type.is_float:
        raise Rejected(f"expected a number, found {value!r}", start, end)
    if isinstance(value, (int, float, str)) and (data_type.is_float or isinstance(value, str)):
        try:
            return tir.FloatImm(float(value), data_type, a.span)
        except (ValueError, OverflowError):
            raise Rejected(f"expected a number, found {value!r}", start, end) from None
    if isinstance(value, int):
        return tir.IntImm(actions.coerce.integer(a.positional[0]), data_type, a.span)
    return tir.Cast(data_type, actions.coerce.prim(a.positional[0]), a.span)


@form("T.Cast", "T.cast")
def cast(actions: Expressions, a: Arguments) -> tir.PrimExpr:
    """`T.Cast("float32", x)`, `T.cast(x, "float32")`."""
    first, second = a.need(0, "dtype"), a.need(1, "value")
    if not isinstance(first[0], str):
        first, second = second, first
    literal = INT32 if actions.scope.in_prim_func() else INT64
    return tir.Cast(actions.coerce.data_type(first), actions.coerce.prim(second, literal), a.span)


_BINARY: dict[str, type[tir.Binary]] = {
    "T.min": tir.Min,
    "T.max": tir.Max,
    "T.floordiv": tir.FloorDiv,
    "T.FloorDiv": tir.FloorDiv,
    "T.floormod": tir.FloorMod,
    "T.FloorMod": tir.FloorMod,
    "T.truncdiv": tir.TruncDiv,
    "T.Div": tir.TruncDiv,
    "T.truncmod": tir.TruncMod,
    "T.Mod": tir.TruncMod,
    "T.Add": tir.Add,
    "T.Sub": tir.Sub,
    "T.Mul": tir.Mul,
    "T.Min": tir.Min,
    "T.Max": tir.Max,
    "T.EQ": tir.EQ,
    "T.NE": tir.NE,
    "T.LT": tir.LT,
    "T.LE": tir.LE,
    "T.GT": tir.GT,
    "T.GE": tir.GE,
    "T.And": tir.And,
    "T.Or": tir.Or,
}


@form(*_BINARY)
def binary(actions: Expressions, a: Arguments) -> Any:
    """`T.min(a, b)` and the operators written as calls."""
    if len(a.positional) != 2 or a.keywords:
        return Form(a.head, a.positional, a.keywords)
    left, right = operands(actions, a)
    made = _BINARY[a.head]
    if made is tir.TruncDiv and a.head == "T.Div" and tir.type_of(left).is_float:
        made = tir.Div
    return made(left, right, a.span)


def operands(actions: Expressions, a: Arguments) -> tuple[tir.PrimExpr, tir.PrimExpr]:
    """Both operands; a literal takes the other one's data type."""
    literal = INT32 if actions.scope.in_prim_func() else INT64
    first, second = a.positional[:2]
    if isinstance(first[0], (int, float)):
        right = actions.coerce.prim(second, literal)
        return actions.coerce.prim(first, tir.type_of(right)), right
    left = actions.coerce.prim(first, literal)
    return left, actions.coerce.prim(second, tir.type_of(left))


@form("T.ceildiv")
def ceildiv(actions: Expressions, a: Arguments) -> tir.PrimExpr:
    """`T.ceildiv(a, b)` is `(a + b - 1) // b`."""
    a.need(1, "b")
    left, right = operands(actions, a)
    one = tir.IntImm(1, tir.type_of(right), a.span)
    total = tir.Sub(tir.Add(left, right, a.span), one, a.span)
    return tir.FloorDiv(total, right, a.span)


@form("T.Not")
def negation(actions: Expressions, a: Arguments) -> tir.PrimExpr:
    """`T.Not(x)`"""
    return tir.Not(actions.coerce.prim(a.need(0, "a")), a.span)


@form("T.Select")
def select(actions: Expressions, a: Arguments) -> tir.PrimExpr:
    """`T.Select(condition, a, b)`"""
    condition = actions.coerce.prim(a.need(0, "condition"))
    a.need(2, "false_value")
    branches = Arguments(a.head, a.positional[1:], {}, a.start, a.end)
    left, right = operands(actions, branches)
    return tir.Select(condition, left, right, a.span)


@form("T.if_then_else")
def if_then_else(actions: Expressions, a: Arguments) -> tir.PrimExpr:
    """`T.if_then_else(condition, a, b)`: only one branch is evaluated."""
    condition = actions.coerce.prim(a.need(0, "condition"))
    a.need(2, "f")
    branches = Arguments(a.head, a.positional[1:3], {}, a.start, a.end)
    left, right = operands(actions, branches)
    return tir.Call("if_then_else", (condition, left, right), tir.type_of(left), {}, a.span)
