"""Generated C against TVM's own LLVM code, for the same PrimFuncs, in one run, on one thread.

``python -m benchmarks.native [NAME…]`` prints for each function of ``LegalizeOps`` the time of TVM's default
build (``tvm.compile(…, target="llvm")``), ours with and without checks of bounds, and the ratios; the last
line is the geometric mean. Times are the best of several calls, in turns; arguments are allocated once; the
results of both are compared.
"""

from __future__ import annotations

import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("TVM_NUM_THREADS", "1")
warnings.filterwarnings("ignore")

import numpy as np
import tvm
from tvm import relax

from rlx.grammar import tir
from rlx.grammar.parser import parse
from rlx.semantics import native

Shape = tuple[int | str, ...]
FLOAT = "float32"

CASES: dict[str, tuple[Callable[..., Any], list[tuple[Shape, str]]]] = {
    "add": (relax.op.add, [((1024, 1024), FLOAT)] * 2),
    "add with broadcasting": (relax.op.add, [((1024, 1024), FLOAT), ((1024,), FLOAT)]),
    "exp": (relax.op.exp, [((1024, 1024), FLOAT)]),
    "relu, symbolic": (relax.op.nn.relu, [(("n", 1024), FLOAT)]),
    "gelu": (relax.op.nn.gelu, [((512, 512), FLOAT)]),
    "silu": (relax.op.nn.silu, [((512, 512), FLOAT)]),
    "cast to float16": (lambda x: relax.op.astype(x, "float16"), [((1024, 1024), FLOAT)]),
    "sum of rows": (lambda x: relax.op.sum(x, axis=1), [((1024, 1024), FLOAT)]),
    "sum of columns": (lambda x: relax.op.sum(x, axis=0), [((1024, 1024), FLOAT)]),
    "max of rows": (lambda x: relax.op.max(x, axis=1), [((1024, 1024), FLOAT)]),
    "mean of all": (relax.op.mean, [((1024, 1024), FLOAT)]),
    "argmax": (lambda x: relax.op.argmax(x, axis=1), [((1024, 1024), FLOAT)]),
    "softmax": (lambda x: relax.op.nn.softmax(x, axis=-1), [((1024, 512), FLOAT)]),
    "layer norm, symbolic": (
        lambda x, g, b: relax.op.nn.layer_norm(x, g, b, axes=[-1]),
        [(("n", 512), FLOAT), ((512,), FLOAT), ((512,), FLOAT)],
    ),
    "rms norm": (
        lambda x, g: relax.op.nn.rms_norm(x, g, axes=[-1]),
        [((512, 512), FLOAT), ((512,), FLOAT)],
    ),
    "matmul 512": (relax.op.matmul, [((512, 512), FLOAT)] * 2),
    "matmul 512, symbolic": (relax.op.matmul, [(("n", 512), FLOAT), ((512, 512), FLOAT)]),
    "batched matmul": (relax.op.matmul, [((8, 128, 64), FLOAT), ((8, 64, 128), FLOAT)]),
    "conv2d 3x3": (
        lambda x, w: relax.op.nn.conv2d(x, w, padding=1),
        [((1, 64, 56, 56), FLOAT), ((64, 64, 3, 3), FLOAT)],
    ),
    "max pool 2x2": (
        lambda x: relax.op.nn.max_pool2d(x, (2, 2), (2, 2)),
        [((1, 64, 56, 56), FLOAT)],
    ),
    "gather": (
        lambda x, i: relax.op.take(x, i, axis=0),
        [((1000, 512), FLOAT), ((512,), "int64")],
    ),
    "transpose": (relax.op.permute_dims, [((1024, 1024), FLOAT)]),
    "reshape": (lambda x: relax.op.reshape(x, (256, 4096)), [((1024, 1024), FLOAT)]),
}
SIZE = 512
"""The value of the symbolic dimension."""


def legalized(name: str) -> tvm.IRModule:
    """A module with the one PrimFunc that LegalizeOps makes of a call."""
    operator, operands = CASES[name]
    builder = relax.BlockBuilder()
    dims = {"n": tvm.tirx.Var("n", "int64")}
    args = [
        relax.Var(f"x{i}", relax.TensorType([dims.get(str(d), d) for d in shape], dtype))
        for i, (shape, dtype) in enumerate(operands)
    ]
    with builder.function("main", args):
        result = builder.emit(operator(*args))
        builder.emit_func_output(result)
    module = relax.transform.LegalizeOps()(builder.get())
    [(var, func)] = [
        (v, f) for v, f in module.functions.items() if isinstance(f, tvm.tirx.PrimFunc)
    ]
    return tvm.IRModule({var: func.with_attr("global_symbol", var.name_hint)})


def arguments(func: tir.PrimFunc) -> list[np.ndarray[Any, Any]]:
    """Inputs with random values, and outputs."""
    random = np.random.default_rng(0)
    made = []
    for var in func.params:
        buffer = func.buffer_map[var]
        shape = [d.value if isinstance(d, tir.IntImm) else SIZE for d in buffer.shape]
        integer = buffer.dtype.is_integer
        values = random.integers(0, 512, shape) if integer else random.standard_normal(shape)
        array = aligned(shape, np.dtype(str(buffer.dtype)))
        array[...] = values
        made.append(array)
    return made


def aligned(shape: list[int], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array at a multiple of 64 bytes, as TVM allocates its own."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + 64, np.uint8)
    start = -memory.__array_interface__["data"][0] % 64
    return memory[start : start + size].view(dtype).reshape(shape)


def best(runs: list[Callable[[], object]]) -> list[float]:
    """The shortest time of a call of each, in seconds; they take turns."""
    shortest = [math.inf] * len(runs)
    until = time.perf_counter() + 1.0
    rounds = 0
    while rounds < 5 or (time.perf_counter() < until and rounds < 500):
        rounds += 1
        for turn in range(len(runs)):
            at = (rounds + turn * (1 + rounds % 2)) % len(runs)  # each comes behind each other
            start = time.perf_counter()
            runs[at]()
            shortest[at] = min(shortest[at], time.perf_counter() - start)
    return shortest


def measure(name: str) -> tuple[float, float, float, float]:
    """Seconds of TVM, ours checked, ours unchecked; and the largest difference, relative to the largest value."""
    module = legalized(name)
    function = tvm.compile(module, target="llvm")[module.get_global_vars()[0].name_hint]
    parsed = parse(module.script()).modules[0].functions.values()
    func = next(f for f in parsed if isinstance(f, tir.PrimFunc))
    arrays = arguments(func)
    theirs = [tvm.runtime.tensor(a) for a in arrays]
    checked, unchecked = (native.compile(func, bounds=bounds) for bounds in (True, False))
    times = best([lambda: function(*theirs), lambda: checked(arrays), lambda: unchecked(arrays)])
    wanted = theirs[-1].numpy().astype(np.float64)
    difference = np.abs(arrays[-1].astype(np.float64) - wanted).max() / np.abs(wanted).max()
    return times[0], times[1], times[2], float(difference)


def table(names: list[str]) -> Iterator[str]:
    """The lines of the report."""
    yield f"{'function':24}{'TVM ms':>9}{'ours ms':>9}{'bounds=False':>14}"
    yield f"{'':24}{'':9}{'':9}{'':14}{'TVM/ours':>10}{'checks':>8}{'difference':>12}"
    ratios, costs = [], []
    for name in names:
        tvm_time, checked, unchecked, difference = measure(name)
        ratios.append(tvm_time / checked)
        costs.append(checked / unchecked)
        times = f"{tvm_time * 1e3:9.3f}{checked * 1e3:9.3f}{unchecked * 1e3:14.3f}"
        yield f"{name:24}{times}{ratios[-1]:10.2f}{costs[-1]:8.2f}{difference:12.1e}"
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    yield f"geometric mean {mean:.2f}, least {min(ratios):.2f}; checks at most {max(costs):.2f}"


if __name__ == "__main__":
    for line in table(sys.argv[1:] or list(CASES)):
        print(line, flush=True)
