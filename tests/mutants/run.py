"""Mutation testing of ourselves: `python -m tests.mutants.run [NAME…]` puts each mistake in and sees who notices.

Every mutant runs in a copy of the tree under `build/mutants`, first before the generator's laws, then before the tests of
its room; the table says which of them turned red and after how many seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.tree_copy import ROOT, copied

MUTANTS = Path(__file__).with_name("mutants.toml")
LIMIT = 600.0

LAWS = ("tests/generate/laws", "tests/generate/test_near.py")
"""What the generator drives: laws on random programs, and near misses."""

ROOMS: dict[str, tuple[str, ...]] = {
    "checker": ("tests/checker", "tests/examples/test_markdown.py"),
    "solver": ("tests/solver/order", "tests/solver/arith", "tests/checker"),
    "operators": ("tests/operators",),
    "semantics": ("tests/semantics/test_cast.py", "tests/semantics/machine"),
}
"""The tests of each room."""


class Mutant(NamedTuple):
    """A mistake: in ``file``, ``new`` stands for ``old``."""

    name: str
    file: str
    grade: str
    old: str
    new: str


class Answer(NamedTuple):
    """The result of one set of tests: whether it turned red, after how many seconds, over which test."""

    caught: bool
    seconds: float
    test: str


def mutants() -> list[Mutant]:
    """All of them."""
    return [Mutant(**entry) for entry in tomllib.loads(MUTANTS.read_text("utf-8"))["mutant"]]


def applied(mutant: Mutant, text: str) -> str:
    """The file's text with the mistake.

    Raises
    ------
    ValueError
        If the text that it replaces does not stand there exactly once.
    """
    if text.count(mutant.old) != 1:
        raise ValueError(f"{mutant.name}: found {text.count(mutant.old)} times in {mutant.file}")
    return text.replace(mutant.old, mutant.new)


def ask(folder: Path, tests: tuple[str, ...]) -> Answer:
    """Run tests until the first that fails."""
    started = time.monotonic()
    command = [
        *(sys.executable, "-m", "tests.mutants.inside", "-x", "-q", "--no-header"),
        *[name for name in tests if (folder / name).exists()],
    ]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "RLX_TREE": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Answer(True, LIMIT, "ran out of time")
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    test = failed[0].split(" - ")[0].removeprefix("FAILED ") if failed else ""
    return Answer(done.returncode != 0, time.monotonic() - started, test)


def examine(mutant: Mutant, folder: Path) -> dict[str, Answer]:
    """Put one mistake in, ask each set of tests, take it out."""
    path = folder / mutant.file
    text = path.read_text("utf-8")
    path.write_text(applied(mutant, text), "utf-8")
    try:
        return {
            "generator": ask(folder, LAWS),
            "suite": ask(folder, ROOMS[mutant.file.partition("/")[0]]),
        }
    finally:
        path.write_text(text, "utf-8")


def main() -> int:
    """Print the table; the exit status is 1 if some mistake went unnoticed."""
    chosen = [m for m in mutants() if not sys.argv[1:] or any(w in m.name for w in sys.argv[1:])]
    jobs = os.cpu_count() or 1
    folders = [ROOT / "build" / "mutants" / str(number) for number in range(jobs)]
    for folder in folders:
        copied(folder)
    free = list(folders)
    for tests in (LAWS, *ROOMS.values()):
        answer = ask(folders[0], tests)
        if answer.caught:
            print(f"{tests} is red without any mistake: {answer.test}")
            return 2

    def one(mutant: Mutant) -> tuple[Mutant, dict[str, Answer]]:
        folder = free.pop()
        try:
            return mutant, examine(mutant, folder)
        finally:
            free.append(folder)

    print("| mutant | grade | generator | suite |\n|---|---|---|---|")
    caught = {"generator": 0, "suite": 0, "either": 0}
    with ThreadPoolExecutor(jobs) as pool:
        for mutant, answers in pool.map(one, chosen):
            cells = [f"{a.seconds:.0f} s" if a.caught else "-" for a in answers.values()]
            print(f"| {mutant.name} | {mutant.grade} | {' | '.join(cells)} |", flush=True)
            for name, answer in answers.items():
                caught[name] += answer.caught
            caught["either"] += any(a.caught for a in answers.values())
    print(f"\n{len(chosen)} mutants: " + ", ".join(f"{k} {v}" for k, v in caught.items()))
    return int(caught["either"] < len(chosen))


if __name__ == "__main__":
    sys.exit(main())
