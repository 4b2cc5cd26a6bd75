"""What is said of broken and of damaged programs stays what it is, to the letter; and which checks a run needs.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/checker/test_same_reports.py` writes it anew.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.checker.dynamic_checks import analyse
from rlx.checker.why.explain import everything
from rlx.checker.why.json import as_json
from rlx.generate.casts.programs import program as of_casts
from rlx.generate.near import CODES, near_miss
from rlx.generate.programs import random_module
from rlx.grammar.printer import print_module
from tests.hostile.damage import damaged, tokens
from tests.snapshots import assert_digest

SNAPSHOTS = Path(__file__).parent / "snapshots"
EXAMPLES = Path(__file__).parents[2] / "examples"


PARTS = 6


@pytest.mark.parametrize("code", CODES)
def test_near_misses(code: str) -> None:
    texts = [
        str(check_text(print_module(near_miss(code, random.Random(f"{code} {at}")))))
        for at in range(2)
    ]
    assert_digest(SNAPSHOTS / "near_misses.txt", code, "\n".join(texts))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.rlx")), ids=lambda path: path.stem)
def test_damages(path: Path) -> None:
    text = path.read_text("utf-8")
    places = tokens(text)
    said = [
        str(check_text(damaged(text, places, random.Random(f"{path.stem} {seed}"))))
        for seed in range(14)
    ]
    assert_digest(SNAPSHOTS / "damages.txt", path.stem, "\n".join(said))


@pytest.mark.parametrize("part", range(PARTS))
def test_dynamic_checks(part: int) -> None:
    """Of programs full of casts, and of others."""
    found: list[str] = []
    for seed in range(part, 36, PARTS):
        for module in check_text(of_casts(random.Random(seed))).modules:
            for trusting in (False, True):
                found += map(str, analyse(module, trusting=trusting))
    for module in check_text(print_module(random_module(random.Random(part)))).modules:
        found += map(str, analyse(module))
    assert_digest(SNAPSHOTS / "dynamic_checks.txt", f"part {part}", "\n".join(found))


@pytest.mark.parametrize("code", [*CODES][::4])
def test_derivations(code: str) -> None:
    """The trees of all that is said of a near miss, as JSON and as text."""
    report, found = everything(print_module(near_miss(code, random.Random(code))), "<text>")
    tree = as_json(found.roots, report.source)
    text = f"{json.dumps(tree, indent=1, ensure_ascii=False)}\n{found}"
    assert_digest(SNAPSHOTS / "derivations.txt", code, text)
