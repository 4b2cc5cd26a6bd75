"""Networks in which every dimension that a user may vary is symbolic, built with TVM.

TVM derives the shape of every value; the checker derives it again, and asks the prover where the
two are written differently. Sizes are symbols, so the questions are those of any size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tvm
from tvm import relax, tirx
from tvm.relax import op

Dim = Any
"""An int or a TVM PrimExpr."""


class ModelBuilder:
    """A function under construction: parameters are collected, values emitted."""

    def __init__(self) -> None:
        self.block = relax.BlockBuilder()
        self.parameters: list[relax.Var] = []

    def input(self, name: str, *shape: Dim) -> relax.Var:
        """A parameter of float32."""
        self.parameters.append(relax.Var(name, relax.TensorType(list(shape), "float32")))
        return self.parameters[-1]

    def __call__(self, value: relax.Expr) -> relax.Var:
        """Bind a value."""
        return self.block.emit(value)

    def shape(self, value: relax.Var) -> list[Dim]:
        """The dimensions that TVM derived."""
        return list((getattr(value, "ty", None) or value.struct_info).shape.values)


def _module(body: Callable[[ModelBuilder], relax.Expr]) -> tvm.IRModule:
    build = ModelBuilder()
    # The parameters are known once the body has been emitted, so it is emitted twice.
    with build.block.function("draft", []):
        build.block.emit_func_output(body(build))
    final = ModelBuilder()
    parameters = build.parameters
    waiting = iter(parameters)
    final.input = lambda name, *shape: next(waiting)  # type: ignore[method-assign]
    with final.block.function("main", parameters):
        with final.block.dataflow():
            result = final.block.emit_output(body(final))
        final.block.emit_func_output(result)
    return final.block.get()


def _symbols(*names: str) -> list[tirx.Var]:
    """Symbols, the same ones for the same names."""
    return [_KNOWN.setdefault(name, tirx.Var(name, "int64")) for name in names]


_KNOWN: dict[str, tirx.Var] = {}


def residual(b: ModelBuilder) -> relax.Expr:
    """Strided convolutions and pooling over an image of any size, with residual connections."""
    batch, height, width, c = _symbols("batch", "height", "width", "c")
    x = b.input("x", batch, 3, height, width)
    x = b(op.nn.conv2d(x, b.input("stem", c, 3, 7, 7), strides=2, padding=3))
    x = b(op.nn.max_pool2d(x, pool_size=(3, 3), strides=2, padding=1))
    for stage in range(3):
        first = b.input(f"w{stage}", c, c, 3, 3)
        second = b.input(f"v{stage}", c, c, 3, 3)
        short = b.input(f"s{stage}", c, c, 1, 1)
        y = b(op.nn.conv2d(x, first, strides=2, padding=1))
        y = b(op.nn.conv2d(b(op.nn.relu(y)), second, strides=1, padding=1))
        x = b(op.add(y, b(op.nn.conv2d(x, short, strides=2, padding=0))))
        x = b(op.nn.conv2d(x, b.input(f"d{stage}", c, c, 3, 3), padding=2, dilation=2))
    x = b(op.mean(x, axis=[2, 3]))
    return op.reshape(x, (batch, c))


def pyramid(b: ModelBuilder) -> relax.Expr:
    """Down three times and up again, joined with what was there on the way down."""
    batch, k, m, c = _symbols("batch", "k", "m", "c")
    x = b.input("x", batch, c, 8 * k, 8 * m)
    kept = []
    for level in range(3):
        kept.append(x)
        x = b(op.nn.conv2d(x, b.input(f"down{level}", c, c, 3, 3), strides=2, padding=1))
    for level in range(3):
        x = b(op.nn.conv2d_transpose(x, b.input(f"up{level}", c, c, 2, 2), strides=2))
        x = b(op.concat([x, kept.pop()], axis=1))
        x = b(op.nn.conv2d(x, b.input(f"join{level}", c, 2 * c, 3, 3), padding=1))
    return op.nn.avg_pool2d(x, pool_size=(2, 2), strides=2)


def patches(b: ModelBuilder) -> relax.Expr:
    """A vision transformer's beginning: patches, tokens, a class token, heads."""
    batch, k, m, heads, d = _symbols("batch", "k", "m", "heads", "d")
    image = b.input("image", batch, 3, 16 * k, 16 * m)
    x = b(op.nn.conv2d(image, b.input("patch", heads * d, 3, 16, 16), strides=16))
    x = b(op.reshape(x, (batch, heads * d, b.shape(x)[2] * b.shape(x)[3])))
    x = b(op.permute_dims(x, (0, 2, 1)))
    x = b(op.concat([b.input("token", batch, 1, heads * d), x], axis=1))
    x = b(op.add(x, b.input("position", 1, k * m + 1, heads * d)))
    x = b(op.reshape(x, (batch, k * m + 1, heads, d)))
    x = b(op.permute_dims(x, (0, 2, 1, 3)))
    scores = b(op.matmul(x, b(op.permute_dims(x, (0, 1, 3, 2)))))
    x = b(op.matmul(b(op.nn.softmax(scores)), x))
    return op.reshape(b(op.permute_dims(x, (0, 2, 1, 3))), (batch, m * k + 1, d * heads))


def cached(b: ModelBuilder) -> relax.Expr:
    """Attention over a cache that grows: grouped heads, split projections, rotated halves."""
    batch, n, past, q, group, half = _symbols("batch", "n", "past", "q", "group", "half")
    d, heads = 2 * half, q * group
    x = b.input("x", batch, n, heads * d)
    width = (heads + 2 * q) * d
    x = b(op.matmul(x, b.input("qkv", heads * d, width)))
    x = b(op.reshape(x, (batch, n, heads + 2 * q, d)))
    query = b(op.strided_slice(x, [2], [0], [heads]))
    key = b(op.strided_slice(x, [2], [heads], [heads + q]))
    first = b(op.strided_slice(query, [3], [0], [half]))
    second = b(op.strided_slice(query, [3], [half], [d]))
    query = b(op.concat([b(op.negative(second)), first], axis=3))
    key = b(op.concat([b.input("cache", batch, past, q, d), key], axis=1))
    wide = b(op.reshape(query, (batch, n, q, group, d)))
    wide = b(op.reshape(b(op.permute_dims(wide, (0, 2, 3, 1, 4))), (batch * q, group * n, d)))
    key = b(op.reshape(b(op.permute_dims(key, (0, 2, 3, 1))), (batch * q, d, past + n)))
    scores = b(op.nn.softmax(b(op.matmul(wide, key))))
    mixed = b(op.matmul(scores, b(op.permute_dims(key, (0, 2, 1)))))
    mixed = b(op.reshape(mixed, (batch, q, group, n, d)))
    mixed = b(op.permute_dims(mixed, (0, 3, 1, 2, 4)))
    return op.reshape(mixed, (batch * n, q * group * 2 * half))


def shuffled(b: ModelBuilder) -> relax.Expr:
    """Pixels from channels and back, windows, strided slices, padding."""
    batch, c, k, m = _symbols("batch", "c", "k", "m")
    x = b.input("x", batch, c * 4, 7 * k, 7 * m)
    x = b(op.reshape(x, (batch, c, 2, 2, 7 * k, 7 * m)))
    x = b(op.reshape(b(op.permute_dims(x, (0, 1, 4, 2, 5, 3))), (batch, c, 14 * k, 14 * m)))
    x = b(op.reshape(x, (batch, c, 2 * k, 7, 2 * m, 7)))
    x = b(op.permute_dims(x, (0, 2, 4, 3, 5, 1)))
    x = b(op.reshape(x, (batch * (4 * k * m), 49, c)))
    x = b(op.matmul(x, b.input("w", c, c)))
    x = b(op.reshape(x, (batch, 2 * k, 2 * m, 7, 7, c)))
    x = b(op.reshape(b(op.permute_dims(x, (0, 5, 1, 3, 2, 4))), (batch, c, 14 * k, 14 * m)))
    x = b(op.nn.pad(x, [0, 0, 0, 0, 1, 2, 2, 1]))
    x = b(op.strided_slice(x, [2, 3], [0, 1], [14 * k + 3, 14 * m + 3], [2, 2]))
    return op.nn.max_pool2d(x, pool_size=(2, 2), strides=2, ceil_mode=True)


def grouped(b: ModelBuilder) -> relax.Expr:
    """Weights in groups of 32 with a scale each; experts side by side; batches packed."""
    n, groups, tokens, experts = _symbols("n", "groups", "tokens", "experts")
    weights = b.input("weights", n, 32 * groups)
    scales = b.input("scales", n, groups)
    w = b(op.reshape(weights, (n, groups, 32)))
    w = b(op.multiply(w, b(op.expand_dims(scales, 2))))
    w = b(op.reshape(w, (n, groups * 32)))
    x = b.input("x", experts, tokens, groups * 8 * 4)
    x = b(op.reshape(x, (experts * tokens, 32 * groups)))
    y = b(op.matmul(x, b(op.permute_dims(w))))
    y = b(op.reshape(y, (experts, tokens, n)))
    halves = b(op.split(b(op.concat([y, y], axis=2)), 2, axis=2))
    y = b(op.multiply(b(relax.TupleGetItem(halves, 0)), b(relax.TupleGetItem(halves, 1))))
    y = b(op.tile(y, (1, 3, 1)))
    y = b(op.flatten(y))
    return op.reshape(y, (tokens * 3, experts, n))


MODELS: dict[str, Callable[[ModelBuilder], relax.Expr]] = {
    model.__name__: model for model in (residual, pyramid, patches, cached, shuffled, grouped)
}


def modules() -> dict[str, tvm.IRModule]:
    """All networks by name."""
    return {name: _module(body) for name, body in MODELS.items()}
