"""What a derivation knows: variables, scopes, aliases of shape variables, what was found wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Any

from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.struct_infos import of_the_value
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs
from rlx.solver.budget import Statistics
from rlx.solver.context import Context, Groups
from rlx.solver.order import erase, free_shape_vars, substitute, substitute_prim
from rlx.solver.prover import IDENTICAL, Prover
from rlx.solver.verdict import Relation, Verdict
from rlx.spec.registry import refuted

CONNECTED = 32
"""The number of facts about a group of connected variables: a question about one of them is asked
under all of these.
"""

REMEMBERED = 256
"""The number of facts of a scope: those about other variables cost a question little, not nothing.
A proof that fails for want of one costs more than dozens of them.
"""


class DerivationScope:
    """What a function or a SeqExpr brings into scope, to be taken out again when it ends."""

    __slots__ = ("around", "facts", "shape_vars", "shapes")

    def __init__(self) -> None:
        self.shape_vars: list[tir.Var] = []
        self.shapes: list[ast.Var] = []
        self.facts = 0
        self.around: Groups | None = None


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
    connected
        The shape variables that the facts of the present scopes connect.
    statistics
        What the prover was asked, and at which place it is asked now.
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
        self.connected = Groups()
        self.statistics = Statistics()
        self.diagnostics: list[Diagnostic] = []

    @cached_property
    def prover(self) -> AliasProver:
        """Answers questions about dimensions; many modules ask none."""
        return AliasProver(self.statistics)

    def poisoned(self, expr: Expr) -> bool:
        """Whether nothing should be reported about an expression."""
        return expr in self.poison

    def poison_is_wrong(self, call: ast.Call) -> bool:
        """Whether something is wrong with an argument of a call, which is more than not known."""
        given = (*call.args, *call.attrs.values())
        poison, unsaid = self.poison, self.unsaid
        return any(isinstance(a, Node) and a in poison and a not in unsaid for a in given)

    def is_open(self, info: StructInfo) -> bool:
        """Whether a part of an info is what Python around the program says."""
        return not self.captured.isdisjoint(of_the_value(info))

    def depends(self, parts: Iterable[Node]) -> bool:
        """Whether dimensions or infos mention a number that Python around the program gives."""
        captured = self.captured
        return bool(captured) and any(not captured.isdisjoint(_shape_vars(part)) for part in parts)

    def knows(self, conditions: Iterable[PrimExpr]) -> bool:
        """Whether all shape variables in some conditions are bound."""
        return all(var in self.shape_vars for each in conditions for var in tir.free_vars(each))

    def inherit(self, node: Node, parts: Sequence[Expr]) -> None:
        """What is made from something poisoned or vague is so as well."""
        if not self.poison.isdisjoint(parts):
            if self.unsaid.issuperset(self.poison.intersection(parts)):
                self.unsaid.add(node)
            self.poison.add(node)
        elif not self.vague.isdisjoint(parts):
            self.vague.add(node)

    # Scopes

    def enter(self) -> DerivationScope:
        """Open a scope; the one around it."""
        outer, self.scope = self.scope, DerivationScope()
        return outer

    def leave(self, outer: DerivationScope) -> None:
        """Take out of scope what the present scope brought."""
        scope, self.scope = self.scope, outer
        self.shape_vars.difference_update(scope.shape_vars)
        self.shapes.difference_update(scope.shapes)
        if scope.around is not None:
            self.prover.context.pop()
            self.connected = scope.around

    def bind_shape_vars(self, variables: Sequence[tir.Var]) -> None:
        """Add to Σ."""
        self.shape_vars.update(variables)
        self.scope.shape_vars.extend(variables)

    def remember(self, fact: PrimExpr) -> None:
        """Assume a fact until the present scope ends, unless much is known of its variables."""
        scope = self.scope
        if scope.facts >= REMEMBERED:
            return
        fact = self.prover.resolved(fact)
        used = prim_exprs.variables([fact])
        if self.connected.connected(used) >= CONNECTED:
            return
        if scope.around is None:
            self.prover.context.push()
            scope.around, self.connected = self.connected, self.connected.copy()
        scope.facts += 1
        if used:
            self.connected.connect(used)
        self.prover.context.assume(fact)

    def outlived(self, info: StructInfo) -> StructInfo:
        """An info in terms of what the variables of the present scope are known to stand for."""
        if not self.scope.shape_vars:
            return info
        aliases = self.prover.aliases
        known = {v: aliases[v] for v in free_shape_vars(info) if v in aliases}
        return substitute(info, known)

    def erased(self, info: StructInfo) -> StructInfo:
        """What is left of an info in the present scope."""
        return erase(info, self.shapes, self.shape_vars)

    # Reports

    def add(self, code: str, severity: str, message: str, span: Span | None, **extra: Any) -> None:
        """Report a diagnostic at a place of the text."""
        refuted(code)
        self.diagnostics.append(Diagnostic(code, severity, message, span, **extra))


def _shape_vars(part: Node) -> Iterable[object]:
    """The shape variables that a dimension or an info mentions."""
    return tir.free_vars(part) if isinstance(part, tir.PrimExpr) else free_shape_vars(part)  # type: ignore[arg-type]


_KEPT = 100_000
"""Expressions of which equal ones become one object; then it begins anew."""


class AliasProver(Prover):
    """Answers questions after replacing variables by what they stand for.

    Attributes
    ----------
    aliases
        What variables stand for; no image mentions a variable that is a key.
    """

    __slots__ = ("_known", "aliases")

    def __init__(self, statistics: Statistics) -> None:
        super().__init__(Context())
        self.statistics = statistics
        self.aliases: dict[tir.Var | object, PrimExpr] = {}
        self._known: dict[object, PrimExpr] = {}

    def alias(self, var: tir.Var, image: PrimExpr) -> None:
        """Let a variable that was not mentioned so far stand for an expression, from now on."""
        self.aliases[var] = self.resolved(image)

    def resolved(self, expr: PrimExpr) -> PrimExpr:
        """An expression without variables that stand for others; always the same object for the
        same text.
        """
        if self.aliases:
            expr = substitute_prim(expr, self.aliases)
        return expr if type(expr) is tir.Var else self._shared(expr)

    def _shared(self, expr: PrimExpr) -> PrimExpr:
        known = self._known
        if len(known) > _KEPT:
            known.clear()
        done: dict[PrimExpr, PrimExpr] = {}
        for node in prim_exprs.topological(expr):
            if isinstance(node, tir.Binary):
                a, b = done[node.a], done[node.b]
                key: object = (type(node), a, b)
                if key not in known:
                    known[key] = node if a is node.a and b is node.b else type(node)(a, b)
                done[node] = known[key]
            elif type(node) is tir.IntImm:
                done[node] = known.setdefault((node.value, node.dtype), node)
            elif type(node) is tir.Not:
                a = done[node.a]
                done[node] = known.setdefault((tir.Not, a), node if a is node.a else tir.Not(a))
            else:
                done[node] = node
        return done[expr]

    def equal(self, a: PrimExpr, b: PrimExpr) -> Verdict:
        """Whether two expressions have the same value wherever both are defined."""
        if prim_exprs.alike(a, b):
            self.statistics.sight += 1
            return IDENTICAL
        return super().equal(self.resolved(a), self.resolved(b))

    def always(self, condition: PrimExpr) -> Verdict:
        """Whether a condition holds for all values."""
        return super().always(self.resolved(condition))

    def never(self, condition: PrimExpr) -> Verdict:
        """Whether a condition holds for no value; a counterexample makes it true."""
        return super().never(self.resolved(condition))

    def simplify(self, expr: PrimExpr) -> PrimExpr:
        """An expression of the same value wherever ``expr`` is defined."""
        return super().simplify(self.resolved(expr))

    def relate_all(self, pairs: Sequence[tuple[PrimExpr, PrimExpr]]) -> Relation:
        """How two lists of dimensions compare, all pairs under the same values."""
        resolved = self.resolved
        return super().relate_all(
            [(resolved(a), resolved(b)) for a, b in pairs if not prim_exprs.alike(a, b)]
        )
