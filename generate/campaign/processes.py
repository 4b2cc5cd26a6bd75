"""Worker processes: each examines program after program; one that dies or hangs is itself a finding."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rlx.generate.campaign.finding import Finding, from_record, with_operators
from rlx.generate.campaign.state import ChunkResult

_ENVIRONMENT = {"TVM_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "RLX_TRACE_RULES": "1"}
"""One thread for each process; and which rules are applied is written down."""

PATIENCE = 60.0
"""Seconds that one program may take."""


class Worker:
    """A process that examines programs, and its replacement whenever it is lost.

    Parameters
    ----------
    program
        What Python runs; it is given the oracle and the peer.
    patience
        Seconds that one program may take.
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
        self.process: subprocess.Popen[bytes] | None = None
        self.unread = b""
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
        assert process.stdin is not None
        self.text, self.stage = "", "generation"
        try:
            process.stdin.write(
                json.dumps({"seed": seed, "text": text, "only": only}).encode() + b"\n"
            )
            process.stdin.flush()
        except OSError:
            return self._lost(seed, "crash")
        deadline = time.monotonic() + self.patience
        for record in self._answers(deadline):
            if "stage" in record:
                self.stage = str(record["stage"])
            elif "text" in record:
                self.text = str(record["text"])
            elif "done" in record:
                return record
        return self._lost(seed, "hang" if time.monotonic() > deadline else "crash")

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            for stream in (self.process.stdin, self.process.stdout):
                if stream is not None:
                    stream.close()
            self.process, self.unread = None, b""

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **_ENVIRONMENT},
            )
            for _ in self._answers(time.monotonic() + 2 * PATIENCE):
                break  # it is ready
        return self.process

    def _answers(self, deadline: float) -> Iterator[dict[str, Any]]:
        assert self.process is not None and self.process.stdout is not None
        stream = self.process.stdout
        with selectors.DefaultSelector() as waiting:
            waiting.register(stream, selectors.EVENT_READ)
            while True:
                line, newline, rest = self.unread.partition(b"\n")
                if newline:
                    self.unread = rest
                    yield json.loads(line)
                    continue
                left = deadline - time.monotonic()
                if left <= 0 or not waiting.select(left):
                    return
                more = os.read(stream.fileno(), 1 << 16)
                if not more:
                    return
                self.unread += more

    def _lost(self, seed: int, kind: str) -> Finding:
        process = self.process
        assert process is not None
        if kind == "hang":
            process.kill()
        code = process.wait()
        self.close()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        if kind == "hang":
            how = f"no answer within {self.patience:.0f} s"
        sentence = f"The process ended in {self.stage}: {how}."
        return Finding(kind, self.oracle, self.stage, how, sentence, "", self.text, seed)


OURS = ("relax-check", "our machine", ", run")
"""How the stages end in which only this tool is at work: where it takes long, that is nothing about the peer."""


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
