"""Which tests may notice a mutant: those that reach its block, from the notes of `tests.mutants.reach`."""

from __future__ import annotations

import ast
import json
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import NamedTuple

from .blocks import block_of, blocks, is_cached, sides_of
from .draw import ARROW, ROOT, Drawn
from .users import all_users

BUDGET = 30.0
"""Seconds of tests for a mutant, as long as they took when they were noted. Only one that survives takes them all."""

LONGEST = 10.0
"""Seconds of a test that is asked."""

QUICK = 0.1
"""Seconds: sharp tests are quick, and what takes longer looks at much at once."""

LITTLE = 10.0
"""Seconds of tests for a mutant whose own block no test reaches."""

NOT_ASKED = re.compile(
    r"chromium|test_sanitised|test_cold|hostile/test_size|docs/test_site|campaign/test_cluster"
)
"""Tests that start a browser, a cluster, or a compiler with sanitisers, and those that build the whole site: dear."""

REGISTRY = re.compile(r"tests/(spec/test_registry|test_layout)")
"""Asked of what stands outside of functions, too: they look at what modules register when they are loaded."""


class Test(NamedTuple):
    """A test, the seconds that it takes, and how many blocks it reaches."""

    name: str
    seconds: float
    breadth: int


class Choice(NamedTuple):
    """The tests for a mutant, whether they reach its very block, and whether they need modules that are loaded anew."""

    tests: list[Test]
    reached: bool
    anew: bool


class Notes:
    """What one process wrote: the numbers of blocks, and for each test the set of its blocks, as bits."""

    def __init__(self, path: Path) -> None:
        self.places: dict[str, int] = {}
        self.tests: list[tuple[Test, int]] = []
        for line in path.read_text("utf-8").splitlines():
            name, seconds, new, mask = json.loads(line)
            for block in new:
                self.places[block] = len(self.places)
            if seconds <= LONGEST and not NOT_ASKED.search(name):
                bits = int.from_bytes(bytes.fromhex(mask), "little")
                self.tests.append((Test(name, seconds, bits.bit_count()), bits))

    def reaching(self, wanted: Iterable[str]) -> list[tuple[Test, int, int]]:
        """The tests that reach some of these blocks, how many, and all that they reach."""
        mask = sum(1 << self.places[name] for name in wanted if name in self.places)
        return [(test, (bits & mask).bit_count(), bits) for test, bits in self.tests if bits & mask]


class Reach:
    """Blocks and the tests that reach them."""

    def __init__(self, folder: Path) -> None:
        self.notes = [Notes(path) for path in sorted(folder.glob("*.jsonl"))]
        self.users = all_users()
        self.texts: dict[str, str] = {}

    def of(self, mutant: Drawn, original: str) -> Choice:
        """The tests for a mutant, the most telling first, within the budget.

        Of a mutant that decides what is done, tests of which it is known that it is done come first. If no test is known to reach its block (one in a process that it starts may do so), the tests
        of the function's other blocks are asked for a while, then those of the file. Outside of functions, those that
        reach the users of what is bound there are asked, for longer, then those of the file and of its package, and
        those that look at what is registered. So it is with functions that keep their answers: which test reaches them
        first says little.
        """
        tree = ast.parse(original)
        if block_of(tree, mutant.line) is None or is_cached(tree, mutant.line):
            return Choice(self._outside(mutant, original), True, True)
        for attempt, wanted in enumerate(blocks_for(mutant, original)):
            tests = self._ordered(wanted, mutant, by_hits=attempt > 0)
            if tests:
                sides = [f"{mutant.file}:{name}" for name in sides_of(tree, mutant.line)]
                first = [
                    test
                    for side in sides
                    for test in _within(self._ordered([side], mutant, by_hits=False), BUDGET / 5)
                ]
                tests = list({test.name: test for test in [*first, *tests]}.values())
                return Choice(_within(tests, LITTLE if attempt else BUDGET), attempt == 0, False)
        return Choice([], False, False)

    def _ordered(self, wanted: Collection[str], mutant: Drawn, by_hits: bool) -> list[Test]:
        """The most telling first: cheap ones that look at little else, and at many of the blocks asked for."""
        reaching = [notes.reaching(wanted) for notes in self.notes]
        found = {test.name: (test, hits) for part in reaching for test, hits, _ in part}
        weight = {
            test.name: _dear(test) / (hits**2 if by_hits else 1) for test, hits in found.values()
        }
        ordered = sorted((test for test, _ in found.values()), key=lambda test: weight[test.name])
        varied = [different((test, bits) for test, _, bits in part) for part in reaching]
        return _mixed(ordered, varied, mutant, weight)

    def _outside(self, mutant: Drawn, original: str) -> list[Test]:
        tests = [test for notes in self.notes for test, _ in notes.tests]
        chosen = [test for test in tests if REGISTRY.match(test.name)]
        users = self.users.of(mutant.file, mutant.line)
        for wanted, seconds in zip(users, (BUDGET / 2, BUDGET / 4, BUDGET / 8), strict=False):
            chosen += self._naming(self._ordered(wanted, mutant, by_hits=False), mutant, seconds)
        of_file = blocks_for(mutant, original)[-1]
        package = f"{mutant.file.rpartition('/')[0]}/"
        of_package = {
            name for notes in self.notes for name in notes.places if name.startswith(package)
        }
        for near in (of_file, of_package):
            tests = self._ordered(near, mutant, by_hits=True)
            chosen += self._naming(tests, mutant, BUDGET / (12 if users else 4))
        return list({test.name: test for test in chosen}.values())

    def _naming(self, tests: list[Test], mutant: Drawn, budget: float) -> list[Test]:
        """As many as the budget allows, first those that name a text of the changed line: it may be an entry of a
        table that thousands of tests use.
        """
        words = words_of(mutant)
        naming = [test for test in tests if words and self._names(test, words)]
        return _within(list(dict.fromkeys([*_within(naming, budget / 2), *tests])), budget)

    def _names(self, test: Test, words: Collection[str]) -> bool:
        file = test.name.partition("::")[0]
        if file not in self.texts:
            path = ROOT / file
            self.texts[file] = path.read_text("utf-8") if path.is_file() else ""
        return any(word in test.name or word in self.texts[file] for word in words)


def words_of(mutant: Drawn) -> set[str]:
    """The texts on the changed line, and the last names of those that are names of operators."""
    before = mutant.diff.partition(ARROW)[0]
    found = re.findall(r'"([^"]{3,})"', before)
    return {word for text in found for word in (text, text.rpartition(".")[2]) if len(word) > 2}


def blocks_for(mutant: Drawn, original: str) -> list[list[str]]:
    """Whose tests to ask: the block's, else the function's, else the file's; outside of functions the file's."""
    tree = ast.parse(original)
    all_of_file = [f"{mutant.file}:{block.name}" for block in blocks(tree)]
    inner = block_of(tree, mutant.line)
    if inner is None:
        return [all_of_file]
    function = f"{mutant.file}:{inner.rpartition('#')[0]}#"
    of_function = [name for name in all_of_file if name.startswith(function)]
    return [[f"{mutant.file}:{inner}"], of_function, all_of_file]


def _dear(test: Test) -> float:
    return _cost(test) * math.sqrt(test.breadth + 10)


def different(tests: Iterable[tuple[Test, int]]) -> list[Test]:
    """Tests of which each reaches what those before it do not, for as little time as can be.

    Of a block that thousands of tests reach, what is wrong in it shows where they go on.
    """
    seen, chosen = 0, []
    heap = [
        (-bits.bit_count() / _cost(test), at, test, bits) for at, (test, bits) in enumerate(tests)
    ]
    heapify(heap)
    while heap:
        _, at, test, bits = heappop(heap)
        new = (bits & ~seen).bit_count()
        gain = -new / _cost(test)
        if heap and gain > heap[0][0]:
            if new:
                heappush(heap, (gain, at, test, bits))
        elif new:
            chosen.append(test)
            seen |= bits
    return chosen


def _cost(test: Test) -> float:
    return test.seconds + 0.01


def _mixed(
    tests: list[Test], varied: list[list[Test]], mutant: Drawn, weight: dict[str, float]
) -> list[Test]:
    """By turns one of each file of tests, those of the mutant's room first; before them the quick ones, of which many
    can be asked, and those that differ most.
    """
    groups: dict[str, list[Test]] = defaultdict(list)
    for test in tests:
        groups[test.name.partition("::")[0]].append(test)
    stem, room = re.split(r"[/.]", mutant.file)[-2], home(mutant.file)

    def order(name: str) -> tuple[bool, bool, float]:
        return stem not in name, not name.startswith(room), weight[groups[name][0].name]

    near = sorted(groups, key=order)
    longest = max(map(len, groups.values()), default=0)
    turns = [
        groups[name][turn] for turn in range(longest) for name in near if turn < len(groups[name])
    ]
    at_home = [test for test in turns if test.name.startswith(room) and test.seconds <= QUICK]
    quick = [test for test in turns if test.seconds <= QUICK]
    first = _within(at_home, BUDGET / 4)
    for part in varied:
        first += _within(part, BUDGET / 2 / len(varied))
    first += _within(quick, BUDGET / 8)
    return list({test.name: test for test in [*first, *turns]}.values())


def home(file: str) -> str:
    """The folder of the tests of a file's room; those of the commands stand under another name."""
    room, *inner = file.split("/")
    if room == "rlx":
        room = inner[0] if inner and (ROOT / "tests" / inner[0]).is_dir() else "cli"
    return f"tests/{room}/"


def _within(tests: list[Test], budget: float) -> list[Test]:
    left, kept = budget, []
    for test in tests:
        if test.seconds <= left:
            left -= test.seconds + 0.01
            kept.append(test)
    return kept
