"""The lowered programs of the design document, as 2022 spelt them and as version 0.27 does: both are read, checked and run."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from rlx.checker.check import check_text
from rlx.grammar.read.parser import parse
from rlx.semantics.machine import load
from rlx.semantics.values import Packed, ShapeValue, Tensor, Value
from rlx.transform import CallTIRRewrite, Sequential, ToNonDataflow, VMMemoryLower, VMShapeLower
from rlx.vm import Executable, Fault, VirtualMachine, build
from rlx.vm.code_generation import generate

SOURCE = """
@tvm.script.ir_module
class MyIRModule:
    @T.prim_func
    def tirexp(x: T.handle, y: T.handle):
        n1, m1 = T.var("int64"), T.var("int64")
        X = T.match_buffer(x, (n1, m1))
        Y = T.match_buffer(y, (n1, m1))
        BLOCK
            Y[i, j] = T.exp(X[i, j])

    @R.function
    def myfunc(x: Tensor[(n, m), "float32"]):
        with R.dataflow():
            lv0: Tensor[(n, m), "float32"] = R.call_tir((n, m), tirexp, [x])
            gv0: Tensor[(m*n,), "float32"] = R.call_tir((m*n,), "flatten", [lv0])
            R.output(gv0)
        return gv0
"""
PRODUCT = """
    @T.prim_func(private=True)
    def product_shape(H: T.Buffer((3,), "int64")):
        H[2] = H[0] * H[1] * T.int64(4)
"""
MEMORY_2022 = """
@R.function(pure=False)
def myfunc(x: R.Tensor(("n", "m"), "float32")):
    n, m = T.int64(), T.int64()
    storage0 = relax.vm.builtin.alloc_storage(size=[4 * n * m], device=cpu)
    tensor0 = relax.vm.builtin.alloc_tensor(storage0, shape=[n, m], offset=0, dtype="f32")
    R.call_packed("tirexp", x, tensor0)

    storage1 = relax.vm.builtin.alloc_storage(size=[4 * n * m], device=cpu)
    tensor1 = relax.vm.builtin.alloc_tensor(storage1, shape=[m * n,], offset=0, dtype="f32")
    R.call_packed("flatten", tensor0, tensor1)

    relax.vm.builtin.free_tensor(tensor0)
    relax.vm.builtin.free_storage(storage0)
    return tensor1
"""
MEMORY_027 = """
@R.function(pure=False)
def myfunc(x: R.Tensor(("n", "m"), "float32")):
    n, m = T.int64(), T.int64()
    storage0 = R.memory.alloc_storage(R.shape([4 * n * m]), 0, "global", "uint8")
    tensor0 = R.memory.alloc_tensor(storage0, 0, R.shape([n, m]), "float32")
    R.call_packed("tirexp", x, tensor0)

    storage1 = R.memory.alloc_storage(R.shape([4 * n * m]), 0, "global", "uint8")
    tensor1 = R.memory.alloc_tensor(storage1, 0, R.shape([m * n]), "float32")
    R.call_packed("flatten", tensor0, tensor1)

    R.memory.kill_tensor(tensor0)
    R.memory.kill_storage(storage0)
    return tensor1
"""
PLAIN_2022 = """
@R.function(pure=False)
def myfunc(x: R.Tensor(("n", "m"), "float32")):
    n, m = T.int64(), T.int64()
    tensor0 = relax.builtin.alloc_tensor(R.shape([n, m]), dtype="float32", runtime_device_index=0)
    R.call_packed("tirexp", x, tensor0)
    tensor1 = relax.builtin.alloc_tensor(R.shape([m * n]), dtype="float32", runtime_device_index=0)
    R.call_packed("flatten", tensor0, tensor1)
    return tensor1
"""
SHAPES_2022 = f"""
@tvm.script.ir_module
class Module:{PRODUCT}
    @R.function(pure=False)
    def myfunc(x: R.Tensor("float32", ndim=2)):
        shape_heap = relax.vm.builtin.alloc_heap(3)
        relax.vm.builtin.store_shape(x.shape, shape_heap, 0, 1)
        sh = relax.vm.builtin.load_shape(shape_heap, 0, 1)
        Module.product_shape(shape_heap)
        shape_size = relax.vm.builtin.load_shape(shape_heap, indices=[2])

        storage0 = relax.vm.builtin.alloc_storage(size=shape_size, device=cpu)
        gv0 = relax.vm.builtin.alloc_tensor(storage0, sh, 0, "f32")
        R.call_packed("tirexp", x, gv0)

        sh1 = R.call_packed("vm.builtin.load_shape", shape_heap, 0, 1, sinfo_args=R.Shape(ndim=2))
        storage1 = relax.vm.builtin.alloc_storage(size=shape_size, device=cpu)
        gv1 = relax.vm.builtin.alloc_tensor(storage1, sh1, 0, "f32")
        R.call_packed("copied", gv0, gv1)

        R.call_packed("vm.builtin.free_tensor", gv0)
        R.call_packed("vm.builtin.free_storage", storage0)
        return gv1
"""
SHAPES_027 = f"""
@I.ir_module
class Module:{PRODUCT}
    @R.function(pure=False)
    def myfunc(x: R.Tensor(dtype="float32", ndim=2)):
        heap = R.call_builtin_with_ctx("vm.builtin.alloc_shape_heap", (3,), sinfo_args=R.Tensor((3,), "int64"))
        R.call_packed("vm.builtin.match_shape", x, heap, 2, 1, 0, 1, 1, "x", sinfo_args=R.Tuple)
        sh = R.call_packed("vm.builtin.make_shape", heap, 2, 1, 0, 1, 1, sinfo_args=R.Shape(ndim=2))
        Module.product_shape(heap)
        size = R.call_packed("vm.builtin.make_shape", heap, 1, 1, 2, sinfo_args=R.Shape(ndim=1))
        storage0 = R.vm.alloc_storage(size, 0, "uint8")
        gv0 = R.vm.alloc_tensor(storage0, 0, sh, "float32")
        R.call_packed("tirexp", x, gv0)
        storage1 = R.vm.alloc_storage(size, 0, "uint8")
        gv1 = R.vm.alloc_tensor(storage1, 0, sh, "float32")
        R.call_packed("copied", gv0, gv1)
        R.vm.kill_object(gv0)
        R.vm.kill_object(storage0)
        return gv1
"""


def _tirexp(x: Any, y: Any) -> None:
    y[...] = np.exp(x)


def _flatten(x: Any, y: Any) -> None:
    y[...] = x.reshape(-1)


def _copied(x: Any, y: Any) -> None:
    y[...] = x


PACKED = {"tirexp": _tirexp, "flatten": _flatten, "copied": _copied}
X = np.arange(6, dtype=np.float32).reshape(2, 3) / 4


def by_steps(text: str) -> Any:
    """The value of the small-step machine."""
    ready = {
        name: Packed(lambda *args, call=call: _unit(call, args), name)
        for name, call in PACKED.items()
    }
    module = parse(text).modules[0]
    return load(module, packed=ready).run("myfunc", [Tensor(X.copy())]).numpy()


def _unit(call: Any, args: tuple[Value, ...]) -> Value:
    from rlx.semantics.values import UNIT

    call(*(arg.data for arg in args))  # type: ignore[attr-defined]
    return UNIT


@pytest.mark.parametrize(
    "block",
    [
        "with T.block(n1, m1) as i, j:",
        "with T.block([n1, m1]) as [i, j]:",
        "with T.grid(n1, m1) as i, j:",
    ],
)
def test_the_source_compiles_and_runs(block: str) -> None:
    module = parse(SOURCE.replace("BLOCK", block)).modules[0]
    found = VirtualMachine(build(module), {"flatten": _flatten})["myfunc"](X)
    np.testing.assert_allclose(found, np.exp(X).reshape(-1), rtol=1e-6)
    passes = [ToNonDataflow(), CallTIRRewrite(), VMMemoryLower(), VMShapeLower()]
    executable = generate(Sequential(passes)(module), source=module)
    again = VirtualMachine(executable, {"flatten": _flatten})["myfunc"](X)
    np.testing.assert_array_equal(again, found)


@pytest.mark.parametrize(
    ("text", "flat"),
    [
        (MEMORY_2022, True),
        (MEMORY_027, True),
        (PLAIN_2022, True),
        (SHAPES_2022, False),
        (SHAPES_027, False),
    ],
)
def test_lowered_programs_are_checked_and_run(text: str, flat: bool) -> None:
    report = check_text(text, "lowered.rlx")
    assert report.ok, [d.message for d in report.diagnostics]
    wanted = np.exp(X).reshape(-1) if flat else np.exp(X)
    assert not [d for d in report.diagnostics if d.code.startswith("MEM") and d.is_error]
    np.testing.assert_array_equal(by_steps(text), wanted)
    found = VirtualMachine(build(parse(text).modules[0]), PACKED)["myfunc"](X)
    np.testing.assert_array_equal(found, wanted)


def test_both_spellings_are_one_program() -> None:
    """After the passes the programs of memory have the same instructions."""
    old, new = (build(parse(text).modules[0]) for text in (MEMORY_2022, MEMORY_027))

    def code(executable: Executable) -> list[str]:
        return [line.split("dst")[0] for line in executable.as_text().split("\n\n")[0].splitlines()]

    assert [line.split()[:2] for line in code(old)] == [line.split()[:2] for line in code(new)]


def test_the_size_of_a_piece_is_in_bytes() -> None:
    """The document asks for n * m of them for n * m numbers of four bytes: a fault, which says so."""
    text = MEMORY_2022.replace("size=[4 * n * m]", "size=[n * m]")
    with pytest.raises(Fault, match="needs bytes 0 to 24; the memory has 6"):
        VirtualMachine(build(parse(text).modules[0]), PACKED)["myfunc"](X)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        ("relax.vm.builtin.alloc_storage()", "'size'"),
        ("relax.vm.builtin.alloc_storage([4], device=gpu)", "cpu"),
        ("relax.vm.builtin.alloc_storage([4], size=[4])", "'size'"),
        ("relax.vm.builtin.load_shape()", "'heap'"),
        ("relax.vm.builtin.free_tensor(x, x)", "2"),
        ("relax.vm.builtin.alloc_tensor(x, [4], 0, 'float32', kind=3)", "'kind'"),
    ],
)
def test_wrong_calls_are_named(call: str, named: str) -> None:
    text = f"@R.function(pure=False)\ndef main(x: R.Object):\n    y = {call}\n    return x\n"
    report = check_text(text, "lowered.rlx")
    assert any(named in d.message for d in report.diagnostics), [
        d.message for d in report.diagnostics
    ]


def test_a_view_that_tvm_lowered() -> None:
    text = """
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32"), s: R.Shape(ndim=1)):
        y = R.call_packed("runtime.TVMTensorCreateView", x, s, R.dtype("int32"), 12, ty_args=(R.Tensor("int32", ndim=1),))
        return y
    """
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    machine = VirtualMachine(build(parse(dedent(text)).modules[0]))
    found = machine.invoke("main", [Tensor(array), ShapeValue((3,))])
    assert isinstance(found, Tensor)
    assert found.data.tolist() == array.view(np.int32)[1].tolist()
