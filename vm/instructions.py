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
from enum import Enum, IntEnum
from functools import lru_cache

from rlx.grammar.nodes.node import Record


class Opcode(IntEnum):
    """The kinds of instructions."""

    CALL = 1
    RET = 2
    GOTO = 3
    IF = 4


class ArgumentKind(Enum):
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
_MOST_NUMBER = (1 << NUMBER_BITS) - 1
"""The largest number of another argument: all bits are set."""
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
    """The words of an instruction. Raises WordError if the number of an argument does not fit into
    its word.
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
    """The instruction that ``words[at:end]`` encodes. Raises WordError if these words do not encode
    exactly one instruction.
    """
    if not 0 <= at < end <= len(words):
        raise WordError(f"an instruction at word {at} to {end}: the code has {len(words)} words")
    opcode, *found = words[at:end]
    match [opcode, *found]:
        case [Opcode.CALL, callee, dst, count, *args] if len(args) == count:
            return CallInstruction(callee, tuple(map(_argument, args)), dst)
        case [Opcode.RET, result]:
            return RetInstruction(result)
        case [Opcode.GOTO, distance]:
            return GotoInstruction(distance)
        case [Opcode.IF, condition, distance]:
            return IfInstruction(condition, distance)
    raise WordError(
        f"word {at}: opcode {opcode} with {len(found)} more words is not an instruction"
    )


def _word(argument: Argument) -> int:
    number = argument.number
    if argument.kind is ArgumentKind.IMMEDIATE:
        fits = is_immediate(number)
    else:
        fits = 0 <= number <= _MOST_NUMBER
    if not fits:
        raise WordError(f"{argument} does not fit into {NUMBER_BITS} bits")
    return argument.kind.value << NUMBER_BITS | number & _MOST_NUMBER


@lru_cache(maxsize=4096)
def _argument(word: int) -> Argument:
    written, number = word >> NUMBER_BITS, word & _MOST_NUMBER
    kind = _KINDS.get(written)
    if kind is None:
        raise WordError(f"the argument {word:#x} has the kind {written}; expected 0 to 3")
    if kind is ArgumentKind.IMMEDIATE and not is_immediate(number):  # it was negative
        number -= 1 << NUMBER_BITS
    return Argument(kind, number)


def is_immediate(number: int) -> bool:
    """Whether an integer fits into an argument."""
    return -MOST_IMMEDIATE - 1 <= number <= MOST_IMMEDIATE


_KINDS = {kind.value: kind for kind in ArgumentKind}
