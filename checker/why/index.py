"""Where the variables of a program are bound, and what its functions and sequences are called."""

from __future__ import annotations

from collections.abc import Iterable

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.visit import bindings_in, expressions


class Index:
    """What a derivation has to look up.

    Attributes
    ----------
    home
        By variable, ``"parameter"`` with the function or ``"binding"`` with the binding.
    functions, sequences
        What functions, and the bodies and branches that have bindings, are called.
    bodies
        The function that each body is of.
    globals
        The functions of the modules.
    """

    def __init__(self, modules: Iterable[ast.IRModule]) -> None:
        self.home: dict[ast.Var, tuple[str, Node]] = {}
        self.functions: dict[Node, str] = {}
        self.sequences: dict[Node, str] = {}
        self.bodies: dict[Node, ast.Function] = {}
        self.globals: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
        for module in modules:
            self._index(module)

    def _index(self, module: ast.IRModule) -> None:
        self.globals.update(module.functions)
        for gv, function in module.functions.items():
            self.functions[function] = gv.name_hint
            for node in expressions(function) if isinstance(function, ast.Function) else ():
                if isinstance(node, ast.Function):
                    self.home.update((p, ("parameter", node)) for p in node.params)
                    self.bodies[node.body] = node
                    self.sequences[node.body] = f"the body of {self.functions.get(node, 'it')}"
                elif isinstance(node, ast.If):
                    self.sequences[node.true_branch] = "the branch taken if it is true"
                    self.sequences[node.false_branch] = "the branch taken if it is false"
                elif isinstance(node, ast.SeqExpr):
                    self._index_bindings(node)

    def _index_bindings(self, seq: ast.SeqExpr) -> None:
        for binding in bindings_in(seq):
            if (var := binding.var) is None:
                continue
            self.home.setdefault(var, ("binding", binding))
            if isinstance(binding, ast.VarBinding) and isinstance(binding.value, ast.Function):
                self.functions.setdefault(binding.value, var.name_hint)
