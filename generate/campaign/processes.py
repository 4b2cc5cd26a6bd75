"""Worker processes, each of which examines many programs. A process that dies or hangs is a
finding, too.
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rlx.generate.campaign.child import Child
from rlx.generate.campaign.finding import Finding, from_record, with_operators
from rlx.generate.campaign.state import ChunkResult
from rlx.grammar.nodes.node import replace
from rlx.grammar.processes import OUTSIDE, python

_ENVIRONMENT = {"TVM_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""One thread for each process."""

_STRICT = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0", "MALLOC_PERTURB_": "165"}
"""Settings with which the allocator of glibc notices sooner that memory was overwritten."""

EARLIER = 8
"""The programs of a process that are remembered: one that writes past a tensor may end it over another.
"""

TRIES = 6
"""The runs of a program alone, to see whether it ends the process."""

PATIENCE = 60.0
"""Seconds that one stage may take."""


class StoppedError(ChildProcessError):
    """Raised in place of an answer that is no longer wanted."""


class Worker:
    """A process that examines programs, and its replacement whenever it is lost.

    Parameters
    ----------
    program
        What Python runs; it is given the oracle, the peer and the memory.
    patience
        Seconds that one stage of a program may take.
    environment
        What the environment of the process has besides ours.
    memory
        The bytes that the tensors of a run may take; None for what the machine has.

    Attributes
    ----------
    earlier
        The seeds and texts of the latest programs that the process has examined.
    """

    def __init__(
        self,
        oracle: str,
        against: str,
        program: Sequence[str] = ("-m", "rlx.generate.campaign.worker"),
        patience: float = PATIENCE,
        environment: Mapping[str, str] | None = None,
        memory: int | None = None,
    ) -> None:
        self.oracle, self.against, self.program = oracle, against, program
        self.patience, self.memory = patience, memory
        self.environment = {**_ENVIRONMENT, **(environment or {})}
        self.earlier: deque[tuple[int, str]] = deque(maxlen=EARLIER)
        self.process: Child | None = None
        self.text = self.stage = ""
        self.stopped = False
        self.alone: Worker | None = None

    def examine(
        self, seed: int, text: str | None = None, only: str = "", until: float = math.inf
    ) -> dict[str, Any] | Finding:
        """Examine one program: the worker's answer, or the finding that it was lost over it.

        Parameters
        ----------
        text
            The program; None for the one that the seed makes.
        only
            The stage that is asked for; all of them if empty.
        until
            When no other stage is begun, by the clock of ``time.monotonic``.
        """
        process = self._running()
        self.text, self.stage = "", "generation"
        when = None if until == math.inf else until
        if process.tell({"seed": seed, "text": text, "only": only, "until": when}):
            for record in process.answers(self.patience):
                if "stage" in record:
                    self.stage = str(record["stage"])
                elif "text" in record:
                    self.text = str(record["text"])
                elif "done" in record:
                    self.earlier.append((seed, self.text))
                    return record
        self.process = None
        kind, how = process.ending()
        how = f"signal {how}" if how.startswith("SIG") else how
        sentence = f"The process ended in {self.stage}: {how}."
        return Finding(kind, self.oracle, self.stage, how, sentence, "", self.text, seed)

    def strict(self) -> Worker:
        """Another worker, whose process notices sooner that its memory is broken; it is stopped
        with this one.
        """
        self.alone = Worker(
            self.oracle, self.against, self.program, self.patience, _STRICT, self.memory
        )
        if self.stopped:
            self.alone.stop()
        return self.alone

    def stop(self) -> None:
        """End the process, also while another thread waits for its answer, and start none again."""
        self.stopped = True
        if self.alone is not None:
            self.alone.stop()
        process = self.process
        if process is not None:
            process.stop()

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.close()
            self.process = None

    def _running(self) -> Child:
        if self.stopped:
            raise StoppedError("the campaign was stopped")
        if self.process is None:
            self.earlier.clear()
            command = python(*self.program, "--", self.oracle, self.against)
            command += [] if self.memory is None else [str(self.memory)]
            # the user's own oracle may read files, and is named from where the user is
            folder = os.getcwd() if ":" in self.oracle else None
            self.process = Child(command, self.environment, folder)
            if self.stopped:  # meanwhile
                self.process.stop()
            for _ in self.process.answers(PATIENCE):
                break  # it is ready
        return self.process


OURS = ("relax-check", "our machine", ", run")
"""How the stages end in which only this tool is at work: where it takes long, that is nothing about
the peer.
"""


def findings(answer: dict[str, Any] | Finding) -> list[Finding]:
    """The findings of an answer of :meth:`Worker.examine`."""
    if isinstance(answer, Finding):
        return [answer]
    return [from_record(record) for record in answer["findings"]]


def culprit(worker: Worker, lost: Finding) -> Finding:
    """The finding of the program that ended a process by a signal: the one that was examined, if it
    does so alone, else an earlier one that broke the memory.
    """
    if not lost.cause.startswith("signal "):
        return lost
    for seed, text in ((lost.seed, lost.text), *reversed(worker.earlier)):
        alone = worker.strict()
        try:
            found = _ended(alone, seed, text)
        finally:
            alone.close()
        if found is not None and seed == lost.seed:
            return lost
        if found is not None:
            said = f"{found.sentence} At first it ended over a later program."
            return replace(found, sentence=said)
    return replace(lost, sentence=f"{lost.sentence} Alone the program does not end it.")


def _ended(worker: Worker, seed: int, text: str) -> Finding | None:
    """The finding that a process ended over this program by a signal."""
    for _ in range(TRIES):
        answer = worker.examine(seed, text)
        if isinstance(answer, Finding):
            return answer if answer.cause.startswith("signal ") else None
    return None


FROM_OUTSIDE = tuple(f"signal {name}" for name in OUTSIDE)
"""The causes of processes that something else has ended."""


def examine(
    worker: Worker, first: int, seeds: Iterable[int], deadline: float = math.inf
) -> ChunkResult:
    """Examine a run of seeds. `deadline`: neither a second program nor a third stage of one is begun after it,
    by the clock of ``time.monotonic``. Raises ChildProcessError if no worker comes as far as to have a program, or
    it is stopped.
    """
    result = ChunkResult(first)
    for seed in seeds:
        if result.programs and time.monotonic() > deadline:
            break
        try:
            answer = worker.examine(seed, until=deadline)
            if isinstance(answer, Finding) and answer.cause in FROM_OUTSIDE:
                answer = worker.examine(seed)
        except StoppedError:
            if result.programs:
                break
            raise
        if isinstance(answer, Finding):
            if not answer.text:
                raise ChildProcessError(
                    f"a worker was lost before it had a program: {answer.cause}"
                )
            answer = culprit(worker, answer)
        result.programs += 1
        if isinstance(answer, Finding) and answer.kind == "hang" and answer.stage.endswith(OURS):
            continue
        result.findings += map(with_operators, findings(answer))
        if isinstance(answer, Finding):
            continue
        result.rules.update(answer["rules"])
        result.operators.update(answer["operators"])
    return result
