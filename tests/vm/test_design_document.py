"""The programs of the design document that builds executables, as it writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rlx as rx
from rlx import vm as relax
from rlx.grammar.read.parser import parse

from .agreement import at_once

PACKED: dict[str, Any] = {
    "vm.move": lambda src: src,
    "vm.add": lambda a, b: a + b,
    "vm.mul": lambda a, b: a * b,
}


def test_instructions_are_built_and_run() -> None:
    ib = rx.vm.ExecBuilder()
    ib.emit_constant(np.array([1.0, 2.0]))
    with ib.function("main", num_inputs=1):
        ib.emit_call("vm.move", [ib.c(0)], dst=ib.r(1))
        ib.emit_call("vm.add", [ib.r(0), ib.imm(10)], dst=ib.r(2))
        ib.emit_call("vm.mul", [ib.r(2), ib.r(1)], dst=ib.r(3))
        ib.emit_ret(ib.r(3))
    executable = ib.get()
    found = relax.VirtualMachine(executable, PACKED)["main"](np.array([3.0, 4.0]))
    assert found.tolist() == [13, 28]


def test_shapes_are_computed_in_a_heap() -> None:
    ib = relax.ExecBuilder()
    shape = (32, 16)
    x = np.random.default_rng(0).random(shape)
    with ib.function("main", num_inputs=0):
        ib.emit_call("vm.builtin.alloc_shape_heap", args=[ib.imm(2)], dst=ib.r(0))
        ib.emit_call("vm.builtin.shape_of", args=[x], dst=ib.r(1))
        ib.emit_call("vm.builtin.store_shape", args=[ib.r(1), ib.r(0), ib.imm(0), ib.imm(1)])
        ib.emit_call("vm.builtin.load_shape", args=[ib.r(0), ib.imm(0), ib.imm(1)], dst=ib.r(2))
        ib.emit_ret(ib.r(2))
    assert relax.VirtualMachine(ib.get())["main"]() == shape


def test_storage_asks_for_the_state_of_the_machine() -> None:
    ib = relax.ExecBuilder()
    with ib.function("main", num_inputs=1):
        ib.emit_call("vm.builtin.shape_of", [ib.r(0)], dst=ib.r(1))
        ib.emit_call("vm.builtin.alloc_storage", args=[ib.vm_state(), ib.imm(24)], dst=ib.r(2))
        ib.emit_call(
            "vm.builtin.alloc_tensor", args=[ib.r(2), ib.r(1), ib.imm(0), "float32"], dst=ib.r(3)
        )
        ib.emit_call("fill", args=[ib.r(0), ib.r(3)])
        ib.emit_ret(ib.r(3))

    def fill(x: Any, y: Any) -> None:
        y[...] = 2 * x

    machine = relax.VirtualMachine(ib.get(), {"fill": fill})
    assert machine["main"](np.ones((2, 3), np.float32)).tolist() == [[2] * 3] * 2
    with pytest.raises(relax.Fault, match="needs bytes 0 to 28; the memory has 24"):
        machine["main"](np.ones(7, np.float32))


def test_numbers_that_no_buffer_gives_are_unpacked() -> None:
    """An element-wise function of a shape ``(n, 2 * (m // 2))``, which does not say what m is."""
    text = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def ewise_fun(a: T.handle, b: T.handle, m: T.int64):
        n = T.int64()
        A = T.match_buffer(a, (n, m // 2 * 2), "float32")
        B = T.match_buffer(b, (n, m // 2 * 2), "float32")
        for i, j in T.grid(n, m // 2 * 2):
            B[i, j] = A[i, j] + T.Cast("float32", m)

    @R.function
    def main(x: R.Tensor(("n", "m // 2 * 2"), "float32"), s: R.Shape(["m"])):
        n = T.int64()
        m = T.int64()
        cls = Module
        y = R.call_tir(
            cls.ewise_fun, (x,), R.Tensor((n, m // 2 * 2), "float32"), tir_vars=R.shape([m])
        )
        return y
"""
    executable = relax.build(parse(text).modules[0])
    assert "vm.builtin.call_tir_dyn" in executable.names
    for batching in (False, True):
        machine = at_once(executable) if batching else relax.VirtualMachine(executable)
        for size in (4, 5):
            found = machine["main"](np.ones((1, 4), np.float32), (size,))
            assert found.tolist() == [[1 + size] * 4]
        with pytest.raises(relax.CheckFailed, match="parameter 0, x"):
            machine["main"](np.ones((1, 3), np.float32), (5,))
