"""Instructions that may run together: each by itself, between two calls of a PrimFunc."""

from __future__ import annotations

from itertools import product

import pytest

from rlx import vm
from rlx.vm.batches import LEAST, PLANNED, batches
from rlx.vm.instructions import (
    VM_STATE,
    Argument,
    ArgumentKind,
    CallInstruction,
    RetInstruction,
    VMInstruction,
    immediate,
    register,
)

from .test_batches import EXECUTABLE, floats, machine

NAMES = (
    *("double", "user", "vm.builtin.call_tir_dyn", "vm.builtin.move", "vm.builtin.shape_of"),
    *("vm.builtin.alloc_tensor", "vm.builtin.invoke_closure", "vm.builtin.alloc_shape_heap"),
    *("vm.builtin.load_shape", "vm.builtin.make_shape"),
)
KERNEL = NAMES.index("double")
HEAP = 5


def function(number: int) -> Argument:
    return Argument(ArgumentKind.FUNCTION, number)


FIRST = [Argument(kind, number) for kind in ArgumentKind for number in (KERNEL, 1, HEAP)]
REST: list[tuple[Argument, ...]] = [(), (register(1),), (immediate(1),), (function(KERNEL),)]


def together(*between: VMInstruction) -> bool:
    """Whether instructions between two calls of a PrimFunc are in one row with them."""
    call = CallInstruction(KERNEL, (register(0), register(1)), 2)
    heap = CallInstruction(NAMES.index("vm.builtin.alloc_shape_heap"), (immediate(2),), HEAP)
    code = [heap, call, *between, call, RetInstruction(2)]
    found = batches(code, 2, NAMES, frozenset(["double"]), frozenset())
    return 0 in found and found[0].end == len(code) - 1


def may(name: str, args: tuple[Argument, ...]) -> bool:
    """The condition of the module's documentation, written anew."""
    if name == "vm.builtin.call_tir_dyn":
        return args[:1] == (function(KERNEL),)
    return name == "double" or name in PLANNED


@pytest.mark.parametrize("name", NAMES)
def test_an_instruction_is_in_a_row(name: str) -> None:
    for first, rest in product([None, *FIRST], REST):
        args = (*rest,) if first is None else (first, *rest)
        assert together(CallInstruction(NAMES.index(name), args, 3)) == may(name, args), args


def heaps(*between: VMInstruction) -> tuple[int, ...]:
    """The registers that hold a heap nobody else knows, where a row begins behind a call."""
    call = CallInstruction(KERNEL, (register(0), register(1)), 2)
    heap = CallInstruction(NAMES.index("vm.builtin.alloc_shape_heap"), (immediate(2),), HEAP)
    user = CallInstruction(NAMES.index("user"), (register(0),), 2)
    code = [heap, user, *between, call, call, call, RetInstruction(2)]
    (found,) = batches(code, 2, NAMES, frozenset(["double"]), frozenset()).values()
    return found.heaps


def test_a_heap_that_something_else_uses_is_none() -> None:
    load = NAMES.index("vm.builtin.load_shape")
    on_heap = CallInstruction(load, (register(VM_STATE), register(HEAP), immediate(0)), 3)
    assert heaps(on_heap) == (HEAP,)
    move = NAMES.index("vm.builtin.move")
    assert not heaps(on_heap, CallInstruction(move, (register(HEAP),), 4))
    assert not heaps(on_heap, CallInstruction(move, (register(1),), HEAP))
    assert not heaps(CallInstruction(load, (register(HEAP), register(HEAP)), 4))


def test_a_row_is_long_enough_and_calls_a_prim_func() -> None:
    move = CallInstruction(NAMES.index("vm.builtin.move"), (register(0),), 3)
    call = CallInstruction(KERNEL, (register(0), register(1)), 2)
    for count in range(2 * LEAST):
        for last in (move, call):
            code = [*[move] * count, last, RetInstruction(3)]
            found = batches(code, 2, NAMES, frozenset(["double"]), frozenset())
            assert bool(found) == (last is call and count + 1 >= LEAST)


@pytest.mark.parametrize("name", NAMES)
def test_a_row_with_any_arguments_ends_as_one_by_one(name: str) -> None:
    """Functions where values belong, heaps where tensors belong, and the reverse."""
    for args in product(("heap", "tensor", "number", "function"), repeat=2):
        ib = vm.ExecBuilder()
        ib.add_kernel("double", EXECUTABLE.kernels["double"])
        given = {
            "heap": ib.r(2),
            "tensor": ib.r(0),
            "number": ib.imm(1),
            "function": ib.f("double"),
        }
        with ib.function("main", num_inputs=2):
            ib.emit_call("vm.builtin.alloc_shape_heap", [2], ib.r(2))
            ib.emit_call("double", [ib.r(0), ib.r(1)])
            ib.emit_call(name, [given[arg] for arg in args], ib.r(3))
            ib.emit_call("double", [ib.r(1), ib.r(1)])
            ib.emit_ret(ib.r(1))
        packed = {"user": lambda *_: None}
        alone = vm.VirtualMachine(ib.get(), packed)
        at_once = machine(executable=ib.get(), packed=packed)
        for numbers in ((1, 2), (3, 4), (5, 6, 7)):
            ends: list[tuple[object, ...]] = []
            for each in (alone, at_once):
                x, y = floats(*numbers), floats(*numbers)
                try:
                    ends.append((each["main"](x, y).tolist(), x.tolist()))
                except vm.RunError as error:
                    ends.append((str(error), error.place, x.tolist(), y.tolist()))
            assert ends[0] == ends[1], args
