"""The certificate of a verdict, made when it is asked for."""

from __future__ import annotations

import os
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.stack import roomy
from rlx.solver import prim_exprs
from rlx.solver.context import Components, ContextState, Range, constraints
from rlx.solver.expression_text import show

PARANOID = os.environ.get("RLX_PARANOID") == "1"
"""Whether each proof is checked as it is made."""
UNCHECKED = "unchecked"
"""The last word of what stands in place of the steps where nothing was found."""


def identity(a: PrimExpr, b: PrimExpr, means: str) -> dict[str, Any]:
    """The certificate that expressions of the same structure are equal, for all integers."""
    goal = tir.EQ(a, b)
    anything: dict[tir.Var, Range] = dict.fromkeys(tir.free_vars(goal), (None, None))
    return certificate(goal, ContextState(anything, (), {}), means)


@roomy
def certificate(goal: PrimExpr, state: ContextState, means: str) -> dict[str, Any]:
    """The certificate of a goal that was proved; ``"proof"`` is a text if none was found.

    Parameters
    ----------
    means
        How the prover proved it.
    """
    from rlx.solver.proofs.checker import RefusedError
    from rlx.solver.proofs.draft import distinct_names
    from rlx.solver.proofs.producer import found

    expanded, *facts = prim_exprs.expand([goal, *constraints(state)])
    known = [fact for fact in facts if prim_exprs.uninterpreted(tir.postorder(fact)) is None]
    near, far = Components(known).split(tir.free_vars(expanded))
    refused = None
    for assumed in (near, known) if far else (near,):
        variables = dict.fromkeys(tir.free_vars(expanded, *assumed))
        if assumed is known:
            variables |= dict.fromkeys(state.ranges)
        ranges = [(var, state.range_of(var)) for var in variables]
        try:
            result = found(expanded, assumed, ranges)
        except RefusedError as error:
            refused, result = error, None
        if result is not None:
            return result
    if refused is not None and PARANOID:
        raise RuntimeError(f"the certificate of {show(goal)} is refused: {refused}")
    by = "SMT" if means.startswith("smt") else means
    names = distinct_names(tir.free_vars(expanded, *near))
    renamed: dict[tir.Var, PrimExpr] = {v: tir.Var(name, v.dtype) for v, name in names.items()}
    return {
        "version": 1,
        "goal": show(tir.substitute(expanded, renamed)),
        "assume": [show(tir.substitute(fact, renamed)) for fact in near],
        "variables": {name: list(state.range_of(var)) for var, name in names.items()},
        "names": {},
        "proof": f"by {by}, {UNCHECKED}",
    }
