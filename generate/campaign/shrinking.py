"""Findings made small: the program shrinks while the oracle says the same of it."""

from __future__ import annotations

import time

from rlx.generate.campaign.finding import Finding, with_operators
from rlx.generate.campaign.processes import Worker, findings
from rlx.generate.reduce.text_reduction import reduced
from rlx.grammar.node import replace

SECONDS = 25.0
"""So long one finding is reduced; what is smallest by then is kept."""


def reduce(finding: Finding, worker: Worker, seconds: float = SECONDS) -> Finding:
    """The finding with the smallest program for which it is still the same finding."""
    deadline = time.monotonic() + seconds
    latest = finding

    def same(text: str) -> bool:
        nonlocal latest
        if time.monotonic() > deadline:
            return False
        for found in findings(worker.examine(finding.seed, text, finding.stage)):
            if found.like(finding):
                latest = replace(found, text=text)
                return True
        return False

    smallest = reduced(finding.text, same)
    return with_operators(replace(latest, text=smallest))
