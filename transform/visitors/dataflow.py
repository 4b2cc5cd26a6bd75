"""DataflowMutator: changes dataflow blocks, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Binding, Expr, IRModule
from rlx.grammar.nodes.python_places import callable_of
from rlx.grammar.nodes.visit import expressions
from rlx.transform.builder import taken
from rlx.transform.builder.builder import BlockBuilder
from rlx.transform.visitors.mutator import ExprMutator

Rewrite = Callable[[BlockBuilder, ast.VarBinding], Expr | None]


class DataflowMutator(ExprMutator):
    """Changes the bindings of dataflow blocks, which have no side effects and no control flow.

    The overridden methods are called only for nodes in dataflow blocks. The outputs of a block keep
    their variables, so the code after it is unchanged. Bindings that the change made unused are
    removed.

    Examples
    --------
    Two bindings become one:

    >>> import rlx
    >>> class FuseMultiplyAdd(rlx.DataflowMutator):
    ...     def visit_call(self, call):
    ...         call = super().visit_call(call)
    ...         if call.op_name == "relax.add":
    ...             left = self.lookup_binding(call.args[0])
    ...             if getattr(left, "op_name", "") == "relax.multiply":
    ...                 return rlx.op.ewise_fma(*left.args, call.args[1])
    ...         return call
    """

    _in_block = False

    def _method(self, name: str) -> Any:
        return getattr(self, name) if self._in_block else partial(getattr(ExprMutator, name), self)

    def visit_expr(self, expr: Expr) -> Expr:
        """Return the replacement of an expression."""
        return ExprMutator.visit_expr(self, expr)

    def visit_dataflow_block(self, block: ast.DataflowBlock) -> None:
        """Visit the bindings of a dataflow block, and remove those that became unused."""
        self._in_block = True
        try:
            super().visit_dataflow_block(block)
        finally:
            self._in_block = False
        bindings = self._frame.bindings()
        bindings[:] = _needed(block, bindings)


def _needed(block: ast.DataflowBlock, new: list[Binding]) -> list[Binding]:
    """The bindings without those of the old block that were used there, and are not now."""
    before = _uses(list(block.bindings))
    old = set(block.bindings)
    kept: list[Binding] = []
    used: set[ast.Var] = set()
    for binding in reversed(new):
        var = binding.var
        idle = type(var) is ast.DataflowVar and var not in used
        if not (idle and binding in old and var in before and type(binding) is ast.VarBinding):
            kept.append(binding)
            used |= _uses([binding])
    return kept[::-1]


def _uses(bindings: list[Binding]) -> set[ast.Var]:
    values = (binding.value for binding in bindings)
    return {expr for value in values for expr in expressions(value) if isinstance(expr, ast.Var)}


def rewrite_dataflow(module: IRModule, rewrite: Rewrite) -> IRModule:
    """Replace the values of bindings in dataflow blocks.

    Parameters
    ----------
    rewrite
        Called with the builder and each binding, in order, with the variables of the new block.
        Returns the new value, or None to keep the old one. What it emits with the builder comes
        before the binding.

    Raises
    ------
    BuildError
        If a returned or emitted value violates a rule.
    """
    return _ByFunction(rewrite)(module)


class _ByFunction(DataflowMutator):
    """A mutator that asks a function."""

    def __init__(self, rewrite: Rewrite) -> None:
        self.rewrite = callable_of(rewrite, "the builder and a binding", 2)

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        value = self.visit_expr(binding.value)
        current = ast.VarBinding(binding.var, value, binding.value_span, binding.span)
        found = self.rewrite(self.builder, current)
        self.rebind(binding, value if found is None else taken.value(found, self.place))
