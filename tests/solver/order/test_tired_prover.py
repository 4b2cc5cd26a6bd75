"""Answers about single dimensions count if the prover gives none about all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.order import compatibility
from rlx.solver.prover import Prover
from rlx.solver.verdict import Relation
from tests.solver.order.build import add, imm, mul, prover, tensor, var

N, M, K = var("n"), var("m"), var("k")


class Tired(Prover):
    """Answers about one pair of dimensions, not about several at once."""

    def relate_all(self, pairs: Sequence[tuple[PrimExpr, PrimExpr]]) -> Relation:
        return super().relate_all(pairs) if len(pairs) == 1 else Relation("unknown")


def judged(*pairs: tuple[PrimExpr, PrimExpr]) -> str:
    given, wanted = zip(*pairs, strict=True)
    found = compatibility(tensor(given), tensor(wanted), Tired()).kind
    assert found == compatibility(tensor(given), tensor(wanted), prover()).kind
    return found


def test_what_holds_of_each_dimension_holds_of_all() -> None:
    same = [(add(N, 1), add(1, N)), (mul(M, 2), add(M, M)), (mul(K, 0), imm(0))]
    for pairs in permutations(same):
        assert judged(*pairs) == "compatible"
        assert judged(*pairs, (N, N)) == "compatible"
        assert judged(*pairs, (M, N)) == "possible"
        assert judged(*pairs, (add(N, 2), N)) == "incompatible"
