"""A pattern that removes double negations.

``python examples/passes/double_negation.py`` shows a program before and after.
"""

from __future__ import annotations

import rlx
from rlx.grammar import IRModule, ast
from rlx.transform import Match, is_op, rewrite, wildcard


def without_double_negation(module: IRModule) -> IRModule:
    """A module with ``x`` in place of ``-(-x)``."""
    x = wildcard()

    def inner(match: Match) -> ast.Expr:
        return match[x]

    return rewrite(module, is_op("negative")(is_op("negative")(x)), inner)


def program() -> IRModule:
    """Two signs too many."""
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", 'R.Tensor(("n",), "float32")')
    with bb.function("main", [x]):
        bb.emit_func_output(rlx.op.exp(rlx.op.negative(-x)))
    return bb.get()


if __name__ == "__main__":
    before = program()
    after = without_double_negation(before)
    print(rlx.show(before))
    print(rlx.show(after))
    assert "negative" not in rlx.show(after)
