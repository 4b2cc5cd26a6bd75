# mypy: allow-subclassing-any
"""A mixture-of-experts layer with topk and scatter."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op
from tvm.relax.frontend.nn.op import wrap_nested

from .layers import Module


def emit(call: relax.Expr, name: str) -> Any:
    """Bind ``call`` in the function under construction: for operators that ``nn`` does not wrap."""
    return wrap_nested(call, name)


class Experts(nn.Module):
    """Tokens go to the best two of some experts; their answers are scattered back and weighted."""

    def __init__(self, hidden: int, experts: int, chosen: int) -> None:
        self.hidden, self.experts, self.chosen = hidden, experts, chosen
        self.gate = nn.Linear(hidden, experts, bias=False)
        self.up = nn.Parameter((experts, hidden, 2 * hidden))
        self.down = nn.Parameter((experts, 2 * hidden, hidden))

    def route(self, x: nn.Tensor) -> tuple[nn.Tensor, nn.Tensor]:
        tokens = x.shape[0]
        scores, chosen = op.topk(self.gate(x), self.chosen, axis=-1, ret_type="both")
        weights = op.softmax(scores, axis=-1)
        empty = op.zeros((tokens, self.experts), "float32")
        spread = emit(
            relax.op.scatter_elements(
                empty._expr, op.astype(chosen, "int64")._expr, weights._expr, axis=1
            ),
            "spread",
        )
        return spread, chosen

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        batch, length, hidden = x.shape
        flat = op.reshape(x, (batch * length, hidden))
        spread, _ = self.route(flat)
        grown = op.silu(op.matmul(op.unsqueeze(flat, 0), self.up))
        answers = op.matmul(grown, self.down)
        weights = op.unsqueeze(op.permute_dims(spread, (1, 0)), 2)
        mixed = op.sum(answers * weights, axis=0)
        return op.reshape(mixed, (batch, length, hidden))

    def loads(self, x: nn.Tensor) -> tuple[nn.Tensor, nn.Tensor, nn.Tensor]:
        """Tokens sorted by expert, and how many each expert has so far."""
        spread, chosen = self.route(x)
        tokens = x.shape[0]
        flat = op.reshape(chosen, (tokens * self.chosen,))
        order = op.argsort(flat, axis=0, dtype="int32")
        hot = emit(
            relax.op.one_hot(flat._expr, relax.prim_value(1), relax.prim_value(0), self.experts),
            "hot",
        )
        counts = op.cumsum(op.sum(hot, axis=0), axis=0, dtype="int32")
        rows = op.tensor_expr_op(
            lambda t: tvm.te.compute(t.shape, lambda i: t[i] // self.chosen, name="rows"),
            "rows",
            [order],
        )
        gathered = op.take(x, rows, axis=0)
        scattered = emit(
            relax.op.scatter_nd(
                op.zeros((tokens, self.hidden), "float32")._expr,
                op.unsqueeze(op.astype(rows, "int64"), 1)._expr,
                gathered._expr,
                "add",
            ),
            "scattered",
        )
        return scattered, counts, spread


def experts() -> Module:
    """A mixture-of-experts layer: topk, scatter_elements, scatter_nd, argsort, cumsum, one_hot."""
    model = Experts(16, 4, 2)
    spec = {
        "forward": {"x": nn.spec.Tensor(["b", "n", 16], "float32")},
        "loads": {"x": nn.spec.Tensor(["t", 16], "float32")},
    }
    module, _ = model.export_tvm(spec=spec)
    return module
