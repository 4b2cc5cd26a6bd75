"""What the check says of damaged PrimFuncs stays what it is: those of the rules' tests, generated ones, and both as Python files.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/checker/prim_funcs/test_same_damages.py` writes the digests anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from rlx.checker.check import check_text
from rlx.generate.strategies import prim_func_of
from rlx.grammar import ast
from rlx.grammar.printer import print_module
from tests.checker.prim_funcs.test_rules import FAILS, HOLDS, OPAQUE, body
from tests.hostile.damage import damaged, tokens
from tests.old.agreement import damaged as exchanged
from tests.snapshots import assert_digest

SNAPSHOT = Path(__file__).parent / "snapshots" / "damages.txt"
PARTS = 10


def texts() -> Iterator[str]:
    """PrimFuncs, legal and not."""
    for each in (*HOLDS, *OPAQUE, *(text for some in FAILS.values() for text in some)):
        yield body(each)
    for seed in range(40):
        function = prim_func_of(Random(seed).randbytes(300), rare=seed % 2 == 0)
        yield print_module(ast.IRModule({ast.GlobalVar("f"): function}, bare=True))


@pytest.mark.parametrize("part", range(PARTS))
def test_what_is_said_is_what_was_said(part: int) -> None:
    lines: list[str] = []
    for at, text in enumerate(texts()):
        if at % PARTS != part:
            continue
        for again in range(3):
            pick = Random(f"{at} {again}")
            made = exchanged(text, pick) if again else damaged(text, tokens(text), pick)
            made = made if again < 2 else exchanged(made, pick)
            report = check_text(made, "f.py" if at % 7 == 0 else "f.rlx")
            lines += [made, *(f"{d} {d.help} {d.related} {d.edit}" for d in report.diagnostics)]
    assert_digest(SNAPSHOT, f"part {part}", "\n".join(lines))
