"""A ResNet-like convnet with batch normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np
import tvm
from tvm import relax

from .layers import Module


class ConvNet:
    """A small ResNet on BlockBuilder: convolutions, batch norm with its running statistics, pooling."""

    def __init__(self) -> None:
        self.builder = relax.BlockBuilder()
        self.weights: list[relax.Var] = []

    def weight(self, name: str, *shape: int) -> relax.Var:
        var = relax.Var(name, relax.TensorType(shape, "float32"))
        self.weights.append(var)
        return var

    def convolve(self, x: relax.Expr, name: str, size: tuple[int, int, int], stride: int) -> Any:
        inputs, outputs, kernel = size
        weight = self.weight(f"{name}_weight", outputs, inputs, kernel, kernel)
        padding = kernel // 2
        return self.builder.emit(
            relax.op.nn.conv2d(x, weight, strides=stride, padding=padding), f"{name}_conv"
        )

    def normalize(self, x: relax.Expr, name: str, channels: int) -> relax.Var:
        parts = [
            self.weight(f"{name}_{part}", channels) for part in ("gamma", "beta", "mean", "var")
        ]
        result = self.builder.emit(
            relax.op.nn.batch_norm(x, *parts, axis=1, epsilon=1e-5), f"{name}_bn"
        )
        return self.builder.emit(relax.TupleGetItem(result, 0), f"{name}_out")

    def block(self, x: relax.Expr, name: str, inputs: int, outputs: int, stride: int) -> relax.Var:
        bb = self.builder
        y = self.normalize(
            self.convolve(x, f"{name}_1", (inputs, outputs, 3), stride), f"{name}_1", outputs
        )
        y = bb.emit(relax.op.nn.relu(y))
        y = self.normalize(
            self.convolve(y, f"{name}_2", (outputs, outputs, 3), 1), f"{name}_2", outputs
        )
        if stride != 1 or inputs != outputs:
            short = self.convolve(x, f"{name}_s", (inputs, outputs, 1), stride)
            x = self.normalize(short, f"{name}_s", outputs)
        return bb.emit(relax.op.nn.relu(bb.emit(relax.op.add(y, x))))

    def build(self) -> Module:
        batch = tvm.tirx.Var("batch", "int64")
        image = relax.Var("image", relax.TensorType([batch, 3, 32, 32], "float32"))
        bb = self.builder
        with bb.function("main", attrs={"num_input": 1}):
            with bb.dataflow():
                mean = relax.const(np.array([[[0.5]], [[0.4]], [[0.3]]], "float32"))
                centred = bb.emit(relax.op.subtract(image, mean))
                x = self.normalize(self.convolve(centred, "stem", (3, 8, 7), 2), "stem", 8)
                x = bb.emit(relax.op.nn.relu(x))
                x = bb.emit(relax.op.nn.max_pool2d(x, pool_size=3, strides=2, padding=1))
                for number, (inputs, outputs, stride) in enumerate(
                    [(8, 8, 1), (8, 16, 2), (16, 16, 1)]
                ):
                    x = self.block(x, f"layer{number}", inputs, outputs, stride)
                x = bb.emit(relax.op.nn.adaptive_avg_pool2d(x, (1, 1)))
                x = bb.emit(relax.op.reshape(x, (batch, 16)))
                scores = bb.emit(
                    relax.op.linear(x, self.weight("fc", 10, 16), self.weight("fc_bias", 10))
                )
                result = bb.emit_output(relax.op.nn.log_softmax(scores))
            bb.emit_func_output(result, params=[image, *self.weights])
        return bb.finalize()


def convnet() -> Module:
    """A ResNet-like image classifier with batch normalisation and a symbolic batch."""
    return ConvNet().build()
