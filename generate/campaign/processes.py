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
from pathlib import Path
from typing import Any

from rlx.generate.campaign.finding import Finding, from_record, with_operators
from rlx.generate.campaign.state import ChunkResult

_ENVIRONMENT = {"TVM_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "RLX_TRACE_RULES": "1"}
"""One thread for each process; and which rules are applied is written down."""

PATIENCE = 60.0
"""Seconds of the processor's time that one stage may take."""

BUSY = 10
"""So many times as long a stage may take by the clock: on a busy machine it waits for the processor, a hang waits for ever."""


class Worker:
    """A process that examines programs, and its replacement whenever it is lost.

    Parameters
    ----------
    program
        What Python runs; it is given the oracle and the peer.
    patience
        Seconds of the processor's time that one stage of a program may take.
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
        self.ended = False

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
        self.ended = False
        self.text, self.stage = "", "generation"
        try:
            process.stdin.write(
                json.dumps({"seed": seed, "text": text, "only": only}).encode() + b"\n"
            )
            process.stdin.flush()
        except OSError:
            return self._lost(seed, "crash")
        for record in self._answers(self.patience):
            if "stage" in record:
                self.stage = str(record["stage"])
            elif "text" in record:
                self.text = str(record["text"])
            elif "done" in record:
                return record
        return self._lost(seed, "crash" if self.ended else "hang")

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
            for _ in self._answers(PATIENCE):
                break  # it is ready
        return self.process

    def _answers(self, patience: float) -> Iterator[dict[str, Any]]:
        """What the process says, until it ends or says nothing for too long."""
        assert self.process is not None and self.process.stdout is not None
        stream, pid = self.process.stdout, self.process.pid
        with selectors.DefaultSelector() as waiting:
            waiting.register(stream, selectors.EVENT_READ)
            clock, processor = time.monotonic(), processor_time(pid)
            while True:
                line, newline, rest = self.unread.partition(b"\n")
                if newline:
                    self.unread = rest
                    yield json.loads(line)
                    clock, processor = time.monotonic(), processor_time(pid)
                    continue
                if waiting.select(min(1.0, patience)):
                    more = os.read(stream.fileno(), 1 << 16)
                    if not more:
                        self.ended = True
                        return
                    self.unread += more
                elif (
                    processor_time(pid) - processor > patience
                    or time.monotonic() - clock > BUSY * patience
                ):
                    return

    def _lost(self, seed: int, kind: str) -> Finding:
        process = self.process
        assert process is not None
        if kind == "hang":
            process.kill()
        code = process.wait()
        self.close()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        if kind == "hang":
            how = f"no answer within {self.patience:g} s"
        sentence = f"The process ended in {self.stage}: {how}."
        return Finding(kind, self.oracle, self.stage, how, sentence, "", self.text, seed)


def processor_time(pid: int) -> float:
    """Seconds of the processor's time that a process used; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    user, system = fields[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


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
