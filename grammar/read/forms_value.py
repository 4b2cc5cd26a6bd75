"""The forms of values: constants, shapes, strings, casts, and forms that are only statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.grammar.dialects import TYPE_KEYWORDS
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT32, INT64, VOID, DataType
from rlx.grammar.nodes.node import Span, replace
from rlx.grammar.nodes.vdevices import SHORT
from rlx.grammar.read.coerce import is_shape
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.forms import Arguments, form
from rlx.grammar.read.forms_info import dims
from rlx.grammar.read.partial_nodes import CapturedName, Form, Sequence, describe

if TYPE_CHECKING:
    from rlx.grammar.read.reports import ReadContext


@form("R.const")
def const(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.const(1.5, "float32")`; without a data type, it has that of the Python literal in TVM."""
    value = a.need(0, "value")
    data_type = a.take(1, "dtype")
    a.done(2)
    captured = [entry for entry in (value, data_type) if entry and _is_captured(entry.value)]
    known = data_type is not None and data_type not in captured
    given = context.coerce.data_type(data_type) if data_type is not None and known else None
    if captured:  # as a constant whose data stand outside of the text
        key = context.text_of(captured[0].span)
        return ast.Constant(ast.Literal(None, given or VOID, None, key), a.span)
    return constant(context, value, given, a.span)


@form("R.dist.const")
def distributed_const(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.dist.const(2, R.DTensor((), "float32", "mesh[0]", "R"))`"""
    value, info = a.need(0, "value"), a.need(1, "struct_info", "ty")
    a.done(2)
    found = context.coerce.info(info)
    if not isinstance(found, ast.TensorStructInfo):
        raise Rejected(f"expected R.DTensor(…), found {describe(info.value)}", *info.span)
    return replace(constant(context, value, found.dtype, a.span), distribution=found.distribution)


def _is_captured(value: object) -> bool:
    """Whether data are, or hold, what only the Python around knows."""
    if isinstance(value, Sequence):
        return any(_is_captured(item.value) for item in value.items)
    return isinstance(value, CapturedName)


def constant(
    context: ReadContext, value: Entry, data_type: DataType | None, span: Span
) -> ast.Constant:
    """A constant with this data; without a data type, it has TVM's type for a Python number."""
    data, kind = _data(context, value)
    return ast.Constant(ast.Literal(data, data_type or kind, _shape_of(data, value)), span)


def _data(context: ReadContext, entry: Entry) -> tuple[object, DataType]:
    entry = context.coerce.computed(entry)
    value, start, end = entry
    match value:
        case bool():
            return value, BOOL
        case int():
            return context.coerce.integer(entry), INT32
        case float():
            return value, FLOAT32
        case "inf" | "-inf" | "nan":  # TVM's spelling of what Python has no literal for
            return float(value), FLOAT32
        case Sequence(items=items):
            parts = [_data(context, item) for item in items]
            kinds = [kind for _, kind in parts]
            return tuple(p for p, _ in parts), FLOAT32 if FLOAT32 in kinds else (
                kinds or [FLOAT32]
            )[0]
        case tir.IntImm() | tir.FloatImm():
            return value.value, value.dtype
        case Form(head=head) if head.startswith("T."):
            return _data(context, Entry(context.coerce.prim(entry), start, end))
    raise Rejected(f"expected the data of a constant, found {describe(value)}", start, end)


def _shape_of(data: object, entry: Entry) -> tuple[int, ...]:
    if not isinstance(data, tuple):
        return ()
    inner = {_shape_of(item, entry) for item in data}
    if len(inner) > 1:
        raise Rejected("the rows of this constant have different lengths", entry[1], entry[2])
    return (len(data), *(inner.pop() if inner else ()))


@form("R.shape", "R.ShapeExpr")
def shape(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.shape([n, 4])`"""
    values = a.need(0, "value", "values")
    a.done(1)
    if not isinstance(values.value, Sequence):
        raise Rejected("R.shape takes a list of dimensions", values[1], values[2])
    return ast.ShapeExpr(dims(context, values.value.items), a.span)


@form("R.tuple")
def make_tuple(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.tuple(a, b)`"""
    a.done(len(a.positional))
    for given in a.positional:
        if isinstance(given.value, Sequence):
            words = "a field of R.tuple is a value, not a list or tuple of Python"
            help = "write R.tuple(…) or R.shape([…]) for it"
            raise Rejected(words, *given.span, help, certain=True)
    return context.coerce.expr(Entry(Sequence(a.positional), *a.span))


@form("R.prim_value")
def prim_value(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.prim_value(n + 1)`"""
    value = a.need(0, "value")
    a.done(1)
    return ast.PrimValue(context.coerce.scalar(value), a.span)


@form("R.str")
def string(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.str("text")`"""
    value = a.need(0, "value")
    a.done(1)
    return ast.StringImm(context.coerce.text(value), a.span)


@form("R.dtype")
def data_type_value(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.dtype("float32")`"""
    value = a.need(0, "value")
    a.done(1)
    return ast.DataTypeImm(context.coerce.data_type(value), a.span)


@form("R.ExternFunc", "R.extern")
def extern(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.ExternFunc("name")`, since 0.24 with a type."""
    name, info = a.need(0, "global_symbol"), a.take(1, "struct_info", "ty")
    a.done(2)
    given = None if info is None else context.coerce.info(info)
    return ast.ExternFunc(context.coerce.text(name), given, a.span)


class Cast:
    """`R.match_cast(value, info)`, before its statement makes a binding of it.

    If ``shape_only`` is set, the text does not give the data type, but the annotation of the
    variable does.
    """

    __slots__ = ("info", "info_span", "shape_only", "value", "value_span")
    words = "a cast, which must be a statement of its own: `y = R.match_cast(…)`"

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
        """The target of the cast, given the annotation of the variable."""
        match self.info, annotation:
            case (
                ast.TensorStructInfo(dtype=own) as info,
                ast.TensorStructInfo(dtype=data_type),
            ) if self.shape_only and own.is_void:
                return replace(info, dtype=data_type)
            case ast.TensorStructInfo(shape=ast.ShapeExpr(values=values), span=span), (
                ast.ShapeStructInfo()
            ) if self.shape_only:
                return ast.ShapeStructInfo(values, len(values), span)
        return self.info


@form("R.match_cast")
def match_cast(context: ReadContext, a: Arguments) -> Cast:
    """`R.match_cast(x, R.Tensor((n,), "float32"))`"""
    value, info = a.need(0, "value"), a.need(1, "struct_info", "ty")
    a.done(2)
    return Cast(context.coerce.expr(value), context.coerce.info(info), value.span, info.span)


@form("R.cast")
def cast(context: ReadContext, a: Arguments) -> Cast:
    """`R.cast(x, type_args=R.Tensor(ndim=2))` of 2022, which compares only types."""
    value, info = a.need(0, "v", "value"), a.take(1, *TYPE_KEYWORDS)
    a.done(2)
    if info is None or isinstance(info.value, str | ast.DataTypeImm | ast.StringImm):
        help = 'for another element type: `R.astype(x, "float32")`'
        words = "R.cast takes a value and a type: `R.cast(x, R.Tensor)`"
        raise Rejected(words, *a.span, help)
    items = info.value.items if isinstance(info.value, Sequence) else []
    entry = items[0] if len(items) == 1 else info
    return Cast(context.coerce.expr(value), context.coerce.info(entry), value.span, entry.span)


@form("R.match_shape")
def match_shape(context: ReadContext, a: Arguments) -> Cast:
    """`R.match_shape(x, (n, m))` of 2022: a cast of a tensor, or of a shape if the value is one,
    which derivation decides.

    `n, m = R.match_shape(s)` has its pattern on the left; the statement fills it in.
    """
    value, pattern = a.need(0, "value"), a.take(1, "pattern")
    a.done(2)
    found = context.coerce.expr(value)
    if pattern is None:
        return Cast(found, ast.ShapeStructInfo(), value.span, a.span)
    if not isinstance(pattern.value, Sequence):
        raise Rejected("R.match_shape takes a list of dimensions", pattern[1], pattern[2])
    where = pattern.span
    values = dims(context, pattern.value.items)
    info: ast.StructInfo
    if is_shape(found) or found in context.scope.shape_holders:
        info = ast.ShapeStructInfo(values, len(values), where)
    else:
        shape_expr = ast.ShapeExpr(values, where)
        info = ast.TensorStructInfo(shape_expr, _element_type(found), len(values), None, where)
    return Cast(found, info, value.span, where, shape_only=True)


def _element_type(value: ast.Expr) -> DataType:
    """The data type that the annotation of a variable gives; matching a shape keeps it."""
    info = value.struct_info_annotation if isinstance(value, ast.Var) else None
    return info.dtype if isinstance(info, ast.TensorStructInfo) else VOID


@form(*(f"R.{name}" for name in SHORT))
def short_device(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.cpu(0)`: a device by the name of its kind."""
    index = a.take(0, "dev_id", "index")
    a.done(1)
    number = tir.IntImm(SHORT[a.head[2:]], INT64, a.span)
    at = tir.IntImm(0, INT64, a.span) if index is None else context.coerce.prim(index)
    args = (ast.PrimValue(number, a.span), ast.PrimValue(at, a.span))
    return ast.Call(ast.op("relax.device"), args, arg_spans=(a.span, a.span), span=a.span)


@form(
    *("R.func_attr", "R.output", "R.outputs", "R.dataflow", "R.function", "R.func", "R.macro"),
    *("R.device_mesh", "R.dist.device_mesh", "R.dist.Placement"),
)
def statement_form(_: ReadContext, a: Arguments) -> Form:
    """A form that is only allowed as a statement, a decorator or a module attribute."""
    return Form(a.head, a.positional, a.keywords)
