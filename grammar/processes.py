"""Processes: safe starts of other programs, none of which looks for modules, libraries or programs
in the current folder, because that folder may be a stranger's; and what our own begin with.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

UNABLE, BUG, INTERRUPTED = 2, 101, 130
"""The exit statuses that all commands share: wrong usage or an unreadable file, a mistake of ours,
and Ctrl-C.
"""

_SEARCHED = (
    *("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "Z3_LIBRARY_PATH"),
    *("COMPILER_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH"),
)
"""Environment variables that list folders; an empty or relative one is the current folder, or below
it.
"""


def collect_seldom() -> None:
    """Let Python look for cycles seldom: a program and what is known of it live as long as the
    process needs them, and Python's own figures walk through all of it again and again.
    """
    gc.set_threshold(100_000, 50, 1000)


def seconds_given(variable: str, default: float) -> float:
    """The number of seconds in an environment variable. Raises ValueError if it is not a positive
    number.
    """
    given = os.environ.get(variable, "").strip()
    try:
        found = float(given or default)
    except ValueError:
        found = 0.0
    if not found > 0:  # nan, too
        raise ValueError(f"{variable}: expected a positive number of seconds, found {given!r}")
    return found


OUTSIDE = ("SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGXCPU")
"""The signals that users and systems send, which may be short of memory; a process that fails gets others."""


def from_outside(status: int) -> str | None:
    """The words for a process that something else has ended; None if it ended by itself.

    Parameters
    ----------
    status
        The exit code of the process: that of a signal is negative, as :mod:`subprocess` has it.
    """
    name = next((s.name for s in signal.Signals if s == -status), None)
    if name not in OUTSIDE:
        return None
    hint = "; the system does so if memory is short" if name == "SIGKILL" else ""
    return f"its process was killed from outside ({name}){hint}"


def python(*arguments: str) -> list[str]:
    """The command that runs this Python, without the current folder on its search path."""
    return [sys.executable, "-I" if sys.flags.isolated else "-P", *arguments]


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a child: ours without relative folders, and ``more``."""
    made = {**os.environ, "PYTHONSAFEPATH": "1"}
    for name in _SEARCHED:
        if name in made:
            made[name] = absolute_folders(made[name])
            if not made[name]:
                del made[name]
    return {**made, **(more or {})}


def absolute_folders(listed: str) -> str:
    """The absolute folders of a list such as ``PATH``."""
    return os.pathsep.join(part for part in listed.split(os.pathsep) if os.path.isabs(part))


@contextmanager
def safe_environment() -> Iterator[None]:
    """Let this process have the :func:`environment` of its children, for what starts them or loads
    libraries with ``os.environ``.
    """
    before, safe = dict(os.environ), environment()
    try:
        os.environ.update(safe)
        for name in before.keys() - safe.keys():
            del os.environ[name]
        yield
    finally:
        os.environ.update(before)
        for name in safe.keys() - before.keys():
            del os.environ[name]
