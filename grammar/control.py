"""The actions of `if`, `with`, `for` and `while`."""

from __future__ import annotations

from typing import Any

from rlx.grammar import ast, tir
from rlx.grammar.dialects import BLOCK_WORDS
from rlx.grammar.lalr import Entry, Rejected
from rlx.grammar.node import Span
from rlx.grammar.partial_nodes import Open, Output, Return, flatten, sequence
from rlx.grammar.statements import Statements
from rlx.grammar.unresolved import Form


class Control(Statements):
    """Statements with blocks."""

    # ------------------------------------------------------------ if

    def do_if_head(self, c: list[Entry]) -> Open:
        if self.scope.frame.kind in ("prim_func", "block"):
            condition: Any = self.coerce.prim(c[1])
            kind = self.scope.frame.kind
        else:
            condition, kind = self.coerce.expr(c[1]), "branch"
        opened = Open(
            (condition, (c[1][1], c[1][2])), len(self.scope.frames) + 1, (c[0][1], c[-1][2])
        )
        self.scope.open(kind)
        return opened

    def do_elif_open(self, c: list[Entry]) -> None:
        self.scope.close()

    do_elif_head = do_if_head

    def do_else_head(self, c: list[Entry]) -> Open:
        kind = self.scope.frame.kind
        self.scope.close()
        opened = Open(None, len(self.scope.frames) + 1, (c[0][1], c[-1][2]))
        self.scope.open(kind)
        return opened

    def do_elif_stmt(self, c: list[Entry]) -> Any:
        return self.do_if_stmt(c)

    def do_if_stmt(self, c: list[Entry]) -> Any:
        if len(c) != 3:
            kind = self.scope.close().kind
        else:
            kind = "block" if isinstance(c[0][0].value[0], tir.PrimExpr) else "branch"
        condition, where = c[0][0].value
        span = (c[0][1], c[-1][2])
        then = c[1][0]
        otherwise = None if len(c) == 2 else ([c[2][0]] if len(c) == 3 else c[3][0])
        if kind in ("prim_func", "block"):
            return self.prim_if(condition, then, otherwise, span)
        if otherwise is None:
            raise Rejected("an if of Relax needs an else", c[0][1], c[0][2])
        return self._if(condition, where, (then, c[1]), (otherwise, c[-1]), span)

    def _if(
        self,
        condition: ast.Expr,
        where: Span,
        then: tuple[list[Any], Entry],
        otherwise: tuple[list[Any], Entry],
        span: Span,
    ) -> Any:
        a = self._branch(*then)
        b = self._branch(*otherwise)
        if a is None or b is None:
            self.lose(*span)
            return None
        whole = ast.If(condition, a[1], b[1], where, span)
        if a[0] is None and b[0] is None:
            return Return(whole, span)
        if a[0] is None or b[0] is None or a[0].name_hint != b[0].name_hint:
            if self.has_errors_in(span):
                self.lose(*span)
                return None
            ends = [f"{end[0].name_hint!r}" for end in (a, b) if end[0] is not None]
            raise Rejected(
                "both branches of an if must end by giving the same variable a value"
                + (f", but they end with {' and '.join(ends)}" if len(ends) == 2 else ""),
                span[0],
                where[1],
            )
        info = a[0].struct_info_annotation
        if info is not b[0].struct_info_annotation and not _same_text(self.text, a[0], b[0]):
            info = None
        var = self._new_var(
            a[0].name_hint, info, a[0].annotation_span if info is not None else None, a[0].span
        )
        self.scope.bind(var.name_hint, var)
        return ast.VarBinding(var, whole, span, span)

    def _branch(self, statements: list[Any], entry: Entry) -> tuple[Any, ast.SeqExpr] | None:
        """The variable that a branch ends in (None where it returns) and the branch as an expression."""
        items = flatten(statements)
        span = (entry[1], entry[2])
        if not items:
            if not self.has_errors_in(span):
                raise Rejected("a branch of an if must give a variable a value", *span)
            return None
        last = items[-1]
        match last:
            case Return():
                return None, sequence(items[:-1], last.value, last.span, span)
            case ast.VarBinding(var=var, value=value):
                return var, sequence(items[:-1], value, last.value_span, span)
            case ast.MatchCast(var=var) if var is not None:
                return var, sequence(items, var, last.span, span)
            case ast.DataflowBlock(bindings=bindings) if bindings:
                for binding in reversed(bindings):
                    found = getattr(binding, "var", None)
                    if found is not None and not isinstance(found, ast.DataflowVar):
                        return found, sequence(items, found, last.span, span)
        if not self.has_errors_in(span):
            raise Rejected("a branch of an if must end by giving a variable a value", *span)
        return None

    # ------------------------------------------------------------ with, for, while

    def do_with_head(self, c: list[Entry]) -> Open:
        value = c[1][0]
        span = (c[0][1], c[-1][2])
        if isinstance(value, Form) and value.head == "R.dataflow":
            if value.args or value.keywords:
                raise Rejected("R.dataflow takes no arguments", c[1][1], c[1][2])
            if len(c) > 3:
                raise Rejected("a dataflow block has no name", c[2][1], c[3][2])
            opened = Open(value, len(self.scope.frames) + 1, span)
            self.scope.open("dataflow")
            return opened
        if self.scope.frame.kind in ("prim_func", "block"):
            if isinstance(value, Form) and value.head in ("T.grid", BLOCK_WORDS[0]) and len(c) > 3:
                # 2022: `with T.grid(n, m) as i, j:` are loops.
                grid = (Form("T.grid", value.args, {}), c[1][1], c[1][2])
                return self.prim_for_head([c[0], c[3], c[2], grid, c[-1]])
            depth = len(self.scope.frames) + 1
            self.scope.open("block")
            return Open(self.prim_enter(c[1], c[3][0] if len(c) > 3 else []), depth, span)
        raise Rejected("expected `with R.dataflow():`", c[1][1], c[1][2])

    def do_with_stmt(self, c: list[Entry]) -> Any:
        opened: Open = c[0][0]
        span = (c[0][1], c[-1][2])
        if self.scope.frame.kind == "dataflow":
            self.scope.keep()
            return self._dataflow_block(flatten(c[1][0]), span)
        self.scope.close()
        return self.prim_with(opened.value, c[1][0], span)

    def _dataflow_block(self, items: list[Any], span: Span) -> ast.DataflowBlock:
        """The block of some statements, of which `R.output`, if there is one, is the last."""
        ended = False
        for item in items:
            if isinstance(item, ast.DataflowBlock):
                raise Rejected("a dataflow block can't contain another", *span)
            if ended:
                what = "a second R.output" if isinstance(item, Output) else "a binding"
                self.error(
                    f"{what} after the R.output of a dataflow block",
                    item.span,
                    help="one R.output, with all variables to export, ends the block",
                )
                self.excuse_dataflow()
                break
            ended = isinstance(item, Output)
        return ast.DataflowBlock(tuple(i for i in items if isinstance(i, ast.Binding)), span)

    def do_loop_names(self, c: list[Entry]) -> list[Entry]:
        return [c[0]] if len(c) == 1 else [*c[0][0], c[2]]

    def do_for_head(self, c: list[Entry]) -> Open:
        if self.scope.frame.kind not in ("prim_func", "block"):
            raise Rejected(
                "Relax has no loops: expected recursion or an operator", c[0][1], c[-1][2]
            )
        return self.prim_for_head(c)

    def do_for_stmt(self, c: list[Entry]) -> Any:
        self.scope.close()
        return self.prim_for(c[0][0].value, c[1][0], (c[0][1], c[-1][2]))

    def do_while_head(self, c: list[Entry]) -> Open:
        if self.scope.frame.kind not in ("prim_func", "block"):
            raise Rejected(
                "Relax has no loops: expected recursion or an operator", c[0][1], c[-1][2]
            )
        opened = Open(self.coerce.prim(c[1]), len(self.scope.frames) + 1, (c[0][1], c[-1][2]))
        self.scope.open("block")
        return opened

    def do_while_stmt(self, c: list[Entry]) -> Any:
        self.scope.close()
        return tir.While(c[0][0].value, self.prim_body(c[1][0]), (c[0][1], c[-1][2]))


def _same_text(text: str, a: ast.Var, b: ast.Var) -> bool:
    """Whether two variables have annotations of the same text."""
    x, y = a.annotation_span, b.annotation_span
    return x is not None and y is not None and text[x[0] : x[1]] == text[y[0] : y[1]]
