"""`relax-check --for tvm` agrees with `tvm.compile` on a few modules; `python -m
tests.tvm.will_build` takes hundreds.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.grammar.print.printer import print_module

from .will_build import Sample, answers, disagreements, examples

HEAD = "@I.ir_module\nclass Module:\n"
RELAX = HEAD + "    @R.function\n    def main({}):\n        y = {}\n        return y\n"
KERNEL = (
    HEAD
    + """\
    @T.prim_func(s_tir=True)
    def main(a: T.Buffer((8,), "float32"), b: T.Buffer((8,), "float32")):
        for i in {}:
            with T.sblock("b"):
                v = T.axis.spatial(8, i)
                b[v] = {}
"""
)
LOCAL = (
    HEAD
    + """\
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        @R.function
        def inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return R.exp(y)
        z = inner(x)
        return z
"""
)
TWICE = (
    'n = TypeVar("n")\n'
    + HEAD
    + """\
    @R.function
    def other(x: R.Tensor((n,), "float32")):
        return x

    @R.function
    def main(x: R.Tensor({}, "float32"), z: R.Tensor("float32", ndim=1)):
        n = T.int64()
        y = R.match_cast(z, R.Tensor((n,), "float32"))
        return y
"""
)
F32 = 'x: R.Tensor(("n", 4), "float32")'
PUT = RELAX.format(
    'x: R.Tensor(("n", 4), "float32"), i: R.Tensor(({},), "int64"),'
    ' j: R.Tensor(({},), "int64"), v: R.Tensor((1,), "float32")',
    "R.index_put(x, (i, j), v)",
)


def formatted(text: str) -> str:
    return print_module(check_text(text).modules[0])


FORMATTED = {
    "a type of functions without brackets": RELAX.format(F32, 'R.ExternFunc("f", R.Callable)'),
    "an element type as a string": RELAX.format(
        F32, 'R.builtin.alloc_tensor(R.shape([4]), R.str("float32"), 0)'
    ),
}
TEXTS = {
    "an operator": RELAX.format(F32, "R.exp(x)"),
    "of an unknown shape": RELAX.format('x: R.Tensor("float32", ndim=2)', "R.exp(x)"),
    "of another type": RELAX.format('x: R.Tensor((4, 4), "bool")', "R.max(x, axis=1)"),
    "never legalised": RELAX.format(
        'x: R.Tensor((1, 4, 2, 2), "float32")', "R.nn.pixel_shuffle(x, 2)"
    ),
    "packed": RELAX.format(F32, 'R.call_pure_packed("my.f", x, ty_args=R.Tensor((4,), "float32"))'),
    "a shift by too much": RELAX.format(
        'x: R.Tensor((4,), "int32")', 'R.left_shift(x, R.const(40, "int32"))'
    ),
    "a shape that is a parameter": RELAX.format(
        'x: R.Tensor((4, 2), "float32"), s: R.Shape([8])', "R.reshape(x, s)"
    ),
    "a shape that is data": RELAX.format(
        'x: R.Tensor((4, 2), "float32"), s: R.Tensor((1,), "int64")',
        "R.exp(R.reshape(x, R.tensor_to_shape(s)))",
    ),
    "a size that is data": RELAX.format(F32, 'R.astype(R.nonzero(x), "float32")'),
    "a shape of which the rank is known": RELAX.format(
        "s: R.Shape(ndim=2)", 'R.full(s, R.const(1, "float32"))'
    ),
    "slopes whose number is a variable": RELAX.format(
        'x: R.Tensor((2, "n"), "float32"), s: R.Tensor(("n",), "float32")', "R.nn.prelu(x, s)"
    ),
    "without an element type": RELAX.format('x: R.Tensor(("n", 4))', "R.exp(x)"),
    "made like one without an element type": RELAX.format(
        'x: R.Tensor(("n", 4))', 'R.ones_like(x, "float32")'
    ),
    "declared as anything": RELAX.format(F32, "R.exp(x)").replace("y =", "y: R.Any ="),
    "sizes that are a parameter": RELAX.format('k: R.Prim("int64")', "R.eye(k)"),
    "a grid of any number of maps": RELAX.format(
        'x: R.Tensor(("n", 2, 3), "float32")', "R.image.affine_grid(x, (8, 8))"
    ),
    "written at a number of places": PUT.format(4, 4),
    "written at any number of places": PUT.format('"m"', '"m"'),
    "written at one place of each, and any number": PUT.format(1, '"m"'),
    "a number of another type": RELAX.format('x: R.Tensor((4,), "int32")', "R.add(x, T.int64(3))"),
    **FORMATTED,
    **{f"{name}, formatted": formatted(text) for name, text in FORMATTED.items()},
    "a device": RELAX.format(F32, 'R.device("llvm", 0)'),
    "a mesh that is nowhere": RELAX.format(
        F32, 'R.dist.annotate_sharding(x, device_mesh="mesh[0]", placement="R")'
    ),
    "a type that is a parameter": RELAX.format(
        's: R.Shape(ndim=1), x: R.Tensor(s, "float32")', "R.max(x)"
    ),
    "a variable that the signature has, too": TWICE.format("(n,)"),
    "a variable that only another signature has": TWICE.format("(4,)"),
    "a local function": LOCAL,
    "a kernel": KERNEL.format("range(8)", "T.sinh(a[v])"),
    "an intrinsic that LLVM does not have": KERNEL.format("range(8)", "T.fmod(a[v], a[v])"),
    "a template": KERNEL.format("range(8)", "a[v]").replace("float32", "void"),
    "threads": KERNEL.format('T.thread_binding(8, thread="threadIdx.x")', "a[v]"),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("built") / "tvm.jsonl"


def test_what_is_said_is_what_tvm_does(kept: Path) -> None:
    samples = [Sample("here", name, text) for name, text in TEXTS.items()]
    counts: Counter[tuple[str, str]] = Counter()
    assert not list(disagreements(answers(samples, kept), counts))
    assert counts == {
        ("builds", "builds"): 12,
        ("refuses", "refuses"): 15,
        ("refuses", "read"): 7,
    }


def test_the_examples(kept: Path) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    assert not list(disagreements(answers(list(examples()), kept), counts))
    assert counts["builds", "builds"] >= 8 and counts["refuses", "refuses"] >= 1
