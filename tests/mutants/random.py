"""Random mutants of all rooms: `python -m tests.mutants.random COUNT [SEED] [--room ROOM …]`.

Which tests reach which lines is noted once, under `build/reach` (`python -m tests.mutants.random --note` notes it anew).
No file of the working tree is changed. The exit status is 1 if fewer than `--least` of 100 mutants are noticed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from . import child
from .choose import Reach
from .draw import ROOMS, ROOT, Drawn, draw

REACH = ROOT / "build" / "reach"
WORK = ROOT / "build" / "random-mutants"
NOTED = ("tests", "--ignore=tests/tvm", "--ignore=tests/mutants")
"""The tests that are asked: all but those that compare with TVM, which take minutes."""


class Verdict(NamedTuple):
    """What became of a mutant: `noticed`, `survived`, `unreached` or `undecided`; how, and by which test."""

    mutant: Drawn
    status: str
    how: str
    witness: str = ""


def note() -> int:
    """Note which tests reach which blocks."""
    shutil.rmtree(REACH, ignore_errors=True)
    command = [sys.executable, "-m", "pytest", "-p", "tests.mutants.reach", "-q", "-n", "auto"]
    return subprocess.run(
        [*command, *NOTED], cwd=ROOT, env={**os.environ, "RLX_REACH": str(REACH)}, check=False
    ).returncode


def jobs(mutants: Iterable[Drawn], reach: Reach) -> Iterator[tuple[Drawn, child.Job]]:
    """What is to do for each mutant."""
    for number, mutant in enumerate(mutants):
        tests = reach.of(mutant, (ROOT / mutant.file).read_text("utf-8"))
        limits = [(test.name, 10.0 + 30.0 * test.seconds) for test in tests]
        yield mutant, child.Job(mutant.file, mutant.text, limits, WORK / str(number))


def judged(mutant: Drawn, job: child.Job, status: int) -> Verdict:
    """Read what a process left."""
    last = (job.folder / "last").read_text("utf-8") if (job.folder / "last").exists() else ""
    if status == 0:
        return Verdict(mutant, "survived", f"{len(job.tests)} tests")
    stack = job.folder / "stack"
    if stack.exists() and "Timeout" in stack.read_text("utf-8"):
        return Verdict(mutant, *_slow(job, last))
    witness = last if last in dict(job.tests) else job.tests[0][0]
    how = last if status in (1, 2) else f"{last} (status {status})"
    return Verdict(mutant, "noticed", how, witness)


def _slow(job: child.Job, test: str) -> tuple[str, str]:
    """A test that took too long hangs if it does not without the mistake, in the same time."""
    limits = dict(job.tests)
    again = [(test, limits[test])] if test in limits else [*job.tests][:1]
    number = child.start(job._replace(text=None, tests=again, folder=job.folder / "again"))
    _, status = os.waitpid(number, 0)
    if os.waitstatus_to_exitcode(status) == 0:
        return "noticed", f"{test} hangs"
    return "undecided", f"{test} is slow without the mistake, too"


def run(mutants: Iterable[Drawn], reach: Reach, at_once: int) -> Iterator[Verdict]:
    """Examine mutants, some at a time."""
    todo, active = jobs(mutants, reach), dict[int, tuple[Drawn, child.Job]]()
    more = True
    while more or active:
        while more and len(active) < at_once:
            found = next(todo, None)
            if found is None:
                more = False
            elif not found[1].tests:
                yield Verdict(found[0], "unreached", "no test gets there")
            else:
                shutil.rmtree(found[1].folder, ignore_errors=True)
                active[child.start(found[1])] = found
        if active:
            number, status = os.wait()
            mutant, job = active.pop(number)
            _end_group(number)
            yield judged(mutant, job, os.waitstatus_to_exitcode(status))
            shutil.rmtree(job.folder, ignore_errors=True)


def _end_group(number: int) -> None:
    """End what a process left behind."""
    try:
        os.killpg(number, signal.SIGKILL)
    except ProcessLookupError:
        pass


def trusted(verdicts: list[Verdict]) -> list[Verdict]:
    """What remains when the tests that noticed mutants run without them: one that fails then, noticed nothing."""
    witnesses = sorted({v.witness for v in verdicts if v.witness})
    if not witnesses:
        return verdicts
    job = child.Job("", None, [(name, 120.0) for name in witnesses], WORK / "without", True)
    _, status = os.waitpid(child.start(job), 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"the tests do not run without a mistake: see {job.folder / 'out'}")
    failed = set((job.folder / "failed").read_text("utf-8").splitlines())
    return [
        v._replace(status="undecided", how=f"{v.witness} fails without the mistake, too")
        if v.witness in failed
        else v
        for v in verdicts
    ]


def report(verdicts: list[Verdict]) -> float:
    """Print the table by rooms; the share of decided mutants that was noticed."""
    counts = Counter((v.mutant.room, v.status) for v in verdicts)
    kinds = ("noticed", "survived", "unreached", "undecided")
    print("\n| room | " + " | ".join(kinds) + " |\n|---|" + "---|" * len(kinds))
    for room in ROOMS:
        if any(counts[room, kind] for kind in kinds):
            print(f"| {room} | " + " | ".join(str(counts[room, kind]) for kind in kinds) + " |")
    total = Counter(v.status for v in verdicts)
    decided = sum(total.values()) - total["undecided"]
    rate = 100 * total["noticed"] / max(1, decided)
    print(f"\n{total['noticed']} of {decided} noticed: {rate:.1f} %")
    return rate


def show(verdict: Verdict) -> None:
    """Print a line for a mutant, with its change unless it was noticed."""
    mutant = verdict.mutant
    if verdict.status == "noticed":
        print(f"noticed {mutant.file}:{mutant.line} by {verdict.how[:120]}", flush=True)
        return
    print(
        f"{verdict.status.upper()} {mutant.file}:{mutant.line} {mutant.operator}: {verdict.how}\n"
        f"    {mutant.diff}",
        flush=True,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.random", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=40, metavar="COUNT")
    parser.add_argument("seed", type=int, nargs="?", metavar="SEED")
    parser.add_argument("--room", action="append", choices=ROOMS)
    parser.add_argument("--note", action="store_true", help="note anew which tests reach what")
    parser.add_argument("--least", type=float, default=0.0, metavar="PERCENT")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def main() -> int:
    """Draw, run, print."""
    given = _arguments()
    if given.note or not REACH.exists():
        note()
    seed = int(time.time()) if given.seed is None else given.seed
    print(f"{given.count} mutants, seed {seed}", flush=True)
    mutants = islice(draw(seed, tuple(given.room or ROOMS)), given.count)
    verdicts = []
    for verdict in run(mutants, Reach(REACH), given.jobs):
        verdicts.append(verdict)
        show(verdict)
    decided = trusted(verdicts)
    for verdict in set(decided) - set(verdicts):
        show(verdict)
    return int(report(decided) < given.least)


if __name__ == "__main__":
    sys.exit(main())
