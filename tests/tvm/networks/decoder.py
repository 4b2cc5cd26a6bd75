# mypy: allow-subclassing-any
"""A decoder-only transformer with a key-value cache, and the plain stack that benchmarks measure."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op

from .layers import Attention, GatedMLP, Heads, Module


class CachedAttention(Heads):
    """Causal attention over everything the key and value caches hold."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__(hidden, heads)
        self.key_cache = nn.KVCache(16, [heads, self.width])
        self.value_cache = nn.KVCache(16, [heads, self.width])

    def remember(self, cache: nn.KVCache, new: nn.Tensor, length: Any, total: Any) -> nn.Tensor:
        cache.append(op.reshape(new, (length, self.heads, self.width)))
        seen = op.reshape(cache.view(total), (1, total, self.heads, self.width))
        return op.permute_dims(seen, (0, 2, 1, 3))

    def forward(self, x: nn.Tensor, mask: nn.Tensor, total: Any) -> nn.Tensor:
        batch, length, hidden = x.shape
        query = self.split_heads(self.query(x))
        key = self.remember(self.key_cache, self.key(x), length, total)
        value = self.remember(self.value_cache, self.value(x), length, total)
        scores = op.matmul(query, op.permute_dims(key, (0, 1, 3, 2))) / self.width**0.5
        scores = op.minimum(scores, mask)
        mixed = op.matmul(op.softmax(scores, axis=-1), value)
        mixed = op.reshape(op.permute_dims(mixed, (0, 2, 1, 3)), (batch, length, hidden))
        return self.output(mixed)


class DecoderLayer(nn.Module):
    def __init__(self, hidden: int, heads: int) -> None:
        self.attention = CachedAttention(hidden, heads)
        self.mlp = GatedMLP(hidden)
        self.norm1 = nn.RMSNorm(hidden, -1, bias=False)
        self.norm2 = nn.RMSNorm(hidden, -1, bias=False)

    def forward(self, x: nn.Tensor, mask: nn.Tensor, total: Any) -> nn.Tensor:
        x = x + self.attention(self.norm1(x), mask, total)
        return x + self.mlp(self.norm2(x))


class Decoder(nn.Module):
    """Token ids to logits of the last position; one entry for a prompt, one for a single token."""

    def __init__(self, layers: int, hidden: int, heads: int, vocabulary: int) -> None:
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.layers = nn.ModuleList([DecoderLayer(hidden, heads) for _ in range(layers)])
        self.norm = nn.RMSNorm(hidden, -1, bias=False)
        self.head = nn.Linear(hidden, vocabulary, bias=False)

    def run(self, ids: nn.Tensor, mask: nn.Tensor, total: Any) -> nn.Tensor:
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, mask, total)
        last = op.tensor_expr_op(
            lambda t: tvm.te.compute(
                (1, 1, t.shape[2]), lambda i, _, k: t[i, t.shape[1] - 1, k], name="last"
            ),
            "last",
            [x],
        )
        return op.astype(self.head(self.norm(last)), "float32")

    def prefill(self, ids: nn.Tensor, total_length: Any) -> nn.Tensor:
        length = ids.shape[1]
        mask = op.tensor_expr_op(self.causal, "causal_mask", [length, total_length])
        return self.run(ids, mask, total_length)

    def decode(self, ids: nn.Tensor, total_length: Any) -> nn.Tensor:
        top = nn.Tensor(_expr=relax.const(3.0e38, "float32"))
        mask = op.full((1, 1, 1, total_length), top)
        return self.run(ids, mask, total_length)

    @staticmethod
    def causal(length: Any, total: Any) -> Any:
        low, high = tvm.tirx.min_value("float32"), tvm.tirx.max_value("float32")
        return tvm.te.compute(
            (1, 1, length, total),
            lambda _0, _1, i, j: tvm.tirx.Select(i + (total - length) < j, low, high),
            name="causal_mask",
        )


def decoder(layers: int, hidden: int = 32, heads: int = 4) -> Module:
    """A decoder-only transformer with symbolic sequence length and a key-value cache per layer."""
    model = Decoder(layers, hidden, heads, vocabulary=64)
    model.to("float32")
    spec = {
        "prefill": {"ids": nn.spec.Tensor([1, "n"], "int32"), "total_length": int},
        "decode": {"ids": nn.spec.Tensor([1, 1], "int32"), "total_length": int},
    }
    module, _ = model.export_tvm(spec=spec)
    return module


class PlainLayer(nn.Module):
    def __init__(self, hidden: int, heads: int) -> None:
        self.attention = Attention(hidden, heads)
        self.mlp = GatedMLP(hidden)
        self.norm1 = nn.RMSNorm(hidden, -1, bias=False)
        self.norm2 = nn.RMSNorm(hidden, -1, bias=False)

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        normed = self.norm1(x)
        x = x + self.attention(normed, normed)
        return x + self.mlp(self.norm2(x))


class Stack(nn.Module):
    def __init__(self, layers: int, hidden: int, heads: int) -> None:
        self.hidden = hidden
        self.layers = nn.ModuleList([PlainLayer(hidden, heads) for _ in range(layers)])
        self.norm = nn.RMSNorm(hidden, -1, bias=False)

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


def stack(layers: int, hidden: int = 256, heads: int = 8) -> Module:
    """A transformer stack in one dataflow block: 33 bindings a layer, one symbolic dimension."""
    model = Stack(layers, hidden, heads)
    spec = {"forward": {"x": nn.spec.Tensor([1, "n", hidden], "float32")}}
    module, _ = model.export_tvm(spec=spec)
    return module
