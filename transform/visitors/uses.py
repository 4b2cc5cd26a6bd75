"""Uses of variables, and unneeded bindings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.node import Node, nodes_in
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.visit import bindings, evaluated
from rlx.solver.order import free_vars


def callees(module: ast.IRModule) -> set[Expr]:
    """The operators and functions that a module calls."""
    functions = normalize(module).relax_functions.values()
    values = (binding.value for function in functions for binding in bindings(function))
    return {value.op for value in values if type(value) is ast.Call}


def uses(function: ast.Function) -> Counter[ast.Var]:
    """The number of occurrences of each variable in a function, including annotations, and
    scalars and dimensions that mention it by its shape variable.
    """
    found: Counter[ast.Var] = Counter()
    scalars: dict[tir.Var, ast.Var] = {}
    infos: dict[ast.StructInfo, Collection[ast.Var]] = {}
    stack: list[Node] = [function]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is ast.Var or kind is ast.DataflowVar:
            found[node] = found.get(node, 0) + 1  # type: ignore[index, call-overload]
        elif kind is ast.Call:
            stack += [arg for arg in node.args if type(arg) not in _WITHOUT]  # type: ignore[attr-defined]
            if type(node.op) is not ast.Op or node.attrs or node.sinfo_args:  # type: ignore[attr-defined]
                stack += (node.op, *nodes_in(node.attrs), *node.sinfo_args)  # type: ignore[attr-defined]
        elif kind is ast.VarBinding:
            var, info = node.var, node.var.struct_info_annotation  # type: ignore[attr-defined]
            stack += (node.value,) if info is None else (node.value, info)  # type: ignore[attr-defined]
            if var.shape_var is not None:
                scalars[var.shape_var] = var
        elif isinstance(node, ast.StructInfo):
            mentioned = infos.get(node)
            if mentioned is None:
                mentioned = infos[node] = free_vars(node)
            for var in mentioned:
                found[var] += 1
        elif not node._shared and kind not in _WITHOUT:
            stack += node.children()
            for var in node.bound() if node._binds else ():
                if isinstance(var, ast.Var) and var.shape_var is not None:
                    scalars[var.shape_var] = var
    found.update(_mentions(function, scalars))
    return found


_WITHOUT = frozenset(
    [ast.Op, ast.GlobalVar, ast.Constant, ast.ShapeExpr, ast.PrimValue, ast.StringImm]
)
"""The kinds of leaves in which no variable of Relax is used."""


def _mentions(root: Node, scalars: Mapping[tir.Var, ast.Var]) -> Counter[ast.Var]:
    nodes = nodes_below(root) if scalars else ()
    return Counter(scalars[n] for n in nodes if isinstance(n, tir.Var) and n in scalars)


def nodes_below(root: Node) -> Iterator[Node]:
    """A node and all nodes in it and in the annotations of what it binds, in preorder."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        declared = (part for each in node.bound() for part in each.declared())
        stack += [*node.children(), *declared][::-1]


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
        mentioned = taken[var] = Counter(evaluated(values[var], ast.Var))
        if scalars:
            mentioned.update(_mentions(values[var], scalars))
        for binding in bindings(values[var]):  # they go, too; some may be gone already
            if binding.var is not None:
                mentioned.subtract(taken.setdefault(binding.var, Counter()))
        for used, count in mentioned.items():
            counts[used] -= count
            if count and not counts[used] and used in values:
                idle.append(used)
    return set(taken)


class Without(Rewriter):
    """Removes the bindings of variables."""

    def __init__(self, gone: Collection[ast.Var]) -> None:
        super().__init__()
        self._gone = gone

    def var_binding(self, binding: ast.VarBinding) -> tuple[ast.Binding, ...]:
        return () if binding.var in self._gone else super().var_binding(binding)
