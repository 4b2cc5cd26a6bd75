"""The process that takes programs through a pipeline, and its replacement whenever it is lost."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any, Self

from rlx.bisect.blame import Blame, Pipeline
from rlx.bisect.worker import OURS

PATIENCE = 120.0
"""Seconds that one program may take."""


class UnusableError(Exception):
    """The pipeline cannot be had: TVM is not installed, or the expression gives no pass."""


class Process:
    """Takes one program after the other through a pipeline.

    Parameters
    ----------
    patience
        Seconds that one program may take.
    """

    def __init__(self, pipeline: Pipeline, patience: float = PATIENCE) -> None:
        self.command = [
            *(sys.executable, "-m", "rlx.bisect.worker"),
            *(pipeline.expression, pipeline.target, json.dumps(pipeline.sizes), str(pipeline.seed)),
        ]
        self.patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._unread = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def examine(self, text: str) -> Blame | None:
        """The first pass that does something wrong; None where all goes well.

        Raises
        ------
        UnusableError
            If there is no such pipeline, or no TVM.
        """
        stdin = self._running().stdin
        assert stdin is not None
        way = _Way()
        try:
            stdin.write(json.dumps(text).encode() + b"\n")
            stdin.flush()
        except OSError:
            return self._lost(way, "crash")
        deadline = time.monotonic() + self.patience
        for said in self._answers(deadline):
            if "fine" in said:
                return None
            if "problem" in said:
                return way.problem(said)
            if "raised" in said:
                return way.raised(said)
            way.note(said)
        return self._lost(way, "hang" if time.monotonic() > deadline else "crash")

    def close(self) -> None:
        """End the process."""
        process, self._process, self._unread = self._process, None, b""
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if os.environ.get("RLX_TRACEBACK") else subprocess.DEVNULL,
            )
            said = next(self._answers(time.monotonic() + PATIENCE), {})
            if "ready" not in said:
                self.close()
                raise UnusableError(said.get("unusable", "its process ended before it began"))
        return self._process

    def _answers(self, deadline: float) -> Iterator[dict[str, Any]]:
        assert self._process is not None and self._process.stdout is not None
        stream = self._process.stdout
        with selectors.DefaultSelector() as waiting:
            waiting.register(stream, selectors.EVENT_READ)
            while True:
                line, newline, rest = self._unread.partition(b"\n")
                if newline:
                    self._unread = rest
                    yield json.loads(line)
                    continue
                left = deadline - time.monotonic()
                if left <= 0 or not waiting.select(left):
                    return
                more = os.read(stream.fileno(), 1 << 16)
                if not more:
                    return
                self._unread += more

    def _lost(self, way: _Way, kind: str) -> Blame | None:
        """The process died, or does not answer."""
        process = self._process
        assert process is not None
        if kind == "hang":
            process.kill()
        code = process.wait()
        self.close()
        how = signal.Signals(-code).name if code < 0 else f"exit status {code}"
        if kind == "hang":
            how = f"no answer within {self.patience:.0f} s"
        if way.under_way == OURS:
            return None  # this tool took too long: nothing about a pass
        return Blame(way.under_way, kind, how, how, tuple(way.done), way.text)


class _Way:
    """How far a program has come."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.done: list[str] = []
        self.text = ""
        self.ours = False

    @property
    def under_way(self) -> str:
        """The innermost pass that has begun and not ended."""
        return OURS if self.ours else self.open[-1] if self.open else "TVM's parser"

    def note(self, said: dict[str, Any]) -> None:
        """Take in what is under way."""
        if "text" in said:
            self.text = said["text"]
        elif "end" in said:
            self.ours = False
            self.open.remove(said["end"])
            self.done.append(said["end"])
        elif "begin" in said:
            self.ours = said["begin"] == OURS
            if not self.ours:
                self.open.append(said["begin"])

    def problem(self, said: dict[str, Any]) -> Blame:
        """What the checker, or a run, has found."""
        name, kind, cause = said["problem"], said["kind"], said["cause"]
        message, before, after = said["message"], said["before"], said["after"]
        return Blame(name, kind, cause, message, tuple(self.done), before, after)

    def raised(self, said: dict[str, Any]) -> Blame:
        """An error that a pass raised."""
        name, message = self.under_way, said["message"]
        return Blame(name, "raises", said["raised"], message, tuple(self.done), self.text)
