# mypy: allow-subclassing-any
"""A U-Net-like block with group normalisation and attention."""

from __future__ import annotations

from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op

from .layers import Attention, Module


class ResnetBlock(nn.Module):
    def __init__(self, inputs: int, outputs: int, time: int) -> None:
        self.norm1 = nn.GroupNorm(4, inputs)
        self.conv1 = nn.Conv2D(inputs, outputs, 3, padding=1)
        self.time = nn.Linear(time, outputs)
        self.norm2 = nn.GroupNorm(4, outputs)
        self.conv2 = nn.Conv2D(outputs, outputs, 3, padding=1)
        self.short = nn.Conv2D(inputs, outputs, 1)

    def forward(self, x: nn.Tensor, time: nn.Tensor) -> nn.Tensor:
        hidden = self.conv1(op.silu(self.norm1(x)))
        shift = self.time(op.silu(time))
        hidden = hidden + op.unsqueeze(op.unsqueeze(shift, 2), 3)
        return self.short(x) + self.conv2(op.silu(self.norm2(hidden)))


class SpatialAttention(nn.Module):
    """Self-attention over the pixels, then cross attention to the prompt."""

    def __init__(self, channels: int, heads: int, context: int) -> None:
        self.norm = nn.GroupNorm(4, channels)
        self.to_context = nn.Linear(context, channels)
        self.inner = Attention(channels, heads)
        self.cross = Attention(channels, heads)
        self.layer_norm = nn.LayerNorm(channels)
        self.grow = nn.Linear(channels, 8 * channels)
        self.shrink = nn.Linear(4 * channels, channels)

    def forward(self, x: nn.Tensor, context: nn.Tensor) -> nn.Tensor:
        batch, channels, height, width = x.shape
        flat = op.reshape(self.norm(x), (batch, channels, height * width))
        flat = op.permute_dims(flat, (0, 2, 1))
        flat = flat + self.inner(flat, flat)
        flat = flat + self.cross(self.layer_norm(flat), self.to_context(context))
        left, right = op.split(self.grow(flat), 2, axis=-1)
        flat = flat + self.shrink(left * op.gelu(right))
        flat = op.reshape(op.permute_dims(flat, (0, 2, 1)), (batch, channels, height, width))
        return x + flat


class DiffusionBlock(nn.Module):
    def __init__(self, channels: int, context: int) -> None:
        self.channels = channels
        self.time1 = nn.Linear(channels, 4 * channels)
        self.time2 = nn.Linear(4 * channels, 4 * channels)
        self.enter = nn.Conv2D(4, channels, 3, padding=1)
        self.down = ResnetBlock(channels, channels, 4 * channels)
        self.shrink = nn.Conv2D(channels, 2 * channels, 3, stride=2, padding=1)
        self.middle = ResnetBlock(2 * channels, 2 * channels, 4 * channels)
        self.attention = SpatialAttention(2 * channels, 2, context)
        self.grow = nn.Conv2D(2 * channels, channels, 3, padding=1)
        self.up = ResnetBlock(2 * channels, channels, 4 * channels)
        self.norm = nn.GroupNorm(4, channels)
        self.leave = nn.Conv2D(channels, 4, 3, padding=1)

    def forward(self, sample: nn.Tensor, step: nn.Tensor, prompt: nn.Tensor) -> nn.Tensor:
        time = op.get_timestep_embedding(step, self.channels)
        time = self.time2(op.silu(self.time1(time)))
        top = self.down(self.enter(sample), time)
        deep = self.attention(self.middle(self.shrink(top), time), prompt)
        deep = self.grow(op.interpolate(deep, scale_factor=2.0, mode="nearest"))
        joined = op.concat([deep, top], 1)
        out = self.up(joined, time)
        return self.leave(op.silu(self.norm(out)))


def diffusion() -> Module:
    """A U-Net-like block: down, middle with attention to a prompt of symbolic length, up with a skip."""
    model = DiffusionBlock(8, 16)
    spec = {
        "forward": {
            "sample": nn.spec.Tensor(["b", 4, 16, 16], "float32"),
            "step": nn.spec.Tensor(["b"], "int32"),
            "prompt": nn.spec.Tensor(["b", "tokens", 16], "float32"),
        }
    }
    module, _ = model.export_tvm(spec=spec)
    return module
