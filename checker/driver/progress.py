"""The line that says how far a long run has come."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator

from rlx.checker.render.files import FileReport

PATIENCE = 0.5
"""Seconds before the line appears: short runs end without one."""

EVERY = 0.1
"""Seconds between two writings."""


def with_progress(reports: Iterable[FileReport], total: int) -> Iterator[FileReport]:
    """Pass reports on; at a terminal, keep a line on stderr that counts them."""
    if total < 2 or not sys.stderr.isatty():
        yield from reports
        return
    due = time.monotonic() + PATIENCE
    done = wrong = 0
    written = False
    try:
        for report in reports:
            done += 1
            wrong += any(d.severity == "error" for d in report.diagnostics)
            if time.monotonic() >= due:
                due = time.monotonic() + EVERY
                sys.stderr.write(f"\r\x1b[Kchecked {done} of {total} files, {wrong} with errors")
                sys.stderr.flush()
                written = True
            yield report
    finally:
        if written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
