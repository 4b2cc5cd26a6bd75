"""Pairs that TVM's passes make: programs of many kinds, each before and after a pass.

``python -m tests.refine.passes FOLDER COUNT`` writes them to files; ``python -m benchmarks.refine`` makes them and compares.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tvm
from tvm import relax
from tvm.relax import transform
from tvm.relax.dpl import is_op, wildcard
from tvm.relax.frontend import nn
from tvm.relax.testing import attention

import rlx
from rlx.generate.campaign.programs import AGAINST
from rlx.generate.programs import random_module
from rlx.grammar.nodes.node import replace
from rlx.grammar.print.printer import print_module
from tests.tvm.models import MODELS
from tests.tvm.right_passes import ALONE, bind_last, weights

ROOT = Path(__file__).parents[2]
LARGEST = 60_000
"""Programs with longer texts are left out."""

FORMS = {
    "matmuls": """
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), a: R.Tensor((8, 4), "float32"), b: R.Tensor((8, 4), "float32"), c: R.Tensor((6, 8), "float32")):
        with R.dataflow():
            p = R.matmul(x, a)
            q = R.matmul(x, b)
            r = R.matmul(x, R.permute_dims(c))
            s = R.matmul(x, R.add(a, b))
            y = R.add(R.add(p, q), s)
            R.output(y, r)
        return (y, r)
""",
    "low rank": """
    @R.function
    def main(x: R.Tensor((1, "n"), "float32"), a: R.Tensor(("n", "k"), "float32"), b: R.Tensor(("k", "m"), "float32")):
        with R.dataflow():
            w = R.matmul(a, b)
            y = R.matmul(x, w)
            R.output(y)
        return y
""",
    "lookup": """
    @R.function
    def main(x: R.Tensor((1, 16), "float32"), w: R.Tensor((16, 8, "k"), "float32"), i: R.Tensor((3,), "int64")):
        with R.dataflow():
            t = R.concat((R.permute_dims(R.zeros((4, 16), "float32")), R.permute_dims(R.ones((5, 16), "float32"))), axis=1)
            y = R.take(R.matmul(x, t), i, axis=1)
            R.output(y)
        return y
""",
    "reshapes": """
    @R.function
    def main(x: R.Tensor(("n", 4, 6), "float32")):
        with R.dataflow():
            a = R.reshape(x, (n, 24))
            b = R.nn.relu(a)
            c = R.reshape(b, (n, 4, 6))
            d = R.expand_dims(c, axis=1)
            y = R.squeeze(d, axis=[1])
            R.output(y)
        return y
""",
    "convolutions": """
    @R.function
    def main(x: R.Tensor((2, 3, 10, 10), "float32"), w: R.Tensor((4, 3, 3, 3), "float32"), b: R.Tensor((1, 4, 1, 1), "float32"),
             g: R.Tensor((4,), "float32"), h: R.Tensor((4,), "float32"), m: R.Tensor((4,), "float32"), v: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.nn.conv2d(x, w, padding=1)
            c = R.nn.relu(R.add(a, b))
            d = R.nn.max_pool2d(c, pool_size=2, strides=2)
            e = R.nn.batch_norm(d, g, h, m, v, axis=1)
            f = e[0]
            y = R.nn.avg_pool2d(f, pool_size=2)
            R.output(y)
        return y
""",
    "helpers": """
    @R.function(private=True)
    def helper(x: R.Tensor(("n",), "float32"), unused: R.Tensor((3,), "float32"), t: R.Tuple(R.Tensor(("n",), "float32"), R.Tensor(("n",), "float32"))):
        with R.dataflow():
            a = R.add(x, t[0])
            b = R.multiply(x, t[1])
            R.output(a, b)
        return (a, b)

    @R.function
    def main(x: R.Tensor(("n",), "float32"), w: R.Tensor((3,), "float32")):
        with R.dataflow():
            r = Module.helper(x, w, (x, x))
            y = r[0]
            z = R.add(R.exp(y), R.exp(y))
            R.output(z)
        return z
""",
    "closure": """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        @R.function
        def inner(z: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            w: R.Tensor(("n",), "float32") = R.add(z, y)
            return w
        a: R.Tensor(("n",), "float32") = inner(x)
        b: R.Tensor(("n",), "float32") = inner(a)
        return b
""",
    "branch": """
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        if c:
            a = R.reshape(x, (n * m,))
            y = R.nn.relu(a)
        else:
            b = R.exp(x)
            y = R.reshape(b, (m * n,))
        return y
""",
    "checks": """
    @R.function
    def main(x: R.Tensor(dtype="float32", ndim=2), s: R.Shape(["n", "m"])):
        n, m, k = T.int64(), T.int64(), T.int64()
        y = R.match_cast(x, R.Tensor((n, k), "float32"))
        z = R.reshape(y, (n * k,))
        w = R.add(R.sum(z), R.sum(R.zeros((m, n + k), "float32")))
        return w
""",
    "constants": """
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        with R.dataflow():
            a = R.add(R.const([1.0, 2.0], "float32"), R.const([3.0, 4.0], "float32"))
            b = R.sum(a)
            y = R.multiply(x, b)
            R.output(y)
        return y
""",
    "packed": """
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        a = R.exp(x)
        r = R.call_packed("show", a, sinfo_args=(R.Tuple,))
        b = R.call_pure_packed("library.f", a, sinfo_args=(R.Tensor((4,), "float32"),))
        c = R.call_dps_packed("library.g", (b,), out_sinfo=R.Tensor((4,), "float32"))
        return R.add(b, c)
""",
}

TRANSFORMER: dict[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
    "Linear": lambda: (nn.Linear(8, 6), {"x": ("n", 8)}),
    "Conv1D": lambda: (nn.Conv1D(3, 4, 3), {"x": (1, 3, 12)}),
    "Conv2D": lambda: (nn.Conv2D(3, 4, 3, padding=1), {"x": (1, 3, 8, 8)}),
    "Conv3D": lambda: (nn.Conv3D(2, 3, 2), {"x": (1, 2, 4, 4, 4)}),
    "ConvTranspose1D": lambda: (nn.ConvTranspose1D(3, 4, 3), {"x": (1, 3, 7)}),
    "LayerNorm": lambda: (nn.LayerNorm(8), {"x": ("n", 8)}),
    "RMSNorm": lambda: (nn.RMSNorm(8, -1, bias=False), {"x": ("n", 8)}),
    "GroupNorm": lambda: (nn.GroupNorm(2, 4), {"x": (1, 4, 6, 6)}),
    "ReLU": lambda: (nn.ReLU(), {"x": ("n", "m")}),
    "SiLU": lambda: (nn.SiLU(), {"x": ("n", "m")}),
    "GELU": lambda: (nn.GELU(), {"x": ("n", "m")}),
}
"""Modules of the wheel, each with the shape of its input."""


def texts(count: int) -> Iterator[tuple[str, Any]]:
    """The names of programs, and their modules of TVM."""
    for name, form in FORMS.items():
        yield name, f"@I.ir_module\nclass Module:{form}"
    for path in sorted((ROOT / "examples").glob("*.rlx")):
        yield path.stem, rlx.show(rlx.load(path))
    yield from weights()
    for seed in range(count):
        options = replace(AGAINST["tvm"], size=6)
        yield f"seed{seed}", print_module(random_module(random.Random(seed), options))


def programs(count: int) -> Iterator[tuple[str, Any]]:
    """The names of programs, and their modules of TVM."""
    for name, text in texts(count):
        try:
            module = tvm.script.from_source(
                rlx.show(rlx.parse(text), dialect="0.27") if name in FORMS else text,
                check_well_formed=False,
            )
        except Exception:  # noqa: BLE001, S112 - what TVM does not read has no pairs
            continue
        yield name, module if isinstance(module, tvm.IRModule) else tvm.IRModule({"main": module})
    for name, make in TRANSFORMER.items():
        layer, inputs = make()
        spec = {k: nn.spec.Tensor(shape, "float32") for k, shape in inputs.items()}
        yield name, layer.export_tvm({"forward": spec})[0]
    yield (
        "attention",
        attention.get_relax_attention_module(
            (1, 4, 2, 8), (1, 4, 2, 8), (1, 4, 2, 8), dtype="float32"
        ),
    )
    for name, build in MODELS.items():
        yield name, build()


def _patterns() -> list[Any]:
    both = is_op("relax.add")(is_op("relax.matmul")(wildcard(), wildcard()), wildcard())
    return [
        ("library.matmul_add", both),
        ("library.matmul", is_op("relax.matmul")(wildcard(), wildcard())),
        ("library.conv2d", is_op("relax.nn.conv2d")(wildcard(), wildcard())),
        ("library.exp", is_op("relax.exp")(wildcard())),
    ]


def pipelines() -> Iterator[tuple[str, Any]]:
    """The passes, alone and one after the other."""
    for name in ALONE:
        yield name, getattr(transform, name)()
    yield "BindParams", bind_last
    yield "BindSymbolicVars", transform.BindSymbolicVars({"n": 3})
    yield "ConvertLayout", transform.ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]})
    yield "Gradient", transform.Gradient("main")
    yield (
        "FuseOpsByPattern",
        tvm.transform.Sequential(
            [
                transform.FuseOpsByPattern(
                    _patterns(), bind_constants=False, annotate_codegen=False
                ),
                transform.MergeCompositeFunctions(),
            ]
        ),
    )
    yield (
        "shared parameters",
        tvm.transform.Sequential([transform.LiftTransformParams(shared_transform=True)]),
    )
    for name in ("zero", "default_build"):
        yield name, relax.get_pipeline(name)


@tvm.ir.instrument.pass_instrument
class _Kept:
    """Keeps what each pass was given, and what it made."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.made: list[tuple[str, str, str]] = []

    def run_before_pass(self, module: Any, info: Any) -> None:
        self.open.append(module.script(show_meta=True))

    def run_after_pass(self, module: Any, info: Any) -> None:
        before, after = self.open.pop(), module.script(show_meta=True)
        if before != after and "@R.function" in before and max(len(before), len(after)) <= LARGEST:
            self.made.append((str(info.name).rpartition(".")[2], before, after))


def pairs(count: int, only: str = "") -> Iterator[tuple[str, str, str, str]]:
    """The name of a pass, that of a program, and the texts before and after, each once.

    Parameters
    ----------
    count
        How many generated programs there are among the programs.
    only
        A part of the name of the passes, or empty for all.
    """
    seen: set[tuple[str, str, str]] = set()
    for program, module in programs(count):
        for _, make in pipelines():
            kept: Any = _Kept()
            try:
                with (
                    tvm.target.Target("llvm"),
                    tvm.transform.PassContext(opt_level=3, instruments=[kept]),
                ):
                    make(module)
            except Exception:  # noqa: BLE001, S110 - what was made before the failure counts
                pass
            for found in kept.made:
                if only in found[0] and found not in seen:
                    seen.add(found)
                    yield found[0], program, found[1], found[2]


def main(folder: Path, count: int = 40, only: str = "") -> None:
    """Write the pairs to files."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (name, program, before, after) in enumerate(pairs(count, only)):
        for side, text in (("before", before), ("after", after)):
            path = folder / f"{number:05}-{name}.{side}.rlx"
            path.write_text(f"# {program}\n{text}\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int("".join(sys.argv[2:3]) or 40), "".join(sys.argv[3:4]))
