"""What is watched computes the same, and tells how it went; what is picked shows all of it."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .conditions import Seen, watched
from .draw import ROOT
from .pick import chosen

TEXT = """\
def f(x):
    if x and (x[0] < 3 or x[-1] == 3):
        return [y for y in x if y]
    for y in x:
        if y > 5:
            break
    return "late" if x else None
"""
INPUTS: list[list[int]] = [[], [0], [3], [4], [2, 9], [9, 3], [9, 8, 4], [5, 6]]


def watching() -> tuple[Any, Seen]:
    seen = Seen()
    scope: dict[str, Any] = dict(seen.functions())
    exec(watched(Path("a.py"), TEXT), scope)  # noqa: S102 - the text stands above
    return scope["f"], seen


@pytest.mark.parametrize("given", INPUTS)
def test_what_is_watched_computes_the_same(given: list[int]) -> None:
    plain: dict[str, Any] = {}
    exec(TEXT, plain)  # noqa: S102 - the text stands above
    assert watching()[0](given) == plain["f"](given)


@pytest.mark.parametrize(
    ("one", "other"),
    [([0], []), ([2], [3]), ([3], [4]), ([4], [5]), ([9], [9, 9]), ([4, 9], [9, 4])],
)
def test_each_way_is_told(one: list[int], other: list[int]) -> None:
    f, seen = watching()
    ways = []
    for given in (one, other):
        f(given)
        ways.append(seen.taken())
    assert ways[0] != ways[1]


def test_the_shortest_that_show_all() -> None:
    made = {"a": {1}, "b" * 300: {1, 2}, "cc": {2, 3}, "d": {3}}
    picked = [*chosen(made)]
    assert set().union(*(made[text] for text in picked)) == {1, 2, 3}
    assert "b" * 300 not in picked and "d" not in picked


def test_what_is_added_notices_the_same_mutants(tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    module = "tests.relay.test_same_picked"
    command = [sys.executable, "-m", "tests.mutants.sharpen", module, "40", "12", "7", "--room"]
    told = []
    for _ in range(2):
        told.append(
            subprocess.run(
                [*command, "relay", "--jobs", "1", "--kept", str(kept)],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
    added = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    first, again = (ast.literal_eval(each.split("12 of 12: ")[1].splitlines()[0]) for each in told)
    new, newer = first.pop("noticed by another"), again.pop("noticed by another", 0)
    assert len(added) == new + newer and new > newer
    kind = "noticed by what is kept"
    assert new + first.pop(kind, 0) == newer + again.pop(kind) and again == first
