"""`relax-check` beside TVM's parser: ``python -m benchmarks.texts [KIND…]``.

Ours is the whole process: start, imports, all phases, output. TVM's is `from_source` alone, which
parses and checks that a module is well-formed; its import is not counted. Nothing in a text
repeats: layers have widths of their own, and each binding another operator or another size. Each
kind has four sizes, 1, 2, 4 and 8 times the first; figures are seconds of processor time, the least
of two runs in turns, and the exponent is that of the last two doublings in bytes, where ours is
without the start of the process, which a text of one line takes.
"""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.first_run import NetText, decoder

FACTORS = (1, 2, 4, 8)
ROUNDS = 2

FROM_SOURCE = """\
import sys, time, pathlib, tvm, tvm.relax
path = pathlib.Path(sys.argv[1])
texts = [p.read_text() for p in ([path] if path.is_file() else sorted(path.iterdir()))]
start = time.process_time()
for text in texts:
    tvm.script.from_source(text)
print(time.process_time() - start)
"""


def mixed(count: int) -> str:
    """One function of so many bindings of eight operators, with sizes of their own."""
    draw, text = random.Random(count), NetText()
    last, width = text.param("n", 64), 64
    while len(text.lines) < count:
        grown = 17 + len(text.lines) * 7 % 4093
        match draw.randrange(8):
            case 0:
                last = text.bind(f'R.add({last}, R.const({len(text.lines)}.5, "float32"))')
            case 1:
                last = text.bind(f"R.matmul({last}, {text.param(width, grown)})")
                width = grown
            case 2:
                more = text.bind(f'R.ones(R.shape([n, {grown}]), dtype="float32")')
                last = text.bind(f"R.concat(({last}, {more}), axis=1)")
                width += grown
            case 3 if width > 100:
                begin = 3 + grown % 41
                last = text.bind(
                    f"R.strided_slice({last}, axes=[1], begin=[{begin}], end=[{width}])"
                )
                width -= begin
            case 4:
                last = text.bind(f"R.nn.softmax({last}, axis=-1)")
            case 5:
                turned = text.bind(f"R.permute_dims({last}, axes=[1, 0])")
                last = text.bind(f"R.permute_dims({turned}, axes=[1, 0])")
            case 6:
                flat = text.bind(f"R.reshape({last}, R.shape([n * {width}]))")
                last = text.bind(f"R.reshape({flat}, R.shape([n, {width}]))")
            case _:
                last = text.bind(f"R.{draw.choice(['exp', 'nn.silu', 'tanh', 'abs'])}({last})")
    return text.module(last)


def symbolic(count: int) -> str:
    """One function in which each binding has a symbolic dimension of its own."""
    text = NetText()
    last, factor, added = text.param("n", 16), 1, 0
    for k in range(count // 2):
        if k % 2:
            factor += 1 + k % 5
            rows = f"n * {1 + k % 5}"
        else:
            added += 2 + k % 11
            rows = f"{2 + k % 11}"
        more = text.bind(f'R.ones(R.shape([{rows}, 16]), dtype="float32")')
        last = text.bind(f"R.concat(({last}, {more}), axis=0)")
        last = text.bind(f"R.reshape({last}, R.shape([n * {factor} + {added}, 16]))")
    return text.module(last)


def weights(kilobytes: int) -> str:
    """A module with constants, as TVM prints it; so many kilobytes of them."""
    import numpy as np
    from tvm import relax

    builder, values = relax.BlockBuilder(), np.random.default_rng(0)
    x = relax.Var("x", relax.TensorType((1, 128), "float32"))
    with builder.function("main", [x]):
        last = x
        for _ in range(kilobytes // 64):
            weight = relax.const(values.random((128, 128), np.float32))
            last = builder.emit(relax.op.matmul(last, weight))
        builder.emit_func_output(last)
    return str(builder.get().script(show_meta=True))


class TextKind(NamedTuple):
    """Texts of one kind: the text of a size, the first size, and how many files it is."""

    make: Callable[[int], str]
    size: int
    unit: str


KINDS = {
    "layers of distinct widths": TextKind(decoder, 16, "layers"),
    "mixed operators, one function": TextKind(mixed, 300, "bindings"),
    "symbolic sizes, one function": TextKind(symbolic, 300, "bindings"),
    "weights": TextKind(weights, 8192, "kB"),
    "a folder of small files": TextKind(lambda size: mixed(10 + size % 5), 20, "files"),
}


def _checked(path: Path) -> float:
    child = subprocess.Popen(
        [sys.executable, "-c", "from rlx.cli import relax_check as r; raise SystemExit(r())", path],
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"relax-check: exit {child.returncode} on {path}")
    return usage.ru_utime + usage.ru_stime


def _parsed(path: Path) -> float:
    command = [sys.executable, "-c", FROM_SOURCE, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def exponent(times: Sequence[float], sizes: Sequence[int]) -> float:
    """The power of the size with which a time grows, from the second size to the last."""
    return math.log(times[-1] / times[1]) / math.log(sizes[-1] / sizes[1])


def rows(names: Sequence[str] = ()) -> Iterator[str]:
    """The table."""
    yield "| text | size | ours | exponent | TVM | exponent | TVM / ours |"
    yield "|---|---|---|---|---|---|---|"
    for name, (make, size, unit) in KINDS.items():
        if names and not any(part in name for part in names):
            continue
        ours, theirs, sizes = list[float](), list[float](), list[int]()
        with tempfile.TemporaryDirectory(prefix="rlx-benchmark-") as folder:
            small = Path(folder) / "small.rlx"
            small.write_text(mixed(1), "utf-8")
            start = min(_checked(small) for _ in range(3))
            for factor in FACTORS:
                path = Path(folder) / f"text{factor}.rlx"
                if unit == "files":
                    path = Path(folder) / f"folder{factor}"
                    path.mkdir()
                    for k in range(size * factor):
                        path.joinpath(f"f{k}.rlx").write_text(make(k), "utf-8")
                    sizes.append(sum(file.stat().st_size for file in path.iterdir()))
                else:
                    sizes.append(path.write_text(make(size * factor), "utf-8"))
                pairs = [(_checked(path), _parsed(path)) for _ in range(ROUNDS)]
                ours.append(min(pair[0] for pair in pairs))
                theirs.append(min(pair[1] for pair in pairs))
        yield (
            f"| {name} | {size * FACTORS[0]} to {size * FACTORS[-1]} {unit}, {sizes[-1] // 1000:,} kB"
            f" | {', '.join(f'{t:.2f}' for t in ours)} s | {exponent([t - start for t in ours], sizes):.2f}"
            f" | {', '.join(f'{t:.2f}' for t in theirs)} s | {exponent(theirs, sizes):.2f}"
            f" | {theirs[-1] / ours[-1]:.1f} |"
        )


if __name__ == "__main__":
    for line in rows(sys.argv[1:]):
        print(line, flush=True)
