"""Our own legalisation beside TVM's LegalizeOps through the same C backend, and beside TVM's LLVM build.

``python -m benchmarks.legalized [WORD…]`` prints for each call, or those whose text has a word: the
milliseconds of the kernels that we make of it, of those that LegalizeOps makes, both as our native
code, and of TVM's default build of these; and the two ratios. Where both make the same C, it is
measured once. Times are the least of several rounds in turns on one thread, in seconds of the
process; all sides but LLVM's work in the same memory. Each call has its own sizes, odd ones, and a symbolic one where it allows them. The last
lines are geometric means, and how many calls are under 0.8. ``--summary`` prints these and the
slowest calls alone.
"""

from __future__ import annotations

import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

os.environ.setdefault("TVM_NUM_THREADS", "1")
warnings.filterwarnings("ignore")

import numpy as np
import tvm
from tvm import relax

import rlx
from rlx.grammar.nodes import ast, tir
from rlx.semantics import native
from rlx.semantics.faults import FaultStop, UnsupportedStop
from rlx.solver import Prover
from rlx.transform.legalization import legalized

SIZE = 256
ROUNDS = 12
Shape = tuple[int | str, ...]


class Timed(NamedTuple):
    """A call of an operator on parameters a, b, c…"""

    call: str
    shapes: tuple[Shape, ...]
    dtypes: tuple[str, ...]
    size: int = SIZE
    """The size of a symbolic dimension at run time."""


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
    yield from _elementwise_cases()
    yield from _window_cases()
    yield from _moving_cases()


def _elementwise_cases() -> Iterator[Timed]:
    """Elementwise operators and creations that :func:`cases` does not have."""
    for name in ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "tan", "trunc"]:
        yield _case(f"R.{name}(a)", PLAIN)
    for name in [
        "atan2",
        "floor_mod",
        "greater",
        "greater_equal",
        "less_equal",
        "log_add_exp",
        "not_equal",
    ]:
        yield _case(f"R.{name}(a, b)", PLAIN, PLAIN)
    for name in ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"]:
        yield _case(f"R.{name}(a, b)", PLAIN, PLAIN, dtypes="int32")
        yield _case(f"R.{name}(a, b)", SYMBOLIC, ROW, dtypes="int32")
    for name in ("logical_and", "logical_or", "logical_xor"):
        yield _case(f"R.{name}(a, b)", PLAIN, PLAIN, dtypes="bool")
    yield _case("R.bitwise_not(a)", PLAIN, dtypes="int32")
    yield _case("R.logical_not(a)", PLAIN, dtypes="bool")
    yield _case("R.ewise_fma(a, b, c)", PLAIN, PLAIN, PLAIN)
    yield _case("R.nn.prelu(a, b, axis=1)", PLAIN, ROW)
    for kind in ("int8", "int32", "float16"):
        yield _case("R.multiply(a, b)", PLAIN, PLAIN, dtypes=kind)
        yield _case("R.subtract(a, b)", SYMBOLIC, ROW, dtypes=kind)
    yield _case("R.floor_divide(a, b)", PLAIN, PLAIN, dtypes="int32")
    quantized = "float32 float32 int8"
    yield _case("R.quantize(a, b, c, axis=1)", PLAIN, ROW, ROW, dtypes=quantized)
    yield _case("R.dequantize(a, b, c, axis=1)", PLAIN, ROW, ROW, dtypes="int8 float32 int8")
    for name in ("full_like(a, R.const(2.0))", "ones_like(a)", "zeros_like(a)", "eye_like(a)"):
        yield _case(f"R.{name}", PLAIN)
    for name in ("arange(0, 100000, 1)", "eye(512)", "hamming_window(4096, True, 0.5, 0.4)"):
        yield _case(f'R.{name[:-1]}, dtype="float32")')
    for name in ("ones", "zeros"):
        yield _case(f'R.{name}((256, 1024), dtype="float32")')
    yield _case('R.full((256, 1024), R.const(2.0, "float32"), dtype="float32")')


def _window_cases() -> Iterator[Timed]:
    """Convolutions, poolings, normalizations, losses and images that :func:`cases` does not have."""
    line, cube = (1, 32, 512), (1, 8, 14, 14, 14)
    yield _case("R.nn.conv1d_transpose(a, b, strides=2)", line, (32, 32, 3))
    yield _case("R.nn.conv3d(a, b, padding=1)", cube, (8, 8, 3, 3, 3))
    yield _case("R.nn.conv3d_transpose(a, b, strides=2)", cube, (8, 8, 3, 3, 3))
    for name in ("avg", "max"):
        yield _case(f"R.nn.{name}_pool1d(a, 3, 1, 1)", line)
        yield _case(f"R.nn.{name}_pool1d(a, 2, 2)", line)
        yield _case(f"R.nn.{name}_pool3d(a, (2, 2, 2), (2, 2, 2))", cube)
        shapes = (1, 32, 14, 14), (1, 32, 28, 28)
        yield _case(f"R.grad.{name}_pool2d_backward(a, b, (2, 2), (2, 2))", *shapes)
    yield _case("R.nn.adaptive_avg_pool1d(a, 8)", line)
    yield _case("R.nn.adaptive_avg_pool3d(a, (7, 7, 7))", cube)
    yield _case("R.nn.adaptive_avg_pool2d(a, (7, 7))", SMALL)
    yield _case("R.nn.instance_norm(a, b, c, channel_axis=1, axes=[2, 3])", SMALL, (32,), (32,))
    yield _case("R.nn.pixel_shuffle(a, 2)", SMALL)
    yield _case("R.nn.attention_bias(a, b, c, d)", *[(1, 64, 4, 32)] * 3, (1, 4, 64, 64))
    yield _case("R.nn.batch_flatten(a)", SMALL)
    yield _case("R.nn.dropout(a, 0.5)", PLAIN)
    labels = "float32 int64 float32"
    yield _case("R.nn.nll_loss(a, b, c)", (256, 64), (256,), (64,), dtypes=labels)
    yield _case(
        "R.grad.nll_loss_backward(d, a, b, c)",
        (256, 64),
        (256,),
        (64,),
        (),
        dtypes=f"{labels} float32",
    )
    yield _case("R.image.affine_grid(a, (56, 56))", (4, 2, 3))
    yield _case('R.image.resize3d(a, (28, 28, 28), layout="NCDHW", method="linear")', cube)


def _moving_cases() -> Iterator[Timed]:
    """Movements, searches, scans and sums that :func:`cases` does not have."""
    for call in ("expand_dims(a, 1)", "flatten(a)", "triu(a)", "median(a, axis=[1])"):
        yield _case(f"R.{call}", (256, 512))
    yield _case("R.squeeze(a, [1])", (256, 1, 512))
    for axis in (0, 1):
        for name in ("cumsum", "cumprod", "sort", "argsort"):
            yield _case(f"R.{name}(a, axis={axis})", (256, 512))
        yield _case(f"R.stack((a, b), axis={axis})", (256, 512), (256, 512))
    yield _case("R.topk(a, 5, axis=1)", (256, 512))
    yield _case("R.collapse_sum_like(a, b)", PLAIN, ROW)
    yield _case("R.collapse_sum_to(a, (256, 1))", PLAIN)
    yield _case("R.outer(a, b)", (512,), (512,))
    yield _case('R.einsum((a, b), subscripts="ij,kj->ik")', (128, 256), (128, 256))
    yield _case("R.meshgrid((a, b))", (512,), (512,))
    yield _case(
        "R.one_hot(a, R.prim_value(T.float32(1)), R.prim_value(T.float32(0)), 64, -1)",
        (1024,),
        dtypes="int64",
    )
    indexed = "float32 int64"
    yield _case("R.index_tensor(a, (b, b))", (256, 256), (1000,), dtypes=indexed)
    yield _case("R.gather_nd(a, b)", (256, 256), (1000, 2), dtypes=indexed)
    yield _case(
        "R.reverse_sequence(a, b, seq_axis=1, batch_axis=0)", (256, 512), (256,), dtypes=indexed
    )
    updated = "float32 int64 float32"
    yield _case("R.scatter_elements(a, b, c, axis=1)", *[(128, 128)] * 3, dtypes=updated)
    yield _case("R.scatter_nd(a, b, c)", (256, 256), (1000, 2), (1000,), dtypes=updated)
    yield _case("R.index_put(a, (b, b), c)", (256, 256), (100,), (100,), dtypes=updated)
    yield _case("R.slice_scatter(a, b, 10, 60, 1, axis=0)", (256, 256), (50, 256))
    yield _case(
        "R.grad.take_backward(a, b, c, axis=0)",
        (100, 64),
        (1000, 64),
        (100,),
        dtypes="float32 float32 int64",
    )


def shaped(case: Timed) -> Iterator[Timed]:
    """A call as it is; with lengths that no vector divides; with a first dimension that is
    symbolic. The latter may be illegal.
    """
    yield case
    if not case.shapes or any(isinstance(d, str) for shape in case.shapes for d in shape):
        return
    odd = [tuple(int(d) - 3 if int(d) >= 14 else d for d in shape) for shape in case.shapes]
    if tuple(odd) != case.shapes:
        yield case._replace(shapes=tuple(odd))
    first = int(case.shapes[0][0])
    some = [tuple("n" if d == first > 1 else d for d in shape) for shape in case.shapes]
    some[0] = ("n", *some[0][1:])
    yield case._replace(shapes=tuple(some), size=first)


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
    return {var.name_hint: func for var, func in module.prim_funcs.items()}


Array = np.ndarray[Any, Any]


@lru_cache(16)
def _array(shape: tuple[int, ...], kind: str, number: int) -> Array:
    """Random values; indices are small. The same for all sides: where memory lies matters."""
    random = np.random.default_rng(number)
    floats = np.dtype(kind).kind == "f"
    return (random.random(shape) if floats else random.integers(1, 30, shape)).astype(kind)


def arrays(func: tir.PrimFunc, size: int = SIZE) -> list[Array]:
    """Arguments of a kernel."""
    made = []
    for number, var in enumerate(func.params):
        buffer = func.buffer_map[var]
        known = {v: tir.IntImm(size) for dim in buffer.shape for v in tir.free_vars(dim)}
        shape = [int(str(Prover().simplify(tir.substitute(d, known)))) for d in buffer.shape]
        place = 9 if number == len(func.params) - 1 else number  # one memory for all results
        made.append(_array(tuple(shape), str(np.dtype(str(buffer.dtype))), place))
    return made


class Runner:
    """Calls of all kernels, one after the other."""

    def __init__(self, found: dict[str, tir.PrimFunc], size: int) -> None:
        self._calls = [(native.compile(func), arrays(func, size)) for func in found.values()]
        self.sources = [kernel.source for kernel, _ in self._calls]

    def __call__(self) -> None:
        for kernel, given in self._calls:
            kernel(given)


def theirs(module: Any, found: dict[str, tir.PrimFunc], size: int) -> Callable[[], None]:
    """Calls of the same kernels, as TVM builds them."""
    calls = []
    for var, func in module.functions_items():
        if isinstance(func, tvm.tirx.PrimFunc):
            name = var.name_hint
            alone = tvm.IRModule({var: func.with_attr("global_symbol", name)})
            with tvm.transform.PassContext(opt_level=3):
                built = tvm.compile(alone, target="llvm")[name]
            calls.append((built, [tvm.runtime.tensor(a) for a in arrays(found[name], size)]))

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
    try:
        ours = legalized(rlx.parse(text))
    except ValueError as error:
        return f"illegal: {error}"
    if ours.left:
        return f"left: {ours.left[0].reason}"
    read = tvm.script.from_source(text, check_well_formed=False)
    try:
        module = relax.transform.LegalizeOps()(tvm.IRModule({"main": read}))
    except Exception as error:  # noqa: BLE001 - whatever TVM raises is its answer
        return f"LegalizeOps fails: {str(error).strip().splitlines()[-1]}"
    peer = kernels(rlx.parse(module.script(show_meta=True)))
    if not peer:
        return "LegalizeOps makes no kernel of it"
    try:
        theirs_here = Runner(peer, case.size)
    except UnsupportedStop as stop:
        return f"LegalizeOps' kernel does not run here: {stop.message}"
    try:
        theirs_here()
    except FaultStop as stop:
        return f"LegalizeOps' kernel fails: {stop.message}"
    mine, llvm = Runner(kernels(ours.module), case.size), theirs(module, peer, case.size)
    if mine.sources == theirs_here.sources:
        same, other = best([mine, llvm])
        return [same, same, other]
    return best([mine, theirs_here, llvm])


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
    same = sum(each.ours == each.peer for each in found)
    yield f"| calls of which both make the same C | 1 | {same} |"


def main(words: list[str]) -> None:
    """Print the tables."""
    summary = "--summary" in words
    wanted = [word for word in words if not word.startswith("-")]
    found: list[Compared] = []
    left: list[str] = []
    if not summary:
        print(HEAD)
    for case in chain.from_iterable(map(shaped, cases())):
        kinds = " ".join(dict.fromkeys(case.dtypes))
        shown = f"{case.call} {' '.join(map(str, case.shapes))} {kinds}"
        if wanted and not any(word in shown for word in wanted):
            continue
        times = measure(case)
        if isinstance(times, str):
            if not times.startswith(("illegal", "left")):
                left.append(f"- `{case.call}`: {times}")
            continue
        found.append(Compared(shown, *times))
        if not summary:
            print(found[-1].row(), flush=True)
    print("\n| | geometric mean | under 0.8 |\n|---|---|---|", *means(found), sep="\n")
    if summary:
        slowest = sorted(found, key=lambda each: each.peer / each.ours)[:10]
        print("\nThe slowest beside LegalizeOps:\n", HEAD, *map(Compared.row, slowest), sep="\n")
    if left:
        print("\nNot compared:\n", *dict.fromkeys(left), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
