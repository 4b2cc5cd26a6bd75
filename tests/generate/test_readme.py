"""The examples of `generate/README.md` run, and it names what there is."""

from __future__ import annotations

import re
from pathlib import Path

from rlx.commands.fuzz import ORACLES
from rlx.generate import __all__ as strategies
from rlx.generate.programs import FEATURES

README = Path(__file__).parents[2] / "generate" / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_the_examples_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        exec(compile(block, str(README), "exec"), {})  # noqa: S102 - our own documentation


def test_everything_is_named() -> None:
    words = set(re.findall(r"\w+", TEXT))
    assert {*strategies, *FEATURES, *ORACLES} <= words
