"""Random mutants of all rooms: `python -m tests.mutants.random COUNT [SEED] [--room ROOM …]`.

Which tests reach which blocks is noted by `--note`, under `build/reach`. No file of the working tree is changed. The
exit status is 1 if a sample says, beyond chance, that fewer than `--least` of 100 mutants are noticed, and as many again say it, too.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from math import comb
from pathlib import Path
from typing import NamedTuple

from . import child
from .blocks import WANTED, blocks, is_cached, sides_of
from .choose import LONGEST, Choice, Reach, blocks_for
from .draw import ROOMS, ROOT, Drawn, draw
from .users import all_users

REACH = ROOT / "build" / "reach"
DRAWN = "drawn.json"
WORK = ROOT / "build" / "random-mutants" / str(os.getpid())
LEFT_OUT = (
    "--ignore=tests/mutants",
    "--ignore=tests/semantics/native/test_sanitised.py",
    "--ignore=tests/hostile/test_size.py",
)
"""Tests that are not noted: those of this folder, and the dearest of those that no mutant is asked (`NOT_ASKED`)."""


class Verdict(NamedTuple):
    """What became of a mutant: `noticed`, `survived`, `unreached` or `undecided`; how, and by which test."""

    mutant: Drawn
    status: str
    how: str
    witness: str = ""


def note(at_once: int, tests: Sequence[str]) -> int:
    """Note which tests reach which blocks: all tests, anew, or some, which joins what is noted."""
    if not tests:
        shutil.rmtree(REACH, ignore_errors=True)
    command = [sys.executable, "-m", "pytest", "-p", "tests.mutants.reach", "-q"]
    command += ["-n", str(at_once)] * (at_once > 1)
    environment = {
        **os.environ,
        "RLX_REACH": str(REACH),
        "CI": "true",
        "RLX_REACH_SECONDS": str(LONGEST),
    }
    return subprocess.run(
        [*command, *LEFT_OUT, *(tests or ["tests"])], cwd=ROOT, env=environment, check=False
    ).returncode


def want(drawing: list[object], mutants: Sequence[Drawn], folder: Path) -> None:
    """Prepare a folder so that the run that notes has probes only where these mutants need them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names, users = set[str](), all_users()
    for mutant in mutants:
        text = (ROOT / mutant.file).read_text("utf-8")
        first, *rest = blocks_for(mutant, text)
        names.update(first)
        names.update(f"{mutant.file}:{name}" for name in sides_of(ast.parse(text), mutant.line))
        if not rest or is_cached(ast.parse(text), mutant.line):  # or outside of functions
            names.update(of_package(mutant.file), *users.of(mutant.file, mutant.line))
    (folder / WANTED).write_text(json.dumps(sorted(names)), "utf-8")
    (folder / DRAWN).write_text(json.dumps([drawing, mutants]), "utf-8")


def of_package(file: str) -> Iterator[str]:
    """The blocks of a file and of those beside it."""
    for path in (ROOT / file).parent.glob("*.py"):
        for block in blocks(ast.parse(path.read_text("utf-8"))):
            yield f"{path.relative_to(ROOT).as_posix()}:{block.name}"


def wanted(drawing: list[object], folder: Path) -> list[Drawn] | None:
    """The mutants that a folder was prepared for, if they were drawn alike."""
    path = folder / DRAWN
    if not path.exists():
        return None
    earlier, mutants = json.loads(path.read_text("utf-8"))
    return [Drawn(*mutant) for mutant in mutants] if earlier == drawing else None


def job_for(mutant: Drawn, old: str, choice: Choice, folder: Path) -> child.Job:
    """What is to do for a mutant of a file's old text."""
    limits = [(test.name, 10.0 + 10.0 * test.seconds) for test in choice.tests]
    return child.Job(mutant.file, old, mutant.text, limits, folder)


class Round:
    """The examination of some mutants."""

    def __init__(self, mutants: Sequence[Drawn], reach: Reach, at_once: int) -> None:
        self.mutants = mutants
        self.at_once = at_once
        texts = [(ROOT / mutant.file).read_text("utf-8") for mutant in mutants]
        self.choices = list(map(reach.of, mutants, texts))
        self.jobs = [
            job_for(mutant, text, choice, WORK / str(at))
            for at, (mutant, text, choice) in enumerate(
                zip(mutants, texts, self.choices, strict=True)
            )
        ]

    def verdicts(self) -> Iterator[Verdict]:
        """One for each mutant, as they end: first those that loaded functions can be changed to."""
        later: list[int] = []
        quick: list[int] = []
        for at, job in enumerate(self.jobs):
            if not job.tests:
                yield Verdict(self.mutants[at], "unreached", "no test gets there")
            else:
                (later if self.choices[at].anew or job.pairs() is None else quick).append(at)
        jobs = [self.jobs[at] for at in quick]
        for place, status in child.serve(jobs, self.at_once, WORK):
            at = quick[place]
            if status == child.NOT_LOADED:
                later.append(at)
            else:
                yield self.judged(at, status)
        started = ((at, child.start(self.jobs[at])) for at in later)
        for at, status in child.waited(started, self.at_once):
            yield self.judged(at, status)

    def judged(self, at: int, status: int) -> Verdict:
        """Read what a process left."""
        mutant, job = self.mutants[at], self.jobs[at]
        last = job.folder / "last"
        test = last.read_text("utf-8") if last.exists() else ""
        stack = job.folder / "stack"
        if status == 0:
            kind = "survived" if self.choices[at].reached else "unreached"
            verdict = Verdict(mutant, kind, f"{len(job.tests)} tests")
        elif stack.exists() and "Timeout" in stack.read_text("utf-8"):
            verdict = Verdict(mutant, *_slow(job, test))
        else:
            witness = test if test in dict(job.tests) else ""
            verdict = Verdict(mutant, "noticed", _how(test, status), witness)
        shutil.rmtree(job.folder, ignore_errors=True)
        return verdict


def _how(test: str, status: int) -> str:
    if status in (1, 2):
        return test
    return f"{test} hangs" if status == -27 else f"{test} (status {status})"


def _slow(job: child.Job, test: str) -> tuple[str, str]:
    """A test that took too long hangs if it does not without the mistake, in the same time."""
    limits = dict(job.tests)
    again = [(test, limits[test])] if test in limits else [*job.tests][:1]
    number = child.start(job._replace(new=None, tests=again, folder=job.folder / "again"))
    _, status = os.waitpid(number, 0)
    if os.waitstatus_to_exitcode(status) == 0:
        return "noticed", f"{test} hangs"
    return "undecided", f"{test} is slow without the mistake, too"


def trusted(verdicts: list[Verdict]) -> list[Verdict]:
    """What remains when the tests that noticed mutants run without them: one that fails then, noticed nothing."""
    witnesses = sorted({v.witness for v in verdicts if v.witness})
    if not witnesses:
        return verdicts
    job = child.Job("", "", None, [(name, 120.0) for name in witnesses], WORK / "without", True)
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


def rate(verdicts: Sequence[Verdict]) -> float:
    """How many of 100 decided mutants were noticed."""
    decided = [v for v in verdicts if v.status != "undecided"]
    noticed = sum(v.status == "noticed" for v in decided)
    return 100 * noticed / max(1, len(decided))


CHANCE = 0.025
"""How often a sample may say that too few are noticed although enough are."""


def falls_short(verdicts: Sequence[Verdict], least: float) -> bool:
    """Whether a sample says, beyond chance, that fewer than ``least`` of 100 are noticed.

    Of tests that notice just so many, so few in a sample would be seen once in forty times.
    """
    decided = [v for v in verdicts if v.status != "undecided"]
    noticed, count = sum(v.status == "noticed" for v in decided), len(decided)
    share = least / 100
    so_few = sum(comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(noticed + 1))
    return so_few < CHANCE


def report(verdicts: list[Verdict]) -> None:
    """Print the table by rooms, and the share of decided mutants that was noticed."""
    counts = Counter((v.mutant.room, v.status) for v in verdicts)
    kinds = ("noticed", "survived", "unreached", "undecided")
    print("\n| room | " + " | ".join(kinds) + " |\n|---|" + "---|" * len(kinds))
    for room in ROOMS:
        if any(counts[room, kind] for kind in kinds):
            print(f"| {room} | " + " | ".join(str(counts[room, kind]) for kind in kinds) + " |")
    total = Counter(v.status for v in verdicts)
    decided = sum(total.values()) - total["undecided"]
    print(f"\n{total['noticed']} of {decided} noticed: {rate(verdicts):.1f} %")


def examined(mutants: Sequence[Drawn], reach: Reach, at_once: int) -> list[Verdict]:
    """What becomes of mutants, each printed as soon as it is known."""
    verdicts = []
    for verdict in Round(mutants, reach, at_once).verdicts():
        verdicts.append(verdict)
        show(verdict)
    decided = trusted(verdicts)
    shutil.rmtree(WORK, ignore_errors=True)
    for verdict in set(decided) - set(verdicts):
        show(verdict)
    return decided


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
    parser.add_argument("--room", action="append", help="a room, or a folder in one")
    parser.add_argument("--reach", type=Path, default=REACH, metavar="FOLDER", help="the notes")
    parser.add_argument("--note", action="store_true", help="note anew which tests reach what")
    parser.add_argument(
        "--tests", action="append", default=[], metavar="PATH", help="note these tests only"
    )
    parser.add_argument(
        "--want", action="store_true", help="only prepare the notes of a test run for these mutants"
    )
    parser.add_argument("--least", type=float, default=0.0, metavar="PERCENT")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def main() -> int:
    """Draw, run, print."""
    given = _arguments()
    seed = int(time.time()) if given.seed is None else given.seed
    print(f"{given.count} mutants, seed {seed}", flush=True)
    rooms = given.room or list(ROOMS)
    # A bad sample is followed by another: as many again are drawn for it.
    count = 2 * given.count if given.least else given.count
    drawing = [count, seed, rooms]
    mutants = wanted(drawing, given.reach)
    if mutants is None or given.want:
        mutants = list(islice(draw(seed, tuple(rooms)), count))
    if given.want:
        want(drawing, mutants, given.reach)
        return 0
    if given.note:
        note(given.jobs, given.tests)
    reach = Reach(given.reach)
    verdicts = examined(mutants[: given.count], reach, given.jobs)
    report(verdicts)
    if falls_short(verdicts, given.least):
        print(f"that is less than {given.least:g} %, beyond chance: as many again", flush=True)
        verdicts += examined(mutants[given.count :], reach, given.jobs)
        report(verdicts)
    return int(falls_short(verdicts, given.least))


if __name__ == "__main__":
    sys.exit(main())
