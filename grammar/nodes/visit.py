"""Traversal of Relax expressions: direct parts, all subexpressions, used and called functions.

No function recurses; the order is that of the text, which is the order of evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, repeat

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Binding, Expr, GlobalVar, StructInfo, Var
from rlx.grammar.nodes.node import Span

LEAVES = frozenset(
    [
        ast.Var,
        ast.DataflowVar,
        ast.GlobalVar,
        ast.Constant,
        ast.ShapeExpr,
        ast.PrimValue,
        ast.StringImm,
        ast.DataTypeImm,
        ast.ExternFunc,
    ]
)
"""The kinds of expressions that are always leaves; a tuple is a leaf if its fields are."""

_NOTHING_INSIDE = LEAVES | {ast.Op}


def places(
    spans: Sequence[Span], parts: Sequence[object], otherwise: Span | None
) -> list[Span | None]:
    """Where each part stands, and ``otherwise`` where the text does not say it."""
    return list(islice(chain(spans, repeat(otherwise)), len(parts)))


def argument_places(call: ast.Call) -> list[Span | None]:
    """Where each argument stands; the place of the call where the text does not say it."""
    return places(call.arg_spans, call.args, call.span)


def is_leaf(expr: Expr) -> bool:
    """Whether an expression is a leaf, which may be a part of another in normal form."""
    kind = type(expr)
    if kind is ast.Tuple:
        return all(is_leaf(field) for field in expr.fields)  # type: ignore[attr-defined]
    return kind in LEAVES


def _of_call(call: Expr) -> tuple[Expr, ...]:
    assert isinstance(call, ast.Call)
    written = tuple(v for v in call.attrs.values() if isinstance(v, Expr)) if call.attrs else ()
    return (call.op, *call.args, *written)


def bindings_in(body: Expr) -> Iterator[ast.VarBinding | ast.MatchCast]:
    """The bindings of a body in the order of evaluation; a plain expression has none."""
    for block in body.blocks if isinstance(body, ast.SeqExpr) else ():
        yield from _bindings_of(block)


def result_of(body: Expr) -> tuple[Expr, Span | None]:
    """The result of a body, and its span."""
    return (body.body, body.body_span) if isinstance(body, ast.SeqExpr) else (body, None)


def _of_seq(seq: Expr) -> tuple[Expr, ...]:
    assert isinstance(seq, ast.SeqExpr)
    return (*(b.value for block in seq.blocks for b in _bindings_of(block)), seq.body)


def _bindings_of(block: ast.BindingBlock) -> tuple[ast.VarBinding | ast.MatchCast, ...]:
    return block.bindings  # type: ignore[return-value]


_INSIDE: dict[type, Callable[[Expr], tuple[Expr, ...]]] = {
    ast.Call: _of_call,
    ast.SeqExpr: _of_seq,
    ast.Tuple: lambda e: e.fields,  # type: ignore[attr-defined]
    ast.TupleGetItem: lambda e: (e.tuple_value,),  # type: ignore[attr-defined]
    ast.If: lambda e: (e.cond, e.true_branch, e.false_branch),  # type: ignore[attr-defined]
    ast.Function: lambda e: (e.body,),  # type: ignore[attr-defined]
}


def subexpressions(expr: Expr) -> tuple[Expr, ...]:
    """The direct subexpressions of an expression, in evaluation order.

    For a call, these are its callee, its arguments and the expressions among its attributes; for a
    SeqExpr, the values of its bindings and its body. Annotations are not expressions: see
    :func:`struct_infos`.
    """
    inside = _INSIDE.get(type(expr))
    return inside(expr) if inside is not None else ()


def walk(expr: Expr) -> Iterator[Expr]:
    """An expression and all its subexpressions in preorder."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        if type(node) not in _NOTHING_INSIDE:
            stack.extend(reversed(subexpressions(node)))


def bindings(expr: Expr) -> Iterator[Binding]:
    """Every binding in an expression, including branches and nested functions, in the order of the
    text.

    A binding comes before the bindings in its value.
    """
    stack: list[Expr | Binding] = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Binding):
            yield node
            stack.append(node.value)  # type: ignore[attr-defined]
        elif isinstance(node, ast.SeqExpr):
            stack.append(node.body)
            stack.extend(b for block in reversed(node.blocks) for b in reversed(block.bindings))
        elif type(node) not in _NOTHING_INSIDE:
            stack.extend(reversed(subexpressions(node)))


def sequences(function: ast.Function) -> Iterator[ast.Function | ast.SeqExpr]:
    """The functions and the sequences in a function in normal form, beginning with itself, outer
    ones before inner ones.
    """
    stack: list[Expr] = [function]
    while stack:
        node = stack.pop()
        if type(node) is ast.Function:
            yield node
            stack.append(node.body)
        elif type(node) is ast.If:
            stack += (node.false_branch, node.true_branch)
        elif type(node) is ast.SeqExpr:
            yield node
            stack += [
                value
                for block in reversed(node.blocks)
                for binding in reversed(_bindings_of(block))
                if type(value := binding.value) in _NESTED
            ]


_NESTED = frozenset({ast.Function, ast.If, ast.SeqExpr})


def struct_infos(expr: Expr) -> Iterator[StructInfo]:
    """Every annotation in an expression: of parameters, results, bindings, casts and calls."""
    for node in walk(expr):
        match node:
            case ast.Call(sinfo_args=infos) if infos:
                yield from infos
            case ast.ExternFunc(struct_info=info) if info is not None:
                yield info
            case ast.Function(params=params, ret_struct_info=ret):
                yield from (p.struct_info_annotation for p in params if p.struct_info_annotation)
                if ret is not None:
                    yield ret
            case ast.SeqExpr(blocks=blocks):
                for block in blocks:
                    yield from _written_in(block)


def _written_in(block: ast.BindingBlock) -> Iterator[StructInfo]:
    for binding in _bindings_of(block):
        if isinstance(binding, ast.MatchCast):
            yield binding.struct_info
        if binding.var is not None and binding.var.struct_info_annotation is not None:
            yield binding.var.struct_info_annotation


def bound_vars(expr: Expr) -> set[Var]:
    """The variables that are bound in an expression."""
    bound: set[Var] = set()
    for node in walk(expr):
        if isinstance(node, ast.Function):
            bound.update(node.params)
        elif isinstance(node, ast.SeqExpr):
            bound.update(
                b.var for block in node.blocks for b in _bindings_of(block) if b.var is not None
            )
    return bound


def free_vars(expr: Expr) -> tuple[Var, ...]:
    """The distinct Relax variables that an expression uses but does not bind, in order of first
    use.

    A variable has identity, so a use outside the scope of its binding still counts as bound.
    """
    used = dict.fromkeys(node for node in walk(expr) if isinstance(node, Var))
    bound = bound_vars(expr)
    return tuple(var for var in used if var not in bound)


def called_globals(expr: Expr) -> tuple[GlobalVar, ...]:
    """The distinct global functions that an expression mentions (calls or passes as values), in
    order.
    """
    return tuple(dict.fromkeys(node for node in walk(expr) if isinstance(node, GlobalVar)))


def shape_vars_of(buffer: tir.Buffer) -> tuple[tir.Var, ...]:
    """The variables in the shape of a buffer, and in its strides and offset."""
    values: list[object] = [buffer.shape, *buffer.attrs.values()]
    found: dict[tir.Var, None] = {}
    for value in values:
        for each in value if isinstance(value, tuple | list) else (value,):
            if isinstance(each, tir.PrimExpr):
                found.update(dict.fromkeys(tir.free_vars(each)))
    return tuple(found)
