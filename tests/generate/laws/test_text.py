"""Round trip: the text of a program is the program."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from rlx.generate import modules
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse


@settings(max_examples=60, deadline=None)
@given(modules())
def test_round_trip(module: ast.IRModule) -> None:
    """Parsing what was printed gives an equal program, which is printed as the same text."""
    text = print_module(module)
    (again,) = parse(text).modules
    assert structural_equal(module, again)
    assert print_module(again) == text


@pytest.mark.parametrize("dialect", ["0.16", "0.20", "0.24"])
def test_dialects(dialect: str) -> None:
    """The text of an older dialect says the same program, as far as that dialect can."""

    @settings(max_examples=25, deadline=None)
    @given(
        modules(features=frozenset({"symbolic", "match_cast", "tuples", "if", "dataflow", "loose"}))
    )
    def law(module: ast.IRModule) -> None:
        (again,) = parse(print_module(module, dialect)).modules
        assert structural_equal(module, again)

    law()
