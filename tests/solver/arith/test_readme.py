"""The examples of `solver/README.md` run."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).parents[3] / "solver" / "README.md"


def test_the_examples_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, str(README), "exec"), {})  # noqa: S102 - our own documentation
