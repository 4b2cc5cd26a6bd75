"""From a module's text to its first number, beside TVM: ``python -m benchmarks.first_run [NET…]``.

Each side is a process of its own that reads the text, builds it and calls it: ours by
``rlx.vm.build(legalize=True)``, TVM's by ``tvm.compile`` for LLVM with its default pipeline, which
fuses operators and schedules nothing. Imports are not counted. ``cold`` is ours with an empty cache
of kernels, ``warm`` with a full one; TVM keeps nothing between processes. ``again`` is the median
of later calls in the same process, on one thread. The sides take turns; each figure is the least of
two rounds, as it passed on the clock and as processor time, compilers included.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

ROUNDS = 2
SIZE = 8
"""The size of each symbolic dimension."""

HEAD = 'n = TypeVar("n")\n\n@I.ir_module\nclass Module:\n    @R.function\n    def main('


class NetText:
    """A module of one function, written line by line."""

    def __init__(self) -> None:
        self.params: list[str] = []
        self.lines: list[str] = []

    def param(self, *shape: int | str, dtype: str = "float32") -> str:
        name = f"p{len(self.params)}"
        dims = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
        self.params.append(f'{name}: R.Tensor(({dims}), dtype="{dtype}")')
        return name

    def bind(self, value: str) -> str:
        name = f"v{len(self.lines)}"
        self.lines.append(f"            {name} = {value}\n")
        return name

    def module(self, result: str) -> str:
        body = "".join(self.lines)
        return (
            f"{HEAD}{', '.join(self.params)}):\n        with R.dataflow():\n{body}"
            f"            R.output({result})\n        return {result}\n"
        )


def decoder(layers: int = 12) -> str:
    """A transformer whose layers all have widths of their own: 12 distinct kernels each."""
    text, heads = NetText(), 4
    width = 64
    x = text.param("n", width)
    for layer in range(layers):
        inner, following = 96 + 16 * layer, 64 + 16 * (layer + 1)
        normed = text.bind(f"R.nn.rms_norm({x}, {text.param(width)}, axes=[-1])")
        query, key, value = (
            text.bind(f"R.matmul({normed}, {text.param(width, inner)})") for _ in range(3)
        )
        split = f"R.shape([n, {heads}, {inner // heads}])"
        rows = [
            text.bind(f"R.permute_dims(R.reshape({part}, {split}), axes=[1, 0, 2])")
            for part in (query, key, value)
        ]
        turned = text.bind(f"R.permute_dims({rows[1]}, axes=[0, 2, 1])")
        scores = text.bind(f"R.matmul({rows[0]}, {turned})")
        scaled = text.bind(f'R.multiply({scores}, R.const({(inner / heads) ** -0.5}, "float32"))')
        weights = text.bind(f"R.nn.softmax({scaled}, axis=-1)")
        mixed = text.bind(f"R.permute_dims(R.matmul({weights}, {rows[2]}), axes=[1, 0, 2])")
        joined = text.bind(f"R.reshape({mixed}, R.shape([n, {inner}]))")
        hidden = text.bind(f"R.matmul({joined}, {text.param(inner, following)})")
        gate = text.bind(f"R.nn.silu({hidden})")
        x, width = text.bind(f"R.add({gate}, {hidden})"), following
    return text.module(x)


def convolutions(count: int = 12) -> str:
    """Convolutions of different widths on images, each with a bias and relu; a mean at the end."""
    text, width = NetText(), 3
    x = text.param("n", width, 32, 32)
    for layer in range(count):
        channels, stride = 16 + 8 * layer, 2 if layer % 3 == 2 else 1
        weight = text.param(channels, width, 3, 3)
        made = text.bind(f"R.nn.conv2d({x}, {weight}, strides={stride}, padding=1)")
        shifted = text.bind(f"R.add({made}, {text.param(1, channels, 1, 1)})")
        x, width = text.bind(f"R.nn.relu({shifted})"), channels
    return text.module(text.bind(f"R.mean({x}, axis=[2, 3])"))


def quantized(count: int = 12) -> str:
    """Products of matrices of int8, scaled, rounded and narrowed again."""
    text, width = NetText(), 256
    x = text.param("n", width, dtype="int8")
    for layer in range(count):
        weight = text.param(width, width + 32, dtype="int8")
        summed = text.bind(f'R.matmul({x}, {weight}, out_dtype="int32")')
        real = text.bind(f'R.astype({summed}, "float32")')
        scaled = text.bind(f'R.multiply({real}, R.const({0.001 + layer / 10000}, "float32"))')
        rounded = text.bind(f"R.clip(R.round({scaled}), -127, 127)")
        x, width = text.bind(f'R.astype({rounded}, "int8")'), width + 32
    return text.module(x)


def printed(model: str) -> Callable[[], str]:
    """A network of the tests, as TVM prints it."""

    def text() -> str:
        from tests.tvm.models import MODELS

        return str(MODELS[model]().script(show_meta=True))

    return text


NETS: dict[str, Callable[[], str]] = {
    "decoder": decoder,
    "convolutions": convolutions,
    "quantized": quantized,
    "convnet": printed("convnet"),
    "diffusion": printed("diffusion"),
}


def arguments(text: str) -> list[tuple[list[int], str]]:
    """The shape and the type of each parameter of the first function of a module."""
    import rlx
    from rlx.grammar.nodes import tir
    from rlx.solver.evaluate import evaluate

    module = rlx.parse(text)
    function = next(iter(module.relax_functions.values()))
    found = []
    for param in function.params:
        info: Any = param.struct_info
        dims = [evaluate(d, dict.fromkeys(tir.free_vars(d), SIZE)) for d in info.shape.values]
        found.append(([int(d) for d in dims], str(info.dtype)))
    return found


def values(wanted: Sequence[tuple[Sequence[int], str]]) -> list[Any]:
    """Small random arrays."""
    import numpy as np

    random = np.random.default_rng(0)
    return [
        np.asarray(
            random.random(shape) if dtype.startswith("float") else random.integers(-9, 9, shape),
            dtype,
        )
        for shape, dtype in wanted
    ]


def ours(text: str) -> Callable[[Sequence[Any]], Callable[[], Any]]:
    """Build a module with rlx."""
    import rlx
    from rlx import vm
    from rlx.semantics.values import Tensor

    module = rlx.parse(text)
    entry = next(iter(module.functions)).name_hint
    machine = vm.VirtualMachine(vm.build(module, legalize=True))

    def bound(given: Sequence[Any]) -> Callable[[], Any]:
        held = [Tensor(array) for array in given]
        return lambda: machine.invoke(entry, held)

    return bound


def theirs(text: str) -> Callable[[Sequence[Any]], Callable[[], Any]]:
    """Build a module with TVM."""
    import tvm
    from tvm import relax

    module = tvm.script.from_source(text)
    entry = next(
        var.name_hint for var, f in module.functions_items() if isinstance(f, relax.Function)
    )
    machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())[entry]

    def bound(given: Sequence[Any]) -> Callable[[], Any]:
        held = [tvm.runtime.tensor(array) for array in given]
        return lambda: machine(*held)

    return bound


def _clocks() -> tuple[float, float]:
    spent = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        spent += usage.ru_utime + usage.ru_stime
    return time.perf_counter(), spent


def child(side: str, path: str) -> None:
    """Print the times of one side: to the first number, and the median of later calls."""
    if side == "theirs":
        import tvm
        import tvm.relax

        assert tvm
    else:
        import numpy as np

        import rlx.vm

        assert rlx.vm and np
    folder = Path(path)
    text = folder.joinpath("net.py").read_text(encoding="utf-8")
    given = values(json.loads(folder.joinpath("arguments.json").read_text(encoding="utf-8")))
    begin = _clocks()
    call = {"ours": ours, "theirs": theirs}[side](text)(given)
    call()
    first = [after - before for before, after in zip(begin, _clocks(), strict=True)]
    again = []
    for _ in range(15):
        start = time.perf_counter()
        call()
        again.append(time.perf_counter() - start)
    print(json.dumps([*first, median(again)]))


def timed(side: str, folder: Path, cache: Path) -> list[float]:
    """The clock and processor seconds to the first number, and those of a later call."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "TVM")}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.first_run", "--child", side, str(folder)],
        env={**os.environ, **threads, "RLX_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(net: str, rounds: int = ROUNDS) -> dict[str, list[float]]:
    """The least times of a network: cold, warm and TVM's."""
    found: dict[str, list[list[float]]] = {"cold": [], "warm": [], "TVM": []}
    with tempfile.TemporaryDirectory(prefix="rlx-benchmark-") as made:
        folder, cache = Path(made), Path(made) / "cache"
        text = NETS[net]()
        folder.joinpath("net.py").write_text(text, encoding="utf-8")
        folder.joinpath("arguments.json").write_text(json.dumps(arguments(text)), encoding="utf-8")
        for _ in range(rounds):
            shutil.rmtree(cache, ignore_errors=True)
            found["cold"].append(timed("ours", folder, cache))
            found["TVM"].append(timed("theirs", folder, cache))
            found["warm"].append(timed("ours", folder, cache))
    return {
        name: [min(column) for column in zip(*rows, strict=True)] for name, rows in found.items()
    }


def main(words: Sequence[str]) -> None:
    """Print the table."""
    if words[:1] == ["--child"]:
        return child(*words[1:])
    print(
        "| network | cold: ours | TVM | TVM / ours | processor: ours | TVM | TVM / ours "
        "| warm | again: ours | TVM | TVM / ours |\n|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for net in words or NETS:
        found = measured(net)
        (cold, spent, _), (clock, processor, their) = found["cold"], found["TVM"]
        warm, again = found["warm"][0], min(found["cold"][2], found["warm"][2])
        print(
            f"| {net} | {cold:.2f} s | {clock:.2f} s | {clock / cold:.2f} | {spent:.2f} s "
            f"| {processor:.2f} s | {processor / spent:.2f} | {warm:.2f} s | {again * 1e3:.2f} ms "
            f"| {their * 1e3:.2f} ms | {their / again:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
