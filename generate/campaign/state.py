"""What a campaign has done so far, in a folder: it can be stopped at any time and goes on from
there.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rlx.generate.campaign.finding import Finding, from_record
from rlx.generate.campaign.finding_file import FindingFile
from rlx.generate.campaign.known_causes import explanation

PER_CAUSE = 12
"""So many findings are kept that differ only in the operators named after their cause."""


class CampaignState:
    """The progress of a campaign.

    Attributes
    ----------
    done
        How many programs of each chunk are done, by the chunk's first seed.
    findings
        One for each key, the first that was seen.
    kept
        The keys of those that have their file.
    seen
        How often each key was seen.
    seconds
        How long it ran.
    rules, operators
        How many programs reached each.
    table
        The known findings: what one of them explains is counted under its path, and is not new.
    """

    def __init__(self, path: Path | None = None, table: Sequence[FindingFile] = ()) -> None:
        self.path, self.table = path, table
        self.done: dict[int, int] = {}
        self.findings: dict[str, Finding] = {}
        self.kept: set[str] = set()
        self.seconds = 0.0
        self.seen: Counter[str] = Counter()
        self.rules: Counter[str] = Counter()
        self.operators: Counter[str] = Counter()
        if path is not None and path.exists():
            self._load(json.loads(path.read_text(encoding="utf-8")))

    @property
    def programs(self) -> int:
        """How many programs were examined."""
        return sum(self.done.values())

    def add(self, finding: Finding) -> bool:
        """Note a finding; whether it is new."""
        cause = explanation(finding, self.table)
        self.seen[finding.key if cause is None else cause.path] += 1
        if cause is not None:
            return False
        known = self.findings.values()
        if finding.key in self.findings or any(map(finding.same, known)):
            return False
        if sum(map(finding.like, self.findings.values())) >= PER_CAUSE:
            return False
        self.findings[finding.key] = finding
        return True

    def settle(self, finding: Finding, cause: FindingFile) -> None:
        """Count a finding under the known one that has turned out to be its cause."""
        self.findings.pop(finding.key)
        self.seen[cause.path] += self.seen.pop(finding.key)

    def merge(self, chunk: ChunkResult) -> list[Finding]:
        """Take in what a chunk gave, once however often it arrives; the findings that are new."""
        if chunk.first in self.done:
            return []
        self.done[chunk.first] = chunk.programs
        self.rules.update(chunk.rules)
        self.operators.update(chunk.operators)
        return [finding for finding in chunk.findings if self.add(finding)]

    def save(self) -> None:
        """Write the state; a reader sees the old one or the new one, never half of it."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        record = {
            "done": {str(first): count for first, count in self.done.items()},
            "findings": [f.record() for f in self.findings.values()],
            "seconds": self.seconds,
            "kept": sorted(self.kept),
            "seen": self.seen,
            "rules": self.rules,
            "operators": self.operators,
        }
        part = self.path.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(record), encoding="utf-8")
        part.replace(self.path)

    def _load(self, record: dict[str, dict[str, int]]) -> None:
        self.done = {int(first): count for first, count in record["done"].items()}
        for item in record["findings"]:
            finding = from_record(item)  # type: ignore[arg-type]
            self.findings[finding.key] = finding
        self.seconds = float(record.get("seconds", 0.0))  # type: ignore[arg-type]
        self.kept = set(record["kept"])
        self.seen.update(record["seen"])
        self.rules.update(record["rules"])
        self.operators.update(record["operators"])


class ChunkResult:
    """What examining a run of seeds gave; it travels between processes and machines.

    Attributes
    ----------
    first, programs
        The first seed, and how many programs were examined.
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.programs = 0
        self.findings: list[Finding] = []
        self.rules: Counter[str] = Counter()
        self.operators: Counter[str] = Counter()
