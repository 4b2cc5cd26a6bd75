"""Shrinking of findings: the program becomes smaller while the oracle reports the same cause."""

from __future__ import annotations

import time

from rlx.checker.check import check_text
from rlx.generate.campaign.finding import Finding, with_operators
from rlx.generate.campaign.processes import StoppedError, Worker, findings
from rlx.generate.reduce.search import reduced
from rlx.grammar.nodes.node import replace

SECONDS = 25.0
"""The seconds for the reduction of one finding; the smallest program by then is kept."""


def reduce(finding: Finding, worker: Worker, seconds: float = SECONDS) -> tuple[Finding, bool]:
    """The finding with the smallest program for which it is still the same finding, and whether it
    is minimal: the finding was seen again, and there was time to try all that makes it smaller.
    """
    deadline = time.monotonic() + seconds
    latest, late = finding, False
    own = ":" in finding.oracle

    def same(text: str) -> bool:
        nonlocal latest, late
        if time.monotonic() > deadline:
            late = True
            return False
        if own and not check_text(text).ok:
            return False  # an oracle of the user's own is asked about legal programs only
        try:
            answer = worker.examine(finding.seed, text, finding.stage)
        except StoppedError:
            late = True
            return False
        for found in findings(answer):
            if found.like(finding):
                latest = replace(found, text=text)
                return True
        return False

    smallest = reduced(finding.text, same)
    seen = latest is not finding
    return with_operators(replace(latest, text=smallest)), seen and not late
