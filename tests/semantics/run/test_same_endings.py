"""How programs beside the rules end, as they are and with words exchanged, stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/semantics/run/test_same_endings.py` writes the digests anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from rlx.checker.check import check_text
from rlx.grammar import ast
from rlx.grammar.ast import IRModule
from rlx.semantics.machine import load
from rlx.semantics.outcome import Returned
from rlx.semantics.run.inputs import inputs
from tests.old.agreement import damaged
from tests.snapshots import assert_digest
from tests.spec.programs import CHAPTERS, beside
from tests.values import brief
from tests.vm.agreement import _copies, perturbed

SNAPSHOT = Path(__file__).parent / "snapshots" / "endings.txt"
FUEL = 2_000


def ends(module: IRModule, random: Random) -> Iterator[str]:
    """How its functions end, with what fits their parameters and with what may not."""
    for name, function in module.functions.items():
        if not isinstance(function, ast.Function) or function.attrs.get("private"):
            continue
        try:
            fitting = tuple(inputs(function, {}, 3).values)
        except ValueError as error:
            yield str(error)
            continue
        for args in (fitting, perturbed(fitting, random)):
            printed: list[str] = []
            loaded = load(module, output=printed.append, backend="steps")
            found = loaded.run(name.name_hint, _copies(args), fuel=FUEL)
            yield brief(found.value) if isinstance(found, Returned) else str(found)
            yield from printed


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
