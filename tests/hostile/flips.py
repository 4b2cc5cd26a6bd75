"""Damage the examples at random, many times: ``python -m tests.hostile.flips [COUNT] [SEED]``.

Prints how the command answered, and each input (as Python bytes) that it did not answer as it must.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from .corpus import check, complaint, damages


def main(count: int = 10_000, seed: int = 0) -> int:
    """Run; 1 if any answer was not as it must be."""
    statuses: Counter[int] = Counter()
    failures, slowest = 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for path, data in damages(count, seed):
            start = time.perf_counter()
            answer = check(data, Path(folder))
            slowest = max(slowest, time.perf_counter() - start)
            statuses[answer.status] += 1
            if problem := complaint(answer):
                failures += 1
                print(f"{path.name}: {problem}\n  {data!r}")
    held = ", ".join(f"exit {status}: {n}" for status, n in sorted(statuses.items()))
    print(f"{count} damaged files: {held}; {failures} bad answers; slowest {slowest:.2f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main(*map(int, sys.argv[1:])))
