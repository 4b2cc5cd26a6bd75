# mypy: allow-subclassing-any
"""Layers that several networks share."""

from __future__ import annotations

from typing import Any

from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op

Module = Any  # TVM carries no types: an IRModule.


class Heads(nn.Module):
    """The projections of multi-head attention."""

    def __init__(self, hidden: int, heads: int) -> None:
        self.heads, self.width = heads, hidden // heads
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.key = nn.Linear(hidden, hidden, bias=False)
        self.value = nn.Linear(hidden, hidden, bias=False)
        self.output = nn.Linear(hidden, hidden, bias=False)

    def split_heads(self, x: nn.Tensor) -> nn.Tensor:
        batch, length, _ = x.shape
        return op.permute_dims(op.reshape(x, (batch, length, self.heads, self.width)), (0, 2, 1, 3))


class Attention(Heads):
    """Multi-head attention of one sequence to another (or to itself), without a cache."""

    def forward(self, x: nn.Tensor, memory: nn.Tensor) -> nn.Tensor:
        batch, length, hidden = x.shape
        query = self.split_heads(self.query(x))
        key = self.split_heads(self.key(memory))
        value = self.split_heads(self.value(memory))
        scores = op.matmul(query, op.permute_dims(key, (0, 1, 3, 2))) / self.width**0.5
        mixed = op.matmul(op.softmax(scores, axis=-1), value)
        return self.output(
            op.reshape(op.permute_dims(mixed, (0, 2, 1, 3)), (batch, length, hidden))
        )


class GatedMLP(nn.Module):
    def __init__(self, hidden: int) -> None:
        self.gate = nn.Linear(hidden, 4 * hidden, bias=False)
        self.up = nn.Linear(hidden, 4 * hidden, bias=False)
        self.down = nn.Linear(4 * hidden, hidden, bias=False)

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        return self.down(op.silu(self.gate(x)) * self.up(x))
