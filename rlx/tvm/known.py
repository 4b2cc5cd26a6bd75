"""Differences by choice: passes that are right although a finding names them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlx.generate.campaign.finding import Finding
    from rlx.generate.campaign.finding_file import FindingFile

BY_CHOICE = "by-choice"


def by_choice(folder: Path) -> list[FindingFile]:
    """The findings below a folder that are differences by choice. Raises EntryError if a file there
    is no finding.
    """
    from rlx.generate.campaign.finding_file import read_entry

    return [read_entry(path) for path in sorted(folder.glob(f"{BY_CHOICE}/*.rlx"))]


def chosen(finding: Finding, table: Sequence[FindingFile]) -> FindingFile | None:
    """The difference by choice that a pass has made; None if it is none."""
    from rlx.generate.campaign.finding import family, with_operators
    from rlx.generate.campaign.known_causes import explanation

    own = [entry for entry in table if family(entry.stage) == family(finding.stage)]
    return explanation(with_operators(finding), own)
