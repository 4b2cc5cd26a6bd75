"""Comments change nothing about what is said of a text, whatever is wrong with it."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from rlx.grammar.read.lexer import Lexer
from rlx.grammar.read.parser import parse
from tests.hostile.damage import damaged, tokens

EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = sorted(
    path for path in EXAMPLES.rglob("*.rlx") if path.parent.name in ("examples", "prototype")
)
COMMENTS = [
    *("# note", "#", "# y = R.add(x,", '# a "string', "# don't", "# with R.dataflow():", "# )"),
    *("# @R.function", "# n = 3; m", "# lambda x: y", "# [", '# """', "# a:", "# \\"),
]


def with_comments(text: str, random: Random) -> str:
    """The text with comments on lines of their own, at any column, and behind its lines."""
    found: list[str] = []
    crossed: set[int] = set()
    for token in Lexer(text, 0, len(text), lambda *_: None, layout=False):
        crossed.update(range(token.start + 1, token.end))
    at = 0
    for line in text.splitlines(keepends=True):
        if at not in crossed:
            while random.random() < 0.2:
                found.append(" " * random.choice([0, 1, 4, 8, 12]) + random.choice(COMMENTS) + "\n")
        at += len(line)
        if random.random() < 0.2 and at - 1 not in crossed and _may_follow(line):
            line = f"{line[:-1]}  {random.choice(COMMENTS)}\n"
        found.append(line)
    return "".join(found)


def _may_follow(line: str) -> bool:
    """Whether a comment may stand behind a line, whose quotes are closed."""
    plain = line.count('"') % 2 == 0 and line.count("'") % 2 == 0
    return plain and line.endswith("\n") and "#" not in line and "\\" not in line


def said(text: str) -> list[str]:
    """The diagnostics of a text, in order."""
    found = [f"{d.message} {d.help}" for d in parse(text).diagnostics]
    return [re.sub(r"line \d+", "line N", words) for words in found]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_of_damaged_examples(path: Path) -> None:
    text = path.read_text("utf-8")
    for seed in range(20):
        random = Random(f"{path.stem} {seed}")
        wrong = text
        for _ in range(random.choice([1, 1, 2])):
            wrong = damaged(wrong, tokens(wrong), random)
        changed = with_comments(wrong, random)
        assert said(changed) == said(wrong), changed


def test_in_an_annotation() -> None:
    text = """@R.function
def main(
    x: R.Tuple(
        R.Tensor((2,), "float32"),  # the first one :)
        R.Object,  # ])
    ),
):
    y: R.Object = R.call_packed(
        "f",
        x,  # the only one, z = 3
        sinfo_args = (R.Object,),
    )
    return y
"""
    assert said(text) == []
    assert len(said(text.replace('"float32"', '"flo(at32"'))) == 1


def test_what_follows_from_one_mistake() -> None:
    text = """@R.function
def main(x: R.Object):
    y = x  # one,
    $ = R.add(x x)
      z = x
    return y
"""
    assert len(said(text)) == 1
