"""A prover that knows of shape variables which casts bound to known dimensions, and a question it
was asked.

Each such variable is replaced before a question is asked. As definitions of the context they would
be part of every question about what they stand for; replaced, they cost nothing however many there
are. Equal expressions become one object, because the prover remembers answers by the objects it was
asked about, and a module asks the same of many calls.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar import tir
from rlx.grammar.tir import PrimExpr
from rlx.solver import prim_exprs
from rlx.solver.context import Context
from rlx.solver.order import substitute_prim
from rlx.solver.prover import IDENTICAL, Prover
from rlx.solver.verdict import Relation, Verdict

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

    def __init__(self) -> None:
        super().__init__(Context())
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
