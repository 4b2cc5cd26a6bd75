"""The `if` of Relax: both branches assign one variable at their end, or return."""

from __future__ import annotations

from typing import Any

from rlx.grammar.lines import line_end
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.visit import bindings_in
from rlx.grammar.read.entries import Entry
from rlx.grammar.read.lost_names import bind_lost
from rlx.grammar.read.partial_nodes import Open, Return, flatten, open_scope, sequence
from rlx.grammar.read.reports import ReadContext, Reports
from rlx.grammar.read.scope import Scope
from rlx.grammar.read.syntax_messages import misspelt_keyword


class BranchReader:
    """Reads `if` in Relax functions."""

    context: ReadContext
    scope: Scope
    reports: Reports

    def open_if(self, condition: Entry, span: Span) -> Open:
        """The head of an `if`."""
        found = (self.context.coerce.expr(condition), condition.span)
        return open_scope(self.scope, found, "branch", span)

    def close_if(self, head: Entry, then: Entry, otherwise: Entry | None, span: Span) -> Any:
        """An `if` with both branches."""
        condition, where = head.value.value
        if otherwise is None:
            self._lacks_its_else(head, span)
            return self._without_result(head.value.value, [then.value], span)
        blocks = [then.value, otherwise.value]
        yes, no = self._branch(then), self._branch(otherwise)
        if yes is None or no is None:
            return self._without_result(head.value.value, blocks, span)
        whole = ast.If(condition, yes[1], no[1], where, span)
        a, b = yes[0], no[0]
        if a is None and b is None:
            words = "both branches return: TVM reads only one `return` of a function, at its end"
            self.reports.note(words, (span[0], where[1]), "PARSE-returns", "warning")
            return Return(whole, span)
        if a is None or b is None or a.name_hint != b.name_hint:
            words = "both branches of an if must end with a binding of the same variable"
            if a is not None and b is not None:
                words += f", but they end with {a.name_hint!r} and {b.name_hint!r}"
            if not self.reports.has_errors_in(span):
                self.reports.error(words, (span[0], where[1]), layout=True)
            return self._without_result(head.value.value, blocks, span)
        var = self.scope.new_var(a.name_hint, None, None, a.span or span)
        self.scope.bind(var.name_hint, var)
        return ast.VarBinding(var, whole, span, span)

    def _lacks_its_else(self, head: Entry, span: Span) -> None:
        misspelt = misspelt_keyword(self.context.text, span[1], ("else",))
        if misspelt is not None:
            self.reports.error(*misspelt)
            return
        read = (span[0], line_end(self.context.text, span[1]))
        if "else" not in self.context.text_of(read) or not self.reports.has_errors_in(read):
            # otherwise it stands in a statement that could not be read
            self.reports.error("an if of Relax needs an else", head.span, layout=True, alone=True)

    def _without_result(
        self, head: tuple[ast.Expr, Span], blocks: list[list[Any]], span: Span
    ) -> list[ast.Binding]:
        """An `if` of which nobody knows what it gives to which variable: what its branches hold is
        checked all the same.
        """
        yes, no = (_without_value(block, span) for block in (*blocks, [])[:2])
        whole = ast.If(head[0], yes, no, head[1], span)
        unused = ast.Var("_", None, None, span)
        return [ast.VarBinding(unused, whole, span, span), *self._lose(yes, no)]

    def headless(self, body: list[Any], span: Span) -> list[Any]:
        """A block whose head could not be read, in its place; what it returns goes nowhere."""
        unused = ast.Var("_", None, None, span)
        items = [
            ast.VarBinding(unused, each.value, each.span, each.span)
            if isinstance(each, Return)
            else each
            for each in flatten(body)
        ]
        return [*items, *self._lose(_without_value(items, span))]

    def _lose(self, *blocks: ast.SeqExpr) -> list[ast.Binding]:
        """Bind the variables of blocks anew, of which nothing is known behind them."""
        made = (each.var for block in blocks for each in bindings_in(block))
        names = {v.name_hint for v in made if v is not None and type(v) is not ast.DataflowVar}
        return bind_lost(self.scope, names, ast.ErrorExpr(False, blocks[0].span))

    def _branch(self, block: Entry) -> tuple[ast.Var | None, ast.SeqExpr] | None:
        """The variable that a branch ends in (None where it
        returns) and the branch as an expression.
        """
        items, span = flatten(block.value), block.span
        if not items:
            if not self.reports.has_errors_in(span):
                self.reports.error("a branch of an if must bind a variable", span)
            return None
        last = items[-1]
        match last:
            case Return():
                return None, sequence(items[:-1], last.value, last.span, span)
            case ast.VarBinding(var=ast.Var(struct_info_annotation=ast.StructInfo()) as var):
                # The annotation is about the value of this branch: the binding stays.
                return var, sequence(items, var, last.span, span)
            case ast.VarBinding(var=var, value=value):
                return var, sequence(items[:-1], value, last.value_span, span)
            case ast.MatchCast(var=var) if var is not None:
                return var, sequence(items, var, last.span, span)
            case ast.DataflowBlock(bindings=bindings) if bindings:
                for binding in reversed(bindings):
                    found = getattr(binding, "var", None)
                    if found is not None and not isinstance(found, ast.DataflowVar):
                        return found, sequence(items, found, last.span, span)
        if not self.reports.has_errors_in(span):
            self.reports.error("a branch of an if must end with the binding of a variable", span)
        return None


def _without_value(block: list[Any], span: Span) -> ast.SeqExpr:
    """A block whose value is not known."""
    items = [each for each in flatten(block) if not isinstance(each, Return)]
    return sequence(items, ast.ErrorExpr(True, span), span, span)
