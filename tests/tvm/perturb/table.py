"""The differences that are right as they are: where our judgement of a call and TVM's differ, and why."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .judge import Verdict

TABLE = Path(__file__).parents[1] / "differences_operators.toml"


@dataclass(frozen=True)
class Difference:
    """Verdicts of one kind that one reason explains.

    Attributes
    ----------
    kind
        The kind of verdict.
    operators
        A regular expression for the whole name of the operator.
    ours, theirs, label
        Regular expressions for the beginning of what we say (a code), for a part of what TVM says, and for a
        part of the change or of the call.
    witness
        A call that it explains, as verdicts show it: where both say the same of it, the entry is to go.
    """

    kind: str
    operators: str
    ours: str
    theirs: str
    label: str
    reason: str
    witness: str

    def explains(self, verdict: Verdict) -> bool:
        """Whether this is the reason of a verdict."""
        return (
            verdict.kind == self.kind
            and re.fullmatch(self.operators, verdict.operator) is not None
            and re.match(self.ours, verdict.ours) is not None
            and re.search(self.theirs, verdict.theirs) is not None
            and re.search(self.label, f"{verdict.label} | {verdict.text}") is not None
        )


@cache
def differences() -> tuple[Difference, ...]:
    """The table."""
    entries = tomllib.loads(TABLE.read_text(encoding="utf-8"))["difference"]
    return tuple(
        Difference(
            entry["kind"],
            entry.get("operators", ".*"),
            entry.get("ours", ""),
            entry.get("theirs", ""),
            entry.get("label", ""),
            entry["reason"],
            entry["witness"],
        )
        for entry in entries
    )


def explained(verdict: Verdict) -> bool:
    """Whether a verdict is an agreement, or one of those that the table explains."""
    return verdict.kind == "agree" or any(d.explains(verdict) for d in differences())


def unused(verdicts: Iterable[Verdict]) -> list[Difference]:
    """The entries of the table that explain none of these verdicts."""
    left = list(differences())
    for verdict in verdicts:
        left = [d for d in left if not d.explains(verdict)]
    return left
