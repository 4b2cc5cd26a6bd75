"""The functions of the script that stand for several operators: what TVM makes of them as it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.grammar import ast, tir
from rlx.grammar.forms import Arguments, form
from rlx.grammar.node import Span

if TYPE_CHECKING:
    from rlx.grammar.actions import Expressions


@form("R.linear")
def linear(actions: Expressions, a: Arguments) -> ast.Expr:
    """`R.linear(x, w, bias)` is `R.matmul(x, R.permute_dims(w)) + bias`."""
    data, weight = a.need(0, "data"), a.need(1, "weight")
    bias, data_type = a.take(2, "bias"), a.take(3, "out_dtype")
    a.done(4)
    coerce, at = actions.coerce, a.span
    where = ((data[1], data[2]), (weight[1], weight[2]))
    turned = ast.Call(
        ast.op("relax.permute_dims"), (coerce.expr(weight),), arg_spans=where[1:], span=at
    )
    attrs = {} if data_type is None else {"out_dtype": coerce.attr(data_type)}
    product = _call("matmul", (coerce.expr(data), turned), attrs, where, at)
    if bias is None or bias[0] is None:
        return product
    return _call("add", (product, coerce.expr(bias)), {}, (at, (bias[1], bias[2])), at)


@form("R.nn.relu6")
def relu6(actions: Expressions, a: Arguments) -> ast.Expr:
    """`R.nn.relu6(x)` is `R.clip(x, 0, 6)`."""
    data = a.need(0, "data", "x")
    a.done(1)
    limits = tuple(ast.PrimValue(tir.IntImm(k), a.span) for k in (0, 6))
    spans = ((data[1], data[2]), a.span, a.span)
    return _call("clip", (actions.coerce.expr(data), *limits), {}, spans, a.span)


def _call(
    name: str,
    args: tuple[ast.Expr, ...],
    attrs: dict[str, object],
    arg_spans: tuple[Span, ...],
    span: Span,
) -> ast.Call:
    return ast.Call(ast.op("relax." + name), args, (), attrs, arg_spans, (), span)
