"""The whole tree of programs with every construct: each field of each node, and the text that each span covers.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/grammar/parse/test_trees.py` writes the trees anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from rlx.grammar import ast
from rlx.grammar.dtype import FLOAT32
from rlx.grammar.node import Record, fields
from rlx.grammar.parser import parse
from tests.snapshots import assert_snapshot

SNAPSHOTS = Path(__file__).parent / "snapshots"
PROGRAMS = Path(__file__).parents[1] / "print" / "snapshots"
LONGEST = 40


class Dump:
    """The lines of a tree; a node that stands twice is written once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.numbers: dict[Record, int] = {}

    def covered(self, span: Any) -> str:
        """The text that a span covers, its middle left out if it is long."""
        if span is None:
            return "-"
        words = " ".join(self.text[span[0] : span[1]].split())
        if len(words) > LONGEST:
            words = f"{words[: LONGEST // 2]} … {words[-LONGEST // 2 :]}"
        return f"{self.text.count(chr(10), 0, span[0]) + 1}:{words!r}"

    def lines(self, name: str, value: Any, depth: int) -> Iterator[str]:
        lead = f"{'  ' * depth}{name}: "
        match value:
            case _ if name.endswith("spans"):
                yield lead + self.spans(value)
            case _ if name.endswith("span"):
                yield lead + self.covered(value)
            case Record() if value in self.numbers:
                yield f"{lead}{type(value).__name__} #{self.numbers[value]}"
            case Record():
                self.numbers[value] = len(self.numbers) + 1
                yield f"{lead}{type(value).__name__} #{self.numbers[value]}"
                for part, inner in fields(value):
                    if inner not in (None, (), {}):
                        yield from self.lines(part, inner, depth + 1)
            case tuple() | list():
                for at, item in enumerate(value):
                    yield from self.lines(f"{name}[{at}]", item, depth)
            case Mapping():
                for at, (key, item) in enumerate(value.items()):
                    shown = f"{name}[{at}]" if isinstance(key, Record) else f"{name}[{key}]"
                    if isinstance(key, Record):
                        yield from self.lines(f"{shown} key", key, depth)
                    yield from self.lines(shown, item, depth)
            case _:
                yield lead + " ".join(repr(value).split())

    def spans(self, value: Any) -> str:
        if isinstance(value, Mapping):
            return ", ".join(f"{key} {self.spans(item)}" for key, item in value.items())
        return ", ".join(map(self.covered, value or ()))


@pytest.mark.parametrize("name", ["relax", "relax-0.16", "kernels", "kernels-0.16"])
def test_the_tree_is_as_it_was(name: str) -> None:
    text = (PROGRAMS / f"{name}.rlx").read_text("utf-8")
    (module,) = parse(text).modules
    assert_snapshot(
        SNAPSHOTS / f"{name}.txt", "\n".join(Dump(text).lines("module", module, 0)) + "\n"
    )


def test_a_part_of_a_shared_annotation_is_located_where_it_is_used() -> None:
    dims = ast.ShapeExpr((), (12, 15))
    whole = ast.TensorStructInfo(dims, FLOAT32, 0, None, (10, 20))
    unplaced = ast.ShapeExpr(())
    assert ast.locate(dims, whole, (110, 120)) == (112, 115)
    assert ast.locate(dims, whole, None) == (12, 15)
    assert ast.locate(unplaced, whole, (110, 120)) == (110, 120)
    assert ast.locate(dims, None, (110, 120)) == (110, 120)
    assert ast.locate(unplaced, whole, None) is None
