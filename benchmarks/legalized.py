"""Our own legalisation beside TVM's LegalizeOps through the same C backend, and beside TVM's LLVM build.

``python -m benchmarks.legalized [WORD…]`` prints for each call, or those whose text has a word: the
milliseconds of the kernels that we make of it, of those that LegalizeOps makes, both as our native
code, and of TVM's default build of these; and the two ratios. Times are the least of several
rounds in turns on one thread, in seconds of the process. The last lines are geometric means, and
how many calls are under 0.8 of LegalizeOps. Symbolic dimensions are 256. ``--summary`` prints the
means and the slowest calls alone.
"""

from __future__ import annotations

import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

os.environ.setdefault("TVM_NUM_THREADS", "1")
warnings.filterwarnings("ignore")

import numpy as np
import tvm
from tvm import relax

import rlx
from rlx.grammar.nodes import ast, tir
from rlx.semantics import native
from rlx.solver import Prover
from rlx.transform.legalization import legalized

SIZE = 256
ROUNDS = 18
Shape = tuple[int | str, ...]


class Timed(NamedTuple):
    """A call of an operator on parameters a, b, c…"""

    call: str
    shapes: tuple[Shape, ...]
    dtypes: tuple[str, ...]


PLAIN, ROW, SYMBOLIC = (256, 1024), (1024,), ("n", 1024)
IMAGE, SMALL = (1, 32, 56, 56), (1, 32, 28, 28)


def _case(call: str, *shapes: Shape, dtypes: str = "") -> Timed:
    given = dtypes.split() or ["float32"]
    return Timed(call, shapes, tuple((given * len(shapes))[: len(shapes)]))


def cases() -> Iterator[Timed]:
    """All calls."""
    unary = "abs ceil cos erf exp floor isfinite isinf isnan log negative round rsqrt sigmoid sign"
    for name in f"{unary} sin sqrt square tanh".split():
        yield _case(f"R.{name}(a)", PLAIN)
    for name in ["gelu", "gelu_tanh", "leakyrelu", "relu", "selu", "silu", "softplus"]:
        yield _case(f"R.nn.{name}(a)", PLAIN)
        yield _case(f"R.nn.{name}(a)", SYMBOLIC)
    yield _case("R.clip(a, -1.0, 1.0)", PLAIN)
    binary = "add divide equal floor_divide less maximum minimum mod multiply power subtract"
    for name in binary.split():
        yield _case(f"R.{name}(a, b)", PLAIN, PLAIN)
        yield _case(f"R.{name}(a, b)", SYMBOLIC, ROW)
    for kind in ("int8", "float16"):
        yield _case("R.add(a, b)", PLAIN, PLAIN, dtypes=kind)
        yield _case("R.maximum(a, b)", PLAIN, PLAIN, dtypes=kind)
        yield _case("R.sum(a, axis=[1])", PLAIN, dtypes=kind)
    for name in ["max", "mean", "min", "prod", "std", "sum", "variance"]:
        for axis in (0, 1):
            yield _case(f"R.{name}(a, axis=[{axis}])", PLAIN)
        yield _case(f"R.{name}(a, axis=[1])", SYMBOLIC)
    for name in ("argmax", "argmin"):
        yield _case(f"R.{name}(a, axis=1)", PLAIN)
    for name in ("softmax", "log_softmax"):
        yield _case(f"R.nn.{name}(a, axis=-1)", PLAIN)
        yield _case(f"R.nn.{name}(a, axis=0)", PLAIN)
        yield _case(f"R.nn.{name}(a, axis=-1)", SYMBOLIC)
    for shape in (PLAIN, SYMBOLIC):
        yield _case("R.nn.layer_norm(a, b, c, axes=[-1])", shape, ROW, ROW)
        yield _case("R.nn.rms_norm(a, b, axes=[-1])", shape, ROW)
    channel = (32,)
    yield _case(
        "R.nn.group_norm(a, b, c, num_groups=4, channel_axis=1, axes=[2, 3])",
        SMALL,
        channel,
        channel,
    )
    yield _case("R.nn.batch_norm(a, b, c, d, e, axis=1, training=False)", SMALL, *[channel] * 4)
    yield _case("R.matmul(a, b)", (256, 256), (256, 256))
    yield _case("R.matmul(a, b)", ("n", 256), (256, 256))
    yield _case("R.matmul(a, b)", (8, 64, 64), (8, 64, 64))
    yield _case("R.matmul(a, b)", (1, 512), (512, 512))
    yield _case("R.matmul(a, b)", (128, 128), (128, 128), dtypes="float16")
    yield _case('R.matmul(a, b, out_dtype="int32")', (256, 256), (256, 256), dtypes="int8")
    yield _case("R.nn.conv1d(a, b, padding=1)", (1, 32, 256), (32, 32, 3))
    yield _case("R.nn.conv2d(a, b)", SMALL, (32, 32, 3, 3))
    yield _case("R.nn.conv2d(a, b, padding=1)", SMALL, (32, 32, 3, 3))
    yield _case("R.nn.conv2d(a, b, padding=1, groups=32)", SMALL, (32, 1, 3, 3))
    yield _case("R.nn.conv2d(a, b, padding=1, strides=2)", ("n", 8, 14, 14), (8, 8, 3, 3))
    yield _case("R.nn.conv2d_transpose(a, b, strides=2)", (1, 16, 14, 14), (16, 16, 3, 3))
    for name in ("max", "avg"):
        yield _case(f"R.nn.{name}_pool2d(a, (2, 2), (2, 2))", IMAGE)
        yield _case(f"R.nn.{name}_pool2d(a, (3, 3), (1, 1), (1, 1))", SMALL)
    yield _case("R.nn.adaptive_avg_pool2d(a, (1, 1))", SMALL)
    yield _case("R.nn.pad(a, (1, 1, 2, 2))", PLAIN)
    yield _case("R.permute_dims(a)", PLAIN)
    yield _case("R.permute_dims(a, [0, 2, 1, 3])", (2, 64, 8, 32))
    yield _case("R.reshape(a, (1024, 256))", PLAIN)
    yield _case("R.reshape(a, (n * 4, 256))", SYMBOLIC)
    for axis in (0, 1):
        yield _case(f"R.concat((a, b), axis={axis})", (256, 512), (256, 512))
    yield _case("R.split(a, 2, axis=1)", PLAIN)
    yield _case("R.strided_slice(a, [1], [2], [1000], [2])", PLAIN)
    yield _case("R.take(a, b, axis=0)", (1000, 512), (256,), dtypes="float32 int64")
    yield _case("R.gather_elements(a, b, axis=1)", (256, 512), (256, 512), dtypes="float32 int64")
    yield _case("R.where(a, b, c)", PLAIN, PLAIN, PLAIN, dtypes="bool float32 float32")
    yield _case("R.broadcast_to(a, (256, 1024))", ROW)
    yield _case("R.tile(a, (2, 2))", (128, 512))
    yield _case("R.repeat(a, 2, axis=1)", (256, 512))
    yield _case("R.flip(a, axis=1)", PLAIN)
    yield _case("R.tril(a)", (512, 512))
    for kind in ("float16", "int32", "int8"):
        yield _case(f'R.astype(a, "{kind}")', PLAIN)
    yield _case("R.nn.attention(a, b, c)", *[(1, 64, 4, 32)] * 3)
    for method in ("linear", "nearest_neighbor"):
        call = f'R.image.resize2d(a, (56, 56), layout="NCHW", method="{method}")'
        yield _case(call, (1, 8, 28, 28))
    yield _case("R.nn.cross_entropy_with_logits(a, b)", (64, 512), (64, 512))


def text_of(case: Timed) -> str:
    """A function that is the call alone."""
    params = ", ".join(
        f"{name}: R.Tensor({shape}, {dtype!r})".replace("'", '"')
        for name, shape, dtype in zip("abcde", case.shapes, case.dtypes, strict=False)
    )
    symbols = sorted({d for shape in case.shapes for d in shape if isinstance(d, str)})
    sizes = "".join(f"    {name} = T.int64()\n" for name in symbols)
    return f"@R.function\ndef main({params}):\n{sizes}    gv = {case.call}\n    return gv\n"


def kernels(module: ast.IRModule) -> dict[str, tir.PrimFunc]:
    """The PrimFuncs of a module."""
    return {
        var.name_hint: func
        for var, func in module.functions.items()
        if isinstance(func, tir.PrimFunc)
    }


def arrays(func: tir.PrimFunc) -> list[np.ndarray[Any, Any]]:
    """Arguments with random values; indices are small."""
    random, made = np.random.default_rng(0), []
    for var in func.params:
        buffer = func.buffer_map[var]
        known = {v: tir.IntImm(SIZE) for dim in buffer.shape for v in tir.free_vars(dim)}
        shape = [int(str(Prover().simplify(tir.substitute(d, known)))) for d in buffer.shape]
        kind = np.dtype(str(buffer.dtype))
        values = random.random(shape) if kind.kind == "f" else random.integers(0, 100, shape)
        made.append(values.astype(kind))
    return made


def runner(found: dict[str, tir.PrimFunc]) -> Callable[[], None]:
    """Calls of all kernels, one after the other."""
    calls = [(native.compile(func), arrays(func)) for func in found.values()]

    def run() -> None:
        for kernel, given in calls:
            kernel(given)

    return run


def theirs(module: Any, found: dict[str, tir.PrimFunc]) -> Callable[[], None]:
    """Calls of the same kernels, as TVM builds them."""
    calls = []
    for var, func in module.functions_items():
        if isinstance(func, tvm.tirx.PrimFunc):
            name = var.name_hint
            alone = tvm.IRModule({var: func.with_attr("global_symbol", name)})
            with tvm.transform.PassContext(opt_level=3):
                built = tvm.compile(alone, target="llvm")[name]
            calls.append((built, [tvm.runtime.tensor(a) for a in arrays(found[name])]))

    def run() -> None:
        for kernel, given in calls:
            kernel(*given)

    return run


def best(runs: list[Callable[[], None]]) -> list[float]:
    """The shortest time of each; they take turns."""
    shortest, turn = [math.inf] * len(runs), list(enumerate(runs))
    for _ in range(ROUNDS):
        for at, run in turn:
            start = time.process_time()
            run()
            shortest[at] = min(shortest[at], time.process_time() - start)
        turn.append(turn.pop(0))  # what runs before leaves the caches to what runs behind
    return shortest


def measure(case: Timed) -> list[float] | str:
    """The three times in seconds, or why there are none."""
    text = text_of(case)
    ours = legalized(rlx.parse(text))
    if ours.left:
        return f"left: {ours.left[0].reason}"
    read = tvm.script.from_source(text, check_well_formed=False)
    module = relax.transform.LegalizeOps()(tvm.IRModule({"main": read}))
    peer = kernels(rlx.parse(module.script(show_meta=True)))
    if not peer:
        return "LegalizeOps makes no kernel of it"
    return best([runner(kernels(ours.module)), runner(peer), theirs(module, peer)])


class Compared(NamedTuple):
    """A call and its three times in seconds."""

    call: str
    ours: float
    peer: float
    llvm: float

    def row(self) -> str:
        """A line of the table."""
        times = " | ".join(f"{t * 1e3:.3f}" for t in self[1:])
        return f"| `{self.call}` | {times} | {self.peer / self.ours:.2f} | {self.llvm / self.ours:.2f} |"


HEAD = (
    "| call | ours, ms | LegalizeOps, ms | LLVM, ms | LegalizeOps / ours | LLVM / ours |\n"
    "|---|---|---|---|---|---|"
)


def means(found: list[Compared]) -> Iterator[str]:
    """The geometric means of the ratios."""
    for word, ratios in (
        ("LegalizeOps / ours, through our backend", [each.peer / each.ours for each in found]),
        ("TVM's LLVM / ours", [each.llvm / each.ours for each in found]),
    ):
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        under = sum(ratio < 0.8 for ratio in ratios)
        yield f"| {word} | {mean:.2f} | {under} of {len(ratios)} |"


def main(words: list[str]) -> None:
    """Print the tables."""
    summary = "--summary" in words
    wanted = [word for word in words if not word.startswith("-")]
    found: list[Compared] = []
    if not summary:
        print(HEAD)
    for case in cases():
        kinds = " ".join(dict.fromkeys(case.dtypes))
        shown = f"{case.call} {' '.join(map(str, case.shapes))} {kinds}"
        if wanted and not any(word in shown for word in wanted):
            continue
        times = measure(case)
        if isinstance(times, str):
            print(f"| `{shown}` | {times} |", flush=True)
            continue
        found.append(Compared(shown, *times))
        if not summary:
            print(found[-1].row(), flush=True)
    print("\n| | geometric mean | under 0.8 |\n|---|---|---|", *means(found), sep="\n")
    if summary:
        slowest = sorted(found, key=lambda each: each.peer / each.ours)[:10]
        print("\nThe slowest beside LegalizeOps:\n", HEAD, *map(Compared.row, slowest), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
