"""Programs whose dimensions are shared: chains of slices, rolls, splits, poolings and calls, chosen at random.

Their kinds are measured by ``python -m benchmarks.growth "shared dimensions"``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

HEAD = 'n = TypeVar("n")\nm = TypeVar("m")\nh = TypeVar("h")\nw = TypeVar("w")\n\n'
ALL = 9223372036854775807


class SharedChain:
    """A function under construction: bindings, and the values that later ones may use."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[str] = []
        self.values = ["x"]

    def add(self, value: str) -> str:
        """Bind a value to a new name."""
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {value}")
        return name

    def slice_of(self, value: str, begin: int, end: int) -> str:
        """A slice of the first axis."""
        return self.add(f"R.strided_slice({value}, axes=[0], begin=[{begin}], end=[{end}])")

    def pair(self) -> tuple[str, str]:
        """Two recent values, which may be the same."""
        recent = self.values[-3:]
        return self.rng.choice(recent), self.values[-1]


def slices(chain: SharedChain, step: int) -> str:
    """A slice of the last value."""
    return chain.slice_of(chain.values[-1], chain.rng.randint(0, 2), 5000 - 3 * step)


def rolls(chain: SharedChain, step: int) -> str:
    """Two slices, exchanged."""
    by, last = chain.rng.randint(1, 4), chain.values[-1]
    a, b = chain.slice_of(last, by, ALL), chain.slice_of(last, 0, by)
    return chain.add(f"R.concat(({a}, {b}), axis=0)")


def tails(chain: SharedChain, step: int) -> str:
    """The end of the last value before the parameter."""
    tail = chain.slice_of(chain.values[-1], -chain.rng.randint(1, 6), ALL)
    return chain.add(f"R.concat(({tail}, x), axis=0)")


def mixtures(chain: SharedChain, step: int) -> str:
    """Slices, concatenations of two recent values, paddings, repetitions."""
    a, b = chain.pair()
    match chain.rng.randrange(5):
        case 0:
            return slices(chain, step)
        case 1:
            part = chain.slice_of(a, 0, chain.rng.randint(3, 9))
            return chain.add(f"R.concat(({part}, {b}), axis=0)")
        case 2:
            return chain.add(f"R.nn.pad({b}, pad_width=[1, {chain.rng.randint(0, 3)}, 0, 0])")
        case 3:
            return chain.slice_of(chain.add(f"R.repeat({b}, repeats=2, axis=0)"), 0, 40)
    other = chain.slice_of("y", 1, 30)
    return chain.add(f"R.concat(({chain.slice_of(b, 2, ALL)}, {other}), axis=0)")


def doubling(chain: SharedChain, step: int) -> str:
    """Concatenations of the last value with a part of another size, and the middle of it."""
    last = chain.values[-1]
    both = chain.add(f"R.concat(({last}, y), axis=0)")
    return chain.slice_of(both, 1, 50 + step)


def splits(chain: SharedChain, step: int) -> str:
    """The parts of a split in another order."""
    parts = chain.add(f"R.split({chain.values[-1]}, [{chain.rng.randint(1, 5)}], axis=0)")
    first, second = chain.add(f"{parts}[0]"), chain.add(f"{parts}[1]")
    return chain.add(f"R.concat(({second}, {first}), axis=0)")


def reshapes(chain: SharedChain, step: int) -> str:
    """Flattened and repeated."""
    flat = chain.add(f"R.reshape({chain.values[-1]}, (-1,))")
    wide = chain.add(f"R.reshape({flat}, (-1, 8))")
    return chain.add(f"R.concat(({wide}, x), axis=0)")


def tuples(chain: SharedChain, step: int) -> str:
    """Through a tuple."""
    a, _ = chain.pair()
    both = chain.add(f"({a}, {slices(chain, step)})")
    return chain.add(f"{both}[{chain.rng.randrange(2)}]")


Step = Callable[[SharedChain, int], str]
STEPS: dict[str, Step] = {
    f.__name__: f for f in (slices, rolls, tails, mixtures, doubling, splits, reshapes, tuples)
}


def one_function(step: Step, size: int, rng: random.Random) -> str:
    """A module of one function with a chain of steps."""
    chain = SharedChain(rng)
    for index in range(size):
        chain.values.append(step(chain, index))
    rows = "\n".join(f"        {line}" for line in chain.lines)
    return (
        HEAD + "@I.ir_module\nclass Module:\n    @R.function\n"
        '    def main(x: R.Tensor((n, 8), dtype="float32"), y: R.Tensor((m, 8), dtype="float32"))'
        f' -> R.Tensor(ndim=2, dtype="float32"):\n{rows}\n        return {chain.values[-1]}\n'
    )


def callees(size: int, rng: random.Random) -> str:
    """Functions without result annotations, each of which calls an earlier one."""
    functions = []
    for index in range(size):
        rows = [f'g = R.concat((x, R.ones(R.shape([{7 + index}, 8]), dtype="float32")), axis=0)']
        if index:
            rows = [
                f"c = cls.f{rng.randrange(max(0, index - 3), index)}({rng.choice('xg')})",
                f"q = R.strided_slice(c, axes=[0], begin=[0], end=[{rng.randint(3, 9)}])",
                "z = R.concat((g, q), axis=0)",
            ]
            rows.insert(0, "g = R.concat((x, x), axis=0)")
        body = "".join(f"        {row}\n" for row in rows)
        functions.append(
            f'    @R.function\n    def f{index}(x: R.Tensor((n, 8), dtype="float32")):\n'
            f"        cls = Module\n{body}        return {'z' if index else 'g'}\n"
        )
    return HEAD + "@I.ir_module\nclass Module:\n" + "\n".join(functions)


def convolutions(size: int, rng: random.Random) -> str:
    """Convolutions and poolings of symbolic sizes."""
    rows, last = [], "x"
    for index in range(size):
        stride, edge = rng.choice((1, 1, 1, 2)), rng.choice((0, 1, 1, 2))
        if rng.random() < 0.7:
            rows.append(
                f"c{index} = R.nn.conv2d({last}, k, strides=[{stride}, {stride}], padding=[{edge}, {edge}])"
            )
        else:
            rows.append(
                f"c{index} = R.nn.max_pool2d({last}, pool_size=[3, 3], strides=[{stride}, {stride}],"
                " padding=[1, 1])"
            )
        last = f"c{index}"
    body = "\n".join(f"        {row}" for row in rows)
    return (
        HEAD + "@I.ir_module\nclass Module:\n    @R.function\n"
        '    def main(x: R.Tensor((n, 4, h, w), dtype="float32"),'
        ' k: R.Tensor((4, 4, 3, 3), dtype="float32")) -> R.Tensor(ndim=4, dtype="float32"):\n'
        f"{body}\n        return {last}\n"
    )


KINDS: dict[str, Callable[[int, random.Random], str]] = {
    **{name: partial(one_function, step) for name, step in STEPS.items()},
    "callees": callees,
    "convolutions": convolutions,
}
