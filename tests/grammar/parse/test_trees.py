"""LAW: a node stands where Python, which reads the same text, has an expression, a parameter or a statement."""

from __future__ import annotations

import ast as python
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import pytest

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import FLOAT32
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.read.parser import parse

PROGRAMS = Path(__file__).parents[1] / "print" / "snapshots"
EXAMPLES = Path(__file__).parents[3] / "examples"
TEXTS = sorted([*PROGRAMS.glob("*.rlx"), *EXAMPLES.glob("*.rlx")])


def places(text: str) -> set[Span]:
    """The places where Python has a node; quotation marks contain an expression, too."""
    starts = [0, *accumulate(len(line.encode()) for line in text.splitlines(keepends=True))]
    encoded = text.encode()

    def offset(line: int, column: int) -> int:
        return len(encoded[: starts[line - 1] + column].decode())

    found = set()
    for node in python.walk(python.parse(text)):
        if isinstance(node, python.expr | python.stmt | python.arg | python.keyword):
            assert node.end_lineno is not None and node.end_col_offset is not None
            span = (
                offset(node.lineno, node.col_offset),
                offset(node.end_lineno, node.end_col_offset),
            )
            found.add(span)
    return found


def nodes(module: ast.IRModule) -> Iterator[Node]:
    for function in module.relax_functions.values():
        yield from expressions(function)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_expressions_stand_where_python_has_some(path: Path) -> None:
    text = path.read_text("utf-8")
    known = places(text)
    strange = [
        (type(node).__name__, text[node.span[0] : node.span[1]])
        for module in parse(text).modules
        for node in nodes(module)
        if isinstance(node, ast.Call | ast.Tuple | ast.TupleGetItem | ast.Constant | ast.ShapeExpr)
        if node.span is not None and node.span not in known
    ]
    assert strange == []


def test_a_part_of_a_shared_annotation_is_located_where_it_is_used() -> None:
    dims = ast.ShapeExpr((), (12, 15))
    whole = ast.TensorStructInfo(dims, FLOAT32, 0, None, (10, 20))
    unplaced = ast.ShapeExpr(())
    assert ast.locate(dims, whole, (110, 120)) == (112, 115)
    assert ast.locate(dims, whole, None) == (12, 15)
    assert ast.locate(unplaced, whole, (110, 120)) == (110, 120)
    assert ast.locate(dims, None, (110, 120)) == (110, 120)
    assert ast.locate(unplaced, whole, None) is None
