"""Where the time of `relax-check` goes: ``python -m benchmarks.phases [PATH]``.

Each phase runs once, after a small file has warmed everything up, with the garbage collector off
(the command lets it run seldom). Lexing is part of parsing, measured on its own as well.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from rlx.checker.derive import derive
from rlx.checker.normalize import normalize
from rlx.checker.render.files import FileReport
from rlx.checker.render.human import render
from rlx.checker.well_formed import well_formed
from rlx.grammar.read.lexer import Lexer
from rlx.grammar.read.parser import parse

from . import programs

Result = TypeVar("Result")
Timer = Callable[[str, float], None]


def timed(timer: Timer, name: str, phase: Callable[[], Result]) -> Result:
    """Run a phase, hand its seconds to the timer, return its result."""
    start = time.perf_counter()
    result = phase()
    timer(name, time.perf_counter() - start)
    return result


def phases(path: Path, timer: Timer) -> None:
    """Run every phase of the command on a file."""
    text = timed(timer, "read", lambda: path.read_text(encoding="utf-8"))
    timed(timer, "lex", lambda: sum(1 for _ in Lexer(text, 0, len(text), lambda *_: None)))
    parsed = timed(timer, "parse", lambda: parse(text, str(path)))
    found = list(parsed.diagnostics)
    for module in parsed.modules:
        found += timed(timer, "well_formed", lambda m=module: well_formed(m))  # type: ignore[misc]
        normal = timed(timer, "normalize", lambda m=module: normalize(m))  # type: ignore[misc]
        derivation = timed(timer, "derive", lambda m=normal: derive(m, set()))  # type: ignore[misc]
        found += derivation.diagnostics
    report = FileReport(str(path), parsed.source, tuple(found))
    timed(timer, "render", lambda: render([report]))


def main(path: str | None = None) -> None:
    """Print the table for a file; without one, for the transformer of 200 layers."""
    phases(programs.small(), lambda *_: None)
    gc.disable()
    measured = Path(path) if path else programs.stack(200)
    lines = len(measured.read_text(encoding="utf-8").splitlines())

    def show(name: str, seconds: float) -> None:
        print(f"{name:<12} {seconds:8.3f} s {1e6 * seconds / lines:8.1f} µs a line")

    phases(measured, show)


if __name__ == "__main__":
    main(*sys.argv[1:])
