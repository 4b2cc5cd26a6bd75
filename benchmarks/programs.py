"""The texts that benchmarks measure, printed by TVM once and kept under ``build/``."""

from __future__ import annotations

from pathlib import Path

CACHE = Path(__file__).parents[1] / "build" / "benchmarks"

SMALL = """\
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(("n", 784), "float32"),
        w0: R.Tensor((784, 128), "float32"),
        b0: R.Tensor((128,), "float32"),
        w1: R.Tensor((128, 10), "float32"),
        b1: R.Tensor((10,), "float32"),
    ) -> R.Tensor(("n", 10), "float32"):
        n = T.int64()
        with R.dataflow():
            h0: R.Tensor((n, 128), "float32") = R.matmul(x, w0)
            h1: R.Tensor((n, 128), "float32") = R.add(h0, b0)
            h2: R.Tensor((n, 128), "float32") = R.nn.relu(h1)
            h3: R.Tensor((n, 10), "float32") = R.matmul(h2, w1)
            out: R.Tensor((n, 10), "float32") = R.add(h3, b1)
            R.output(out)
        return out
"""
"""Twenty lines, for the cold start."""


def bindings(count: int) -> Path:
    """A function of that many bindings, each annotated, with a symbolic dimension."""
    annotation = 'R.Tensor((n, 256), dtype="float32")'
    lines = [
        f"    v{i}: {annotation} = R.add({f'v{i - 1}' if i else 'x'}, x)\n" for i in range(count)
    ]
    head = 'n = TypeVar("n")\n\n@R.function\ndef main(x: ' + annotation + f") -> {annotation}:\n"
    return _kept(f"bindings{count}.py", head + "".join(lines) + f"    return v{count - 1}\n")


def small() -> Path:
    """The program of twenty lines."""
    return _kept("small.py", SMALL)


def stack(layers: int) -> Path:
    """A transformer of that many layers, as TVM prints it."""
    path = CACHE / f"stack{layers}.py"
    if not path.exists():
        from tests.tvm.networks.decoder import stack

        _kept(path.name, stack(layers).script())
    return path


def _kept(name: str, text: str) -> Path:
    CACHE.mkdir(parents=True, exist_ok=True)
    path = CACHE / name
    path.write_text(text, encoding="utf-8")
    return path
