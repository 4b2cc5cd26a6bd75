"""From the parts of a check to what is said of the whole."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.checker.dynamic_checks.comparisons import Held, PartJudge
from rlx.checker.dynamic_checks.model import CheckPart, DynamicCheck, Status
from rlx.grammar import tir
from rlx.grammar.ast import StructInfo
from rlx.grammar.node import replace
from rlx.solver.prover import Prover

EXCLUDE = "its dimensions exclude each other"
_SAID = 3
"""How many parts a reason names."""


def summed_up(check: DynamicCheck, contradictory: bool = False, because: str = "") -> DynamicCheck:
    """A check with its status and reason.

    Parameters
    ----------
    contradictory
        Whether dimensions that could each hold exclude each other.
    because
        Why it is needed, where that is not for its parts to say.
    """
    never = [p for p in check.parts if p.status == "impossible"]
    if never:
        return replace(check, status="impossible", reason=_joined(never))
    missing = [p for p in check.parts if not _dispensable(p, check)]
    if not missing:
        bound = [p for p in check.parts if p.status == "binds"]
        return replace(check, status="redundant", reason=_joined(bound))
    status: Status = "impossible" if contradictory else "needed"
    reason = EXCLUDE if contradictory else because or _joined(missing)
    return replace(check, status=status, reason=reason)


def always_fails(
    prover: Prover,
    binders: Sequence[tir.Var],
    held: Held,
    found: StructInfo,
    wanted: StructInfo,
) -> str | None:
    """Why a cast fails whatever the value is; None where it may succeed."""
    judgement = PartJudge(prover, binders, held)
    (parts,) = judgement.judge([found], [wanted])
    never = [part for part in parts if part.status == "impossible"]
    if never:
        return _joined(never)
    return EXCLUDE if judgement.contradictory else None


def _dispensable(part: CheckPart, check: DynamicCheck) -> bool:
    """Whether a run can do without a part: a cast's variable may be replaced, a signature's may
    not.
    """
    if part.status == "binds":
        return check.kind == "cast" and part.image is not None
    return part.status == "proved"


def _joined(parts: Sequence[CheckPart]) -> str:
    more = len(parts) - _SAID
    rest = f"; and {more} more" if more > 0 else ""
    return "; ".join(part.reason for part in parts[:_SAID]) + rest
