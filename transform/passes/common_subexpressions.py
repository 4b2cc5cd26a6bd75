"""Common subexpression elimination in dataflow blocks."""

from __future__ import annotations

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, IRModule
from rlx.transform.passes.alike import Key, key, writes
from rlx.transform.visitors.dataflow import DataflowMutator


class _Common(DataflowMutator):
    """Remembers the calls of the block at hand, with the variables that hold their values."""

    def visit_dataflow_block(self, block: ast.DataflowBlock) -> None:
        self.known: dict[Key, Expr] = {}
        super().visit_dataflow_block(block)

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        value = self.visit_expr(binding.value)
        made = key(value)
        earlier = None if made is None else self.known.get(made)
        if earlier is not None and isinstance(binding.var, ast.DataflowVar):
            self.replace_var(binding.var, earlier)
            return
        var = self.rebind(binding, value if earlier is None else earlier)
        if made is not None and earlier is None:
            self.known[made] = var


def common_subexpressions(module: IRModule) -> IRModule:
    """Eliminate common subexpressions in the dataflow blocks of a module.

    If something may be overwritten in place, equal values must not share memory, so the module is
    not changed.
    """
    return module if writes(module) else _Common()(module)
