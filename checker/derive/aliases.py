"""A prover that knows of shape variables which casts bound to known dimensions.

Each such variable is replaced before a question is asked. As definitions of the context they would be part of every
question about what they stand for; replaced, they cost nothing however many there are.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar import tir
from rlx.grammar.tir import PrimExpr
from rlx.solver.context import Context
from rlx.solver.order import substitute_prim
from rlx.solver.prover import Prover
from rlx.solver.verdict import Relation, Verdict


class AliasProver(Prover):
    """Answers questions after replacing variables by what they stand for.

    Attributes
    ----------
    aliases
        What variables stand for; no image mentions a variable that is a key.
    """

    __slots__ = ("aliases",)

    def __init__(self) -> None:
        super().__init__(Context())
        self.aliases: dict[tir.Var | object, PrimExpr] = {}

    def alias(self, var: tir.Var, image: PrimExpr) -> None:
        """Let a variable that was not mentioned so far stand for an expression, from now on."""
        self.aliases[var] = self.resolved(image)

    def resolved(self, expr: PrimExpr) -> PrimExpr:
        """An expression without variables that stand for others."""
        return substitute_prim(expr, self.aliases) if self.aliases else expr

    def equal(self, a: PrimExpr, b: PrimExpr) -> Verdict:
        """Whether two expressions have the same value wherever both are defined."""
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
        if self.aliases:
            pairs = [(self.resolved(a), self.resolved(b)) for a, b in pairs]
        return super().relate_all(pairs)
