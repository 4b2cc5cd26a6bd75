"""Explanations of answers."""

from __future__ import annotations

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import prim_exprs
from rlx.solver.prover import Prover, simple_enough
from rlx.solver.question_parser import show
from rlx.solver.tactics import TACTICS
from rlx.solver.verdict import CONTRADICTORY, NEVER_DEFINED, Proved, Refuted, Unknown

_MEANS = {
    "identical": "both sides are the same expression",
    "normal form": "both sides have the same normal form",
    "bounds": "the bounds of the variables and terms decide it",
    "floor": "the quotient is determined by 0 <= remainder < divisor",
    "residues": "it holds for every residue of the variables modulo the constant divisors",
    "cases": "a case distinction, each case by its normal form",
    CONTRADICTORY: "the assumptions cannot all be true",
    NEVER_DEFINED: "it is never defined: a divisor is always zero",
}


_TRUE_FORM = "the normal form of the condition is true for all values"


def explained(prover: Prover, goal: PrimExpr) -> str:
    """The steps that answer a question, or the weakest known simple assumption that would prove it.

    The assumption was checked by proving the goal with it, and is satisfiable.
    """
    verdict = prover.always(goal)
    lines = [f"goal: {show(goal)}"]
    lines += [f"assuming: {show(fact)}" for fact in prover.context.state.facts]
    lines += _steps(prover, goal)
    lines += _tactics(prover, goal)
    match verdict:
        case Proved(means=means, divisors=divisors):
            same = means == "normal form" and not isinstance(goal, tir.EQ)
            why = _TRUE_FORM if same else _MEANS.get(means, _by_smt(means))
            lines.append(f"proved: {why}")
            where = "defined nowhere" if means == NEVER_DEFINED else "wherever it is defined"
            lines += [f"{where}: {show(d)} != 0" for d in divisors]
        case Refuted(example=example, means=means):
            shown = ", ".join(f"{name} = {value}" for name, value in example.items())
            lines.append(f"refuted: false for {shown or 'all values'}")
            lines += _values(goal, verdict)
            # What would avoid an overflow is not looked for.
            lines += _assumption(prover, goal) if verdict.overflow is None else []
        case Unknown(reason=reason):
            lines.append(f"unknown: {reason}")
            lines += _assumption(prover, goal)
    return "\n".join(lines)


def _by_smt(means: str) -> str:
    style = means.removeprefix("smt: ")
    encoding = f"bit {style}" if style.startswith("vectors") else f"{style} encoding"
    return f"Z3 finds no counterexample ({encoding}; export it with --smtlib)"


def _steps(prover: Prover, goal: PrimExpr) -> list[str]:
    """Both sides after simplification, where that changes them."""
    if not isinstance(goal, tir.Comparison):
        return []
    lines = []
    for word, side in (("left", goal.a), ("right", goal.b)):
        simple = prover.simplify(side)
        if show(simple) != show(side):
            lines.append(f"{word} side: {show(side)} = {show(simple)}")
    return lines


def _tactics(prover: Prover, goal: PrimExpr) -> list[str]:
    """The tactics in their order: those that were tried, and those that were not needed any
    more.
    """
    tried = prover.tried(goal)
    lines = [f"tried: {', '.join(tried)}"] if tried else []
    left = [tactic.name for tactic in TACTICS if tactic.name not in tried]
    return [*lines, f"not needed: {', '.join(left)}"] if left and tried else lines


def _values(goal: PrimExpr, refuted: Refuted) -> list[str]:
    if refuted.overflow is not None:
        return [f"{show(refuted.overflow)} does not fit into int64"]
    if not isinstance(goal, tir.Comparison):
        return []
    from rlx.solver.evaluate import evaluate

    left, right = (evaluate(side, refuted.values) for side in prim_exprs.expand([goal.a, goal.b]))
    return [f"there the left side is {left}, the right side {right}"]


def _assumption(prover: Prover, goal: PrimExpr) -> list[str]:
    if not simple_enough(goal):
        return []
    found = prover.relate(goal.a, goal.b).assumption if isinstance(goal, tir.EQ) else None
    if found is None:
        found = prover.assumption(goal)
    return [] if found is None else [f"it would hold if {show(found)}"]
