"""What is said of lowered programs and of PrimFuncs that were picked because each notices a change of the code stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/checker/lowered/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.checker.lowered.test_same_picked 2000 300 --room checker/lowered --room checker/prim_funcs`
adds other programs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest

from rlx.checker.check import check_text
from rlx.generate.strategies import prim_func_of
from rlx.grammar import ast
from rlx.grammar.parser import parse
from rlx.grammar.printer import print_module
from rlx.transform.legalization import legalize
from rlx.transform.lowering.passes import PassError
from rlx.vm.compilation import STAGES
from tests.checker.lowered.test_planted_at_random import LAST, lowered
from tests.checker.prim_funcs.test_rules import FAILS, HOLDS, OPAQUE, body
from tests.hostile import sources
from tests.hostile.damage import damaged, tokens
from tests.old.agreement import damaged as exchanged
from tests.snapshots import assert_picked

PARTS = 30
_MARKS = (
    "R.memory.",
    "R.vm.",
    "alloc_storage",
    "alloc_tensor",
    "kill_",
    "shape_heap",
    "match_shape",
)
_TESTED = [*HOLDS, *OPAQUE, *(text for some in FAILS.values() for text in some)]


@cache
def _written() -> list[str]:
    """The short texts that handle memory, or have PrimFuncs."""
    return [
        text for text in sources.written() if any(mark in text for mark in (*_MARKS, "T.prim_func"))
    ]


@cache
def _kernels() -> list[str]:
    return [text for text in sources.written() if "T.prim_func" in text]


def _stage(text: str, random: Random) -> str:
    """A short program after a stage of lowering; itself where it has no such text."""
    report = check_text(text)
    if not report.ok or len(report.modules) != 1:
        return text
    try:
        module = parse(text).modules[0]
        module = legalize(module) if random.random() < 0.4 else module
        last = random.choice(LAST)
        for each in STAGES:
            module = each()(module)
            if each.__name__ == last:
                break
    except PassError:
        return text
    return print_module(module)


def pool(random: Random) -> str:
    """A lowered program or a PrimFunc, mostly with a damage."""
    match random.randrange(7):
        case 0:
            text = lowered(random.randrange(400), random.choice(LAST)) or ""
        case 1 | 2:
            text = _stage(random.choice(_plain()), random)
        case 3:
            text = random.choice(_written())
        case 4:
            function = prim_func_of(random.randbytes(200), rare=random.random() < 0.5)
            text = print_module(ast.IRModule({ast.GlobalVar("f"): function}, bare=True))
        case 5:
            text = random.choice(_kernels())
        case _:
            text = body(random.choice(_TESTED))
    for _ in range(random.choice([0, 1, 1, 1, 2])):
        if text.strip():
            places = tokens(text)
            text = (
                damaged(text, places, random) if random.random() < 0.5 else exchanged(text, random)
            )
    return text


@cache
def _plain() -> list[str]:
    return [text for text in sources.written() if "T.prim_func" not in text and len(text) < 600]


def answers(text: str) -> str:
    """What is said, with every place and proposal."""
    return "\n".join(_answers(text))


def _answers(text: str) -> Iterator[str]:
    report = check_text(text)
    yield f"{report} {report.obligations}"
    for found in report.diagnostics:
        yield f"{found.span} {found.help} {found.notes} {found.related} {found.edit}"


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_programs(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
