"""A failing test can show every node: as an expression, as its text, or by its fields."""

from __future__ import annotations

import pytest

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.pasteable import pasteable
from rlx.grammar.read.parser import parse

TEXT = """
@R.function
def main(x: R.Tensor((n, 2), "float32")) -> R.Tensor(("n", 2), "float32"):
    gv = R.add(x, x)
    return gv
"""


@pytest.mark.parametrize(
    ("node", "shown"),
    [
        (ast.VDevice("llvm", 0, "global"), "VDevice("),
        (tir.Evaluate(tir.IntImm(0)), "Evaluate("),
        (ast.TensorStructInfo(ndim=2), "R.Tensor(ndim=2)"),
        (tir.Add(tir.Var("n"), tir.IntImm(1)), "n + 1"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_node_is_shown(node: Node, shown: str) -> None:
    assert pasteable(node).startswith(shown)


def test_a_module_is_an_expression() -> None:
    (module,) = parse(TEXT.replace("(n, 2)", '("n", 2)')).modules
    assert pasteable(module).startswith("rlx.parse(")
