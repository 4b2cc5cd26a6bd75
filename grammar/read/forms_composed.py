"""The functions of the script that TVM's parser expands to several operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Entry
from rlx.grammar.read.forms import Arguments, form

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
    return ast.Call(ast.op("relax." + name), args, (), attrs, arg_spans, (), span)
