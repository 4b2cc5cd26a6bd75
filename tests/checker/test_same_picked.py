"""What is said of programs that were picked because each shows another way through the code stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/checker/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.pick tests.checker.test_same_picked 4000` picks other programs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest

from rlx.checker.check import check_text
from rlx.checker.dynamic_checks import analyse
from rlx.checker.why.explain import everything
from rlx.checker.why.json import as_json
from rlx.generate.casts.programs import program as of_casts
from rlx.generate.near import CODES, near_miss
from rlx.generate.programs import Options, random_module
from rlx.grammar.formatting import format_text
from rlx.grammar.printer import print_module
from rlx.old.two_views import as_json as views_as_json
from rlx.old.two_views import views
from tests.hostile import sources, swaps
from tests.hostile.damage import damaged, tokens
from tests.snapshots import assert_picked

PARTS = 20


@cache
def _kept() -> list[str]:
    """Texts that are made once."""
    return [*sources.written()]


@cache
def _calls() -> list[str]:
    return [text for _, text in swaps.texts(2)]


def pool(random: Random) -> str:
    """A text: kept, generated, nearly legal, a call with moved arguments; mostly with damaged tokens."""
    version = random.choice(["0.16", "0.24", "0.26", "0.27", "0.27", "2022"])
    match random.randrange(7):
        case 0:
            text = print_module(near_miss(random.choice([*CODES]), random), version)
        case 1:
            text = print_module(random_module(random, Options(5)), version)
        case 2:
            text = of_casts(random)
        case 3:
            text = random.choice(_calls())
        case _:
            text = random.choice(_kept())
    for _ in range(random.choice([0, 1, 1, 1, 2, 3])):
        text = damaged(text, tokens(text) or [(0, len(text))], random)
    return text


def answers(text: str) -> str:
    """What the checker, the formatter and the explanation of each conclusion say."""
    return "\n".join(_answers(text))


def _answers(text: str) -> Iterator[str]:
    report = check_text(text)
    yield str(report)
    for found in report.diagnostics:
        yield f"{found.span} {found.help} {found.related} {found.edit}"
    yield repr(format_text(text))
    for module in report.modules:
        yield print_module(module, "2022")
        if report.ok:
            yield from (
                str(check)
                for trusting in (False, True)
                for check in analyse(module, trusting=trusting)
            )
    yield json.dumps(views_as_json(views(text)), ensure_ascii=False)
    explained, trees = everything(text, "<text>")
    yield json.dumps(as_json(trees.roots, explained.source), ensure_ascii=False)


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_programs(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
