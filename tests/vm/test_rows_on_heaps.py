"""Rows of instructions on shape heaps: whose they are, and what they hold when a row begins."""

from __future__ import annotations

import numpy as np
import pytest

from rlx import vm
from rlx.grammar.nodes.dtype import dtype
from rlx.semantics.values import Scalar, Tensor
from tests.vm.test_batches import EXECUTABLE, floats, machine, plans

ADD = """
@T.prim_func(private=True)
def add(k: T.KIND, x: T.handle, m: T.KIND, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for i in range(n):
        Y[i] = X[i] + T.Cast("float32", k) + T.Cast("float32", m)
"""
pytestmark = pytest.mark.filterwarnings("ignore::rlx.vm.builder.UnusedInput")


@pytest.mark.parametrize("null", [True, False])
def test_a_shape_is_matched_without_a_heap_or_with_one_of_the_function(null: bool) -> None:
    """An argument that is used as a heap may change from run to run: there is no plan."""
    ib = vm.ExecBuilder()
    ib.add_kernel("double", EXECUTABLE.kernels["double"])
    with ib.function("main", num_inputs=3):
        r = ib.r
        if null:
            ib.emit_call("vm.builtin.null_value", [], r(3))
        stored = [r(3), 1, 0, 2] if null else [r(2), 1, 1, 0]  # equal to 2, or its first number
        ib.emit_call("vm.builtin.match_shape", [r(0), *stored], r(4))
        ib.emit_call("double", [r(0), r(1)])
        ib.emit_call("double", [r(1), r(1)])
        ib.emit_ret(r(1))
    found = machine(executable=ib.get())
    heap = np.array([7], np.int64)
    for k in range(2):
        assert found["main"](floats(1, k), floats(0, 0), heap).tolist() == [4, 4 * k]
        assert heap.tolist() == [7 if null else 2]
        heap[...] = 7
    assert plans(found) == [1 if null else 0]


def test_a_heap_holds_zeros_at_first_in_each_run() -> None:
    """Sizes that an earlier run put there are gone."""
    ib = vm.ExecBuilder()
    ib.add_kernel("double", EXECUTABLE.kernels["double"])
    with ib.function("main", num_inputs=2):
        r = ib.r
        ib.emit_call("vm.builtin.alloc_shape_heap", [2], r(2))
        ib.emit_call("vm.builtin.make_shape", [r(2), 2, 1, 0, 1, 1], r(3))
        ib.emit_call("vm.builtin.match_shape", [r(0), r(2), 1, 1, 0], r(4))
        ib.emit_call("vm.builtin.make_shape", [r(2), 2, 1, 0, 1, 1], r(4))
        ib.emit_call("double", [r(0), r(1)])
        ib.emit_call("vm.builtin.make_tuple", [r(1), r(3), r(4)], r(5))
        ib.emit_ret(r(5))
    found = machine(executable=ib.get())
    for size in (2, 5, 1, 5):
        x = np.ones(size, np.float32)
        doubled, first, then = found["main"](x, 0 * x)
        assert doubled.tolist() == [2] * size
        assert (first, then) == ((0, 0), (size, 0))
    assert plans(found) == [1]


@pytest.mark.parametrize("kind", ["int64", "int32"])
def test_the_place_in_a_heap_may_be_given(kind: str) -> None:
    """A plan is for one such place, and for all sizes."""
    ib = vm.ExecBuilder()
    ib.add_kernel("double", EXECUTABLE.kernels["double"])
    with ib.function("main", num_inputs=3):
        r = ib.r
        ib.emit_call("vm.builtin.alloc_shape_heap", [2], r(3))
        ib.emit_call("vm.builtin.match_shape", [r(0), r(3), 1, 1, r(2)], r(4))
        ib.emit_call("double", [r(0), r(1)])
        ib.emit_call("vm.builtin.load_shape", [r(3), 0, 1], r(4))
        ib.emit_call("vm.builtin.make_tuple", [r(1), r(4)], r(4))
        ib.emit_ret(r(4))
    found = machine(executable=ib.get())
    for place, size in [(1, 2), (1, 5), (1, 1), (0, 3), (0, 4), (1, 7)]:
        x = Tensor(np.ones(size, np.float32))
        ended = found.invoke("main", [x, Tensor(0 * x.data), Scalar(place, dtype(kind))])
        _, shape = ended.fields  # type: ignore[attr-defined]
        assert shape.values == ((0, size) if place else (size, 0))
    assert plans(found) == [2]


@pytest.mark.parametrize("name", ["tensor", "shape"])
def test_the_rank_that_is_checked_may_be_given(name: str) -> None:
    """A plan for one rank says nothing of another."""
    ib = vm.ExecBuilder()
    ib.add_kernel("double", EXECUTABLE.kernels["double"])
    with ib.function("main", num_inputs=3):
        r = ib.r
        ib.emit_call("vm.builtin.shape_of", [r(0)], r(3))
        checked = [r(0), r(2), dtype("float32"), "x"] if name == "tensor" else [r(3), r(2), "x"]
        ib.emit_call(f"vm.builtin.check_{name}_info", checked)
        ib.emit_call("double", [r(0), r(1)])
        ib.emit_ret(r(1))
    found = machine(executable=ib.get())
    x = Tensor(floats(1, 2))
    for _ in range(2):
        found.invoke("main", [x, Tensor(floats(0, 0)), Scalar(1)])
        assert plans(found) == [1]
        with pytest.raises(vm.CheckFailed):
            found.invoke("main", [x, Tensor(floats(0, 0)), Scalar(2)])


@pytest.mark.parametrize("kind", ["int64", "int32", "float32"])
def test_a_kernel_may_take_numbers_before_tensors(kind: str) -> None:
    """The first size plans the row; others need the numbers that follow from it."""
    ib = vm.ExecBuilder()
    ib.add_kernel("add", ADD.replace("KIND", kind))
    with ib.function("main", num_inputs=2):
        r = ib.r
        ib.emit_call("vm.builtin.alloc_shape_heap", [2], r(2))
        ib.emit_call("vm.builtin.match_shape", [r(0), r(2), 1, 1, 0], r(3))
        ib.emit_call("vm.builtin.make_prim_value", [r(2), 1, 0, dtype("int64")], r(3))
        number = r(3) if kind == "int64" else ib.imm(2) if kind == "int32" else ib.c(2.0)
        ib.emit_call("add", [number, r(0), number, r(1)])
        ib.emit_call("add", [number, r(1), number, r(1)])
        ib.emit_ret(r(1))
    found = machine(executable=ib.get())
    for size in (2, 5, 1, 5):
        x = np.arange(size, dtype=np.float32)
        added = 4 * (size if kind == "int64" else 2)
        assert found["main"](x, 0 * x).tolist() == (x + added).tolist()
    assert plans(found) == [1]
