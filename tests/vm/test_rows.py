"""Which instructions may run together: each by itself, between two calls of a PrimFunc."""

from __future__ import annotations

from itertools import product

import pytest

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

NAMES = (
    *("double", "user", "vm.builtin.call_tir_dyn", "vm.builtin.move", "vm.builtin.shape_of"),
    *("vm.builtin.alloc_tensor", "vm.builtin.invoke_closure", "vm.builtin.alloc_shape_heap"),
    *("vm.builtin.load_shape", "vm.builtin.make_shape"),
)
KERNEL = NAMES.index("double")
HEAP = 5
ON_HEAP = {"vm.builtin.load_shape", "vm.builtin.make_shape"}


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
    """What the module's documentation says, anew."""
    functions = [arg.kind is ArgumentKind.FUNCTION for arg in args]
    if name == "double":
        return not any(functions)
    if name == "vm.builtin.call_tir_dyn":
        kernel = functions[:1] == [True] and args[0].number == KERNEL
        return kernel and len(args) > 1 and not any(functions[1:])
    if name in ON_HEAP:
        return not any(functions) and args[:1] == (register(HEAP),)
    return name in PLANNED and not any(functions)


@pytest.mark.parametrize("name", NAMES)
def test_an_instruction_is_in_a_row(name: str) -> None:
    for first, rest in product([None, *FIRST], REST):
        args = (*rest,) if first is None else (first, *rest)
        assert together(CallInstruction(NAMES.index(name), args, 3)) == may(name, args), args


def test_a_heap_that_something_else_uses_is_none() -> None:
    load = NAMES.index("vm.builtin.load_shape")
    on_heap = CallInstruction(load, (register(VM_STATE), register(HEAP), immediate(0)), 3)
    assert together(on_heap)
    move = NAMES.index("vm.builtin.move")
    assert not together(on_heap, CallInstruction(move, (register(HEAP),), 4))
    assert not together(on_heap, CallInstruction(move, (register(1),), HEAP))
    assert not together(on_heap, CallInstruction(load, (register(HEAP), register(HEAP)), 4))


def test_a_row_is_long_enough_and_calls_a_prim_func() -> None:
    move = CallInstruction(NAMES.index("vm.builtin.move"), (register(0),), 3)
    call = CallInstruction(KERNEL, (register(0), register(1)), 2)
    for count in range(2 * LEAST):
        for last in (move, call):
            code = [*[move] * count, last, RetInstruction(3)]
            found = batches(code, 2, NAMES, frozenset(["double"]), frozenset())
            assert bool(found) == (last is call and count + 1 >= LEAST)
