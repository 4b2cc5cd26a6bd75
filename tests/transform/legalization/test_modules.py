"""Legalisation of whole modules: remaining calls and the reasons, devices, branches and nested functions."""

from __future__ import annotations

import numpy as np

import rlx
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.visit import bindings
from rlx.semantics.machine import load
from rlx.semantics.machine.numpy_conversion import to_value
from rlx.semantics.outcome import Returned
from rlx.transform import legalize, legalized


def parsed(text: str) -> rlx.IRModule:
    module = rlx.parse(text)
    assert rlx.check(module).ok
    return module


def test_what_stays_and_why() -> None:
    found = legalized(
        parsed(
            """
@R.function(pure=False)
def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m", 4), "float32"), z: R.Tensor(ndim=2)):
    a = R.add(x, y)
    b = R.unique(x)
    c = R.exp(z)
    d = R.print(x, format="{}")
    return (a, b, c)
"""
        )
    )
    assert [(left.operator, left.function) for left in found.left] == [
        ("add", "main"),
        ("unique", "main"),
        ("exp", "main"),
        ("print", "main"),
    ]
    assert found.left[0].reason
    assert found.left[2].reason == "the shape of its result is not known"


def test_results_stay_on_their_device() -> None:
    module = legalize(
        parsed(
            """
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("cuda", 0)]})
    @R.function
    def main(x: R.Tensor(("n", 4), "float32", "cuda:0")) -> R.Tensor(("n", 4), "float32", "cuda:0"):
        z = R.add(x, x)
        return z
"""
        )
    )
    assert rlx.check(module).ok
    assert str(module).count('vdevice="cuda:0:global"') == 3


def test_branches_blocks_and_inner_functions() -> None:
    module = parsed(
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), c: R.Tensor((), "bool")) -> R.Tensor(("n", 3), "float32"):
        @R.function
        def inner(y: R.Tensor(("k", 3), "float32")) -> R.Tensor(("k", 3), "float32"):
            z = R.nn.relu(y)
            return z
        with R.dataflow():
            a = R.nn.softmax(x)
            R.output(a)
        if c:
            r = R.exp(a)
        else:
            r = R.nn.relu(x)
        return r
"""
    )
    made = legalize(module)
    assert rlx.check(made).ok
    assert legalize(made).functions.keys() == made.functions.keys()
    x = np.arange(-3, 3, dtype=np.float32).reshape(2, 3)
    for choice in (True, False):
        inputs = {"x": x, "c": np.array(choice)}
        before, after = (rlx.run(m, inputs=inputs).numpy() for m in (module, made))
        np.testing.assert_allclose(before, after, rtol=1e-6)
    names = [name.name_hint for name in made.functions]
    assert sorted(names) == ["exp", "main", "relu", "softmax"]


def test_an_index_outside_stops_both() -> None:
    module = parsed(
        """
@R.function
def main(x: R.Tensor((3,), "float32"), i: R.Tensor((2,), "int64")):
    y = R.take(x, i, axis=0)
    return y
"""
    )
    inputs = {"x": np.zeros(3, np.float32), "i": np.array([0, 3])}
    before, after = rlx.run(module, inputs=inputs), rlx.run(legalize(module), inputs=inputs)
    assert (before.code, after.code) == ("E-index-range", "E-tir-bounds")  # type: ignore[attr-defined]


def test_running_sums_take_linear_time() -> None:
    """Counted in iterations of loops, of which a sum over all before each would need a million."""
    module = legalize(
        parsed(
            """
@R.function
def main(x: R.Tensor(("n",), "float32")):
    a = R.cumsum(x, axis=0)
    b = R.cumprod(x, axis=0, exclusive=True)
    return (a, b)
"""
        )
    )
    loaded = load(module, backend="steps", iterations=5_000)
    made = loaded.run("main", [to_value(np.ones(1000, np.float32))], fuel=100)
    assert isinstance(made, Returned), made


LINES = [
    "R.add(x, x)",
    "R.add(x, y)",
    "R.add(y, x)",
    "R.add(x, row)",
    "R.add(x, y)",
    "R.clip(x, min=0, max=1)",
    "R.clip(x, min=0, max=2)",
    "R.clip(x, min=0.0, max=2)",
    "R.sum(x, axis=[0])",
    "R.sum(x, axis=[1])",
    "R.sum(y, axis=[1])",
    "R.nn.layer_norm(x, row, row, axes=[-1], epsilon=1e-05)",
    "R.nn.layer_norm(x, row, row, axes=[-1], epsilon=1e-06)",
    "R.concat((x, y), axis=0)",
    "R.concat((x, x), axis=0)",
    "R.concat((y, x), axis=0)",
    "R.concat((x, y, x), axis=0)",
    "R.reshape(x, R.shape([n * 4]))",
    "R.reshape(y, R.shape([n * 4]))",
    "R.reshape(y, R.shape([4, n]))",
    "R.add(narrow, narrow)",
]


def test_a_call_has_the_kernel_that_it_has_alone() -> None:
    """The result does not depend on earlier calls of the same operator."""
    head = (
        'n = TypeVar("n")\n@R.function\ndef main(x: R.Tensor((n, 4), "float32"),'
        ' y: R.Tensor((n, 4), "float32"), row: R.Tensor((4,), "float32"),'
        ' narrow: R.Tensor((n, 4), "float16")):\n'
    )

    def kernels(lines: list[str]) -> list[tuple[tir.PrimFunc, ast.Call]]:
        rows = "".join(f"    v{i} = {line}\n" for i, line in enumerate(lines))
        made = legalize(parsed(f"{head}{rows}    return x\n"))
        (main,) = made.relax_functions.values()
        calls = [b.value for b in bindings(main) if isinstance(b.value, ast.Call)]
        called = [c for c in calls if c.op_name == "relax.call_tir"]
        return [(made.functions[c.args[0]], c) for c in called]  # type: ignore[index,misc]

    together = kernels(LINES)
    assert len(together) == len(LINES)
    for (kernel, call), line in zip(together, LINES, strict=True):
        ((alone, its),) = kernels([line])
        assert structural_equal(kernel, alone), line
        given = [[str(a) for a in c.args[1].fields] for c in (call, its)]  # type: ignore[attr-defined]
        assert given[0] == given[1] and str(call.sinfo_args) == str(its.sinfo_args), line
