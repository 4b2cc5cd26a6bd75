"""`relax-check --watch`: repeats the run whenever a file changes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence

from rlx.checker.driver.sources import find
from rlx.grammar.streams import CLEAR, HOME, complain_line, own, say
from rlx.grammar.wording import counted

PAUSE = 0.25
"""Seconds between two looks at the files."""

State = dict[str, tuple[int, int]]


def watch(paths: Sequence[str], run: Callable[[], int]) -> int:
    """Run, and run again after each change, until Ctrl-C: the exit status of the last run.

    New files in a directory count as changes, and so do files that go away.
    """
    status = 0
    before: State | None = None
    try:
        while True:
            now = _state(paths)
            if now != before:
                before = now
                if sys.stdout.isatty():
                    say(f"{own(CLEAR)}{own(HOME)}")
                status = run()
                complain_line(f"watching {counted(len(now), 'file')}")
                sys.stderr.flush()
            time.sleep(PAUSE)
    except KeyboardInterrupt:
        return status


def _state(paths: Sequence[str]) -> State:
    """Size and time of the last change of each file."""
    found, _, _ = find(paths)
    state = {}
    for path in found:
        try:
            known = os.stat(path)
        except OSError:
            continue
        state[path] = (known.st_mtime_ns, known.st_size)
    return state
