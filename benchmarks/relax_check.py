"""`relax-check` beside TVM, in one run: ``python -m benchmarks.relax_check [REPEATS]``.

Whole processes of ours (interpreter start, imports, all phases, output) stand against TVM's parser
alone (its import is not counted), on the same text. Every figure is the best of some repeats; the
two sides take turns, so that both meet the same machine.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rlx.grammar.nodes.node import Record

# The texts that benchmarks measure, printed by TVM once and kept under ``build/``.


CACHE = Path(__file__).parents[1] / "build" / "benchmarks"

SMALL = """\
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(("n", 784), "float32"),
        w0: R.Tensor((784, 128), "float32"),
        b0: R.Tensor((128,), "float32"),
        w1: R.Tensor((128, 10), "float32"),
        b1: R.Tensor((10,), "float32"),
    ) -> R.Tensor(("n", 10), "float32"):
        n = T.int64()
        with R.dataflow():
            h0: R.Tensor((n, 128), "float32") = R.matmul(x, w0)
            h1: R.Tensor((n, 128), "float32") = R.add(h0, b0)
            h2: R.Tensor((n, 128), "float32") = R.nn.relu(h1)
            h3: R.Tensor((n, 10), "float32") = R.matmul(h2, w1)
            out: R.Tensor((n, 10), "float32") = R.add(h3, b1)
            R.output(out)
        return out
"""
"""Twenty lines, for the cold start."""


def bindings(count: int) -> Path:
    """A function of that many bindings, each annotated, with a symbolic dimension."""
    annotation = 'R.Tensor((n, 256), dtype="float32")'
    lines = [
        f"    v{i}: {annotation} = R.add({f'v{i - 1}' if i else 'x'}, x)\n" for i in range(count)
    ]
    head = 'n = TypeVar("n")\n\n@R.function\ndef main(x: ' + annotation + f") -> {annotation}:\n"
    return _kept(f"bindings{count}.py", head + "".join(lines) + f"    return v{count - 1}\n")


def small() -> Path:
    """The program of twenty lines."""
    return _kept("small.py", SMALL)


def stack(layers: int) -> Path:
    """A transformer of that many layers, as TVM prints it."""
    path = CACHE / f"stack{layers}.py"
    if not path.exists():
        from tests.tvm.networks.decoder import stack

        _kept(path.name, stack(layers).script())
    return path


def _kept(name: str, text: str) -> Path:
    CACHE.mkdir(parents=True, exist_ok=True)
    path = CACHE / name
    path.write_text(text, encoding="utf-8")
    return path


FROM_SOURCE = """\
import sys, time, tvm
text = open(sys.argv[1]).read()
start = time.perf_counter(), time.process_time()
tvm.script.from_source(text)
print(time.perf_counter() - start[0], time.process_time() - start[1])
"""


class ProcessFigures(Record):
    """Seconds of wall time and of processor time, and mebibytes at the peak of a process."""

    seconds: float
    processor: float
    mebibytes: float


def relax_check(path: Path) -> ProcessFigures:
    """One process of the command on a file that has no errors."""
    start = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-c", "from rlx.cli import relax_check as r; raise SystemExit(r())", path],
        stdout=subprocess.PIPE,
    )
    out = child.stdout.read() if child.stdout else b""
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"exit {child.returncode} on {path}:\n{out.decode()[-2000:]}")
    return ProcessFigures(seconds, usage.ru_utime + usage.ru_stime, _peak(usage))


def from_source(path: Path) -> ProcessFigures:
    """TVM's parser alone, in a process of its own."""
    child = subprocess.Popen(
        [sys.executable, "-c", FROM_SOURCE, path], stdout=subprocess.PIPE, text=True
    )
    out = child.stdout.read() if child.stdout else ""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"TVM: exit {child.returncode} on {path}")
    seconds, processor = map(float, out.split())
    return ProcessFigures(seconds, processor, _peak(usage))


def _peak(usage: resource.struct_rusage) -> float:
    return usage.ru_maxrss / 1024  # kibibytes on Linux


def best(measures: list[Callable[[], ProcessFigures]], repeats: int) -> list[ProcessFigures]:
    """The fastest run of each, taken in turns."""
    runs: list[list[ProcessFigures]] = [[] for _ in measures]
    for _ in range(repeats):
        for measure, into in zip(measures, runs, strict=True):
            into.append(measure())
    return [min(group, key=lambda run: run.seconds) for group in runs]


def row(what: str, figure: str, wanted: str = "", held: bool | None = None) -> None:
    """One line of the table."""
    verdict = "" if held is None else "ok" if held else "MISSED"
    print(f"{what:<52} {figure:>34}   {wanted:<12} {verdict}")


def ratio(what: str, theirs: ProcessFigures, ours: ProcessFigures, least: float) -> None:
    """How many times faster ours is, by the clock and (what a busy machine leaves alone) by the
    processor.
    """
    times = theirs.seconds / ours.seconds
    figure = f"{theirs.seconds:.2f} / {ours.seconds:.2f} s = {times:.1f}"
    row(what, figure, f"at least {least:g}", times >= least)
    processor = theirs.processor / ours.processor
    row("  processor time", f"{theirs.processor:.2f} / {ours.processor:.2f} s = {processor:.1f}")


def main(repeats: int = 3) -> None:
    """Measure and print the table."""
    deep, shallow = stack(200), stack(32)
    few, many = small(), bindings(100_000)
    ours200, theirs200, ours32, theirs32 = best(
        [
            lambda: relax_check(deep),
            lambda: from_source(deep),
            lambda: relax_check(shallow),
            lambda: from_source(shallow),
        ],
        repeats,
    )
    (cold,) = best([lambda: relax_check(few)], 5 * repeats)
    (wide,) = best([lambda: relax_check(many)], repeats)
    row("", "figure", "wanted")
    ratio("200 layers: TVM's from_source alone / relax-check", theirs200, ours200, 5)
    ratio("32 layers: TVM's from_source alone / relax-check", theirs32, ours32, 3)
    growth = ours200.seconds / ours32.seconds
    row("200 layers / 32 layers", f"{growth:.2f}", "at most 7.5", growth <= 7.5)
    for layers, path, run in ((200, deep, ours200), (32, shallow, ours32)):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        row(f"  {layers} layers, per line", f"{1e6 * run.seconds / lines:.0f} µs")
    peak = ours200.mebibytes
    row("200 layers, peak memory", f"{peak:.0f} MiB", "under 400", peak < 400)
    figure = f"{cold.seconds:.3f} s ({cold.processor:.3f} s processor)"
    row("20 lines, cold start", figure, "under 0.25", cold.seconds < 0.25)
    figure = f"{wide.seconds:.1f} s ({wide.processor:.1f} s processor), {wide.mebibytes:.0f} MiB"
    row("one function of 100,000 bindings", figure, "under 10", wide.seconds < 10)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
