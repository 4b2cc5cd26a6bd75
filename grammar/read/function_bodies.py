"""Construction of functions and PrimFuncs from their heads and statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Span, complete, replace
from rlx.grammar.read.partial_nodes import Defined, Form, Return, Signature, flatten, sequence
from rlx.grammar.read.reports import ReadContext
from rlx.grammar.read.scope import Frame

FUNCTION_WORDS = {"R.function", "R.func", "R.macro"}
"""The decorators of functions of Relax."""

AFTER_RETURN = "statements after a return are never executed"

PRIM_WORDS = {"T.prim_func", "T.func"}
"""The decorators of PrimFuncs."""


def add_attributes(
    context: ReadContext, head: str, given: Mapping[str, object], span: Span
) -> None:
    """Add the attributes that a statement gives to its function; none may be given twice."""
    attrs = context.scope.function_frame().attrs
    for key in given:
        if key in attrs:
            words = f"the function already has the attribute {key!r}"
            context.reports.error(words, span, help=f"keep one {head} for it")
    if not isinstance(given.get("global_symbol", ""), str):
        context.reports.error("the global symbol of a function is a string", span)
    attrs.update(given)


def add_function(
    context: ReadContext, functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc], item: Defined
) -> None:
    """Add a global function to a module under construction."""
    name_span = item.function.name_span
    variable = context.scope.global_var(item.name, name_span)
    if variable in functions:
        assert name_span is not None
        words = f"the module already has a function {item.name!r}"
        context.reports.error(words, name_span, related=functions[variable].name_span)
        return
    functions[variable] = item.function


def relax_function(
    context: ReadContext,
    signature: Signature,
    comments: tuple[str, ...],
    frame: Frame,
    statements: list[Any],
    span: Span,
) -> ast.Function:
    """A Relax function, made from its scope when the scope is closed."""
    attrs = dict(frame.attrs)
    flags = _flags(context, signature, FUNCTION_WORDS)
    if flags.pop("private", False):
        attrs["private"] = True
        _has_no_symbol(context, signature, attrs)
    elif signature.var is None:
        attrs.setdefault("global_symbol", signature.name)
    pure = flags.pop("pure", None)
    body = _body(context, signature, statements, span)
    return ast.Function(
        tuple(signature.params),
        body,
        signature.ret,
        pure if isinstance(pure, bool) else None,
        attrs,
        (*frame.shape_vars, *_scalars(signature.params, frame.shape_vars)),
        signature.ret_span,
        signature.name_span,
        comments,
        span,
        signature.returns_none,
    )


def prim_function(
    context: ReadContext,
    signature: Signature,
    comments: tuple[str, ...],
    frame: Frame,
    body: tir.Stmt,
    span: Span,
) -> tir.PrimFunc:
    """A PrimFunc, made from its scope when the scope is closed."""
    said = _flags(context, signature, PRIM_WORDS)
    flags = {key: value for key, value in said.items() if value is not False}
    attrs = dict(frame.attrs)
    if flags.get("private"):
        _has_no_symbol(context, signature, attrs)
    elif signature.var is None:
        attrs.setdefault("global_symbol", signature.name)
    made = tir.PrimFunc(
        tuple(signature.params),
        body,
        signature.ret,
        frame.buffers,
        {**attrs, **flags},
        signature.name_span,
        comments,
        span,
        signature.returns_none,
    )
    if context.scope.doubtful is not None:
        context.coerce.captured.add(made)
    return made


def _has_no_symbol(context: ReadContext, signature: Signature, attrs: Mapping[str, object]) -> None:
    """Report a global symbol of a private function."""
    if "global_symbol" in attrs:
        words = f"the function {signature.name!r} is private, so it has no global symbol"
        help = "remove the attribute, or `private=True`"
        context.reports.error(words, signature.name_span, help=help)


def _flags(context: ReadContext, signature: Signature, words: set[str]) -> dict[str, object]:
    """The keyword arguments of a function's decorator."""
    flags: dict[str, object] = {}
    for entry in signature.decorations:
        value = entry.value
        if isinstance(value, Form) and value.head in words:
            flags.update({k: context.coerce.attr(v) for k, v in value.keywords.items()})
    return flags


def _body(
    context: ReadContext, signature: Signature, statements: list[Any], span: Span
) -> ast.SeqExpr:
    statements, reports = flatten(statements), context.reports
    if context.scope.doubtful is not None:
        statements.insert(0, _lost(context.scope.doubtful))
    for at, item in enumerate(statements):
        if isinstance(item, Return):
            if at + 1 < len(statements):
                where = getattr(statements[at + 1], "span", None) or item.span
                reports.error(AFTER_RETURN, where, layout=True)
                # Another statement was meant to return: this one may name what is bound behind it.
                behind = [getattr(each, "var", None) for each in statements[at + 1 :]]
                read = statements[:at]
                if getattr(item.value, "name_hint", "") not in {v.name_hint for v in behind if v}:
                    unused = ast.Var("_", None, None, item.span)
                    read = [*read, ast.VarBinding(unused, item.value, item.span)]
                return sequence(read, ast.ErrorExpr(True, item.span), item.span, span)
            return sequence(statements[:at], item.value, item.span, span)
    if not reports.has_errors_in(span):
        reports.error(
            f"the function {signature.name!r} has no return statement",
            signature.name_span,
            help="end it with `return` and a value",
            layout=True,
        )
    return sequence(statements, ast.ErrorExpr(True, signature.name_span), signature.name_span, span)


def _lost(span: Span) -> ast.VarBinding:
    """The placeholder in a function for text that was left out; it may have bound something."""
    return ast.VarBinding(ast.Var("_", None, None, span), ast.ErrorExpr(True, span), span)


def with_errors(function: ast.Function | tir.PrimFunc, spans: Iterable[Span | None]) -> Any:
    """A function in which errors were found after it was read."""
    around, body = function.span, getattr(function, "body", None)
    if around is None or not isinstance(body, ast.SeqExpr):
        return function
    lost = [_lost(at) for at in spans if at is not None and around[0] <= at[0] < around[1]]
    if not lost:
        return function
    block = ast.BindingBlock(tuple(lost), around)
    return replace(function, body=replace(body, blocks=(block, *body.blocks)))


def _scalars(params: list[ast.Var], known: tuple[tir.Var, ...]) -> list[tir.Var]:
    """The shape variables that parameters are;
    the annotation of such a parameter binds its variable.
    """
    found: list[tir.Var] = []
    for param in params:
        var, info = param.shape_var, param.struct_info_annotation
        if var is None or not isinstance(info, ast.PrimStructInfo):
            continue
        bound = ast.PrimStructInfo(info.dtype, var, info.span)
        complete(param, struct_info_annotation=bound)
        if var not in known:
            found.append(var)
    return found
