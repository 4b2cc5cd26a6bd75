"""Long runs of a law: ``python -m tests.ROOM.LAW COUNT SEED`` tries that many numbers, and prints those that break it."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import NoReturn

Law = Callable[[int, Counter[str]], str]
"""What is wrong with what a number makes, nothing if the law holds; it counts what it saw by kind."""


def tried(law: Law, count: int, seed: int) -> int:
    """Print the numbers that break a law, and at the end what the law counted; return how many there are."""
    kinds: Counter[str] = Counter()
    begin = time.monotonic()
    bad = 0
    for number in range(seed, seed + count):
        try:
            said = law(number, kinds)
        except Exception as error:  # noqa: BLE001 - another number may tell more
            said = f"{type(error).__name__}: {error}"
        if said:
            bad += 1
            print(f"{number}: {said[:2000]}", flush=True)
    told = "".join(f"{number} {kind}; " for kind, number in sorted(kinds.items()))
    print(f"{count} from {seed}: {bad} wrong; {told}{time.monotonic() - begin:.0f} s")
    return bad


def long_run(law: Law) -> NoReturn:
    """Try as many numbers as the command line says; the exit status is 1 if one breaks the law."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int, nargs="?", default=1000, metavar="COUNT")
    parser.add_argument("seed", type=int, nargs="?", default=0, metavar="SEED")
    options = parser.parse_args()
    sys.exit(tried(law, options.count, options.seed) > 0)
