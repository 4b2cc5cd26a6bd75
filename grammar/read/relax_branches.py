"""The `if` of Relax: both branches assign one variable at their end, or return."""

from __future__ import annotations

from typing import Any

from rlx.grammar.lines import line_end
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.lost_names import lose
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
            misspelt = misspelt_keyword(self.context.text, span[1], ("else",))
            if misspelt is not None:
                raise Rejected(misspelt[0], *misspelt[1], misspelt[2])
            read = (span[0], line_end(self.context.text, span[1]))
            if "else" in self.context.text_of(read) and self.reports.has_errors_in(read):
                raise Rejected("", *head.span)  # it stands in a statement that could not be read
            raise Rejected("an if of Relax needs an else", *head.span, layout=True)
        yes, no = self._branch(then), self._branch(otherwise)
        if yes is None or no is None:
            return self._without_result(head, then, otherwise, span)
        whole = ast.If(condition, yes[1], no[1], where, span)
        a, b = yes[0], no[0]
        if a is None and b is None:
            words = "both branches return: TVM reads only one `return` of a function, at its end"
            self.reports.note(words, (span[0], where[1]), "PARSE-returns", "warning")
            return Return(whole, span)
        if a is None or b is None or a.name_hint != b.name_hint:
            if self.reports.has_errors_in(span):
                return self._without_result(head, then, otherwise, span)
            words = "both branches of an if must end with a binding of the same variable"
            if a is not None and b is not None:
                words += f", but they end with {a.name_hint!r} and {b.name_hint!r}"
            raise Rejected(words, *((span[0], where[1])))
        var = self.scope.new_var(a.name_hint, None, None, a.span or span)
        self.scope.bind(var.name_hint, var)
        return ast.VarBinding(var, whole, span, span)

    def _without_result(
        self, head: Entry, then: Entry, otherwise: Entry, span: Span
    ) -> list[ast.Binding]:
        """An `if` of which nobody knows what it gives to which variable: what its branches hold is
        checked all the same.
        """
        condition, where = head.value.value
        yes, no = (
            sequence(
                [each for each in flatten(block.value) if not isinstance(each, Return)],
                *(ast.ErrorExpr(True, block.span), block.span, block.span),
            )
            for block in (then, otherwise)
        )
        whole = ast.If(condition, yes, no, where, span)
        unused = ast.Var("_", None, None, span)
        return [ast.VarBinding(unused, whole, span, span), *lose(self.context, span)]

    def _branch(self, block: Entry) -> tuple[ast.Var | None, ast.SeqExpr] | None:
        """The variable that a branch ends in (None where it
        returns) and the branch as an expression.
        """
        items, span = flatten(block.value), block.span
        if not items:
            if not self.reports.has_errors_in(span):
                raise Rejected("a branch of an if must bind a variable", *span)
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
            raise Rejected("a branch of an if must end with the binding of a variable", *span)
        return None
