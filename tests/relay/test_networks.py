"""Networks in Relay's text: their values are those of NumPy, in every form."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rlx
from rlx import relay
from rlx.semantics.machine import load
from rlx.semantics.values import Tensor

EXAMPLES = Path(__file__).parents[2] / "examples" / "relay"
RANDOM = np.random.default_rng(5)


def tensor(*shape: int) -> Any:
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def mlp(x: Any, w1: Any, b1: Any, w2: Any, b2: Any) -> Any:
    y = np.exp(np.maximum(x @ w1.T + b1, 0) @ w2.T + b2)
    return y / y.sum(1, keepdims=True)


def conv(x: Any, w: Any, stride: int) -> Any:
    """A convolution of 3 by 3 with padding of 1."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    return np.einsum("nchwij,ocij->nohw", windows[:, :, ::stride, ::stride], w)


def resnet_block(
    data: Any, stem: Any, w1: Any, w2: Any, gamma: Any, beta: Any, mean: Any, var: Any, fc: Any
) -> Any:
    def norm(x: Any) -> Any:
        g, b, m, v = (p[:, None, None] for p in (gamma, beta, mean, var))
        return (x - m) / np.sqrt(v + 1e-5) * g + b

    first = np.maximum(norm(conv(data, stem, 2)), 0)
    second = np.maximum(norm(conv(first, w1, 1)), 0)
    out = np.maximum(norm(conv(second, w2, 1)) + first, 0)
    return out.mean((2, 3)) @ fc.T


def lstm(xs: Any, count: Any, wx: Any, wh: Any, b: Any) -> Any:
    h = c = np.zeros((2, 4), np.float32)
    for x in xs[:count]:
        i, f, g, o = np.split(x @ wx.T + h @ wh.T + b, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    return h, c


def transformer_block(
    x: Any, wq: Any, wk: Any, wv: Any, wo: Any, bo: Any, g: Any, b: Any, *feed_forward: Any
) -> Any:
    (tokens,), (w1, b1, w2, b2) = x, feed_forward
    q, k, v = (
        (tokens @ w.T).reshape(-1, 2, 4).transpose(1, 0, 2).astype(float) for w in (wq, wk, wv)
    )
    scores = np.exp(q @ k.transpose(0, 2, 1) / 2)
    mixed = scores / scores.sum(-1, keepdims=True) @ v
    y = tokens + mixed.transpose(1, 0, 2).reshape(-1, 8) @ wo.T + bo
    y = (y - y.mean(1, keepdims=True)) / np.sqrt(y.var(1, keepdims=True) + 1e-5) * g + b
    inner = y @ w1.T + b1
    gelu = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
    return (y + gelu @ w2.T + b2)[None]


def mobilenet_block(
    x: Any, expand: Any, depth: Any, squeeze: Any, excite: Any, project: Any, bias: Any
) -> Any:
    def pointwise(y: Any, w: Any) -> Any:
        return np.einsum("nchw,oc->nohw", y, w[:, :, 0, 0])

    wide = pointwise(x, expand).clip(0, 6)
    kernels = np.zeros((8, 8, 3, 3))
    kernels[range(8), range(8)] = depth[:, 0]
    deep = conv(wide, kernels, 1).clip(0, 6)
    pooled = deep.mean((2, 3), keepdims=True)
    gates = sigmoid(pointwise(np.maximum(pointwise(pooled, squeeze), 0), excite))
    return x + pointwise(deep * gates, project) + bias[:, None, None]


CASES: dict[str, tuple[Any, list[Any]]] = {
    "mlp": (mlp, [tensor(5, 8), tensor(16, 8), tensor(16), tensor(4, 16), tensor(4)]),
    "resnet_block": (
        resnet_block,
        [
            *(tensor(1, 3, 8, 8), tensor(4, 3, 3, 3), tensor(4, 4, 3, 3), tensor(4, 4, 3, 3)),
            *(tensor(4), tensor(4), tensor(4), tensor(4) ** 2, tensor(10, 4)),
        ],
    ),
    "transformer_block": (
        transformer_block,
        [
            *(tensor(1, 5, 8), tensor(8, 8), tensor(8, 8), tensor(8, 8), tensor(8, 8), tensor(8)),
            *(tensor(8), tensor(8), tensor(16, 8), tensor(16), tensor(8, 16), tensor(8)),
        ],
    ),
    "mobilenet_block": (
        mobilenet_block,
        [
            *(tensor(1, 4, 6, 6), tensor(8, 4, 1, 1), tensor(8, 1, 3, 3), tensor(2, 8, 1, 1)),
            *(tensor(8, 2, 1, 1), tensor(4, 8, 1, 1), tensor(4)),
        ],
    ),
    "lstm": (
        lstm,
        [tensor(7, 2, 3), np.array(7, np.int32), tensor(16, 3), tensor(16, 4), tensor(16)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_numpy(name: str) -> None:
    oracle, args = CASES[name]
    text = (EXAMPLES / f"{name}.relay").read_text(encoding="utf-8")
    assert relay.check(text).diagnostics == ()
    module = relay.parse(text)
    made = relay.to_relax(module)
    assert rlx.check(rlx.show(made)).ok
    wanted = oracle(*args)
    for form in (module, relay.to_anf(module), relay.to_graph(relay.to_anf(module))):
        close(relay.run(form, *args).numpy(), wanted)
    close(load(made).run("main", [Tensor(arg) for arg in args]).numpy(), wanted)


def close(found: Any, wanted: Any) -> None:
    """Compare values, tuples by their fields."""
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
