"""What is read of damaged texts, and what is said of them, stays what it is: programs beside rules, and the examples.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/grammar/parse/test_same_damages.py` writes the digests anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from rlx.grammar.parser import parse
from rlx.grammar.printer import print_module
from tests.hostile.damage import damaged, tokens
from tests.snapshots import assert_digest
from tests.spec.programs import CHAPTERS, beside

SNAPSHOT = Path(__file__).parent / "snapshots" / "damages.txt"
EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = sorted(
    path for path in EXAMPLES.rglob("*.rlx") if path.parent.name in ("examples", "prototype", "old")
)


def read(text: str, random: Random) -> Iterator[str]:
    """What is read of a text with one damage or two, and what is said."""
    for _ in range(random.choice([1, 1, 2])):
        text = damaged(text, tokens(text) or [(0, len(text))], random)
    found = parse(text)
    yield text
    yield from map(str, found.diagnostics)
    yield from (f"{d.help} {d.related} {d.edit}" for d in found.diagnostics)
    yield from (
        print_module(module, random.choice(["0.27", "0.16", "2022"])) for module in found.modules
    )


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_programs_beside_rules(chapter: str) -> None:
    lines: list[str] = []
    for name, text in beside(chapter):
        for again in range(2):
            lines += read(text, Random(f"{name} {again}"))
    assert_digest(SNAPSHOT, chapter, "\n".join(lines))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    text = path.read_text("utf-8")
    lines = [line for seed in range(20) for line in read(text, Random(f"{path.stem} {seed}"))]
    assert_digest(SNAPSHOT, f"{path.parent.name}/{path.stem}", "\n".join(lines))
