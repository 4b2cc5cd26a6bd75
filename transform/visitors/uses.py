"""Uses of variables, and unneeded bindings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.visit import bindings, expressions, struct_infos
from rlx.solver.order import free_vars


def uses(function: ast.Function) -> Counter[ast.Var]:
    """The number of occurrences of each variable in a function, including annotations."""
    found = Counter(expr for expr in expressions(function) if isinstance(expr, ast.Var))
    for info in struct_infos(function):
        found.update(free_vars(info))
    return found


def unneeded(function: ast.Function, may_go: Callable[[ast.Var, Expr], bool]) -> set[ast.Var]:
    """The variables that are used only by each other.

    Parameters
    ----------
    may_go
        Whether the binding of a variable to this value may be removed if it is unused.
    """
    counts = uses(function)
    values = {
        binding.var: binding.value
        for binding in bindings(function)
        if isinstance(binding, ast.VarBinding)
    }
    taken: dict[ast.Var, Counter[ast.Var]] = {}
    idle = [var for var in values if not counts[var]]
    while idle:
        var = idle.pop()
        if var in taken or not may_go(var, values[var]):
            continue
        inside = list(expressions(values[var]))
        taken[var] = Counter(used for used in inside if isinstance(used, ast.Var))
        for inner in _bound_by(inside):
            taken[var].subtract(taken.get(inner, ()))  # these uses are gone already
        for used, count in taken[var].items():
            counts[used] -= count
            if count and not counts[used] and used in values:
                idle.append(used)
    return set(taken)


def _bound_by(inside: list[Expr]) -> list[ast.Var]:
    """The variables that local functions and branches among these bind."""
    blocks = (block for expr in inside if isinstance(expr, ast.SeqExpr) for block in expr.blocks)
    return [
        binding.var
        for block in blocks
        for binding in block.bindings
        if isinstance(binding, ast.VarBinding)
    ]


class Without(Rewriter):
    """Removes the bindings of variables."""

    def __init__(self, gone: set[ast.Var]) -> None:
        super().__init__()
        self._gone = gone

    def var_binding(self, binding: ast.VarBinding) -> tuple[ast.Binding, ...]:
        return () if binding.var in self._gone else super().var_binding(binding)
