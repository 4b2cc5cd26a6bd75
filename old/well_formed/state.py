"""What the walk over a module of 2022 knows where it stands, and how criteria report."""

from __future__ import annotations

from collections.abc import Collection

from rlx.checker.well_formed.functions import call_graph, reachable
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.visit import bindings
from rlx.spec.registry import refuted


class OlderCriteria:
    """The walk over one module.

    Attributes
    ----------
    in_scope
        Variables that may be used here, with the dataflow block (None: no such) that binds them.
    shape_vars
        Shape variables that have a value here.
    bound, names
        Every variable bound so far, and the names of those of the function at hand.
    later
        The names that the function at hand binds anywhere.
    may_bind
        Whether a part of the function could not be read that may have bound more.
    block
        The dataflow block at hand, or None.
    blocks_around
        The dataflow blocks in which the function at hand is defined.
    global_name, holders
        The global function at hand, and the local functions that the place is inside of.
    graph, reachable
        Which global functions each one mentions, and which it can call in the end.
    """

    def __init__(self, module: ast.IRModule, captured: Collection[Node]) -> None:
        self.module = module
        self.captured = captured
        self.may_bind = False
        self.diagnostics: list[Diagnostic] = []
        self.in_scope: dict[ast.Var, ast.DataflowBlock | None] = {}
        self.shape_vars: set[tir.Var] = set()
        self.bound: set[ast.Var] = set()
        self.names: set[str] = set()
        self.later: set[str] = set()
        self.block: ast.DataflowBlock | None = None
        self.blocks_around: tuple[ast.DataflowBlock, ...] = ()
        self.global_name: ast.GlobalVar | None = None
        self.holders: set[ast.Var] = set()
        self.graph, _ = call_graph(module)
        self.reachable = reachable(self.graph)
        self._added: list[ast.Var | tir.Var] = []

    def report(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        severity: str = "error",
        help: str | None = None,
    ) -> None:
        """Report what is wrong at a place."""
        refuted(code)
        self.diagnostics.append(Diagnostic(code, severity, message, span, help=help))

    # Scopes

    def add(self, var: ast.Var) -> None:
        """Bring a variable into scope; one that is a binder's own stays until the scope ends."""
        if var not in self.in_scope:
            self._added.append(var)
        self.in_scope[var] = self.block

    def add_shape_var(self, var: tir.Var) -> None:
        """Give a shape variable a value."""
        if var not in self.shape_vars:
            self.shape_vars.add(var)
            self._added.append(var)

    def enter(self) -> int:
        """Open a scope; :meth:`leave` takes the number."""
        return len(self._added)

    def leave(self, mark: int) -> None:
        """End a scope: what it bound is not visible any more."""
        for var in self._added[mark:]:
            if isinstance(var, tir.Var):
                self.shape_vars.discard(var)
            else:
                self.in_scope.pop(var, None)
        del self._added[mark:]

    def note_names(self, function: ast.Function) -> None:
        """Note the names that a global function binds anywhere."""
        self.names, self.may_bind = set(), False
        self.later = {param.name_hint for param in function.params}
        for binding in bindings(function.body):
            value = getattr(binding, "value", None)
            self.may_bind |= isinstance(value, ast.ErrorExpr) and value.may_bind
            var = getattr(binding, "var", None)
            if var is not None:
                self.later.add(var.name_hint)
