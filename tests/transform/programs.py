"""Programs to transform: the examples, the texts in Markdown, and those that TVM reads."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from rlx.checker.check import Report, check_text
from rlx.grammar.nodes import ast

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```rlx\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def texts() -> dict[str, str]:
    """Every program by name."""
    found = {
        str(path.relative_to(ROOT)): path.read_text("utf-8")
        for folder, pattern in (("examples", "**/*.rlx"), ("tests/tvm/texts", "*.txt"))
        for path in sorted((ROOT / folder).glob(pattern))
    }
    for path in sorted((ROOT / "tests/examples").glob("*.md")):
        for number, match in enumerate(BLOCK.finditer(path.read_text("utf-8"))):
            found[f"{path.name}#{number}"] = match[1]
    return found


TEXTS = texts()


@cache
def report(name: str) -> Report:
    """The report on the program."""
    return check_text(TEXTS[name], name)


def is_clean(name: str) -> bool:
    """Whether the program has no errors."""
    return all(not found.is_error for found in report(name).diagnostics)


CLEAN = [name for name in TEXTS if is_clean(name)]


def module_of(text: str) -> ast.IRModule:
    """The module of a text without errors, in normal form."""
    found = check_text(text)
    assert [d.message for d in found.diagnostics if d.is_error] == []
    return found.modules[0]
