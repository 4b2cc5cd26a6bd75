"""LAW: blocks that are joined hold what they held, in order; none is empty, and neighbours differ in kind."""

from __future__ import annotations

import itertools

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.rewrite import joined


def test_blocks_are_joined() -> None:
    one = ast.Tuple(())
    choices = [
        (kind, count) for kind in (ast.BindingBlock, ast.DataflowBlock) for count in (0, 1, 2)
    ]
    for some in itertools.product(choices, repeat=4):
        names = itertools.count()
        blocks = tuple(
            kind(tuple(ast.VarBinding(ast.Var(f"v{next(names)}"), one) for _ in range(count)))
            for kind, count in some
        )
        made = joined(blocks)
        wanted = [(type(block), binding) for block in blocks for binding in block.bindings]
        assert [(type(block), binding) for block in made for binding in block.bindings] == wanted
        assert all(block.bindings for block in made)
        assert all(type(a) is not type(b) for a, b in itertools.pairwise(made))
