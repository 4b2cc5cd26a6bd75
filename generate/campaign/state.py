"""The state of a campaign in a folder, from which a stopped campaign continues."""

from __future__ import annotations

import hashlib
import json
import math
import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rlx.generate.campaign.finding import Finding, from_record
from rlx.generate.campaign.finding_file import FindingFile
from rlx.generate.campaign.known_causes import explanation
from rlx.writing import make_folder, put_aside, write

PER_CAUSE = 12
"""The most findings that are kept of those that differ only in the operators named after their cause."""


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
    damage
        Why an earlier state could not be read, and where its file is now; empty if it could.
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
        self.damage = ""
        if path is not None and path.exists():
            try:
                self._load(_read(path))
            except KeyError as error:
                self._put_aside(path, f"it has no {error}")
            except (DamageError, ArithmeticError, RecursionError, TypeError, ValueError) as error:
                self._put_aside(path, str(error))
            except OSError as error:
                self._put_aside(path, error.strerror or str(error))

    def _put_aside(self, path: Path, why: str) -> None:
        self.damage = f"{path} is damaged: {why}"
        with suppress(OSError):  # it is then replaced
            self.damage += f"; it is now {put_aside(path)}"

    @property
    def programs(self) -> int:
        """The number of programs examined."""
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
        """Write the state; a reader sees the old one or the new one, never half of it. Raises
        OSError if it cannot be written; the old one is then still there.
        """
        if self.path is None:
            return
        record = {
            "done": {str(first): count for first, count in self.done.items()},
            "findings": [f.record() for f in self.findings.values()],
            "seconds": self.seconds,
            "kept": sorted(self.kept),
            "seen": self.seen,
            "rules": self.rules,
            "operators": self.operators,
        }
        make_folder(self.path.parent)
        write(
            self.path, json.dumps({**record, _DIGEST: _digest(record)}), within=[self.path.parent]
        )

    def _load(self, record: dict[str, Any]) -> None:
        """Take over a record. Raises DamageError, KeyError, TypeError or ValueError if it is not
        one that :meth:`save` wrote; nothing is then taken over.
        """
        if not isinstance(record, dict) or record.pop(_DIGEST, "") != _digest(record):
            raise DamageError("its checksum is wrong")
        done = {int(first): count for first, count in _counts(record["done"]).items()}
        found = [from_record(item) for item in record["findings"]]
        seconds, kept = float(record["seconds"]), set(record["kept"])
        if not 0 <= seconds < math.inf:
            raise DamageError("its time is no duration")
        if not all(isinstance(key, str) for key in kept):
            raise DamageError("the names of its findings are no texts")
        counts = [_counts(record[name]) for name in ("seen", "rules", "operators")]
        self.done, self.seconds, self.kept = done, seconds, kept
        self.findings = {finding.key: finding for finding in found}
        for counter, numbers in zip((self.seen, self.rules, self.operators), counts, strict=True):
            counter.update(numbers)


class DamageError(Exception):
    """The file of a campaign's state is not one that a campaign wrote; the message says why."""


_DIGEST = "sha256"
_LARGEST = 1 << 26
"""The length of a file that no campaign writes."""


def _read(path: Path) -> dict[str, Any]:
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise DamageError("it is not a regular file")
    if found.st_size > _LARGEST:
        raise DamageError(f"it has {found.st_size} bytes")
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise DamageError("it is not JSON") from None
    return record


def _digest(record: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def _counts(found: object) -> dict[str, int]:
    """A record of numbers that count something."""
    if not isinstance(found, dict):
        raise DamageError("its counts are no counts")
    for count in found.values():
        if type(count) is not int or count < 0:
            raise DamageError("its counts are no counts")
    return found


class ChunkResult:
    """The result of examining a run of seeds; it travels between processes and machines.

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
