"""PrimFuncs of operators and of tensor expressions after TVM's schedules."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator

from .batch import Case
from .sources import cases, chosen_sizes
from .styles import read


def scheduled(seed: int) -> Iterator[Case]:
    """Functions after one step or several."""
    for number, text, words in scripts(seed << 32):
        rng = random.Random(number)
        func = read(text)
        label = f"scheduled {number} {' '.join(words)}"
        yield from cases(func, chosen_sizes(func, rng), rng, label)


def scripts(first: int) -> Iterator[tuple[int, str, list[str]]]:
    """The texts from a number on, with it and with what was done; from a process that may crash."""
    while True:
        command = [sys.executable, "-m", "tests.semantics.native.sanitised.schedule_process"]
        with subprocess.Popen(
            [*command, str(first)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    number, made = json.loads(line)
                    first = number + 1
                    for text, words in made:
                        yield number, text, words
            finally:
                process.kill()
        first += 1  # what it crashed at is left out
