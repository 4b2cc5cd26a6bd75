"""`generate/README.md` names what there is; `tests/docs` executes its examples."""

from __future__ import annotations

import re
from pathlib import Path

from rlx.commands.fuzz import ORACLES
from rlx.generate import __all__ as strategies
from rlx.generate.programs import FEATURES

README = Path(__file__).parents[2] / "generate" / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_everything_is_named() -> None:
    words = set(re.findall(r"\w+", TEXT))
    assert {*strategies, *FEATURES, *ORACLES} <= words
