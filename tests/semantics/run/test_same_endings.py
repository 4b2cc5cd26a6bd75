"""How programs beside the rules end, as they are and with words exchanged, stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/semantics/run/test_same_endings.py` writes the digests anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rlx.checker.check import check_text
from rlx.grammar import ast
from rlx.grammar.ast import IRModule
from rlx.semantics.machine import load
from tests.old.agreement import damaged
from tests.snapshots import assert_digest
from tests.spec.programs import CHAPTERS, beside
from tests.vm.agreement import _copies

from .endings import FUEL, endings

SNAPSHOT = Path(__file__).parent / "snapshots" / "endings.txt"


def ends(module: IRModule, random: Random) -> Iterator[str]:
    """How its functions end that can be entered."""

    def run(name: str, args: tuple[Any, ...], output: Callable[[str], None]) -> object:
        loaded = load(module, output=output, backend="steps")
        return loaded.run(name, _copies(args), fuel=FUEL)

    entries = [
        (name.name_hint, function)
        for name, function in module.functions.items()
        if isinstance(function, ast.Function) and not function.attrs.get("private")
    ]
    return endings(entries, run, random)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_programs_beside_rules(chapter: str) -> None:
    lines: list[str] = []
    for name, text in beside(chapter):
        random = Random(name)
        for made in (text, damaged(text, random)):
            report = check_text(made)
            for module in report.modules if report.ok else ():
                lines += [made, *ends(module, random)]
    assert_digest(SNAPSHOT, chapter, "\n".join(lines))
