"""Control flow and data flow in the code of one function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rlx.grammar.nodes.node import Record
from rlx.vm.instructions import (
    MOST_REGISTERS,
    VM_STATE,
    VOID,
    ArgumentKind,
    CallInstruction,
    GotoInstruction,
    IfInstruction,
    RetInstruction,
    VMInstruction,
)

Code = Sequence[VMInstruction]
SPECIAL = frozenset({VM_STATE, VOID})


class CodeProblem(Record):
    """An error in the instruction ``at`` of a function."""

    at: int
    message: str


def reads(instruction: VMInstruction) -> tuple[int, ...]:
    """The registers that an instruction reads, including special ones."""
    match instruction:
        case CallInstruction(args=args):
            register = ArgumentKind.REGISTER
            return tuple([arg.number for arg in args if arg.kind is register])
        case RetInstruction(result=result):
            return (result,)
        case IfInstruction(condition=condition):
            return (condition,)
    return ()


def writes(instruction: VMInstruction) -> int | None:
    """The register that an instruction writes; None if it cannot be read."""
    if isinstance(instruction, CallInstruction) and instruction.dst != VOID:
        return instruction.dst
    return None


def targets(at: int, instruction: VMInstruction) -> tuple[int, ...]:
    """The instructions that may run after the one at ``at``."""
    match instruction:
        case RetInstruction():
            return ()
        case GotoInstruction(distance=distance):
            return (at + distance,)
        case IfInstruction(distance=distance):
            return (at + 1, at + distance)
    return (at + 1,)


class BasicBlocks:
    """The basic blocks of a function whose jumps stay inside it.

    Attributes
    ----------
    spans
        The first instruction and the one after the last of each block, in the order of the code.
    after
        The indices of the successors of each block.
    """

    def __init__(self, code: Code) -> None:
        starts = {0, len(code)}
        for at, instruction in enumerate(code):
            if isinstance(instruction, GotoInstruction | IfInstruction | RetInstruction):
                starts.update((at + 1, *targets(at, instruction)))
        self.spans = list(pairwise(sorted(starts)))
        number = {first: k for k, (first, _) in enumerate(self.spans)}
        self.after = [
            tuple(number[t] for t in targets(end - 1, code[end - 1])) for _, end in self.spans
        ]

    def before(self) -> list[list[int]]:
        """The indices of the predecessors of each block."""
        found: list[list[int]] = [[] for _ in self.spans]
        for k, following in enumerate(self.after):
            for target in following:
                found[target].append(k)
        return found


def problems(code: Code, num_inputs: int, constants: int, names: int) -> Iterator[CodeProblem]:
    """The errors in the code of a function.

    Registers are checked last, and only if control flow stays inside the function.
    """
    clean = True
    for at, instruction in enumerate(code):
        for message in _wrong(at, instruction, len(code), constants, names):
            clean = False
            yield CodeProblem(at, message)
    if not code:
        yield CodeProblem(0, "the function has no instruction; its last one is ret or goto")
    elif clean:
        yield from _unwritten(code, num_inputs)


def _wrong(
    at: int, instruction: VMInstruction, count: int, constants: int, names: int
) -> Iterator[str]:
    for target in targets(at, instruction):
        if not 0 <= target < count:
            if isinstance(instruction, GotoInstruction | IfInstruction) and target != at + 1:
                yield f"the jump leads to instruction {target}; the function has 0 to {count - 1}"
            else:
                yield "the function ends without ret or goto"
    for found in (*reads(instruction), writes(instruction)):
        if found is not None and found not in SPECIAL and not 0 <= found < MOST_REGISTERS:
            yield f"register {found}: registers are numbered from 0 to {MOST_REGISTERS - 1}"
    if VOID in reads(instruction):
        yield "the void register cannot be read"
    if writes(instruction) == VM_STATE:
        yield "the register of the machine's state cannot be written"
    if isinstance(instruction, CallInstruction):
        if not 0 <= instruction.callee < names:
            yield f"the callee is name {instruction.callee}; the table has {names} names"
        for arg in instruction.args:
            limit = {ArgumentKind.CONSTANT: constants, ArgumentKind.FUNCTION: names}.get(arg.kind)
            if limit is not None and not 0 <= arg.number < limit:
                what = "constant" if arg.kind is ArgumentKind.CONSTANT else "function"
                yield f"the argument is {what} {arg.number}; there are {limit}"


def _unwritten(code: Code, num_inputs: int) -> Iterator[CodeProblem]:
    """Reads of registers that on some way to them nothing wrote."""
    blocks = BasicBlocks(code)
    numbers: dict[int, int] = {}  # without inputs, which are written before the function starts
    for instruction in code:
        written = writes(instruction)
        if written is not None and written >= num_inputs:
            numbers.setdefault(written, len(numbers))
    made = [
        _set(numbers, (writes(instruction) for instruction in code[first:end]))
        for first, end in blocks.spans
    ]
    everything = (1 << len(numbers)) - 1
    known = [everything] * len(made)
    known[0] = 0
    pending = [0]
    seen = {0}
    while pending:
        k = pending.pop()
        behind = known[k] | made[k]
        for target in blocks.after[k]:
            joined = known[target] & behind
            if joined != known[target] or target not in seen:
                seen.add(target)
                known[target] = joined
                pending.append(target)
    for k in sorted(seen):
        first, end = blocks.spans[k]
        written_here = known[k]
        for at in range(first, end):
            for register in reads(code[at]):
                if register in SPECIAL or register < num_inputs:
                    continue
                bit = numbers.get(register)
                if bit is None or not written_here >> bit & 1:
                    yield CodeProblem(at, _unwritten_message(register, num_inputs))
            written = writes(code[at])
            if written in numbers:
                written_here |= 1 << numbers[written]


def _unwritten_message(register: int, num_inputs: int) -> str:
    inputs = {0: "no inputs", 1: "one input, register 0"}.get(
        num_inputs, f"{num_inputs} inputs, registers 0 to {num_inputs - 1}"
    )
    return f"register {register} may be read before it is written; the function has {inputs}"


def _set(numbers: dict[int, int], registers: Iterator[int | None]) -> int:
    found = 0
    for register in registers:
        if register in numbers:
            found |= 1 << numbers[register]
    return found


def unused_inputs(code: Code, num_inputs: int) -> list[int]:
    """The inputs that no instruction reads."""
    read = {register for instruction in code for register in reads(instruction)}
    return [k for k in range(num_inputs) if k not in read]


def last_uses(code: Code) -> list[frozenset[int]]:
    """For each instruction, its registers whose content is not read later."""
    blocks = BasicBlocks(code)
    after = live_after(code, blocks)
    found: list[frozenset[int]] = [frozenset()] * len(code)
    for k, (first, end) in enumerate(blocks.spans):
        live = set(after[k])
        for at in range(end - 1, first - 1, -1):
            touched = {r for r in (*reads(code[at]), writes(code[at])) if r is not None}
            found[at] = frozenset(touched - live - SPECIAL)
            written = writes(code[at])
            if written is not None:
                live.discard(written)
            live.update(reads(code[at]))
    return found


def live_after(code: Code, blocks: BasicBlocks) -> list[frozenset[int]]:
    """The registers that are live at the end of each block."""
    used: list[frozenset[int]] = []
    made: list[frozenset[int]] = []
    for first, end in blocks.spans:
        read_first: set[int] = set()
        written: set[int] = set()
        for instruction in code[first:end]:
            read_first.update(r for r in reads(instruction) if r not in written)
            target = writes(instruction)
            if target is not None:
                written.add(target)
        used.append(frozenset(read_first))
        made.append(frozenset(written))
    before = blocks.before()
    after: list[frozenset[int]] = [frozenset()] * len(used)
    pending = list(range(len(used)))
    while pending:
        k = pending.pop()
        live = used[k] | (after[k] - made[k])
        for source in before[k]:
            if not live <= after[source]:
                after[source] |= live
                pending.append(source)
    return after
