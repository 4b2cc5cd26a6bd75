"""A process in which one call of the system fails, or which is killed at it."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

CALLS = (
    *(
        *("open", "write", "fsync", "fchmod", "fchown", "replace", "rename", "mkdir", "close"),
        "unlink",
    ),
    *("fstat", "listxattr", "setxattr"),
)
"""The functions of `os` that writing uses, and some that it might."""


class Ending:
    """The end of a process: its exit status, or the signal as a negative number; and its output."""

    def __init__(self, status: int, said: str, calls: int) -> None:
        self.status, self.said, self.calls = status, said, calls


def run(
    work: Callable[[], int], folder: Path, at: int = 0, fault: Callable[[], None] = lambda: None
) -> Ending:
    """Do some work in a process of its own; call `fault` instead of the call number `at` of :data:`CALLS`."""
    said, counted = folder / "said", folder / "counted"
    child = os.fork()
    if child == 0:
        status = 101
        try:
            status = _in_child(work, said, counted, at, fault)
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    words = said.read_text(encoding="utf-8", errors="replace")
    return Ending(code, words, int(counted.read_text() or 0) if code >= 0 else 0)


def _in_child(
    work: Callable[[], int], said: Path, counted: Path, at: int, fault: Callable[[], None]
) -> int:
    import io
    import sys

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    talk = said.open("w", encoding="utf-8")
    counting = counted.open("w")
    sys.stdout = sys.stderr = talk
    sys.stdin = io.TextIOWrapper(io.BytesIO())
    count = [0]

    def faulty(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if sys._getframe(1).f_code.co_filename.endswith(("time_limit.py", "sources.py")):
                return function(*given, **named)  # a pipe to a process, or a file that is read
            count[0] += 1
            if count[0] == at:
                fault()
            return function(*given, **named)

        return call

    kept = {name: getattr(os, name) for name in CALLS}
    for name, function in kept.items():
        setattr(os, name, faulty(function))
    try:
        return work()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1
    finally:
        for name, function in kept.items():
            setattr(os, name, function)
        counting.write(str(count[0]))
        counting.close()
        talk.close()


def disk_full() -> None:
    """The error of a call on a full disk."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def killed() -> None:
    """End the process as the system does when it is short of memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def ended() -> None:
    """End the process as `timeout` and service managers do."""
    os.kill(os.getpid(), signal.SIGTERM)
