"""What the check says of programs in which words were exchanged for others of their kind stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/checker/test_same_exchanges.py` writes the digests anew.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from rlx.checker.check import check_text
from rlx.checker.dynamic_checks import analyse
from tests.old.agreement import damaged
from tests.snapshots import assert_digest
from tests.spec.programs import CHAPTERS, beside

SNAPSHOT = Path(__file__).parent / "snapshots" / "exchanges.txt"


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_programs_beside_rules(chapter: str) -> None:
    lines: list[str] = []
    for name, text in beside(chapter):
        made = damaged(text, Random(name))
        report = check_text(made)
        lines.append(f"{made}\n{report}")
        for module in report.modules if report.ok else ():
            lines += map(str, analyse(module))
    assert_digest(SNAPSHOT, chapter, "\n".join(lines))
