"""A comment stays where it is: a formatted text with comments added is formatted already."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from rlx.grammar.print.formatting import format_text
from tests.test_imports import ROOT

EXAMPLES = sorted((ROOT / "examples").rglob("*.rlx"))
WRITTEN = (
    *("cls = ", "R.func_attr", "T.func_attr", "T.sblock_attr", "T.block_attr", "else:", "elif "),
    *("T.reads()", "T.writes()", "T.where", "pass", "with T.init"),
)
"""Lines that are no node with a place of its own: a comment above one is printed below it."""
DECLARED = (" = T.int64()", "T.match_buffer", "alloc_buffer", " = TypeVar(")


def places(lines: list[str]) -> list[int]:
    """The lines above which a comment stays."""
    found = []
    for k, line in enumerate(lines):
        text, above = line.strip(), lines[k - 1].strip() if k else ""
        if not text or text.startswith(("#", "@", "def ", "class ", *WRITTEN)):
            continue
        if any(word in text for word in DECLARED) or above.startswith("#"):
            continue
        found.append(k)
    return found


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_comments_above_and_behind_statements_stay(path: Path) -> None:
    text = format_text(path.read_text("utf-8"), path.name).text
    if text is None:
        return
    lines = text.splitlines()
    choose = random.Random(path.name)
    for k in sorted(choose.sample(places(lines), min(12, len(places(lines)))), reverse=True):
        pad = lines[k][: len(lines[k]) - len(lines[k].lstrip())]
        whole = not lines[k].endswith(":") and "#" not in lines[k] and "R.output" not in lines[k]
        if choose.random() < 0.3 and whole:
            lines[k] += f"  # behind {k}"
        else:
            lines.insert(k, f"{pad}# above {k}")
    commented = "\n".join(lines) + "\n"
    assert format_text(commented, path.name).text == commented


HEAD = '''\
@I.ir_module
class M:  # the class
    # first
    """A docstring."""  # behind it
    # above
    I.module_attrs({"a": 1})  # of the attributes
    ext = R.ExternFunc("ext")  # of the function

    # above main
    @R.function
    def main(x: R.Any) -> R.Any:
        return x
    # the end of the class

# the end of the file
'''


def test_comments_in_the_head_of_a_module_stay() -> None:
    text = format_text(HEAD).text
    assert text is not None
    assert text.partition("@")[1:] == ("@", HEAD.partition("@")[2])
