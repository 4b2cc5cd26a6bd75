# mypy: allow-subclassing-any
"""An encoder-decoder with cross attention."""

from __future__ import annotations

from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op

from .layers import Attention, Module


class FeedForward(nn.Module):
    def __init__(self, hidden: int) -> None:
        self.norm = nn.LayerNorm(hidden)
        self.first = nn.Linear(hidden, 4 * hidden)
        self.second = nn.Linear(4 * hidden, hidden)

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        return x + self.second(op.gelu(self.first(self.norm(x))))


class EncoderLayer(nn.Module):
    def __init__(self, hidden: int, heads: int) -> None:
        self.norm = nn.LayerNorm(hidden)
        self.attention = Attention(hidden, heads)
        self.forward_part = FeedForward(hidden)

    def forward(self, x: nn.Tensor) -> nn.Tensor:
        normed = self.norm(x)
        return self.forward_part(x + self.attention(normed, normed))


class CrossLayer(nn.Module):
    def __init__(self, hidden: int, heads: int) -> None:
        self.norm1 = nn.LayerNorm(hidden)
        self.inner = Attention(hidden, heads)
        self.norm2 = nn.LayerNorm(hidden)
        self.cross = Attention(hidden, heads)
        self.forward_part = FeedForward(hidden)

    def forward(self, x: nn.Tensor, memory: nn.Tensor) -> nn.Tensor:
        normed = self.norm1(x)
        x = x + self.inner(normed, normed)
        x = x + self.cross(self.norm2(x), memory)
        return self.forward_part(x)


class EncoderDecoder(nn.Module):
    def __init__(self, hidden: int, heads: int, vocabulary: int) -> None:
        self.conv1 = nn.Conv1D(8, hidden, 3, padding=1)
        self.conv2 = nn.Conv1D(hidden, hidden, 3, stride=2, padding=1)
        self.encoder = nn.ModuleList([EncoderLayer(hidden, heads) for _ in range(2)])
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.decoder = nn.ModuleList([CrossLayer(hidden, heads) for _ in range(2)])
        self.norm = nn.LayerNorm(hidden)

    def encode(self, audio: nn.Tensor) -> nn.Tensor:
        x = op.gelu(self.conv2(op.gelu(self.conv1(audio))))
        x = op.permute_dims(x, (0, 2, 1))
        for layer in self.encoder:
            x = layer(x)
        return self.norm(x)

    def decode(self, ids: nn.Tensor, memory: nn.Tensor) -> nn.Tensor:
        x = self.embedding(ids)
        for layer in self.decoder:
            x = layer(x, memory)
        logits = op.matmul(x, op.permute_dims(self.embedding.weight, (1, 0)))
        return op.softmax(logits, axis=-1)


def encoder_decoder() -> Module:
    """Audio frames to tokens: strided convolutions over a symbolic length, cross attention between two."""
    model = EncoderDecoder(16, 2, 32)
    spec = {
        "encode": {"audio": nn.spec.Tensor(["b", 8, "frames"], "float32")},
        "decode": {
            "ids": nn.spec.Tensor(["b", "n"], "int32"),
            "memory": nn.spec.Tensor(["b", "m", 16], "float32"),
        },
    }
    module, _ = model.export_tvm(spec=spec)
    return module
