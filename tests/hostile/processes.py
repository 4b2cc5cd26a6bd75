"""Many trials, some in each process: what ends the process, or needs too much memory, is found as well."""

from __future__ import annotations

import json
import os
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

CHUNK = 250
"""Trials of one process; memory that a command keeps is found, memory that caches keep is not."""

GIGABYTE = 1 << 30

SILENCE = 150
"""Seconds of its own after which a process that says nothing is ended, and four times as many on the clock."""

Attempt = Callable[[int, Path], list[str]]
"""What is wrong with the answers in the trial of a number; it may use a folder."""


class Trials:
    """Trials by number.

    Parameters
    ----------
    attempt
        Makes one.
    told
        Is called with the number and each thing that is wrong.
    memory
        The bytes that a process may need more than it has at its start.
    """

    def __init__(
        self, attempt: Attempt, told: Callable[[int, str], None], memory: int = GIGABYTE
    ) -> None:
        self.attempt, self.told, self.memory = attempt, told, memory
        self.times: Counter[str] = Counter()
        self.wrong = 0

    def run(self, numbers: range) -> None:
        """Try the numbers, a process for each chunk."""
        with tempfile.TemporaryDirectory() as folder:
            for first in range(numbers.start, numbers.stop, CHUNK):
                at, stop = first, min(first + CHUNK, numbers.stop)
                while at < stop:
                    log = Path(folder) / "log"
                    log.write_text("")
                    at = self._one_process(range(at, stop), log)

    def summary(self) -> str:
        """The number of trials, how long they took, and the number of wrong answers."""
        times = self.times
        return (
            f"{times['count']} damaged texts in {times['ms'] / 1000:.0f} s; "
            f"{self.wrong} wrong answers; slowest {times['slowest'] / 1000:.1f} s"
        )

    def _chunk(self, numbers: range, log: Path) -> None:
        """Try some numbers; write what each starts and what is wrong with it."""
        resource.setrlimit(resource.RLIMIT_DATA, (_data() + self.memory, -1))
        with tempfile.TemporaryDirectory() as folder, log.open("a", encoding="utf-8") as out:
            for number in numbers:
                start = time.perf_counter()
                out.write(json.dumps([number]) + "\n")
                out.flush()
                wrong = self.attempt(number, Path(folder))
                out.write(json.dumps([number, time.perf_counter() - start, wrong]) + "\n")

    def _one_process(self, numbers: range, log: Path) -> int:
        """Try numbers until one ends the process; the number to go on with."""
        child = os.fork()
        if child == 0:
            status = 1
            try:
                self._chunk(numbers, log)
                status = 0
            finally:
                os._exit(status)
        _watch(child, log)
        last, open_ = numbers.start, False
        for line in log.read_text("utf-8").splitlines():
            last, *rest = json.loads(line)
            open_ = not rest
            if rest:
                self.times["count"] += 1
                self.times["ms"] += int(rest[0] * 1000)
                self.times["slowest"] = max(self.times["slowest"], int(rest[0] * 1000))
                for each in rest[1]:
                    self._found(last, each)
        if open_:
            self._found(last, "the process ended, or had to be ended")
        return last + 1 if open_ or last + 1 == numbers.stop else numbers.stop

    def _found(self, number: int, problem: str) -> None:
        self.wrong += 1
        self.told(number, problem)


def _watch(child: int, log: Path) -> None:
    """Wait for a process; end it if it says nothing for long."""
    spent, clock, size = 0.0, time.monotonic(), 0
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        time.sleep(0.05)
        if (grown := log.stat().st_size) != size:
            spent, clock, size = _spent(child), time.monotonic(), grown
        elif _spent(child) - spent > SILENCE or time.monotonic() - clock > 4 * SILENCE:
            os.kill(child, 9)
            os.waitpid(child, 0)
            break


def _spent(child: int) -> float:
    """The processor time of a process, in seconds."""
    try:
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _data() -> int:
    """The bytes of private memory this process has."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) << 10
    return 0
