"""Uses of variables, and unneeded bindings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.visit import bindings, evaluated, expressions, struct_infos
from rlx.solver.order import free_vars


def uses(function: ast.Function) -> Counter[ast.Var]:
    """The number of occurrences of each variable in a function, including annotations."""
    found = Counter(expr for expr in expressions(function) if isinstance(expr, ast.Var))
    for info in struct_infos(function):
        found.update(free_vars(info))
    for var, times in _named(function).items():
        found[var] += times
    return found


def _named(root: Node) -> Counter[ast.Var]:
    """The number of scalars and dimensions that mention each variable of Relax by its shape
    variable.
    """
    binders = (each for node in evaluated(root, Node) for each in node.bound())
    scalars = {
        each.shape_var: each
        for each in binders
        if isinstance(each, ast.Var) and each.shape_var is not None
    }
    return _mentions(root, scalars)


def _mentions(root: Node, scalars: Mapping[tir.Var, ast.Var]) -> Counter[ast.Var]:
    found: Counter[ast.Var] = Counter()
    stack = [root] if scalars else []
    while stack:
        node = stack.pop()
        if isinstance(node, tir.Var) and node in scalars:
            found[scalars[node]] += 1
        stack.extend(node.children())
        stack.extend(part for each in node.bound() for part in each.declared())
    return found


def unneeded(function: ast.Function, may_go: Callable[[ast.Var, Expr], bool]) -> set[ast.Var]:
    """The variables that are used only by each other. `may_go`: whether the binding of a variable
    to this value may be removed if it is unused.
    """
    counts = uses(function)
    values = {
        binding.var: binding.value
        for binding in bindings(function)
        if isinstance(binding, ast.VarBinding)
    }
    taken: dict[ast.Var, Counter[ast.Var]] = {}
    scalars = {var.shape_var: var for var in counts if var.shape_var is not None}
    idle = [var for var in values if not counts[var]]
    while idle:
        var = idle.pop()
        if var in taken or not may_go(var, values[var]):
            continue
        inside = list(expressions(values[var]))
        taken[var] = Counter(used for used in inside if isinstance(used, ast.Var))
        taken[var].update(_mentions(values[var], scalars))
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
