"""Damage programs token by token, and metadata node by node: ``python -m tests.hostile.tokens [COUNT] [SEED]``.

Each damaged text goes through check in two forms and fmt, and those that pass, with a tenth of the others,
through run, step and lower; some through reduce, why, and build with disasm and a run of the executable.
Some that pass must end alike on the machine and on the virtual machine. Damaged conditions go through
prove. No answer may be a bug, take ten seconds, or need another gigabyte. The damaged texts are examples,
generated programs and what TVM prints; ``--without-tvm`` leaves the last out. Prints each input that was not answered as it must be; exit status 1 if there is one.

The documented run is ``nice python -m tests.hostile.tokens 100000``; it takes some hours on one core.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from rlx.grammar.read.outline import metadata_span

from . import sources
from .commands import complaints, proved
from .damage import damaged, damaged_metadata, tokens
from .processes import Trials

GOALS = [
    "(n + 3)//4*4 >= n",
    "n % 4 < 4 and n >= 0",
    "(n*4 + 7)//8 == (n + 1)//2 or m != 2",
    "min(n, m) <= max(n, 3)",
    "if_then_else(n > 4, n//2, 2) >= 2",
    "select(n == 0, 1, m//n) * tdiv(n, 3) >= tmod(n, 3) - 2",
    "not (n < m and m < n)",
    "2**3 * n == n*8",
]

Source = tuple[str, str]


def trial(found: list[Source], number: int, seed: int) -> tuple[str, str]:
    """The damaged text of a number, and whose it is; a condition for the prover is of nobody."""
    rng = random.Random(f"{seed}/{number}")
    if number % 50 == 0:
        goal = rng.choice(GOALS)
        return "", damaged(goal, tokens(goal), rng)
    name, text = rng.choice(found)
    if metadata_span(text) and rng.random() < 0.3:
        return name, damaged_metadata(text, rng)
    return name, damaged(text, tokens(text), rng)


def answered(name: str, text: str, folder: Path, rng: random.Random) -> list[str]:
    """What is wrong with the answers to a damaged text."""
    if not name:
        problem = proved(text)
        return [problem] if problem else []
    return complaints(text, folder, rng)


def run(found: list[Source], numbers: range, seed: int) -> Trials:
    """Try the numbers, and print what is wrong."""
    with tempfile.TemporaryDirectory() as folder:  # what is imported here, no process imports anew
        complaints(found[0][1], Path(folder), random.Random(1))
        proved(GOALS[-1])

    def attempt(number: int, folder: Path) -> list[str]:
        name, text = trial(found, number, seed)
        return answered(name, text, folder, random.Random(number))

    trials = Trials(attempt, lambda number, problem: _told(found, number, seed, problem))
    trials.run(numbers)
    return trials


def _told(found: list[Source], number: int, seed: int, problem: str) -> None:
    name, text = trial(found, number, seed)
    original = dict(found).get(name, "")
    same = next((i for i, (a, b) in enumerate(zip(original, text, strict=False)) if a != b), 0)
    around = text[max(0, same - 60) : same + 60] if name else text
    print(f"{number} {name}: {problem}\n    near {around!r}", flush=True)


def main() -> int:
    """Run; 1 if any answer was not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", nargs="?", type=int, default=10_000)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number to begin with")
    parser.add_argument("--without-tvm", action="store_true")
    parser.add_argument("--show", action="store_true", help="print the text of --first and stop")
    options = parser.parse_args()
    found = [*sources.of_examples(), *sources.generated(100)]
    if not options.without_tvm:
        found += sources.printed_by_tvm()
    if options.show:
        sys.stdout.write(trial(found, options.first, options.seed)[1])
        return 0
    print(f"{len(found)} programs of {sum(len(t) for _, t in found)} characters", flush=True)
    numbers = range(options.first, options.first + options.count)
    trials = run(found, numbers, options.seed)
    print(trials.summary())
    return 1 if trials.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
