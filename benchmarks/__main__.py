"""``python -m benchmarks all`` measures and writes the figures of ``benchmarks/README.md``; the names
of sections instead of ``all`` write these alone.
"""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

PAGE = Path(__file__).with_name("README.md")

SECTIONS: dict[str, Sequence[str]] = {
    "texts": (),
    "first_run": (),
    "legalized": ("--summary",),
    "vm": ("calls", "chain", "decoder", "lowering", "loading"),
    "builder": ("8000",),
    "lsp": ("6",),
}
"""The modules whose tables the page has, and their arguments."""


def figures(name: str) -> str:
    """The output of a benchmark, with its time and machine."""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}", *SECTIONS[name]],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    said = [line for line in done.stdout.splitlines() if not line.startswith("[")]
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    where = f"Python {platform.python_version()}, TVM {version('apache-tvm')}"
    seconds = time.perf_counter() - begun
    machine = f"{os.cpu_count()} processors, {load} processes waiting for them at the end"
    measured = f"{datetime.date.today()}, {where}, {machine}; measured in {seconds:.0f} s."
    return "\n".join([*said, "", measured])


def main(words: Sequence[str]) -> int:
    """Measure sections and write them to the page, each as soon as it is there."""
    names = list(SECTIONS) if "all" in words else list(words)
    if not names or not SECTIONS.keys() >= set(names):
        print(f"usage: python -m benchmarks all | {' | '.join(SECTIONS)} …", file=sys.stderr)
        return 2
    for name in names:
        made = figures(name)
        page = PAGE.read_text("utf-8")
        before, mark, rest = page.partition(f"<!-- {name} -->\n")
        end = "<!-- end -->"
        PAGE.write_text(f"{before}{mark}\n{made}\n\n{end}{rest.partition(end)[2]}", "utf-8")
        print(f"written: {name}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
