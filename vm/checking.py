"""Verification of executables."""

from __future__ import annotations

from collections.abc import Iterator

from rlx.vm.executable_parts import ExecutableParts, VMFunction
from rlx.vm.flow import SPECIAL, problems, reads, writes
from rlx.vm.instructions import MOST_REGISTERS, VMInstruction, WordError

SPARE_REGISTERS = 1 << 16
"""How many more registers than instructions a function may have: a file of a few bytes does not
make a call take memory for millions."""


def complaints(executable: ExecutableParts) -> Iterator[str]:
    """The errors of an executable; empty if it can run."""
    names = [function.name for function in executable.functions]
    if len(set(names)) < len(names):
        yield "two functions have the same name"
    if len(set(executable.names)) < len(executable.names):
        yield "the table of names contains a name twice"
    unknown = executable.shipped.keys() - executable.kernels.keys()
    if unknown:
        yield f"the file has C for {min(unknown)!r}, but no PrimFunc of that name"
    if tuple(executable.offsets) != tuple(sorted(set(executable.offsets))):
        yield "the offsets of instructions are not in ascending order"
        return
    first, *_ = (*executable.offsets, len(executable.words))
    if first:
        yield "the first instruction does not begin at the first word"
    end = 0
    for function in executable.functions:
        if function.start != end or function.end <= function.start:
            span = f"{function.start} to {function.end}"
            yield f"function {function.name!r} has the instructions {span}, not those from {end}"
            return
        end = function.end
        yield from _of_function(executable, function)
    if end != len(executable.offsets):
        yield f"{len(executable.offsets) - end} instructions belong to no function"


def _of_function(executable: ExecutableParts, function: VMFunction) -> Iterator[str]:
    where = f"function {function.name!r}"
    if not 0 <= function.num_inputs <= function.registers <= MOST_REGISTERS:
        yield f"{where} has {function.num_inputs} inputs and {function.registers} registers"
        return
    if function.registers > function.end - function.start + SPARE_REGISTERS:
        count = function.end - function.start
        yield f"{where} has {function.registers} registers for {count} instructions"
        return
    if function.parameters and len(function.parameters) != function.num_inputs:
        yield f"{where} has {len(function.parameters)} names for {function.num_inputs} inputs"
    code: list[VMInstruction] = []
    for number in range(function.start, function.end):
        try:
            code.append(executable.instruction(number))
        except (WordError, IndexError) as error:
            yield f"{where}, instruction {number - function.start}: {error}"
            return
    constants, names = len(executable.constants), len(executable.names)
    for problem in problems(code, function.num_inputs, constants, names):
        yield f"{where}, instruction {problem.at}: {problem.message}"
    for at, instruction in enumerate(code):
        for register in (*reads(instruction), writes(instruction)):
            if (
                register is not None
                and register not in SPECIAL
                and not register < function.registers
            ):
                words = (
                    f"register {register} is out of range: the function has {function.registers}"
                )
                yield f"{where}, instruction {at}: {words}"
