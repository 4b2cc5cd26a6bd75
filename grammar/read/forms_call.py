"""The forms of calls other than plain operator calls: packed functions, call_tir."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.grammar.dialects import DEFAULT, TYPE_KEYWORDS, dialect
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import VOID
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.forms import Arguments, form
from rlx.grammar.read.forms_info import dims, tensor_shape
from rlx.grammar.read.partial_nodes import Name, Sequence, unfolded
from rlx.grammar.suggest import closest, did_you_mean

if TYPE_CHECKING:
    from rlx.grammar.read.reports import ReadContext


@form("R.linear")
def linear(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.linear(x, w, bias)` is `R.matmul(x, R.permute_dims(w)) + bias`."""
    data, weight = a.need(0, "data"), a.need(1, "weight")
    bias, data_type = _given(a.take(2, "bias")), _given(a.take(3, "out_dtype"))
    a.done(4)
    coerce, at = context.coerce, a.span
    where = (data.span, weight.span)
    turned = ast.Call(
        ast.op("relax.permute_dims"), (coerce.expr(weight),), arg_spans=where[1:], span=at
    )
    attrs = {} if data_type is None else {"out_dtype": coerce.attr(data_type)}
    product = _call("matmul", (coerce.expr(data), turned), attrs, where, at)
    if bias is None:
        return product
    return _call("add", (product, coerce.expr(bias)), {}, (at, bias.span), at)


@form("R.nn.relu6")
def relu6(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.nn.relu6(x)` is `R.clip(x, 0, 6)`."""
    data = a.need(0, "data", "x")
    a.done(1)
    limits = tuple(ast.PrimValue(tir.IntImm(k), a.span) for k in (0, 6))
    spans = (data.span, a.span, a.span)
    return _call("clip", (context.coerce.expr(data), *limits), {}, spans, a.span)


def _given(entry: Entry | None) -> Entry | None:
    """An argument; `None` is the same as none at all."""
    return None if entry is None or entry.value is None else entry


def _call(
    name: str,
    args: tuple[ast.Expr, ...],
    attrs: dict[str, object],
    arg_spans: tuple[Span, ...],
    span: Span,
) -> ast.Call:
    return ast.Call(ast.op("relax." + name), args, attrs, (), arg_spans, (), span)


def function_value(context: ReadContext, entry: Entry) -> ast.Expr:
    """A function argument of an operator: a name, or a string for a packed function."""
    value, start, end = entry
    if isinstance(value, str):
        return ast.ExternFunc(value, None, (start, end))
    return context.coerce.expr(entry)


def _spans(entries: list[Entry]) -> tuple[Span, ...]:
    return tuple(entry.span for entry in entries)


def _misspelt_type_arguments(a: Arguments) -> None:
    """Refuse an attribute that is meant to be the struct info of the result, which is missing."""
    for name, given in a.keywords.items():
        meant = [word for word in closest(name, TYPE_KEYWORDS) if word != name]
        if meant:
            words = f"{a.head} has no argument {name!r}"
            raise Rejected(words, *given.span, did_you_mean(meant))


def _refuse_none(a: Arguments) -> None:
    for given in a.positional:
        if given.value is None:
            raise Rejected(f"{a.head} takes values, found None", *given.span, certain=True)


@form("R.call_packed")
def call_packed(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.call_packed("name", x, sinfo_args=R.Tensor(…))`: a call of the packed function itself."""
    _refuse_none(a)
    callee = function_value(context, a.need(0, "func"))
    infos, info_spans = a.type_arguments(context.coerce)
    if not infos:
        _misspelt_type_arguments(a)
    attrs = {name: context.coerce.attr(value) for name, value in a.keywords.items()}
    rest = a.positional[1:]
    args = tuple(context.coerce.expr(entry) for entry in rest)
    where = a.attribute_spans()
    return ast.Call(callee, args, attrs, infos, _spans(rest), info_spans, a.span, where)


@form("R.call_pure_packed", "R.call_inplace_packed")
def call_pure_packed(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.call_pure_packed("name", x, sinfo_args=…)`: the packed function is the first argument."""
    _refuse_none(a)
    first, rest = a.need(0, "func"), a.positional[1:]
    infos, info_spans = a.type_arguments(context.coerce)
    if not infos:
        _misspelt_type_arguments(a)
    attrs = {name: context.coerce.attr(value) for name, value in a.keywords.items()}
    args = (function_value(context, first), *(context.coerce.expr(entry) for entry in rest))
    op = ast.op("relax." + a.head[2:])
    where = a.attribute_spans()
    spans = _spans(a.positional)
    return ast.Call(
        op, args, attrs, infos, spans, info_spans, a.span, where, a.head_span, a.spelled()
    )


@form("R.call_py_func")
def call_py_func(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.call_py_func("name", x, y, out_sinfo=…)`,
    or the arguments in one tuple, as TVM prints them.
    """
    first, rest = a.need(0, "py_func_name"), a.positional[1:]
    infos, info_spans = a.type_arguments(context.coerce)
    attrs = {name: context.coerce.attr(value) for name, value in a.keywords.items()}
    spans = _spans(a.positional)
    plain = rest and isinstance(rest[0].value, str | int | float)
    if len(rest) == 1 and not plain:
        arguments = _argument_tuple(context, rest[0])
    else:
        start, end = (rest[0].start, rest[-1].end) if rest else a.span
        arguments = context.coerce.expr(Entry(Sequence(rest), start, end))
        spans = (*spans[:1], (start, end))
    args = (context.coerce.expr(first), arguments)
    op = ast.op("relax.call_py_func")
    where = a.attribute_spans()
    return ast.Call(
        op, args, attrs, infos, spans, info_spans, a.span, where, a.head_span, a.spelled()
    )


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
def call_with_tuple(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.call_tir(f, (x, y), out_sinfo=…, tir_vars=…)` and related calls, whose arguments are one
    tuple.
    """
    if a.head in ("R.call_tir", "R.call_dps_packed") and _is_prototype(a):
        return prototype_call_tir(context, a)
    apart = a.head in ("R.call_tir", "R.call_dps_packed") and _result_in_parts(context, a)
    callee, arguments = a.need(0, "gvar", "func", "closure"), a.need(1, "args")
    _name_positional(a)
    positional = [callee, arguments]
    none = _declares_nothing(a)
    infos, info_spans = a.type_arguments(context.coerce)
    if not infos and none is None and len(a.positional) > 2:
        infos, info_spans = _out_infos(context, a.positional[2])
        if len(a.positional) > 3:
            positional.append(a.positional[3])
    elif len(a.positional) > 2:
        positional.extend(a.positional[2:])
    tir_vars = a.keywords.pop("tir_vars", None)
    if tir_vars is not None and tir_vars.value is not None:
        positional.append(tir_vars)
    args: list[ast.Expr] = [function_value(context, callee)]
    args.append(_argument_tuple(context, arguments))
    args.extend(context.coerce.expr(entry) for entry in positional[2:])
    if a.head[2:6] == "call" and a.head != "R.call_builtin_with_ctx":
        if none is not None:
            infos, info_spans = (ast.TupleStructInfo((), none),), (none,)
        elif len(infos) > 1:
            whole = (info_spans[0][0], info_spans[-1][1])
            infos, info_spans = (ast.TupleStructInfo(infos, whole),), (whole,)
    attrs = {name: context.coerce.attr(value) for name, value in a.keywords.items()}
    packed = isinstance(callee.value, str) and (apart or _names_no_function(context, a, callee))
    op = ast.op("relax.call_dps_packed" if packed else "relax." + a.head[2:])
    where, spans, spelled = a.attribute_spans(), _spans(positional), a.spelled()
    if a.head == "R.call_tir_inplace" and _names_tuple(context, arguments, args[1]):
        spelled = {**spelled, 1: "a tuple"}
    return ast.Call(
        op, tuple(args), attrs, infos, spans, info_spans, a.span, where, a.head_span, spelled
    )


def _names_tuple(context: ReadContext, entry: Entry, found: ast.Expr) -> bool:
    """Whether a text has a variable that holds a tuple in the place of its fields."""
    given = None if isinstance(entry.value, Sequence) else context.coerce.expr(entry)
    if isinstance(found, ast.Tuple) and found.fields == (given,):
        return False
    return isinstance(given, ast.Var)


@form("R.emit_with_ty", "R.emit_with_type", "R.emit_with_sinfo")
def emit_with_type(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.emit_with_ty("relax.builtin.alloc_tensor", (shape, …), (R.Tensor(…),))`: a call of any
    operator by its full name.
    """
    name, arguments = a.need(0, "op"), a.need(1, "args")
    infos = a.take(2, *TYPE_KEYWORDS)
    a.done(3)
    items = unfolded([arguments])
    found, spans = ((), ()) if infos is None else _out_infos(context, infos)
    return ast.Call(
        ast.op(context.coerce.text(name)),
        tuple(context.coerce.expr(item) for item in items),
        {},
        found,
        _spans(items),
        spans,
        a.span,
        op_span=name.span,
    )


def _names_no_function(context: ReadContext, a: Arguments, callee: Entry) -> bool:
    """Whether the text that `R.call_tir` takes is a packed function, as in the first months of
    2023: there was no `R.call_dps_packed` then.
    """
    old = a.head == "R.call_tir" and dialect(DEFAULT).out_info not in a.named
    return old and callee.value not in context.scope.global_names


# What TVM takes by its place behind the tuple of arguments, where that is more than the result.
_BY_PLACE = {
    "R.call_tir_inplace": ("inplace_indices", None),
    "R.call_tir_with_grad": (None, "te_grad_name", "te_grad_kwargs"),
}


def _name_positional(a: Arguments) -> None:
    """Give what stands behind the tuple of arguments its name;
    the result (``None``) stays where it is.
    """
    names = _BY_PLACE.get(a.head, ())
    behind, a.positional[2:] = a.positional[2:], []
    for at, entry in enumerate(behind):
        name = names[at] if at < len(names) else None
        if name is None or name in a.keywords:
            a.positional.append(entry)
        else:
            a.keywords[name] = entry


def _declares_nothing(a: Arguments) -> Span | None:
    """The place where a call declares that it has no results: `out_sinfo=[]`."""
    for name in TYPE_KEYWORDS:
        given = a.keywords.get(name)
        if given is not None and isinstance(given.value, Sequence) and not given.value.items:
            return given.span
    return None


def _out_infos(
    context: ReadContext, entry: Entry
) -> tuple[tuple[ast.StructInfo, ...], tuple[Span, ...]]:
    value = entry.value
    items = value.items if isinstance(value, Sequence) else [entry]
    return tuple(context.coerce.info(item) for item in items), _spans(items)


def _argument_tuple(context: ReadContext, entry: Entry) -> ast.Expr:
    """The arguments as one tuple; a single tensor stands for a tuple of one, as TVM reads it."""
    value, start, end = entry
    found = context.coerce.expr(entry)
    if isinstance(value, Sequence | str | int | float):
        return found
    annotation = found.struct_info_annotation if isinstance(found, ast.Var) else None
    if isinstance(found, ast.Tuple) or isinstance(annotation, ast.TupleStructInfo):
        return found
    known = context.scope.tuples.get(found) if isinstance(found, ast.Var) else None
    if known is not None:
        count = len(known.fields)
        fields = tuple(ast.TupleGetItem(found, at, (start, end)) for at in range(count))
        return ast.Tuple(fields, ((start, end),) * count, (start, end))
    return ast.Tuple((found,), ((start, end),), (start, end))


def _is_prototype(a: Arguments) -> bool:
    """Whether the output shape comes first, as in 2022."""
    if len(a.positional) < 3 or a.keywords:
        return False
    first, second = a.positional[0].value, a.positional[1].value
    if isinstance(first, (Sequence, ast.ShapeExpr)):
        return True
    callee = isinstance(second, (str, ast.GlobalVar, Name, ast.ExternFunc))
    return callee and isinstance(first, (ast.Var, ast.Call, ast.TupleGetItem))


def prototype_call_tir(context: ReadContext, a: Arguments) -> ast.Expr:
    """`R.call_tir((n, m), f, [x])` of 2022: the data type is that of the annotation, if there is
    one.

    A function named by a string is a packed one.
    """
    out, callee, arguments = a.positional[:3]
    shapes = [out]
    items = out.value.items if isinstance(out.value, Sequence) else []
    if items and all(isinstance(item.value, (Sequence, ast.ShapeExpr)) for item in items):
        shapes = items
    infos = tuple(_prototype_info(context, entry) for entry in shapes)
    where = out.span
    info = infos[0] if len(infos) == 1 else ast.TupleStructInfo(infos, where)
    extra = a.positional[3:]
    args = (
        function_value(context, callee),
        _argument_tuple(context, arguments),
        *(context.coerce.expr(_as_shape(context, entry)) for entry in extra),
    )
    name = "call_dps_packed" if isinstance(callee.value, str) else a.head[2:]
    if name == "call_tir":
        context.scope.undeclared.append((infos, args[0], args[1]))
    return ast.Call(
        ast.op("relax." + name),
        args,
        {},
        (info,),
        _spans([callee, arguments, *extra]),
        (where,),
        a.span,
    )


def _result_in_parts(context: ReadContext, a: Arguments) -> bool:
    """Read `R.call_tir(f, (x,), (n, 4), dtype="float32")` of TVM's first releases with Relax: shape
    and element type of the result apart, several of each for several results.

    Returns whether the call is written so; the result stands third then, as later versions have it.
    """
    if any(name in a.keywords for name in TYPE_KEYWORDS):
        return False
    dtype = a.keywords.get("dtype") or (a.positional[3] if len(a.positional) > 3 else None)
    if dtype is None:
        return False
    written = dtype.value.items if isinstance(dtype.value, Sequence) else [dtype]
    if not written or not all(isinstance(entry.value, str) for entry in written):
        return False
    a.keywords.pop("dtype", None)
    shape = a.need(2, "shape")
    items = shape.value.items if isinstance(shape.value, Sequence) else []
    several = bool(items) and all(isinstance(i.value, (Sequence, ast.ShapeExpr)) for i in items)
    results = items if several else [shape]
    if len(written) not in (1, len(results)):
        words = (
            f"{len(results)} results need {len(results)} element types, but {len(written)} are"
            " given"
        )
        raise Rejected(words, *dtype.span)
    made = []
    for at, entry in enumerate(results):
        value = _shape_asked_for(entry.value) or entry.value
        found = tensor_shape(context, Entry(value, *entry.span))
        ndim = len(found.values) if isinstance(found, ast.ShapeExpr) else -1
        data_type = context.coerce.data_type(written[min(at, len(written) - 1)])
        info = ast.TensorStructInfo(found, data_type, ndim, None, entry.span)
        made.append(Entry(info, *entry.span))
    a.positional[2:4] = [Entry(Sequence(made), *shape.span) if several else made[0]]
    return True


def _as_shape(context: ReadContext, entry: Entry) -> Entry:
    if isinstance(entry.value, Sequence):
        made = ast.ShapeExpr(dims(context, entry.value.items), entry.span)
        return Entry(made, *entry.span)
    return entry


def _shape_asked_for(value: object) -> ast.Expr | None:
    """The shape that `x.shape` or `R.shape_of(x)` gives, if the annotation of x says it."""
    if not isinstance(value, ast.Call) or value.op_name != "relax.shape_of":
        return None
    of = value.args[0] if len(value.args) == 1 else None
    info = of.struct_info_annotation if isinstance(of, ast.Var) else None
    return info.shape if isinstance(info, ast.TensorStructInfo) else None


def _prototype_info(context: ReadContext, entry: Entry) -> ast.TensorStructInfo:
    value, start, end = entry
    value = _shape_asked_for(value) or value
    entry = Entry(value, start, end)
    if isinstance(value, (Sequence, ast.ShapeExpr, ast.Var)):
        found = tensor_shape(context, entry)
        ndim = len(found.values) if isinstance(found, ast.ShapeExpr) else -1
        return ast.TensorStructInfo(found, VOID, ndim, None, (start, end))
    return ast.TensorStructInfo(None, VOID, -1, None, (start, end))
