"""What a derivation knows: of variables and expressions, which are in scope, what was found
wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from rlx.checker.derive.aliases import AliasProver
from rlx.grammar import ast, tir
from rlx.grammar.ast import Expr, StructInfo
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.node import Node, Span
from rlx.solver.context import Context
from rlx.solver.order import erase, free_shape_vars, substitute
from rlx.spec.registry import refuted


class DerivationScope:
    """What a function or a SeqExpr brings into scope, to be taken out again when it ends."""

    __slots__ = ("facts", "shape_vars", "shapes")

    def __init__(self) -> None:
        self.shape_vars: list[tir.Var] = []
        self.shapes: list[ast.Var] = []
        self.facts = 0


class Knowledge:
    """What is known at one moment of the derivation of a module.

    Attributes
    ----------
    info_of
        The specification's Γ, extended to all expressions met; nothing is ever taken out of it.
    poison
        Expressions of which less is known than there should be, because of an error already
        reported, or because the text leaves data out. Nothing is reported about them again.
    unsaid
        Those of them of which nothing is wrong: the text leaves data out, or Python around it gives
        the value.
    captured
        Variables, shape variables and annotations that Python around the program gives a meaning.
    vague
        Expressions of which less is known than there should be, because of a warning already
        reported: that less is known is not reported again, what is certainly wrong is.
    shape_vars, shapes
        The specification's Σ, and those variables of Γ that hold a shape: what erasure leaves.
    signed
        The shape variables that may be negative: scalars that are the size of nothing.
    held
        Which shape variables are known to hold, by dimensions or by another variable that holds the
        same.
    home
        The scopes of the variables that hold a shape.
    """

    def __init__(self, module: ast.IRModule, captured: Collection[Node] = ()) -> None:
        self.module = module
        self.info_of: dict[Node, StructInfo] = {}
        self.poison: set[Node] = set()
        self.captured = set(captured)
        self.unsaid: set[Node] = {node for node in captured if isinstance(node, Expr)}
        self.vague: set[Node] = set()
        self.shape_vars: set[tir.Var] = set()
        self.shapes: set[ast.Var] = set()
        self.signed: set[tir.Var] = set()
        self.held: dict[ast.Var, ast.Var | ast.ShapeExpr] = {}
        self.home: dict[ast.Var, DerivationScope] = {}
        self.scope = DerivationScope()
        self.prover = AliasProver()
        self.diagnostics: list[Diagnostic] = []

    def poisoned(self, expr: Expr) -> bool:
        """Whether nothing should be reported about an expression."""
        return expr in self.poison

    def poison_is_wrong(self, call: ast.Call) -> bool:
        """Whether something is wrong with an argument of a call, which is more than not known."""
        given = (*call.args, *call.attrs.values()) if call.attrs else call.args
        poison, unsaid = self.poison, self.unsaid
        return any(isinstance(a, Node) and a in poison and a not in unsaid for a in given)

    def is_open(self, info: StructInfo) -> bool:
        """Whether a part of an info is what Python around the program says."""
        if info in self.captured:
            return True
        if isinstance(info, ast.TupleStructInfo):
            return any(self.is_open(field) for field in info.fields)
        return False

    def depends(self, parts: Iterable[Node]) -> bool:
        """Whether dimensions or infos mention a number that Python around the program gives."""
        captured = self.captured
        if not captured:
            return False
        for part in parts:
            free = (
                tir.free_vars(part) if isinstance(part, tir.PrimExpr) else free_shape_vars(part)  # type: ignore[arg-type]
            )
            if any(var in captured for var in free):
                return True
        return False

    def inherit(self, node: Node, parts: Sequence[Expr]) -> None:
        """What is made from something poisoned or vague is so as well."""
        poison, vague = self.poison, self.vague
        if poison and any(part in poison for part in parts):
            poison.add(node)
            if self.unsaid.issuperset(part for part in parts if part in poison):
                self.unsaid.add(node)
        elif vague and any(part in vague for part in parts):
            vague.add(node)

    # Scopes

    def enter(self) -> DerivationScope:
        """Open a scope; the one around it."""
        outer, self.scope = self.scope, DerivationScope()
        return outer

    def leave(self, outer: DerivationScope) -> None:
        """Take out of scope what the present scope brought."""
        scope, self.scope = self.scope, outer
        if scope.shape_vars:
            self.shape_vars.difference_update(scope.shape_vars)
        if scope.shapes:
            self.shapes.difference_update(scope.shapes)
        if scope.facts:
            self.prover.context.pop()

    def bind_shape_vars(self, variables: Sequence[tir.Var]) -> None:
        """Add to Σ."""
        if variables:
            self.shape_vars.update(variables)
            self.scope.shape_vars.extend(variables)

    def assumptions(self) -> Context:
        """The context of the present scope, to add one fact to; the facts end with the scope."""
        if not self.scope.facts:
            self.prover.context.push()
        self.scope.facts += 1
        return self.prover.context

    def outlived(self, info: StructInfo) -> StructInfo:
        """An info in terms of what the variables of the present scope are known to stand for."""
        if not self.scope.shape_vars:
            return info
        aliases = self.prover.aliases
        known = {v: aliases[v] for v in free_shape_vars(info) if v in aliases}
        return substitute(info, known) if known else info

    def erased(self, info: StructInfo) -> StructInfo:
        """What is left of an info in the present scope."""
        return erase(info, self.shapes, self.shape_vars)

    # Reports

    def add(self, code: str, severity: str, message: str, span: Span | None, **extra: Any) -> None:
        """Report a diagnostic at a place of the text."""
        refuted(code)
        self.diagnostics.append(Diagnostic(code, severity, message, span, **extra))
