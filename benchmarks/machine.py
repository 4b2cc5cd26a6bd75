"""The machine: steps a second, the cost of a step by depth, and going back.

``python -m benchmarks.machine`` prints one line for each figure. Times are processor time, the best
of several runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

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


if __name__ == "__main__":
    control()
    back()
