"""Worker processes: each examines program after program; one that dies or hangs is itself a
finding.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rlx.generate.campaign.child import Child
from rlx.generate.campaign.finding import Finding, from_record, with_operators
from rlx.generate.campaign.state import ChunkResult

_ENVIRONMENT = {"TVM_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "RLX_TRACE_RULES": "1"}
"""One thread for each process; and which rules are applied is written down."""

PATIENCE = 60.0
"""Seconds that one stage may take."""


class Worker:
    """A process that examines programs, and its replacement whenever it is lost.

    Parameters
    ----------
    program
        What Python runs; it is given the oracle and the peer.
    patience
        Seconds that one stage of a program may take.
    """

    def __init__(
        self,
        oracle: str,
        against: str,
        program: Sequence[str] = ("-m", "rlx.generate.campaign.worker"),
        patience: float = PATIENCE,
    ) -> None:
        self.oracle, self.patience = oracle, patience
        self.command = [sys.executable, *program, oracle, against]
        self.process: Child | None = None
        self.text = self.stage = ""

    def examine(
        self, seed: int, text: str | None = None, only: str = ""
    ) -> dict[str, Any] | Finding:
        """What one program gave: the worker's answer, or the finding that it was lost over it.

        Parameters
        ----------
        text
            The program; None for the one that the seed makes.
        only
            The stage that is asked for; all of them if empty.
        """
        process = self._running()
        self.text, self.stage = "", "generation"
        if process.tell({"seed": seed, "text": text, "only": only}):
            for record in process.answers(self.patience):
                if "stage" in record:
                    self.stage = str(record["stage"])
                elif "text" in record:
                    self.text = str(record["text"])
                elif "done" in record:
                    return record
        return self._lost(process, seed)

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.close()
            self.process = None

    def _running(self) -> Child:
        if self.process is None:
            self.process = Child(self.command, _ENVIRONMENT)
            for _ in self.process.answers(PATIENCE):
                break  # it is ready
        return self.process

    def _lost(self, process: Child, seed: int) -> Finding:
        self.process = None
        kind, how = process.ending()
        how = f"signal {how}" if how.startswith("SIG") else how
        sentence = f"The process ended in {self.stage}: {how}."
        return Finding(kind, self.oracle, self.stage, how, sentence, "", self.text, seed)


OURS = ("relax-check", "our machine", ", run")
"""How the stages end in which only this tool is at work: where it takes long, that is nothing about
the peer.
"""


def findings(answer: dict[str, Any] | Finding) -> list[Finding]:
    """The findings of an answer of :meth:`Worker.examine`."""
    if isinstance(answer, Finding):
        return [answer]
    return [from_record(record) for record in answer["findings"]]


def examine(worker: Worker, first: int, seeds: Iterable[int]) -> ChunkResult:
    """Examine a run of seeds."""
    result = ChunkResult(first)
    for seed in seeds:
        answer = worker.examine(seed)
        result.programs += 1
        if isinstance(answer, Finding) and answer.kind == "hang" and answer.stage.endswith(OURS):
            continue
        result.findings += map(with_operators, findings(answer))
        if isinstance(answer, Finding):
            continue
        result.rules.update(answer["rules"])
        result.operators.update(answer["operators"])
    return result
