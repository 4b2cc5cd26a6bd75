"""Renumbering of registers, in the order of their use or to use fewer of them."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from rlx.grammar.nodes.node import changed
from rlx.vm.flow import SPECIAL, BasicBlocks, Code, last_uses, reads, writes
from rlx.vm.instructions import (
    VOID,
    Argument,
    ArgumentKind,
    CallInstruction,
    IfInstruction,
    RetInstruction,
    VMInstruction,
    register,
)

Rename = Callable[[int], int]


def renumbered_registers(code: Code, num_inputs: int) -> list[VMInstruction]:
    """The same code, with the registers after the inputs numbered in the order of their use."""
    names = {k: k for k in range(num_inputs)}

    def rename(number: int) -> int:
        return number if number in SPECIAL else names.setdefault(number, len(names))

    return [_renamed(instruction, rename, rename) for instruction in code]


def reused_registers(
    code: Code, num_inputs: int, pinned: frozenset[int] = frozenset()
) -> list[VMInstruction]:
    """The same code with fewer registers: a register is reused after the last read of its content.

    Registers that are written once and read only in one basic block are reassigned. All others, and
    ``pinned`` ones, keep a register of their own.
    """
    local = _block_locals(code, num_inputs) - pinned
    ends = last_uses(code)
    names = {k: k for k in range(num_inputs)}
    free: list[int] = []
    count = num_inputs

    def place(number: int) -> int:
        nonlocal count
        if number in SPECIAL:
            return number
        if number not in names:
            if free and number in local:
                names[number] = heapq.heappop(free)
            else:
                names[number], count = count, count + 1
        return names[number]

    made: list[VMInstruction] = []
    for at, instruction in enumerate(code):
        read = {number: place(number) for number in reads(instruction)}
        over = [number for number in ends[at] if number in local]
        target = writes(instruction)
        for number in over:
            if number != target:
                heapq.heappush(free, names[number])
        made.append(_renamed(instruction, read.__getitem__, place))
        if target in over and target is not None:
            heapq.heappush(free, names[target])
    return made


def count_registers(code: Code, num_inputs: int) -> int:
    """The number of registers that a function needs."""
    used = [r for i in code for r in (*reads(i), writes(i)) if r is not None and r not in SPECIAL]
    return max([num_inputs, *(number + 1 for number in used)])


def _block_locals(code: Code, num_inputs: int) -> frozenset[int]:
    """Registers that one instruction writes, and that only its basic block reads, behind it."""
    written: dict[int, int] = {}
    home: dict[int, int] = {}
    shared = set(range(num_inputs))
    for k, (first, end) in enumerate(BasicBlocks(code).spans):
        for instruction in code[first:end]:
            shared.update(number for number in reads(instruction) if home.get(number) != k)
            target = writes(instruction)
            if target is not None:
                written[target] = written.get(target, 0) + 1
                home[target] = k
    return frozenset(number for number, times in written.items() if times == 1) - shared


def _renamed(instruction: VMInstruction, read: Rename, write: Rename) -> VMInstruction:
    match instruction:
        case CallInstruction(args=args, dst=dst):
            renamed = _arguments(args, read)
            return changed(instruction, args=renamed, dst=dst if dst == VOID else write(dst))
        case RetInstruction(result=result):
            return RetInstruction(read(result))
        case IfInstruction(condition=condition):
            return changed(instruction, condition=read(condition))
    return instruction


def _arguments(args: Sequence[Argument], read: Rename) -> tuple[Argument, ...]:
    return tuple(
        register(read(arg.number)) if arg.kind is ArgumentKind.REGISTER else arg for arg in args
    )
