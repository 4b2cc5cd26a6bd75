"""The list of checks for the command: plain words and places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from rlx.grammar.diagnostic import Region, region
from rlx.grammar.nodes.node import Record

if TYPE_CHECKING:
    from rlx.checker.dynamic_checks.model import CheckPart, DynamicCheck
    from rlx.grammar.diagnostic import Source
    from rlx.grammar.nodes.ast import IRModule

STATUSES = ("redundant", "impossible", "needed")
_SUBJECTS = {"entry": "parameter {}", "cast": "cast of {}", "return": "{}"}


class Listed(Record):
    """One check.

    Attributes
    ----------
    what
        Kind and subject in words: ``parameter 'x' of main``.
    region
        Line, column, end line, end column; all from 1.
    parts
        What keeps it from being redundant: ``place, premise, status, wanted, found`` of each.
    """

    kind: str
    function: str
    subject: str
    what: str
    status: str
    reason: str
    region: Region
    parts: tuple[Mapping[str, str | None], ...]
    counterexample: Mapping[str, int] | None = None


def listed(modules: Iterable[IRModule], source: Source) -> tuple[Listed, ...]:
    """The checks of the modules of one text, by place."""
    from rlx.checker.dynamic_checks import analyse

    found = [_listed(check, source) for module in modules for check in analyse(module)]
    return tuple(sorted(found, key=attrgetter("region")))


def _listed(check: DynamicCheck, source: Source) -> Listed:
    subject = check.subject if " " in check.subject else f"'{check.subject}'"
    return Listed(
        check.kind,
        check.function,
        check.subject,
        f"{_SUBJECTS[check.kind].format(subject)} of {check.function}",
        check.status,
        check.reason,
        region(source, check.span),
        tuple(_part(part) for part in check.open_parts),
        check.counterexample,
    )


def _part(part: CheckPart) -> Mapping[str, str | None]:
    return {
        "place": part.place,
        "premise": part.premise,
        "status": part.status,
        "wanted": part.wanted,
        "found": part.found or None,
    }


def counts(checks: Sequence[Listed]) -> dict[str, int]:
    """The number of checks by status."""
    number = Counter(check.status for check in checks)
    return {status: number[status] for status in STATUSES}
