"""A process with which one exchanges lines of JSON; it may die or hang."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from rlx.checker.driver.time_limit import end_with
from rlx.grammar.processes import environment
from rlx.writing import scratch

LOOK = 1.0
"""Seconds between two looks at a process that says nothing."""

_LIFE = "RLX_LIFE"
"""The environment variable that names the pipe whose other end a process's parent has."""

_AT_WORK = frozenset("RD")
"""States of a process that works, or waits for the processor or the disk."""


def end_with_parent() -> None:
    """Let the system end this process when the one that has made a :class:`Child` of it ends.

    However that ends, and whatever this one is doing: both may hang.
    """
    pipe = os.environ.pop(_LIFE, "")
    if pipe.isdecimal():
        end_with(int(pipe))


def answers() -> Callable[..., None]:
    """A function that writes its named arguments to the parent, as a line of JSON.

    From now on, what libraries print is lost, so that the parent reads nothing else.
    """
    out = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def say(**record: object) -> None:
        out.write(json.dumps(record) + "\n")

    return say


class Child:
    """One process. Its program may call :func:`end_with_parent`.

    Parameters
    ----------
    command
        What is run. What it writes to stderr is shown only if ``RLX_TRACEBACK`` is set.
    more
        What its environment has besides ours.
    folder
        Where it runs; None for an empty folder of its own.
    """

    def __init__(
        self,
        command: Sequence[str],
        more: Mapping[str, str] | None = None,
        folder: str | None = None,
    ) -> None:
        self._own = ExitStack()
        self._unread = b""
        self._begun: list[bytes] = []
        self._ended = False
        self._patience = 0.0
        held: list[int] = []
        if os.name == "posix":
            end, life = os.pipe()
            held.append(end)
            self._own.callback(os.close, life)
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("RLX_TRACEBACK") else subprocess.DEVNULL,
            env=environment({**(more or {}), _LIFE: "".join(map(str, held))}),
            cwd=folder or self._own.enter_context(scratch()),
            pass_fds=held,
        )
        for end in held:
            os.close(end)

    def tell(self, what: object) -> bool:
        """Tell the process something; whether it was there to be told."""
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps(what).encode() + b"\n")
            stdin.flush()
        except OSError:
            self._ended = True
        return not self._ended

    def answers(self, patience: float) -> Iterator[dict[str, Any]]:
        """The answers of the process, until it ends, or works or sleeps for so many seconds without
        one.

        That it waits for the processor, since the machine is busy, is not counted.
        """
        stream = self._process.stdout
        assert stream is not None
        self._patience = patience
        with selectors.DefaultSelector() as waiting:
            waiting.register(stream, selectors.EVENT_READ)
            silence = Silence(self._process.pid)
            while True:
                line, newline, rest = self._unread.partition(b"\n")
                self._begun.append(line)  # long lines come in many parts, each looked at once
                self._unread = rest
                if newline:
                    whole = b"".join(self._begun)
                    self._begun.clear()
                    yield json.loads(whole)
                    silence = Silence(self._process.pid)
                    continue
                if waiting.select(min(LOOK, patience)):
                    more = os.read(stream.fileno(), 1 << 16)
                    if not more:
                        self._ended = True
                        return
                    self._unread = more
                elif silence.longer_than(patience):
                    return

    def ending(self) -> tuple[str, str]:
        """The end of a process that answers no more: ``"crash"`` or ``"hang"``, and how it ended;
        then it is closed.
        """
        if not self._ended:
            self.close()
            return "hang", f"no answer within {self._patience:g} s"
        code = self._process.wait()
        self.close()
        return "crash", signal.Signals(-code).name if code < 0 else f"exit status {code}"

    def stop(self) -> None:
        """End the process, also while another thread reads its answers; it is closed there."""
        self._process.kill()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(OSError):  # what it was told and did not read
                stream.close()
        self._own.close()


class Silence:
    """The time for which a process says nothing: the time that it computes, and the time that it
    sleeps.
    """

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.asleep = 0.0
        self.looked = time.monotonic()
        self.start = self.computed = processor_time(pid)

    def longer_than(self, seconds: float) -> bool:
        """Look at the process; whether it computed or slept for longer than that."""
        now, computed = time.monotonic(), processor_time(self.pid)
        if computed == self.computed and state(self.pid) not in _AT_WORK:
            self.asleep += now - self.looked
        self.looked, self.computed = now, computed
        return max(computed - self.start, self.asleep) > seconds


def processor_time(pid: int) -> float:
    """Seconds of the processor's time that a process used; 0 where the system does not tell."""
    fields = _fields(pid)
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def state(pid: int) -> str:
    """The letter of a process's state: ``"R"`` is running; nothing where the system does not
    tell.
    """
    return next(iter(_fields(pid)), "")


def _fields(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
