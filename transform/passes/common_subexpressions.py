"""Common subexpression elimination."""

from __future__ import annotations

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, IRModule
from rlx.grammar.nodes.equal import structural_equal
from rlx.transform.passes.alike import Key, key, writes
from rlx.transform.visitors.mutator import ExprMutator


class _Common(ExprMutator):
    """Remembers the calls that are in scope, with the variables that hold their values."""

    def __init__(self) -> None:
        self._known: list[dict[Key, ast.Var]] = [{}]

    def visit_seq_expr(self, seq: ast.SeqExpr) -> Expr:
        self._known.append({})
        made = super().visit_seq_expr(seq)
        self._known.pop()
        return made

    def visit_global_function(self, gv: ast.GlobalVar, function: ast.Function) -> None:
        self._known = [{}]
        super().visit_global_function(gv, function)

    def visit_function(self, function: ast.Function) -> Expr:
        outer, self._known = self._known, [{}]
        made = super().visit_function(function)
        self._known = outer
        return made

    def visit_dataflow_block(self, block: ast.DataflowBlock) -> None:
        super().visit_dataflow_block(block)
        for scope in self._known:
            for made in [k for k, var in scope.items() if type(var) is ast.DataflowVar]:
                del scope[made]

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        if isinstance(binding.value, ast.Function):
            super().visit_var_binding(binding)
            return
        value = self.visit_expr(binding.value)
        made = key(value)
        earlier = None if made is None else self._earlier(made)
        if earlier is None or not self._says_as_much(earlier, value):
            var = self.rebind(binding, value)
            if made is not None and earlier is None:
                self._known[-1][made] = var
        elif type(binding.var) is ast.DataflowVar or type(earlier) is not ast.DataflowVar:
            self.replace_var(binding.var, earlier)
        else:
            self.rebind(binding, earlier)

    def _earlier(self, made: Key) -> ast.Var | None:
        return next((scope[made] for scope in self._known if made in scope), None)

    def _says_as_much(self, earlier: ast.Var, value: Expr) -> bool:
        info = self.builder.struct_info
        return structural_equal(info(earlier), info(value))


def common_subexpressions(module: IRModule) -> IRModule:
    """Eliminate common subexpressions in a module: a pure call whose value is in scope already is
    not made again, also in branches and in later blocks.

    If something may be overwritten in place, equal values must not share memory, so the module is
    not changed.
    """
    return module if writes(module) else _Common()(module)
