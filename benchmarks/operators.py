"""Operators in the machine against the same computation written by hand in NumPy, in one run.

``python -m benchmarks.operators [LAYERS] [HIDDEN] [LENGTH]`` runs a transformer (4 layers, hidden
size 512, length 128, 8 heads, float32) through the machine and as plain NumPy, in turns on one
thread, compares the results, and prints the best times of both and their ratio.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from rlx.grammar.read.parser import parse
from rlx.semantics.machine import load
from rlx.semantics.outcome import Returned
from rlx.semantics.values import Tensor

HEADS = 8
WEIGHTS = ("wq", "wk", "wv", "wo", "w1", "w2")
ROUNDS = 15


def program(layers: int, hidden: int, length: int) -> str:
    """The text of the transformer: each layer is attention and a feed-forward part with GELU,
    normalised before.
    """
    width = hidden // HEADS
    activation = f'R.Tensor((1, {length}, {hidden}), "float32")'
    parameters, lines = [f"x: {activation}"], []
    current = "x"
    for at in range(layers):
        for name in WEIGHTS:
            rows, columns = _sizes(name, hidden)
            parameters.append(f'{name}_{at}: R.Tensor(({rows}, {columns}), "float32")')
        for name in ("g1", "b1", "g2", "b2"):
            parameters.append(f'{name}_{at}: R.Tensor(({hidden},), "float32")')
        split = f"R.shape([1, {length}, {HEADS}, {width}])"
        whole = f"R.shape([1, {length}, {hidden}])"
        lines += [f"n_{at} = R.nn.layer_norm({current}, g1_{at}, b1_{at}, axes=[-1])"]
        for name in "qkv":
            lines += [
                f"{name}_{at} = R.matmul(n_{at}, w{name}_{at})",
                f"{name}h_{at} = R.reshape({name}_{at}, {split})",
                f"{name}t_{at} = R.permute_dims({name}h_{at}, axes=[0, 2, 1, 3])",
            ]
        lines += [
            f"kk_{at} = R.permute_dims(kt_{at}, axes=[0, 1, 3, 2])",
            f"s_{at} = R.matmul(qt_{at}, kk_{at})",
            f'd_{at} = R.divide(s_{at}, R.const({math.sqrt(width)!r}, "float32"))',
            f"p_{at} = R.nn.softmax(d_{at}, axis=-1)",
            f"o_{at} = R.matmul(p_{at}, vt_{at})",
            f"ot_{at} = R.permute_dims(o_{at}, axes=[0, 2, 1, 3])",
            f"oh_{at} = R.reshape(ot_{at}, {whole})",
            f"a_{at} = R.matmul(oh_{at}, wo_{at})",
            f"r_{at} = R.add({current}, a_{at})",
            f"m_{at} = R.nn.layer_norm(r_{at}, g2_{at}, b2_{at}, axes=[-1])",
            f"h_{at} = R.matmul(m_{at}, w1_{at})",
            f"e_{at} = R.nn.gelu_tanh(h_{at})",
            f"f_{at} = R.matmul(e_{at}, w2_{at})",
            f"y_{at} = R.add(r_{at}, f_{at})",
        ]
        current = f"y_{at}"
    body = "\n".join(f"        {line}" for line in lines)
    return (
        f"@I.ir_module\nclass Module:\n    @R.function\n    def main({', '.join(parameters)}) ->"
        f" {activation}:\n{body}\n        return {current}\n"
    )


def _sizes(name: str, hidden: int) -> tuple[int, int]:
    return {"w1": (hidden, 4 * hidden), "w2": (4 * hidden, hidden)}.get(name, (hidden, hidden))


def arguments(layers: int, hidden: int, length: int) -> list[Any]:
    """Random arrays for the parameters, in order."""
    random = np.random.default_rng(0)
    made = [random.standard_normal((1, length, hidden))]
    for _ in range(layers):
        made += [random.standard_normal(_sizes(n, hidden)) / math.sqrt(hidden) for n in WEIGHTS]
        made += [np.ones(hidden), np.zeros(hidden), np.ones(hidden), np.zeros(hidden)]
    return [array.astype(np.float32) for array in made]


def by_hand(x: Any, *weights: Any) -> Any:
    """The same in NumPy, as one would write it."""
    for at in range(0, len(weights), 10):
        wq, wk, wv, wo, w1, w2, g1, b1, g2, b2 = weights[at : at + 10]
        n = _norm(x, g1, b1)
        q, k, v = (_heads(n @ w) for w in (wq, wk, wv))
        s = q @ k.swapaxes(-1, -2) / np.float32(math.sqrt(q.shape[-1]))
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        o = (p / p.sum(axis=-1, keepdims=True)) @ v
        x = x + o.transpose(0, 2, 1, 3).reshape(x.shape) @ wo
        h = _norm(x, g2, b2) @ w1
        inner = np.float32(math.sqrt(2 / math.pi)) * (h + np.float32(0.044715) * h * h * h)
        x = x + (np.float32(0.5) * h * (1 + np.tanh(inner))) @ w2
    return x


def _norm(x: Any, gamma: Any, beta: Any) -> Any:
    off = x - x.mean(axis=-1, keepdims=True)
    variance = (off * off).mean(axis=-1, keepdims=True)
    return off / np.sqrt(variance + np.float32(1e-5)) * gamma + beta


def _heads(x: Any) -> Any:
    batch, length, hidden = x.shape
    return x.reshape(batch, length, HEADS, hidden // HEADS).transpose(0, 2, 1, 3)


def seconds(run: Callable[[], Any]) -> float:
    """The time of one call."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def main(layers: int = 4, hidden: int = 512, length: int = 128) -> None:
    """Measure and print."""
    machine = load(parse(program(layers, hidden, length)).modules[0])
    arrays = arguments(layers, hidden, length)
    values = [Tensor(array) for array in arrays]

    def ours() -> Any:
        return machine.run("main", values)

    outcome = ours()
    assert isinstance(outcome, Returned) and isinstance(outcome.value, Tensor), outcome
    assert np.allclose(outcome.value.data, by_hand(*arrays), 1e-3, 1e-3), "the results differ"
    times = [(seconds(ours), seconds(lambda: by_hand(*arrays))) for _ in range(ROUNDS)]
    machine_time, numpy_time = (min(column) for column in zip(*times, strict=True))
    print(f"{layers} layers, hidden {hidden}, length {length}, float32, best of {ROUNDS}")
    print(f"by hand  {numpy_time * 1e3:8.2f} ms")
    print(f"machine  {machine_time * 1e3:8.2f} ms")
    print(f"ratio    {machine_time / numpy_time:8.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
