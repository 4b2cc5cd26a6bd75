"""Programs of the compiler, run for a limited time, with limited output.

A compiler may be a script of the user's: it may hang, start other programs, or print without end.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO, NamedTuple

from rlx.grammar.processes import environment

VARIABLE = "RLX_COMPILER_TIMEOUT"
"""Environment variable: seconds after which a compiler is ended."""

DEFAULT = 120.0

KEPT = 1 << 16
"""Bytes of the end of what a program prints."""


class TooSlow(Exception):
    """A program was ended because it took too long; the text says what to do."""


class Done(NamedTuple):
    """The end of a program: its exit status, and the last lines that it printed."""

    status: int
    said: str


def run(
    command: Sequence[str], seconds: float, folder: Path | None = None, reads: str | None = None
) -> Done:
    """Run a program. It and what it has started in its process group are ended in the end. Raises
    TooSlow if it took longer; OSError if it cannot be started.

    Parameters
    ----------
    seconds
        How long it may take.
    folder
        Where it runs; the root of the file system if it is None.
    reads
        The stream to read, ``"stdout"`` or ``"stderr"``; None for neither.
    """
    nowhere, pipe = subprocess.DEVNULL, subprocess.PIPE
    process = subprocess.Popen(
        command,
        stdin=nowhere,
        stdout=pipe if reads == "stdout" else nowhere,
        stderr=pipe if reads == "stderr" else nowhere,
        cwd=os.sep if folder is None else folder,
        env=environment(),
        start_new_session=True,
    )
    kept = bytearray()
    reader = None
    stream = process.stdout or process.stderr
    if stream is not None:
        reader = Thread(target=_keep_the_end, args=(stream, kept), daemon=True)
        reader.start()
    try:
        status = process.wait(seconds)
        if reader is not None:
            reader.join(0.2)  # longer only if something that it started holds the stream
    except subprocess.TimeoutExpired:
        raise TooSlow(
            f"the C compiler needed more than {seconds:g} s and was ended; set {VARIABLE} to"
            " another number of seconds"
        ) from None
    finally:
        _end(process)
        if reader is not None and stream is not None:
            reader.join(1.0)
            if not reader.is_alive():
                stream.close()
    return Done(status, kept.decode("utf-8", "replace"))


def _keep_the_end(stream: IO[bytes], kept: bytearray) -> None:
    with suppress(OSError, ValueError):
        while data := os.read(stream.fileno(), KEPT):
            kept += data
            del kept[:-KEPT]


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
