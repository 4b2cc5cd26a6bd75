"""Rows of instructions that run at once do what they do one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from rlx import vm
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.read.parser import parse
from rlx.semantics.live_memory import limited
from rlx.semantics.values import Scalar, ShapeValue, Storage, Tensor, Value
from rlx.vm.batch_runs import MOST_PLANS

from .agreement import at_once

MODULE = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            Y[i] = X[i] * T.float32(2)

    @T.prim_func(private=True)
    def pick(x: T.handle, at: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        A = T.match_buffer(at, (1,), "int64")
        Y = T.match_buffer(y, (1,), "float32")
        for i in range(1):
            Y[i] = X[A[i]]

    @T.prim_func(private=True)
    def first(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(1):
            Y[i] = X[i]

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n + n",), "float32"):
        n = T.int64()
        cls = Module
        a = R.call_tir(cls.double, (x,), R.Tensor((n,), "float32"))
        b = R.call_tir(cls.double, (a,), R.Tensor((n,), "float32"))
        c = R.call_tir(cls.double, (b,), R.Tensor((n,), "float32"))
        d = R.concat([a, c])
        return d

    @R.function
    def taken(x: R.Tensor(("n",), "float32"), at: R.Tensor((1,), "int64")) -> R.Tensor((1,), "float32"):
        n = T.int64()
        cls = Module
        a = R.call_tir(cls.double, (x,), R.Tensor((n,), "float32"))
        b = R.call_tir(cls.pick, (a, at), R.Tensor((1,), "float32"))
        c = R.call_tir(cls.double, (b,), R.Tensor((1,), "float32"))
        return c

    @R.function
    def holes(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        a = R.call_tir(cls.double, (x,), R.Tensor((n,), "float32"))
        b = R.call_tir(cls.first, (a,), R.Tensor((n,), "float32"))
        c = R.call_tir(cls.double, (b,), R.Tensor((n,), "float32"))
        return c
"""
EXECUTABLE = vm.build(parse(MODULE).modules[0])


def machine(**options: Any) -> vm.VirtualMachine:
    """A machine that runs rows at once, between no guards."""
    return at_once(options.pop("executable", EXECUTABLE), **options)


def plans(found: vm.VirtualMachine) -> list[int]:
    """The number of plans of each batch that can run."""
    return [sum(bool(plan.places) for plan in each.plans) for each in found.translator.batches]


def floats(*numbers: float) -> np.ndarray[Any, Any]:
    return np.array(numbers, np.float32)


def test_a_plan_serves_all_inputs_of_its_shapes() -> None:
    found = machine()
    first = found["main"](floats(1, 2))
    second = found["main"](floats(3, 4))
    assert first.tolist() == [2, 4, 8, 16] and second.tolist() == [6, 8, 24, 32]
    assert plans(found) == [1]
    for size in (5, 1, 40, 3):
        x = np.arange(size, dtype="float32")
        assert found["main"](x).tolist() == [*(2 * x), *(8 * x)]
    assert plans(found) == [1]
    assert found["main"](floats()).tolist() == []  # is no such input: one by one
    assert found["main"](floats(7)).tolist() == [14, 56]
    assert plans(found) == [1]


def test_results_have_memory_of_their_own() -> None:
    found = machine()
    wanted = np.array([0], np.int64)
    first = found["taken"](floats(1, 2), wanted)
    found["taken"](floats(3, 4), wanted)
    assert first.tolist() == [4]


def test_plans_are_given_up_where_shapes_never_come_again() -> None:
    found = machine(executable=narrow())
    for size in range(1, 3 * MOST_PLANS):
        assert found["main"](np.ones(size, np.float32)).tolist() == [1 + size] * size
    (kept,) = plans(found)
    assert kept == MOST_PLANS - 1  # all but the first, which was for one size


def narrow() -> vm.Executable:
    """Adds the size of a vector to it, as a number of 32 bits: a plan is for one such number."""
    ib = vm.ExecBuilder()
    ib.add_kernel(
        "add",
        """
@T.prim_func(private=True)
def add(x: T.handle, y: T.handle, k: T.int32):
    n = T.int64()
    X = T.match_buffer(x, (n,), "float32")
    Y = T.match_buffer(y, (n,), "float32")
    for i in range(n):
        Y[i] = X[i] + T.Cast("float32", k)
""",
    )
    with ib.function("main", num_inputs=1):
        r = ib.r
        ib.emit_call("vm.builtin.alloc_shape_heap", [1], r(1))
        ib.emit_call("vm.builtin.match_shape", [r(0), r(1), 1, 1, 0], r(2))
        ib.emit_call("vm.builtin.make_prim_value", [r(1), 1, 0, dtype("int32")], r(2))
        ib.emit_call("vm.builtin.make_shape", [r(1), 1, 1, 0], r(3))
        ib.emit_call("vm.builtin.alloc_storage", [ib.vm_state(), r(3), 0, _float()], r(4))
        ib.emit_call("vm.builtin.alloc_tensor", [ib.vm_state(), r(4), 0, r(3), _float()], r(5))
        ib.emit_call("add", [r(0), r(5), r(2)])
        ib.emit_ret(r(5))
    return ib.get()


def test_one_value_given_twice_may_be_two_the_next_time() -> None:
    """The inputs that a plan reads do not depend on what they shared when it was made."""
    ib = vm.ExecBuilder()
    ib.add_kernel("double", _kernel("double"))
    with ib.function("main", num_inputs=4):
        r = ib.r
        ib.emit_call("double", [r(0), r(2)])
        ib.emit_call("double", [r(1), r(3)])
        ib.emit_call("double", [r(2), r(2)])
        ib.emit_call("vm.builtin.make_tuple", [r(0), r(1), r(2), r(3)], r(4))
        ib.emit_ret(r(4))
    found = machine(executable=ib.get())
    x = Tensor(floats(1, 2))
    found.invoke("main", [x, x, Tensor(floats(0, 0)), Tensor(floats(0, 0))])
    ended = found["main"](floats(3, 4), floats(5, 6), floats(0, 0), floats(0, 0))
    assert [each.tolist() for each in ended] == [[3, 4], [5, 6], [12, 16], [10, 12]]
    assert plans(found) == [1]


def test_a_fault_has_the_place_of_its_instruction() -> None:
    """The first time, when the batch is planned, and the second."""
    found, one_by_one = machine(), vm.VirtualMachine(EXECUTABLE)
    far = np.array([7], np.int64)
    with pytest.raises(vm.Fault) as wanted:
        one_by_one["taken"](floats(1, 2), far)
    for _ in range(2):
        with pytest.raises(vm.Fault) as caught:
            found["taken"](floats(1, 2), far)
        assert str(caught.value) == str(wanted.value)
        assert caught.value.place == wanted.value.place
    assert plans(found) == [1]


def test_what_fails_is_not_planned() -> None:
    found = machine()
    with pytest.raises(vm.CheckFailed, match="parameter 0, x"):
        found["main"](np.ones((1, 2), np.float32))
    assert plans(found) == [0]
    assert found["main"](np.zeros(0, np.float32)).shape == (0,)  # empty: one by one
    assert plans(found) == [0]


def test_memory_that_is_not_filled_is_noticed() -> None:
    found = machine()
    assert found["holes"](floats(3)).tolist() == [12]
    with pytest.raises(vm.Fault, match="before it is written"):
        found["holes"](floats(3, 4))
    assert plans(found)[0] == 0
    # the PrimFunc that leaves holes runs by itself from now on
    assert found["holes"](floats(3)).tolist() == [12]
    assert sum(plans(found)) > 0


def test_arguments_that_share_memory() -> None:
    ib = vm.ExecBuilder()
    ib.add_kernel("double", _kernel("double"))
    with ib.function("main", num_inputs=2):
        for source, target in ((0, 1), (1, 0), (0, 1)):
            ib.emit_call("double", [ib.r(source), ib.r(target)])
        ib.emit_ret(ib.r(1))
    found = machine(executable=ib.get())
    memory = floats(1, 1, 1, 1)
    whole = [Tensor(memory[:3]), Tensor(memory[1:])]
    one_by_one = memory.copy()
    vm.VirtualMachine(ib.get()).invoke("main", [Tensor(one_by_one[:3]), Tensor(one_by_one[1:])])
    found.invoke("main", whole)
    assert plans(found) == [1]
    assert memory.tolist() == one_by_one.tolist()


def _kernel(name: str) -> str:
    return EXECUTABLE.kernels[name]


def test_results_of_every_kind() -> None:
    """Shapes, scalars, pieces of memory, tensors in them and views, that what follows reads."""
    ib = vm.ExecBuilder()
    ib.add_kernel("double", _kernel("double"))
    with ib.function("main", num_inputs=1):
        state, r, c = ib.vm_state(), ib.r, ib.c
        ib.emit_call("vm.builtin.alloc_shape_heap", [2], r(1))
        ib.emit_call("vm.builtin.match_shape", [r(0), r(1), 1, 1, 0], r(9))
        ib.emit_call("vm.builtin.make_shape", [r(1), 2, 1, 0, 0, 1], r(2))
        ib.emit_call("vm.builtin.make_prim_value", [r(1), 1, 0], r(3))
        ib.emit_call("vm.builtin.alloc_storage", [state, c((16,)), 0, _float()], r(4))
        ib.emit_call("vm.builtin.alloc_tensor", [r(4), 0, c((3,)), _float()], r(5))
        ib.emit_call("vm.builtin.alloc_tensor", [state, r(4), 16, c((3,)), _float()], r(6))
        ib.emit_call("double", [r(0), r(6)])
        ib.emit_call("vm.builtin.reshape", [r(6), r(2)], r(7))
        ib.emit_call("vm.builtin.reshape", [r(0), r(2)], r(8))
        ib.emit_call("vm.builtin.make_tuple", [r(2), r(3), r(5), r(7), r(8), r(0), r(1)], r(9))
        ib.emit_call("see", [r(9), r(4)], r(9))
        ib.emit_ret(r(9))
    executable = ib.get()
    x = floats(1, 2, 3)
    seen: list[Sequence[Any]] = []

    def see(values: Any, storage: Any) -> Any:
        seen.append(values)
        return values

    for found in (machine(executable=executable, packed={"see": see}),) * 2:
        shape, number, zeros, doubled, view, itself, heap = found["main"](x)
        assert (shape, number) == ((3, 1), 3)
        assert zeros.tolist() == [0, 0, 0] and doubled.tolist() == [[2], [4], [6]]
        assert view.tolist() == [[1], [2], [3]] and np.shares_memory(view, x)
        assert itself.tolist() == [1, 2, 3] and heap.tolist() == [3, 0]
    # a second time with the memory that the first results hold written over
    assert sum(plans(found)) == 1
    zeros[...] = 5
    assert found["main"](x)[2].tolist() == [0, 0, 0]


def _float() -> Any:
    return dtype("float32")


def test_a_tensor_that_nothing_wrote_is_still_blank_behind_the_batch() -> None:
    ib = vm.ExecBuilder()
    ib.add_kernel("double", _kernel("double"))
    with ib.function("main", num_inputs=1):
        state, r, c = ib.vm_state(), ib.r, ib.c
        for k in (1, 2):
            ib.emit_call("vm.builtin.alloc_storage", [state, c((8,)), 0, _float()], r(k))
            ib.emit_call("vm.builtin.alloc_tensor", [state, r(k), 0, c((2,)), _float()], r(k + 2))
        ib.emit_call("double", [r(0), r(3)])
        ib.emit_ret(r(4))
    found = machine(executable=ib.get())
    for _ in range(2):
        with pytest.raises(vm.Fault, match="was never written"):
            found["main"](floats(1, 2))
    assert plans(found) == [1]


@pytest.mark.parametrize(
    "look", [lambda m: m.set_instrument(lambda *_: None), lambda m: m.profile("main", floats(1))]
)
def test_who_looks_on_sees_each_call(look: Callable[[vm.VirtualMachine], object]) -> None:
    found = machine()
    look(found)
    assert found["main"](floats(1, 2)).tolist() == [2, 4, 8, 16]


@pytest.mark.parametrize("backend", ["native", "steps"])
def test_prim_funcs_call_functions_of_the_user(backend: str) -> None:
    """They are given numbers as Python has them; those on values are for functions of Relax alone."""
    ib = vm.ExecBuilder()
    kernel = """
@T.prim_func(private=True)
def shows(x: T.handle):
    X = T.match_buffer(x, (1,), "float32")
    T.call_packed("seen", 7)
    X[0] = T.float32(1)
"""
    ib.add_kernel("shows", kernel)
    with ib.function("main", num_inputs=1):
        ib.emit_call("shows", [ib.r(0)])
        ib.emit_ret(ib.r(0))
    seen: list[tuple[Any, ...]] = []
    packed = {"seen": lambda *args: seen.append(args)}
    found = vm.VirtualMachine(ib.get(), packed, backend=backend)
    assert found["main"](floats(0)).tolist() == [1]
    assert seen == [(7,)]


def test_functions_of_the_user_hide_prim_funcs() -> None:
    def triple(x: Any, y: Any) -> None:
        y[...] = 3 * x

    found = machine(packed={"double": triple})
    assert found["main"](floats(1)).tolist() == [3, 27]
    assert not found.translator.batches


@pytest.mark.parametrize(
    "values",
    [
        [Tensor(np.arange(3, dtype=np.float32)[::1])],
        [Tensor(np.arange(3, dtype=np.float32)[::-1])],
        [Tensor(np.arange(9, dtype=np.float32).reshape(3, 3)[:, 0])],
        [Tensor(np.broadcast_to(np.float32(2), 3))],
        [Tensor(np.ones(3, np.float64))],
        [ShapeValue((3,))],
        [Scalar(3)],
    ],
)
def test_inputs_of_every_kind_end_as_one_by_one(values: list[Value]) -> None:
    ends = []
    for found in (machine(), vm.VirtualMachine(EXECUTABLE)):
        for _ in range(2):
            try:
                ends.append(str(found.invoke("main", values).data.tolist()))  # type: ignore[attr-defined]
            except vm.RunError as error:
                ends.append(str(error))
    assert len(set(ends)) == 1


@pytest.mark.parametrize("even_first", [True, False])
def test_memory_that_begins_at_an_odd_address_is_not_planned(even_first: bool) -> None:
    ib = vm.ExecBuilder()
    for name, text in EXECUTABLE.kernels.items():
        ib.add_kernel(name, text)
    with ib.function("main", num_inputs=2):
        ib.emit_call("vm.builtin.alloc_tensor", [ib.r(0), 0, (3,), "float32"], ib.r(2))
        ib.emit_call("vm.builtin.alloc_tensor", [ib.r(0), 12, (3,), "float32"], ib.r(3))
        for source, target in ((1, 2), (2, 3), (3, 2)):
            ib.emit_call("double", [ib.r(source), ib.r(target)])
        ib.emit_ret(ib.r(2))
    found = machine(executable=ib.get())
    given = Tensor(floats(1, 2, 3))
    counts = {}
    for even in (even_first, not even_first):
        room = np.zeros(64, np.uint8)
        memory = Storage(room[0 if even else 1 :][:24])
        for _ in range(3):
            made = found.invoke("main", [memory, given])
            assert made.data.tolist() == [8, 16, 24]  # type: ignore[attr-defined]
        counts[even] = plans(found)
    assert counts[True] != [0]
    assert counts[False] == ([1] if even_first else [0])


@pytest.mark.parametrize("size", [1, 100, 1000])
def test_where_memory_is_limited_a_batch_ends_as_one_by_one(size: int) -> None:
    """The outcome is the same in the run that plans the batch, in later ones, and once there is room again."""
    x = np.ones(size, np.float32)

    def ended(found: vm.VirtualMachine, limit: int) -> object:
        with limited(limit):
            try:
                return found["main"](x).tolist()
            except vm.Fault as error:
                return str(error), error.place

    limits = [1 << 20, *range(0, 40 * size, 2 * size), 1 << 20]
    planned, alone = machine(), vm.VirtualMachine(EXECUTABLE)
    wanted = [ended(alone, limit) for limit in limits]
    assert [ended(planned, limit) for limit in limits] == wanted
    assert [ended(machine(), limit) for limit in limits] == wanted
    assert wanted[1] != wanted[0] == wanted[-1]
