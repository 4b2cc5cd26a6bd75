"""Fusion of a matrix product and the addition of its bias into one call of a new function."""

from __future__ import annotations

from rlx.grammar.nodes.ast import Expr, IRModule, Var
from rlx.grammar.nodes.node import replace
from rlx.transform.patterns import Match, is_op, rewrite, wildcard
from rlx.transform.shapes.outline import outline


def fuse_matmul_add(module: IRModule) -> IRModule:
    """In dataflow blocks, fuse each product whose only use is an addition with this addition.

    The new function is private and has the attribute ``Primitive``, which tells code generators to
    make one kernel of it.
    """
    x, w, b = wildcard(), wildcard(), wildcard()
    product = is_op("matmul")(x, w)
    pattern = is_op("add")(product, b)

    def fused(match: Match) -> Expr | None:
        addition, matmul = match.value, match.bound(product)
        if not match.in_dataflow or match.uses(product) > 1 or match[b] is match[product]:
            return None

        def compute(x: Var, w: Var, b: Var) -> Expr:
            return replace(addition, args=(replace(matmul, args=(x, w)), b))

        return outline(
            match.builder,
            "fused_matmul_add",
            [match[x], match[w], match[b]],
            compute,
            attrs={"Primitive": 1},
            known=match.builder.struct_info(addition),
        )

    return rewrite(module, pattern, fused)
