"""The four instructions of the virtual machine, their arguments, and their encoding.

A program is a list of signed 64-bit words. An instruction is an opcode followed by these words:

| instruction | words behind the opcode |
|---|---|
| Call | index of the callee's name, destination register, number of arguments, arguments |
| Ret | result register |
| Goto | distance, in instructions |
| If | condition register, distance to go where the condition is false |

An argument is one word: the upper 8 bits are its kind, and the lower 56 bits its number.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from rlx.grammar.node import Record


class Opcode(IntEnum):
    """The kinds of instructions."""

    CALL = 1
    RET = 2
    GOTO = 3
    IF = 4


class ArgumentKind(IntEnum):
    """The kinds of arguments."""

    REGISTER = 0
    IMMEDIATE = 1
    CONSTANT = 2
    FUNCTION = 3


VM_STATE = 0x008D14FA4379015C
"""The register that holds the machine's state; run-time functions take it as an argument."""
VOID = 0x00EC66FE0321975A
"""The register of an unused result. It cannot be read."""

NUMBER_BITS = 56
MOST_IMMEDIATE = (1 << (NUMBER_BITS - 1)) - 1
"""The largest immediate; the smallest is one below its negative."""
MOST_REGISTERS = 1 << 24
"""The maximum number of registers of a function."""


class Argument(Record):
    """An argument of a call: a register, an integer, a constant, or the index of a name."""

    kind: ArgumentKind
    number: int

    def __str__(self) -> str:
        return _WRITTEN[self.kind].format(
            _SPECIAL.get(self.number, self.number)
            if self.kind is ArgumentKind.REGISTER
            else self.number
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Argument) and self.kind is other.kind and self.number == other.number
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.number))


_SPECIAL = {VM_STATE: "vm", VOID: "void"}
_WRITTEN = {
    ArgumentKind.REGISTER: "%{}",
    ArgumentKind.IMMEDIATE: "i{}",
    ArgumentKind.CONSTANT: "c[{}]",
    ArgumentKind.FUNCTION: "f[{}]",
}


def register(number: int) -> Argument:
    """The register with this number."""
    return Argument(ArgumentKind.REGISTER, number)


def immediate(number: int) -> Argument:
    """An immediate integer."""
    return Argument(ArgumentKind.IMMEDIATE, number)


class VMInstruction(Record):
    """Base class of the instructions."""


class CallInstruction(VMInstruction):
    """Call the name with index ``callee`` and store the result in the register ``dst``."""

    callee: int
    args: tuple[Argument, ...]
    dst: int = VOID


class RetInstruction(VMInstruction):
    """Return the value of a register."""

    result: int


class GotoInstruction(VMInstruction):
    """Jump by ``distance`` instructions."""

    distance: int


class IfInstruction(VMInstruction):
    """Continue with the next instruction if the register holds true; otherwise jump by ``distance``
    instructions.
    """

    condition: int
    distance: int


class WordError(ValueError):
    """Words that do not encode an instruction; the message gives the words and the reason."""


def encode(instruction: VMInstruction) -> list[int]:
    """The words of an instruction.

    Raises
    ------
    WordError
        If the number of an argument does not fit into its word.
    """
    match instruction:
        case CallInstruction(callee=callee, args=args, dst=dst):
            return [Opcode.CALL, callee, dst, len(args), *(_word(arg) for arg in args)]
        case RetInstruction(result=result):
            return [Opcode.RET, result]
        case GotoInstruction(distance=distance):
            return [Opcode.GOTO, distance]
        case IfInstruction(condition=condition, distance=distance):
            return [Opcode.IF, condition, distance]
    raise TypeError(f"expected an instruction, found {type(instruction).__name__}")


def decode(words: Sequence[int], at: int, end: int) -> VMInstruction:
    """The instruction that ``words[at:end]`` encodes.

    Raises
    ------
    WordError
        If these words do not encode exactly one instruction.
    """
    if not 0 <= at < end <= len(words):
        raise WordError(f"an instruction at word {at} to {end}: the code has {len(words)} words")
    opcode, found = words[at], words[at + 1 : end]
    if opcode == Opcode.CALL and len(found) >= 3 and len(found) == 3 + found[2]:
        return CallInstruction(found[0], tuple(_argument(word) for word in found[3:]), found[1])
    if opcode == Opcode.RET and len(found) == 1:
        return RetInstruction(found[0])
    if opcode == Opcode.GOTO and len(found) == 1:
        return GotoInstruction(found[0])
    if opcode == Opcode.IF and len(found) == 2:
        return IfInstruction(found[0], found[1])
    raise WordError(
        f"word {at}: opcode {opcode} with {len(found)} more words is not an instruction"
    )


def _word(argument: Argument) -> int:
    signed = argument.kind is ArgumentKind.IMMEDIATE
    low, high = (-MOST_IMMEDIATE - 1, MOST_IMMEDIATE) if signed else (0, (1 << NUMBER_BITS) - 1)
    if not low <= argument.number <= high:
        raise WordError(f"{argument} does not fit into {NUMBER_BITS} bits")
    return argument.kind << NUMBER_BITS | argument.number & (1 << NUMBER_BITS) - 1


def _argument(word: int) -> Argument:
    kind, number = word >> NUMBER_BITS, word & (1 << NUMBER_BITS) - 1
    if kind not in _KINDS:
        raise WordError(f"the argument {word:#x} has the kind {kind}; expected 0 to 3")
    if kind == ArgumentKind.IMMEDIATE and number > MOST_IMMEDIATE:
        number -= 1 << NUMBER_BITS
    return Argument(_KINDS[kind], number)


_KINDS = {int(kind): kind for kind in ArgumentKind}
