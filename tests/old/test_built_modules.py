"""Criteria that no text can break, because its reader gives a name out of its scope to another variable: of modules that
programs build."""

from __future__ import annotations

import pytest

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.rewrite import rebuild
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.read.parser import parse
from rlx.old.well_formed import well_formed

BRANCHES = """\
@R.function
def main(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    if c:
        a = R.add(x, x)
        b = R.add(a, x)
    else:
        d = R.add(x, x)
        b = R.add(d, x)
    e = R.add(b, b)
    return e
"""
NESTED = """\
@R.function
def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
    @R.function
    def inner(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        a = R.add(y, y)
        return a
    b = inner(x)
    e = R.add(b, b)
    return e
"""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (BRANCHES, "a"),
        (BRANCHES, "d"),
        (NESTED, "a"),
        (NESTED, "y"),
        (BRANCHES, "b"),
        (NESTED, "x"),
    ],
)
def test_a_variable_out_of_its_scope(text: str, name: str) -> None:
    """`e` adds a variable of a branch, or of a nested function, or one that is in scope."""
    module = parse(text).modules[0]
    function = module["main"]
    assert isinstance(function, ast.Function)
    found = {v.name_hint: v for v in expressions(function) if isinstance(v, ast.Var)}
    last = found["b"]

    def moved(node: Node) -> Node:
        match node:
            case ast.Call(op=ast.Op("relax.add"), args=(one, other)) if one is other is last:
                return ast.Call(node.op, (found[name], other))
        return node

    made = ast.IRModule({gv: rebuild(f, moved) for gv, f in module.functions.items()})
    said = [d.code for d in well_formed(made)]
    assert said == ([] if name in ("b", "x") else ["OWF03-scope"])
