"""The machine: steps a second, the cost of a step by depth, going back, and operators against NumPy
by hand.

``python -m benchmarks.machine`` prints one line for each figure. Times are processor time, the best
of several runs; the arithmetic of the transformer runs on one thread on both sides.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import numpy as np

from rlx.grammar.read.parser import parse
from rlx.semantics.machine import Configuration, MachineProgram, load
from rlx.semantics.outcome import Returned
from rlx.semantics.values import Scalar, Tensor

CONTROL = """
n, m = TypeVar("n"), TypeVar("m")
@I.ir_module
class Control:
    @R.function
    def fib(k: R.Prim(value=n)) -> R.Prim("int64"):
        cls = Control
        if R.prim_value(n < 2):
            r: R.Prim("int64") = k
        else:
            a = cls.fib(R.prim_value(n - 1))
            b = cls.fib(R.prim_value(n - 2))
            r: R.Prim("int64") = cls.plus(a, b)
        return r
    @R.function(private=True)
    def plus(a: R.Prim(value=n), b: R.Prim(value=m)) -> R.Prim("int64"):
        return R.prim_value(n + m)
    @R.function
    def down(k: R.Prim(value=n)) -> R.Prim("int64"):
        cls = Control
        if R.prim_value(n < 1):
            r: R.Prim("int64") = k
        else:
            r: R.Prim("int64") = cls.down(R.prim_value(n - 1))
        return r
"""

LAYERS, HIDDEN, LENGTH, HEADS = 4, 512, 128, 8
WIDTH = HIDDEN // HEADS
WEIGHTS = {
    **{name: (HIDDEN, HIDDEN) for name in ("q", "k", "v", "o")},
    "up": (HIDDEN, 4 * HIDDEN),
    "down": (4 * HIDDEN, HIDDEN),
    "g": (HIDDEN,),
    "b": (HIDDEN,),
}
LAYER = """
            h{i} = R.nn.layer_norm(x{i}, g{i}, b{i}, axes=[-1])
            q_{i} = R.permute_dims(R.reshape(R.matmul(h{i}, q{i}), R.shape([n, {HEADS}, {WIDTH}])), axes=[1, 0, 2])
            k_{i} = R.permute_dims(R.reshape(R.matmul(h{i}, k{i}), R.shape([n, {HEADS}, {WIDTH}])), axes=[1, 2, 0])
            v_{i} = R.permute_dims(R.reshape(R.matmul(h{i}, v{i}), R.shape([n, {HEADS}, {WIDTH}])), axes=[1, 0, 2])
            s{i} = R.nn.softmax(R.divide(R.matmul(q_{i}, k_{i}), R.const(8.0, "float32")), axis=-1)
            a{i} = R.reshape(R.permute_dims(R.matmul(s{i}, v_{i}), axes=[1, 0, 2]), R.shape([n, {HIDDEN}]))
            y{i} = R.add(x{i}, R.matmul(a{i}, o{i}))
            x{j} = R.add(y{i}, R.matmul(R.nn.relu(R.matmul(y{i}, up{i})), down{i}))"""


def transformer() -> str:
    """The text of the network."""
    params = [f"x0: R.Tensor((n, {HIDDEN}), 'float32')"]
    params += [
        f"{name}{i}: R.Tensor({shape}, 'float32')"
        for i in range(LAYERS)
        for name, shape in WEIGHTS.items()
    ]
    sizes = {"HEADS": HEADS, "WIDTH": WIDTH, "HIDDEN": HIDDEN}
    layers = "".join(LAYER.format(i=i, j=i + 1, **sizes) for i in range(LAYERS))
    return f"""n = TypeVar("n")
@I.ir_module
class Network:
    @R.function
    def main({", ".join(params)}) -> R.Tensor((n, {HIDDEN}), "float32"):
        with R.dataflow():{layers}
            R.output(x{LAYERS})
        return x{LAYERS}
"""


def by_hand(x: Any, weights: list[dict[str, Any]]) -> Any:
    """The same computation as one writes it in NumPy."""
    for w in weights:
        centred = x - x.mean(-1, keepdims=True)
        spread = (centred * centred).mean(-1, keepdims=True)
        h = centred / np.sqrt(spread + np.float32(1e-5)) * w["g"] + w["b"]
        q, k, v = (
            (h @ w[name]).reshape(-1, HEADS, WIDTH).transpose(1, 0, 2) for name in ("q", "k", "v")
        )
        s = q @ k.transpose(0, 2, 1) / np.float32(8)
        e = np.exp(s - s.max(-1, keepdims=True))
        a = ((e / e.sum(-1, keepdims=True)) @ v).transpose(1, 0, 2).reshape(-1, HIDDEN)
        y = x + a @ w["o"]
        x = y + np.maximum(y @ w["up"], 0) @ w["down"]
    return x


def best(run: Callable[[], object], times: int = 5) -> float:
    """Seconds of processor time of the fastest of several runs."""
    found = []
    for _ in range(times):
        before = time.process_time()
        run()
        found.append(time.process_time() - before)
    return min(found)


def walk(program: MachineProgram, entry: str, size: int) -> list[Configuration]:
    """The configurations of a run."""
    return [c for c in program.trace(entry, [Scalar(size)]) if isinstance(c, Configuration)]


def control() -> None:
    """Steps, depth, going back."""
    program = load(parse(CONTROL).modules[0])
    count = len(walk(program, "fib", 15))
    print(f"control: {count / best(lambda: program.run('fib', [Scalar(15)])):,.0f} steps/s")
    for depth in (10, 1_000, 100_000):
        again = max(1, 1_000 // depth)
        steps = len(walk(program, "down", min(depth, 1_000))) / min(depth, 1_000) * depth * again

        def run(depth: int = depth, again: int = again) -> None:
            for _ in range(again):
                assert isinstance(program.run("down", [Scalar(depth)]), Returned)

        print(f"depth {depth:>7,}: {best(run) / steps * 1e9:,.0f} ns a step")


def back() -> None:
    """Steps that overwrite a tensor, forward and back."""
    text = "@R.function(pure=False)\ndef main(x: R.Any) -> R.Any:\n" + "".join(
        f'    x{i} = R.call_packed("twice", x{i - 1 if i else ""})\n' for i in range(300)
    )
    x = Tensor(np.ones(100_000, np.float32))

    def change(array: Any) -> Any:
        array += 1
        return array

    program = load(parse(text + "    return x299\n").modules[0], packed={"twice": change})
    made: list[Configuration] = []
    forward = best(
        lambda: made.extend(c for c in program.trace("main", [x]) if isinstance(c, Configuration)),
        1,
    )
    store = made[0].version.store

    def rewind() -> None:
        for c in reversed(made):
            store.show(c.version)

    print(
        f"300 changes of 400 kB: forward {forward * 1e3:.1f} ms, back"
        f" {best(rewind, 1) * 1e3:.1f} ms"
    )


def operators() -> None:
    """The transformer."""
    random = np.random.default_rng(0)
    weights = [
        {name: random.standard_normal(shape, np.float32) / 24 for name, shape in WEIGHTS.items()}
        for _ in range(LAYERS)
    ]
    x = random.standard_normal((LENGTH, HIDDEN), np.float32)
    program = load(parse(transformer()).modules[0])
    args = [Tensor(x), *(Tensor(array) for layer in weights for array in layer.values())]
    result = program.run("main", args)
    assert isinstance(result, Returned), result
    np.testing.assert_allclose(result.value.data, by_hand(x, weights), rtol=1e-3, atol=1e-3)  # type: ignore[attr-defined]
    ours = theirs = float("inf")
    for _ in range(20):  # in turns, so that both meet the same machine
        ours = min(ours, best(lambda: program.run("main", args), 1))
        theirs = min(theirs, best(lambda: by_hand(x, weights), 1))
    print(
        f"transformer, {LAYERS} layers, hidden {HIDDEN}, length {LENGTH}: machine {ours * 1e3:.1f}"
        f" ms, NumPy by hand {theirs * 1e3:.1f} ms, {ours / theirs:.2f} times"
    )


if __name__ == "__main__":
    control()
    back()
    operators()
