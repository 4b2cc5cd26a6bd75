"""What the rules of 2022 say of programs, legal and damaged, how these run, and how they are translated, stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/old/test_same_answers.py` writes the digests anew.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from rlx.grammar import ast
from rlx.grammar.parser import parse
from rlx.grammar.printer import print_module
from rlx.old import check_text, convert_text
from rlx.old.check import OlderReport
from rlx.old.conversion import to_2022
from rlx.old.evaluation import run
from rlx.old.two_views import rendered, views
from rlx.spec import rules
from tests.old.agreement import binding_first, damaged, source_of
from tests.old.examples import TREE
from tests.semantics.run.endings import FUEL, endings
from tests.snapshots import assert_digest

SNAPSHOT = Path(__file__).parent / "snapshots" / "answers.txt"
PARTS = 12
PROTOTYPE = Path(__file__).parents[2] / "examples" / "prototype"


def generated() -> Iterator[str]:
    """Programs of the generator in the words of 2022."""
    for seed in range(60, 84):
        parsed = parse(source_of(seed))
        if len(parsed.modules) == 1:
            yield print_module(to_2022(binding_first(parsed.modules[0])).module, "2022")


def written() -> Iterator[str]:
    """Programs beside the rules, and the examples."""
    for rule in rules().values():
        if rule.file.startswith("old/"):
            for example in rule.examples:
                if "@R.function" in example.text and not example.text.startswith(TREE):
                    yield example.text
    for path in sorted(PROTOTYPE.glob("*.rlx")):
        yield path.read_text("utf-8")


def ends(report: OlderReport, choose: random.Random) -> Iterator[str]:
    """How the functions of a checked text end."""
    for module in report.modules:
        entries = [
            (name.name_hint, function)
            for name, function in module.functions.items()
            if isinstance(function, ast.Function)
        ]
        yield from endings(entries, partial(_run, module), choose)


def _run(
    module: ast.IRModule, name: str, args: tuple[Any, ...], output: Callable[[str], None]
) -> object:
    return run(module, name, args, fuel=FUEL, output=output)


def answers(text: str, choose: random.Random) -> Iterator[str]:
    """All that is said of a text."""
    report = check_text(text)
    yield f"{text}\n{report}"
    yield rendered(views(text))
    yield from (str(convert_text(text, "p.rlx", system)) for system in ("0.27", "2022"))
    if report.ok:
        yield from ends(report, choose)


@pytest.mark.parametrize("part", range(PARTS))
def test_answers(part: int) -> None:
    lines: list[str] = []
    texts = [*generated(), *written()][part::PARTS]
    for at, text in enumerate(texts):
        choose = random.Random(f"{part} {at}")
        lines += answers(text, choose)
        lines += [said for _ in range(2) for said in answers(damaged(text, choose), choose)]
    assert_digest(SNAPSHOT, f"part {part}", "\n".join(lines))
