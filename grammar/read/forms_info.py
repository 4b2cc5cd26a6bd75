"""The forms of annotations, in every dialect."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING

from rlx.grammar.dialects import OBJECT_WORDS
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64, VOID, DataType
from rlx.grammar.nodes.node import changed, replace
from rlx.grammar.nodes.struct_infos import bind_outermost, with_children
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.forms import Arguments, form
from rlx.grammar.read.partial_nodes import CapturedName, Name, Sequence, describe, unfolded

if TYPE_CHECKING:
    from rlx.grammar.read.reports import ReadContext


def dims(context: ReadContext, items: list[Entry]) -> tuple[tir.PrimExpr, ...]:
    """A list of dimensions; each `_` is a new unknown dimension."""
    coerce, scope = context.coerce, context.scope
    return tuple(
        context.all_of(
            *(
                partial(scope.unknown_dim, item.span)
                if _is_unknown(item.value)
                else partial(coerce.prim, item)
                for item in items
            )
        )
    )


def annotated_dims(context: ReadContext, items: list[Entry]) -> tuple[tir.PrimExpr, ...]:
    """The dimensions of an annotation, which are not negative."""
    found = list(dims(context, items))
    for at, (item, dim) in enumerate(zip(items, found, strict=True)):
        if isinstance(dim, tir.IntImm) and dim.value < 0:
            words = f"a dimension cannot be negative, found {dim.value}"
            help = 'write a variable, such as "n", or only the rank: ndim=' + str(len(items))
            context.reports.error(words, item.span, help)
            found[at] = context.scope.unknown_dim(item.span)
            context.coerce.captured.add(found[at])  # of which nothing more is said
    return tuple(found)


def _is_unknown(value: object) -> bool:
    if isinstance(value, Name):
        return value.text == "_"
    return value == "_" or (isinstance(value, ast.Var) and value.name_hint == "_")


def without_unknown(info: ast.StructInfo, unknown: AbstractSet[tir.PrimExpr]) -> ast.StructInfo:
    """An annotation at a position that binds nothing: only the rank is kept of shapes with unknown
    dimensions.
    """
    if not unknown:
        return info
    match info:
        case ast.TensorStructInfo(shape=ast.ShapeExpr(values=values)):
            if not unknown.isdisjoint(values):
                return replace(info, shape=None, ndim=len(values))
        case ast.ShapeStructInfo(values=tuple() as values):
            if not unknown.isdisjoint(values):
                return replace(info, values=None, ndim=len(values))
        case ast.TupleStructInfo():
            return with_children(info, lambda part: without_unknown(part, unknown))
        case ast.FuncStructInfo(ret=ret):
            return changed(info, ret=without_unknown(ret, unknown))
    return info


@form("R.Tensor", "R.DTensor")
def tensor(context: ReadContext, a: Arguments) -> ast.StructInfo:
    """`R.Tensor(shape, dtype, vdevice, ndim)`, all parts are optional; `R.Tensor("float32")`."""
    distribution = _distribution(context, a) if a.head == "R.DTensor" else None
    shape_entry, dtype_entry = a.take(0, "shape"), a.take(1, "dtype")
    device, rank = a.take(2, "vdevice"), a.take(3, "ndim")
    if shape_entry is not None and isinstance(shape_entry.value, str) and dtype_entry is None:
        shape_entry, dtype_entry = None, shape_entry

    def shape_of(entry: Entry | None) -> ast.Expr | None:
        return None if entry is None else tensor_shape(context, entry)

    def rest() -> tuple[DataType, int, ast.VDevice | None]:
        a.at_most(4)
        data_type = VOID if dtype_entry is None else context.coerce.data_type(dtype_entry)
        return data_type, -1 if rank is None else _rank(rank), _vdevice(context, device)

    # Where the shape is none, the arguments behind it may be shifted.
    is_listed = shape_entry is not None and isinstance(shape_entry.value, Sequence)
    shape = None if is_listed else shape_of(shape_entry)
    shape, (data_type, ndim, on), *_ = context.all_of(
        lambda: shape_of(shape_entry) if is_listed else shape,
        rest,
        *(partial(a.refuse, name) for name in a.keywords),
    )
    if rank is None and isinstance(shape, ast.ShapeExpr):
        ndim = len(shape.values)
    elif rank is None and isinstance(shape, ast.Var):
        annotation = shape.struct_info_annotation
        ndim = annotation.ndim if isinstance(annotation, ast.ShapeStructInfo) else -1
    made = ast.TensorStructInfo(shape, data_type, ndim, on, a.span, distribution)
    if _captured(shape_entry, dtype_entry, rank):
        context.coerce.captured.add(made)
    return made


def _distribution(context: ReadContext, a: Arguments) -> tuple[object, object]:
    """Take the mesh and the placement of `R.DTensor`; the other arguments are those of a tensor."""
    mesh, placement = a.take(2, "device_mesh"), a.take(3, "placement")
    a.positional = a.positional[:2]
    for name in ("device_mesh", "placement"):
        a.keywords.pop(name, None)
    return _attribute(context, mesh), _attribute(context, placement)


def _attribute(context: ReadContext, entry: Entry | None) -> object:
    return None if entry is None else context.coerce.attr(entry)


def _captured(*entries: Entry | None) -> bool:
    """Whether the surrounding Python code gives a part of an annotation."""
    return any(entry is not None and isinstance(entry.value, CapturedName) for entry in entries)


def tensor_shape(context: ReadContext, entry: Entry) -> ast.Expr | None:
    """The shape of a tensor annotation: dimensions, a variable, or `_`."""
    value, start, end = entry
    match value:
        case None | Name(text="_") | ast.Var(name_hint="_") | CapturedName():
            return None
        case Sequence(items=items):
            return ast.ShapeExpr(annotated_dims(context, items), (start, end))
        case ast.ShapeExpr() | ast.Var():
            return value
        case Name():
            return context.coerce.expr(entry)
    raise Rejected(
        f"expected the shape of a tensor, such as (n, 4), found {describe(value)}", start, end
    )


def _rank(entry: Entry) -> int:
    value, start, end = entry
    if isinstance(value, int) and -1 <= value <= 2**31:
        return value
    if isinstance(value, CapturedName):
        return -1
    raise Rejected(f"expected a rank, found {describe(value)}", start, end)


def _vdevice(context: ReadContext, entry: Entry | None) -> ast.VDevice | None:
    if entry is None or entry.value is None:
        return None
    text = context.coerce.text(entry)
    target, _, rest = text.partition(":")
    index, _, scope = rest.partition(":")
    if index and not index.isdigit():
        raise Rejected(f"expected a device such as 'cuda:0', found {text!r}", entry[1], entry[2])
    return ast.VDevice(target, int(index or 0), scope or "global", entry.span)


@form("R.Shape")
def shape_info(context: ReadContext, a: Arguments) -> ast.StructInfo:
    """`R.Shape([n, 4])`, `R.Shape(ndim=2)`."""
    values, rank = a.take(0, "values"), a.take(1, "ndim")
    a.done(2)
    if values is None or values.value is None or _captured(values):
        made = ast.ShapeStructInfo(None, -1 if rank is None else _rank(rank), a.span)
        if _captured(values, rank):
            context.coerce.captured.add(made)
        return made
    if not isinstance(values.value, Sequence):
        raise Rejected("R.Shape takes a list of dimensions", values[1], values[2])
    found = annotated_dims(context, values.value.items)
    return ast.ShapeStructInfo(found, len(found) if rank is None else _rank(rank), a.span)


@form("R.Prim")
def prim_info(context: ReadContext, a: Arguments) -> ast.StructInfo:
    """`R.Prim("int64")`, `R.Prim(value=n + 1)`."""
    data_type, value = a.take(0, "dtype"), a.take(1, "value")
    a.done(2)
    if value is not None:
        given = None if data_type is None else context.coerce.data_type(data_type)
        found = context.coerce.prim(value, given or INT64)
        return ast.PrimStructInfo(given or tir.type_of(found), found, a.span)
    if data_type is None:
        raise Rejected("R.Prim needs a data type or a value", a.start, a.end)
    return ast.PrimStructInfo(context.coerce.data_type(data_type), None, a.span)


@form(*OBJECT_WORDS, "I.StringType")
def object_info(context: ReadContext, a: Arguments) -> ast.StructInfo:
    """`R.Object()`"""
    a.done(0)
    return ast.ObjectStructInfo(a.span)


@form("R.Tuple")
def tuple_info(context: ReadContext, a: Arguments) -> ast.StructInfo:
    """`R.Tuple(R.Tensor(…), …)`, also with one list."""
    a.done(len(a.positional))
    infos = tuple(context.coerce.info(item) for item in unfolded(a.positional))
    return ast.TupleStructInfo(infos, a.span)


@form("R.Callable")
def callable_info(context: ReadContext, a: Arguments) -> ast.StructInfo:
    """`R.Callable((params…), ret, purity)`; without parameters an opaque function."""
    params, ret = a.take(0, "params"), a.take(1, "ret")
    purity, derive = a.take(2, "purity"), a.take(3, "derive_func")
    a.done(4)
    pure = purity[0] if purity is not None else True
    if not isinstance(pure, bool):
        raise Rejected("purity must be True or False", a.start, a.end)
    if params is None or params[0] is None:
        result = ast.ObjectStructInfo() if ret is None else context.coerce.info(ret)
        kind = "empty" if ret is None else None
        if derive is not None and derive[0] != "empty":
            kind = "default"
        return ast.FuncStructInfo(
            None, result, pure if purity is not None else False, kind, (), a.span
        )
    items = params[0].items if isinstance(params[0], Sequence) else [params]
    found = tuple(context.coerce.info(item) for item in items)
    result = ast.ObjectStructInfo() if ret is None else context.coerce.info(ret)
    kind = None if derive is None else "default"  # WF17 refuses both
    info = ast.FuncStructInfo(found, result, pure, kind, (), a.span)
    bind_outermost(info, context.scope.bound)
    return info
