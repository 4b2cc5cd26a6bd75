"""Entry checks of functions: what all calls together guarantee of each parameter."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rlx.checker.dynamic_checks.model import CheckPart, Path
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import replace
from rlx.spec.registry import decide, rule

Key = tuple[Path, str]


class EntryCalls:
    """The knowledge about the calls of one function.

    Attributes
    ----------
    open
        Whether someone may call it whose calls are not seen: it has a ``global_symbol``, or is used
        as a value.
    calls
        For each call seen, the parts of each parameter.
    contradictory
        For each call, whether its open dimensions exclude each other.
    """

    __slots__ = ("calls", "contradictory", "open")

    def __init__(self, open: bool) -> None:
        self.open = open
        self.calls: list[Sequence[Sequence[CheckPart]]] = []
        self.contradictory: list[bool] = []

    def add(self, judged: Sequence[Sequence[CheckPart]], contradictory: bool) -> None:
        """Note a call."""
        self.calls.append(judged)
        self.contradictory.append(contradictory)

    @property
    def never_fits(self) -> bool:
        """Whether every call is made with dimensions that exclude each other."""
        return not self.open and bool(self.calls) and all(self.contradictory)

    @rule("CHECK-entry", "dynamic check")
    def parts(
        self, index: int, anyone: Sequence[CheckPart], unused: Collection[tir.Var]
    ) -> list[CheckPart]:
        """The parts of a parameter.

        Parameters
        ----------
        anyone
            Its parts for an argument of which nothing is known.
        unused
            Shape variables that stand at one place only: whatever they meet, they fit.
        """
        if not decide("CHECK-entry-seen", not self.open):
            return [settle(part, unused) for part in anyone]
        calls = [{(p.path, p.premise): p for p in call[index]} for call in self.calls]
        return [
            settle(_together(part, [c.get((part.path, part.premise)) for c in calls]), unused)
            for part in anyone
        ]


def _together(part: CheckPart, seen: Sequence[CheckPart | None]) -> CheckPart:
    """A part for all calls: proved or impossible if it is so for each."""
    if part.status in ("binds", "impossible"):
        return part
    missing = [p for p in seen if p is None or not p.is_proved]
    if decide("CHECK-entry-calls", not missing):
        return replace(part, status="proved")
    first, *_ = missing
    if first is None:
        return part
    if first.is_impossible and not all(p is not None and p.is_impossible for p in seen):
        return replace(first, status="needed")
    return first


def settle(part: CheckPart, unused: Collection[tir.Var]) -> CheckPart:
    """A part that only binds an unused variable holds of every value."""
    if part.status == "binds" and part.var in unused:
        return replace(part, status="proved")
    return part


def is_private(function: ast.Function) -> bool:
    """Whether only the module itself can name a function."""
    return "global_symbol" not in function.attrs
