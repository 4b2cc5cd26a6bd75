"""A mutator: one binding becomes two.

``python examples/passes/expand_relu.py`` shows a program before and after.
"""

from __future__ import annotations

import rlx
from rlx.grammar import IRModule, ast


class ExpandRelu(rlx.ExprMutator):
    """Writes ``relu(x)`` as ``maximum(x, 0)``, with the zero bound by itself."""

    def visit_call(self, call: ast.Call) -> ast.Expr:
        made = super().visit_call(call)
        if isinstance(made, ast.Call) and made.op_name == "relax.nn.relu":
            zero = self.builder.emit(rlx.const(0.0), "zero")
            return rlx.op.maximum(made.args[0], zero)
        return made


def program() -> IRModule:
    """A layer of a network."""
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", 'R.Tensor(("n", 4), "float32")')
    w = rlx.Var("w", 'R.Tensor((4, 8), "float32")')
    with bb.function("main", [x, w]):
        with bb.dataflow():
            result = bb.emit_output(rlx.op.nn.relu(x @ w + 1))
        bb.emit_func_output(result)
    return bb.get()


if __name__ == "__main__":
    before = program()
    after = ExpandRelu()(before)
    print(rlx.show(before))
    print(rlx.show(after))
    assert rlx.check(after).ok
