"""The judgement of a run-time check and of each of its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node, Record, Span, replace
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver.verdict import Proved

Path = tuple[str, ...]
PartStatus = Literal["proved", "binds", "needed", "impossible"]
Status = Literal["redundant", "impossible", "needed"]
Kind = Literal["cast", "entry", "return"]


class CheckPart(Record):
    """One comparison of a check.

    Attributes
    ----------
    path
        Where inside of the value, in the words of E-cast: ``("field 1", "dimension 0")``.
    premise
        The premise of E-cast at stake: ``"kind"``, ``"rank"``, ``"dtype"``, ``"device"``,
        ``"dimension"``, ``"value"``, ``"fields"`` or ``"function"``.
    status
        ``"proved"``: it holds whenever the check is reached. ``"binds"``: it gives a shape variable
        its number. ``"impossible"``: it never holds. ``"needed"``: none of these is known.
    wanted, found
        Both sides, in words; ``found`` is empty where nothing is known.
    counterexample
        Numbers of shape variables for which the two differ.
    var
        The shape variable that is bound.
    image
        The expression over variables in scope that is known to be the number it gets.
    proof
        What the prover proved of a dimension or a value: that both sides are equal, or never.
    """

    path: Path
    premise: str
    status: PartStatus
    wanted: str
    found: str = ""
    counterexample: Mapping[str, int] | None = None
    var: tir.Var | None = None
    image: PrimExpr | None = None
    proof: Proved | None = None

    @property
    def is_proved(self) -> bool:
        """Whether it holds whenever the check is reached."""
        return self.status == "proved"

    @property
    def is_impossible(self) -> bool:
        """Whether it never holds."""
        return self.status == "impossible"

    @property
    def place(self) -> str:
        """``field 1, dimension 0``; nothing for the value itself."""
        return ", ".join(self.path)

    @property
    def reason(self) -> str:
        """Why the part is not proved, in words."""
        place = f"{self.place}: " if self.path else ""
        if self.status == "binds":
            known = "" if self.image is None else f", which is already known to be {self.found}"
            return f"{place}it binds {self.wanted}{known}"
        wanted = self.wanted if self.premise in _OWN_WORDS else f"{self.premise} {self.wanted}"
        if not self.found:
            return f"{place}{wanted} is expected, but nothing is known"
        values = ", ".join(f"{name} = {n}" for name, n in (self.counterexample or {}).items())
        differ = f" (they differ for {values})" if values else ""
        return f"{place}{wanted} is expected, but {self.found} is known{differ}"


_OWN_WORDS = frozenset({"kind", "dimension", "value", "fields", "function"})


class DynamicCheck(Record):
    """One check that the specification requires of a run.

    Attributes
    ----------
    kind
        ``"cast"`` (a MatchCast), ``"entry"`` (a parameter against the signature), ``"return"``.
    span
        The place of the checked annotation.
    function
        The name of the function that makes the check; a local one is qualified: ``main.inner``.
    subject
        The checked value: the variable's name, or ``the result``.
    node
        The binding of a cast, the parameter, or the function whose result it is.
    owner
        The function that makes the check.
    status
        ``"redundant"``: it never fails. ``"impossible"``: it always fails.
        ``"needed"``.
    parts
        Every comparison that it makes.
    reason
        Why it is not redundant; for a redundant check, values of the shape variables that it binds.
    """

    kind: Kind
    span: Span | None
    function: str
    subject: str
    node: Node
    owner: ast.Function
    status: Status
    parts: tuple[CheckPart, ...]
    reason: str = ""

    @property
    def open_parts(self) -> tuple[CheckPart, ...]:
        """The parts that keep the check from being redundant."""
        return tuple(p for p in self.parts if not p.is_proved)

    @property
    def counterexample(self) -> Mapping[str, int] | None:
        """Values for which a part fails, the first found."""
        return next((p.counterexample for p in self.parts if p.counterexample), None)

    @property
    def certificates(self) -> list[dict[str, Any]]:
        """The certificates of what the prover proved of its parts; ``rlx verify-proof`` checks each."""
        return [part.proof.certificate for part in self.parts if part.proof is not None]

    @property
    def comparisons_proved(self) -> bool:
        """Whether all comparisons are proved; shape variables may still have to be bound."""
        return all(p.status in ("proved", "binds") for p in self.parts)


EXCLUDE = "its dimensions contradict each other"
_SAID = 3
"""How many parts a reason names."""


def summed_up(check: DynamicCheck, contradictory: bool, because: str = "") -> DynamicCheck:
    """A check with its status and reason.

    Parameters
    ----------
    contradictory
        Whether dimensions that could each hold exclude each other.
    because
        Why it is needed, where that is not for its parts to say.
    """
    never = [p for p in check.parts if p.is_impossible]
    if never:
        return replace(check, status="impossible", reason=joined(never))
    missing = [p for p in check.parts if not _dispensable(p, check)]
    if not missing:
        return replace(check, status="redundant", reason=joined(check.open_parts))
    if contradictory:
        return replace(check, status="impossible", reason=EXCLUDE)
    return replace(check, status="needed", reason=because or joined(missing))


def _dispensable(part: CheckPart, check: DynamicCheck) -> bool:
    """Whether a run can do without a part: a cast's variable may be replaced, a signature's may
    not.
    """
    match part.status, check.kind:
        case "proved", _:
            return True
        case "binds", "cast":
            return part.image is not None
    return False


def joined(parts: Sequence[CheckPart]) -> str:
    """The reasons of the first parts, as one."""
    more = len(parts) - _SAID
    rest = f"; and {more} more" if more > 0 else ""
    return "; ".join(part.reason for part in parts[:_SAID]) + rest
