"""Inside brackets a line may begin with anything, as Python has it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from rlx.grammar.print.printer import print_module
from rlx.grammar.read.lexer import OPENING, Lexer
from rlx.grammar.read.parser import parse

EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = sorted(
    path for path in EXAMPLES.rglob("*.rlx") if path.parent.name in ("examples", "prototype")
)
HEAD = """@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        {}
        return y
"""


def in_lines(text: str, rng: random.Random) -> str:
    """The text with line ends at random between tokens in brackets, and blanks around `=`."""
    depth, at = 0, 0
    parts: list[str] = []
    for token in Lexer(text, 0, len(text), lambda *_: None, layout=False):
        gap = text[at : token.start]
        apart = "\n" not in gap and "#" not in gap and token.type not in ("LSQB", "LPAR")
        if depth > 0 and apart and rng.random() < 0.4:
            gap = "\n" + " " * rng.choice([0, 1, 4, 8, 12, 20])
        word = text[token.start : token.end]
        if depth > 0 and token.type == "TARGET" and rng.random() < 0.5:
            word = f"{token.value} = "
        parts += (gap, word)
        depth += OPENING.get(token.type, 0)
        at = token.end
    return "".join(parts)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_program_is_the_same(path: Path) -> None:
    text = path.read_text("utf-8")
    before = parse(text)
    for seed in range(3):
        changed = in_lines(text, random.Random(f"{path.stem} {seed}"))
        after = parse(changed)
        assert [d.message for d in after.diagnostics] == [d.message for d in before.diagnostics]
        assert [*map(print_module, after.modules)] == [*map(print_module, before.modules)]


@pytest.mark.parametrize(
    "line",
    [
        "y = R.concat(\n            (x, x),\n            axis = 0,\n        )",
        "y = (\n            x\n            @ x\n        )",
        "y = (x\n@R.permute_dims(x))",
    ],
)
def test_what_looks_like_a_statement_is_none(line: str) -> None:
    found = parse(HEAD.format(line)).diagnostics
    assert [d.message for d in found if "the operator `@`" not in d.message] == []


@pytest.mark.parametrize(
    "line",
    [
        "y = R.concat(\n            (x, x)\n        z = R.add(x, x)",
        "y = R.add(x, x\n        z = R.add(x, (x)",
        "y = R.add(x, x  # one\n        with R.dataflow():\n            pass",
    ],
)
def test_a_bracket_that_nothing_closes_ends_with_its_statement(line: str) -> None:
    found = parse(HEAD.format(line)).diagnostics
    assert "found the end of the line" in found[0].message
