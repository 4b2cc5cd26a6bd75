"""Batches: consecutive instructions that only lay out memory, compute shapes, and call PrimFuncs.

The memory accesses of a batch depend only on the shapes of its inputs. So a Python function is
written for it once (:mod:`rlx.vm.batch_code`), which calls all of its PrimFuncs by one call of
machine code (:mod:`rlx.vm.batch_runs`). This module finds the batches.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from rlx.vm.flow import SPECIAL, BasicBlocks, Code, live_after, reads, writes
from rlx.vm.instructions import (
    VM_STATE,
    Argument,
    ArgumentKind,
    CallInstruction,
    VMInstruction,
)
from rlx.vm.library import CALL_TIR_DYN

HEAPS = {
    "vm.builtin.alloc_shape_heap": None,
    "vm.builtin.alloc_heap": None,
    "vm.builtin.match_shape": 1,
    "vm.builtin.match_prim_value": 1,
    "vm.builtin.make_shape": 0,
    "vm.builtin.make_prim_value": 0,
    "vm.builtin.store_shape": 1,
    "vm.builtin.load_shape": 0,
}
"""Run-time functions on a shape heap, with the heap's position (not counting the state)."""
ALLOCATES_HEAP = frozenset(name for name, at in HEAPS.items() if at is None)
PLANNED = frozenset(
    {
        *HEAPS,
        "vm.builtin.alloc_storage",
        "vm.builtin.alloc_tensor",
        "vm.builtin.null_value",
        "vm.builtin.move",
        "vm.builtin.shape_of",
        "vm.builtin.reshape",
        "vm.builtin.check_tensor_info",
        "vm.builtin.check_shape_info",
        "vm.builtin.check_prim_value_info",
        "vm.builtin.make_tuple",
        "vm.builtin.tuple_getitem",
    }
)
"""Run-time functions that read shapes, scalars and the heap, but no elements of tensors."""
LEAST = 3
"""The least number of instructions that is worth a batch."""


class Batch(NamedTuple):
    """Instructions that run together.

    Attributes
    ----------
    start, end
        The first instruction and the one after the last.
    inputs
        The registers that the batch reads before it writes them, in order.
    outputs
        The registers that the batch writes and later instructions read, in order.
    heaps
        The inputs that hold a shape heap without aliases.
    """

    start: int
    end: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    heaps: tuple[int, ...]


def batches(
    code: Code,
    num_inputs: int,
    names: Sequence[str],
    kernels: frozenset[str],
    hidden: frozenset[str],
    apart: Collection[int] = (),
) -> dict[int, Batch]:
    """The batches of a function by their first instruction.

    Parameters
    ----------
    names
        The names of the called functions, by index.
    kernels
        The names of PrimFuncs.
    hidden
        Names that hide run-time functions: functions of the executable and packed functions of the
        user.
    apart
        Instructions that must not be in a batch.
    """
    kernels -= hidden

    def called(instruction: VMInstruction) -> str:
        """The PrimFunc or planned function that an instruction calls; empty if none."""
        if not isinstance(instruction, CallInstruction):
            return ""
        name = names[instruction.callee]
        if name in kernels:
            return name
        if name in CALL_TIR_DYN - hidden and instruction.args:
            first = instruction.args[0]
            name = names[first.number] if first.kind is ArgumentKind.FUNCTION else ""
            return name if name in kernels else ""
        return name if name in PLANNED - hidden else ""

    calls = list(map(called, code))
    heaps = _heap_registers(code, calls, kernels).difference(range(num_inputs))
    blocks = BasicBlocks(code)
    found: dict[int, Batch] = {}
    for (first, end), live_behind in zip(blocks.spans, live_after(code, blocks), strict=True):
        live = set(live_behind)
        stop, outputs, worth = end, frozenset(live), False
        for at in range(end - 1, first - 2, -1):
            inside = at >= first and at not in apart and calls[at] != ""
            if not inside:
                if worth and stop - at - 1 >= LEAST:
                    found[at + 1] = _batch(code, at + 1, stop, outputs, heaps)
                stop, worth = at, False
            if at >= first:
                written = writes(code[at])
                if written is not None:
                    live.discard(written)
                live.update(reads(code[at]))
            if not inside:
                outputs = frozenset(live)
            worth = worth or (inside and calls[at] in kernels)
    return found


def _batch(
    code: Code, first: int, end: int, live: Collection[int], heaps: Collection[int]
) -> Batch:
    """The batch of a row, behind which some registers are read."""
    read: dict[int, None] = {}
    made: dict[int, None] = {}
    for instruction in code[first:end]:
        read.update((r, None) for r in reads(instruction) if r not in made)
        target = writes(instruction)
        if target is not None:
            made[target] = None
    inputs = tuple(register for register in read if register not in SPECIAL)
    outputs = tuple(register for register in made if register in live)
    return Batch(first, end, inputs, outputs, tuple(r for r in inputs if r in heaps))


def _heap_registers(code: Code, calls: Sequence[str], kernels: frozenset[str]) -> set[int]:
    """Registers that hold only heaps, and only go to functions on heaps and PrimFuncs."""
    made: set[int] = set()
    others: set[int] = set()
    for instruction, name in zip(code, calls, strict=True):
        heap = None
        place = None if name in kernels else HEAPS.get(name)
        if place is not None and isinstance(instruction, CallInstruction):
            args = _stateless(instruction)
            heap = args[place].number if len(args) > place else None
            held = [a.number for a in args if a.kind is ArgumentKind.REGISTER]
            others.update(n for n in held if held.count(n) > 1)
        target = writes(instruction)
        if target is not None:
            (made if name in ALLOCATES_HEAP - kernels else others).add(target)
        if name not in kernels:
            others.update(r for r in reads(instruction) if r != heap)
    return made - others


def _stateless(instruction: CallInstruction) -> list[Argument]:
    return [
        arg
        for arg in instruction.args
        if arg.kind is not ArgumentKind.REGISTER or arg.number != VM_STATE
    ]
