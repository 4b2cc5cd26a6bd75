"""Inputs of the hostile tests, and the form of every answer."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from rlx.commands import check as command
from rlx.grammar.nodes.node import Record

EXAMPLES = Path(__file__).parents[2] / "examples"
CLEAN, FOUND, UNABLE = 0, 1, 2
ESCAPED = re.compile(r"Traceback|INTERNAL")


class Answer(Record):
    """The answer of the command: its status, and its output."""

    status: int
    out: str
    err: str


def examples() -> list[Path]:
    """All programs under ``examples/``, good, broken and of 2022."""
    return sorted(EXAMPLES.rglob("*.rlx"))


def check(data: bytes, folder: Path, *options: str) -> Answer:
    """Run the command, in this process, on a file of these bytes."""
    path = folder / "input.rlx"
    path.write_bytes(data)
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = command.main([str(path), *options])
    return Answer(status, out.getvalue(), err.getvalue())


def complaint(answer: Answer) -> str | None:
    """The problem with an answer, whatever the input was; None if there is none."""
    if answer.status not in (CLEAN, FOUND, UNABLE):
        return f"status {answer.status}: {answer.out[-500:]}"
    if ESCAPED.search(answer.out) or answer.err:
        return f"an escaped failure: {(answer.out + answer.err)[-500:]}"
    if answer.status == FOUND and not re.search(r"\berror\[", answer.out):
        return f"status 1 without an error: {answer.out[-500:]}"
    return None
