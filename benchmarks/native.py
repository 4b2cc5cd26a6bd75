"""Generated C against TVM's own LLVM code, for the same PrimFuncs, in one run, on one thread.

``python -m benchmarks.native [NAME…]`` prints for each function of ``LegalizeOps`` the time of
TVM's default build (``tvm.compile(…, target="llvm")``), of its build for this processor
(``mcpu=native``, ``opt_level=3``), ours with and without checks of bounds, and the ratios; the last
lines are geometric means. Times are the best of several calls, in turns, on the same arrays, in
seconds of the process; the results are compared. ``build`` is how many milliseconds TVM's default
build computes, and our compilation with nothing in the cache, the compiler's processes counted: the
least of three builds each.
"""

from __future__ import annotations

import math
import os
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("TVM_NUM_THREADS", "1")
warnings.filterwarnings("ignore")

import numpy as np
import tvm
from tvm import relax

from rlx.grammar.nodes import tir
from rlx.grammar.read.parser import parse
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
    "int8 matmul": (
        lambda x, y: relax.op.matmul(x, y, out_dtype="int32"),
        [((512, 512), "int8")] * 2,
    ),
    "int8 conv2d": (
        lambda x, w: relax.op.nn.conv2d(x, w, padding=1, out_dtype="int32"),
        [((1, 64, 56, 56), "int8"), ((64, 64, 3, 3), "int8")],
    ),
    "transpose": (relax.op.permute_dims, [((1024, 1024), FLOAT)]),
    "reshape": (lambda x: relax.op.reshape(x, (256, 4096)), [((1024, 1024), FLOAT)]),
}
BUILDS = 3
NATIVE = {"kind": "llvm", "mcpu": tvm.get_global_func("target.llvm_get_system_cpu")()}
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
        most = 100 if buffer.dtype.bits == 8 else 512
        values = random.integers(0, most, shape) if integer else random.standard_normal(shape)
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
    """The shortest time of a call of each, in seconds of the process; they take turns."""
    shortest = [math.inf] * len(runs)
    until = time.perf_counter() + 1.0
    rounds = 0
    while rounds < 5 or (time.perf_counter() < until and rounds < 500):
        rounds += 1
        for turn in range(len(runs)):
            at = (rounds + turn * (1 + rounds % 2)) % len(runs)  # each comes behind each other
            start = time.process_time()
            runs[at]()
            shortest[at] = min(shortest[at], time.process_time() - start)
    return shortest


def spent() -> float:
    """Seconds that this process and those it has started have computed."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def shortest(build: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds that the quickest of some builds computes, and what the last one makes."""
    times = []
    for _ in range(BUILDS):
        start = spent()
        built = build()
        times.append(spent() - start)
    return min(times), built


def compiled(func: tir.PrimFunc) -> native.Kernel:
    """A kernel that is compiled anew."""
    shutil.rmtree(os.environ["RLX_CACHE"], ignore_errors=True)
    return native.compile(func)


class Measured(NamedTuple):
    """Seconds of a call, seconds of a build, and the largest difference, relative to the largest
    value.
    """

    default: float
    tuned: float
    checked: float
    unchecked: float
    their_build: float
    our_build: float
    difference: float


def measure(name: str) -> Measured:
    """Measure one function."""
    module = legalized(name)
    entry = module.get_global_vars()[0].name_hint
    their_build, default = shortest(lambda: tvm.compile(module, target="llvm")[entry])
    with tvm.transform.PassContext(opt_level=3):
        tuned = tvm.compile(module, target=NATIVE)[entry]
    parsed = parse(module.script()).modules[0].functions.values()
    func = next(f for f in parsed if isinstance(f, tir.PrimFunc))
    arrays = arguments(func)
    theirs = [tvm.runtime.from_dlpack(a) for a in arrays]
    our_build, checked = shortest(lambda: compiled(func))
    unchecked = native.compile(func, bounds=False)
    default_time, tuned_time, checked_time, unchecked_time = best(
        [
            lambda: default(*theirs),
            lambda: tuned(*theirs),
            lambda: checked(arrays),
            lambda: unchecked(arrays),
        ]
    )
    checked(arrays)
    mine = arrays[-1].astype(np.float64)
    default(*theirs)
    wanted = arrays[-1].astype(np.float64)
    difference = np.abs(mine - wanted).max() / np.abs(wanted).max()
    times = (default_time, tuned_time, checked_time, unchecked_time)
    return Measured(*times, their_build, our_build, float(difference))


def table(names: list[str]) -> Iterator[str]:
    """The lines of the report."""
    heads = (
        "TVM ms",
        "native",
        "ours",
        "unchecked",
        "TVM/",
        "native/",
        "checks",
        "build",
        "ours",
        "differ",
    )
    yield f"{'function':24}" + "".join(f"{head:>10}" for head in heads)
    found = []
    for name in names:
        m = measure(name)
        found.append(m)
        times = "".join(f"{t * 1e3:10.3f}" for t in m[:4])
        ratios = f"{m.default / m.checked:10.2f}{m.tuned / m.checked:10.2f}"
        builds = f"{m.their_build * 1e3:10.1f}{m.our_build * 1e3:10.1f}"
        yield f"{name:24}{times}{ratios}{m.checked / m.unchecked:10.2f}{builds}{m.difference:10.1e}"
    for word, ratios_of in (
        ("TVM / ours", [m.default / m.checked for m in found]),
        ("TVM for this processor / ours", [m.tuned / m.checked for m in found]),
        ("TVM's build / our compilation", [m.their_build / m.our_build for m in found]),
    ):
        mean = math.exp(sum(map(math.log, ratios_of)) / len(found))
        yield f"{word}: geometric mean {mean:.2f}, least {min(ratios_of):.2f}"
    yield f"checks at most {max(m.checked / m.unchecked for m in found):.2f}"


def main() -> None:
    """Print the report; compiled kernels are kept nowhere."""
    unknown = [name for name in sys.argv[1:] if name not in CASES]
    if unknown:
        sys.exit(f"no function {', '.join(map(repr, unknown))}; there are: {'; '.join(CASES)}")
    with tempfile.TemporaryDirectory(prefix="rlx-benchmark-") as folder:
        os.environ["RLX_CACHE"] = str(Path(folder) / "cache")
        for line in table(sys.argv[1:] or list(CASES)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
