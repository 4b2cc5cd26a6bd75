"""A layer with kernels of its own, RMS norm and a lookup, written as tensor expressions.

Run it: `python examples/tensor_expressions.py`. Each kernel is proved to read inside of its tensors
for all sizes, but for the tokens, which only a run knows.
"""

from __future__ import annotations

from typing import Any

import rlx
from rlx import te
from rlx.transform import legalize


def lookup(table: te.Tensor, tokens: te.Tensor) -> Any:
    """The rows of a table that tokens name."""
    shape = (tokens.shape[0], table.shape[1])
    return te.compute(shape, lambda i, j: table[tokens[i], j], name="lookup")


def rms_norm(x: te.Tensor, weight: te.Tensor, epsilon: float) -> Any:
    """Each row over its root mean square, times a weight."""
    rows, width = x.shape
    k = te.reduce_axis((0, width), name="k")
    square = te.compute((rows,), lambda i: te.sum(x[i, k] * x[i, k], axis=k), name="square")

    def element(i: te.Scalar, j: te.Scalar) -> te.Scalar:
        mean = square[i] / width.astype("float32")
        return x[i, j] / te.sqrt(mean + epsilon) * weight[j]

    return te.compute(x.shape, element, name="rms_norm")


def model() -> rlx.IRModule:
    """Tokens to activations, with both kernels and an operator."""
    bb = rlx.BlockBuilder()
    table = rlx.Var("table", 'R.Tensor(("v", 8), "float32")')
    weight = rlx.Var("weight", 'R.Tensor((8,), "float32")')
    tokens = rlx.Var("tokens", 'R.Tensor(("n",), "int64")')
    with bb.function("main", [table, weight, tokens]):
        with bb.dataflow():
            rows = bb.emit_te(lookup, table, tokens)
            normal = bb.emit_te(rms_norm, rows, weight, 1e-5)
            out = bb.emit_output(rlx.op.nn.silu(normal))
        bb.emit_func_output(out)
    return bb.get()


def main() -> None:
    """Show the module with all operators as kernels, and run it."""
    module = legalize(model())
    print(module)
    print(rlx.check(module))
    print(rlx.run(module, inputs={"v": 5, "n": 3, "tokens": [4, 0, 2]}).numpy())


if __name__ == "__main__":
    main()
