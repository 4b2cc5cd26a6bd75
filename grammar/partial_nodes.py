"""What statements are between the grammar and the syntax tree."""

from __future__ import annotations

from typing import Any

from rlx.grammar import ast, tir
from rlx.grammar.entries import Entry
from rlx.grammar.node import Span
from rlx.grammar.scope import Scope
from rlx.grammar.unresolved import Form


class Open:
    """The head of a block that opened a scope of a kind:
    what to remember, and how many scopes are open in it.
    """

    __slots__ = ("depth", "kind", "span", "value")

    def __init__(self, value: Any, kind: str, depth: int, span: Span) -> None:
        self.value = value
        self.kind = kind
        self.depth = depth
        self.span = span


def open_scope(scope: Scope, value: Any, kind: str, span: Span) -> Open:
    """Enter the scope of a block whose head was read."""
    scope.open(kind)
    return Open(value, kind, len(scope.frames), span)


class Return:
    """A `return` statement."""

    __slots__ = ("span", "value")

    def __init__(self, value: ast.Expr, span: Span) -> None:
        self.value = value
        self.span = span


class Output:
    """The `R.output` of a dataflow block."""

    __slots__ = ("span",)

    def __init__(self, span: Span) -> None:
        self.span = span


class ModuleStatement:
    """A statement on the outer level of a module: its attributes, or its global infos."""

    __slots__ = ("form", "span")

    def __init__(self, form: Form, span: Span) -> None:
        self.form = form
        self.span = span


class Defined:
    """A function definition, before it is known whether it is global or local."""

    __slots__ = ("function", "name", "private", "span", "var")

    def __init__(
        self, name: str, function: ast.Function | tir.PrimFunc, span: Span, var: ast.Var | None
    ) -> None:
        self.name = name
        self.function = function
        self.span = span
        self.var = var


class Signature:
    """What the head of a function says."""

    __slots__ = ("decorations", "kind", "name", "name_span", "params", "ret", "ret_span", "var")

    def __init__(self, name: str, name_span: Span, kind: str, var: ast.Var | None) -> None:
        self.name = name
        self.name_span = name_span
        self.kind = kind
        self.var = var
        self.params: list[Any] = []
        self.ret: Any = None
        self.ret_span: Span | None = None
        self.decorations: list[Entry] = []


def flatten(statements: list[Any]) -> list[Any]:
    """Statements one after the other, of which some are lists and some nothing."""
    found: list[Any] = []
    for item in statements:
        if isinstance(item, list):
            found.extend(item)
        elif item is not None:
            found.append(item)
    return found


def sequence(
    statements: list[Any], body: ast.Expr, body_span: Span | None, span: Span
) -> ast.SeqExpr:
    """A SeqExpr of statements: runs of bindings become blocks."""
    blocks: list[ast.BindingBlock] = []
    run: list[Any] = []
    for item in flatten(statements):
        if isinstance(item, ast.DataflowBlock):
            if run:
                blocks.append(ast.BindingBlock(tuple(run), run[0].span))
                run = []
            blocks.append(item)
        elif isinstance(item, ast.Binding):
            run.append(item)
    if run:
        blocks.append(ast.BindingBlock(tuple(run), run[0].span))
    return ast.SeqExpr(tuple(blocks), body, body_span, span)
