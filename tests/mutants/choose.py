"""Which tests may notice a mutant: those that reach its block, from the notes of `tests.mutants.reach`."""

from __future__ import annotations

import ast
import json
import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .blocks import heads
from .draw import Drawn

BUDGET = 30.0
"""Seconds of tests for a mutant, as long as they took when they were noted."""

NOT_ASKED = re.compile(r"chromium|test_sanitised|test_cold|hostile/test_size")
"""Tests that start a browser or a compiler with sanitisers: dear, and what they start is not mutated."""

REGISTRY = "tests/spec/test_registry.py"
"""Asked of what stands outside of functions, too: it looks at what modules register when they are loaded."""


class Test(NamedTuple):
    """A test, the seconds that it takes, and how many blocks it reaches."""

    name: str
    seconds: float
    breadth: int


class Reach:
    """Blocks and the tests that reach them."""

    def __init__(self, folder: Path) -> None:
        self.tests: dict[str, Test] = {}
        self.by_block: dict[str, list[str]] = defaultdict(list)
        self.by_file: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for path in sorted(folder.glob("*.json")):
            noted = json.loads(path.read_text("utf-8"))
            for name, (seconds, blocks) in noted["tests"].items():
                if NOT_ASKED.search(name):
                    continue
                self.tests[name] = Test(name, seconds, len(blocks))
                for at in blocks:
                    block = noted["blocks"][at]
                    self.by_block[block].append(name)
                    self.by_file[block.rpartition(":")[0]][name] += 1

    def of(self, mutant: Drawn, original: str) -> list[Test]:
        """The tests for a mutant, the most telling first, within the budget."""
        block = block_of(original, mutant.line)
        found: Iterable[str]
        if block is not None:
            found = self.by_block.get(f"{mutant.file}:{block}", ())
            ordered = sorted(map(self.tests.__getitem__, found), key=_dear)
        else:
            reached = self.by_file.get(mutant.file, {})
            ordered = sorted(
                map(self.tests.__getitem__, reached), key=lambda t: _dear(t) / reached[t.name] ** 2
            )
            first = [test for test in self.tests.values() if test.name.startswith(REGISTRY)]
            return first + _within(_mixed(ordered, mutant))
        return _within(_mixed(ordered, mutant))


def _dear(test: Test) -> float:
    return (test.seconds + 0.05) * math.sqrt(test.breadth + 10)


def _mixed(tests: list[Test], mutant: Drawn) -> list[Test]:
    """By turns one of each file of tests, those of the mutant's room first."""
    groups: dict[str, list[Test]] = defaultdict(list)
    for test in tests:
        groups[test.name.partition("::")[0]].append(test)
    stem = re.split(r"[/.]", mutant.file)[-2]
    near = sorted(
        groups, key=lambda name: (stem not in name, mutant.room not in name, _dear(groups[name][0]))
    )
    longest = max(map(len, groups.values()), default=0)
    return [
        groups[name][turn] for turn in range(longest) for name in near if turn < len(groups[name])
    ]


def _within(tests: list[Test]) -> list[Test]:
    left, kept = BUDGET, []
    for test in tests:
        if test.seconds <= left:
            left -= test.seconds + 0.01
            kept.append(test)
    return kept


def block_of(text: str, line: int) -> int | None:
    """The first line of the innermost block of a function that holds a line, or nothing outside of functions."""
    tree = ast.parse(text)
    spans = sorted((block[0].lineno, block[-1].end_lineno or 0) for block in heads(tree))
    inner = None
    for first, last in spans[: bisect_right([s for s, _ in spans], line)]:
        if first <= line <= last:
            inner = first
    return inner
