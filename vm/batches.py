"""Batches: consecutive instructions that only lay out memory, compute shapes, and call PrimFuncs.

The memory accesses of a batch depend only on the shapes of its inputs. So it is planned once
(:mod:`rlx.vm.batch_planning`), with formulas for other sizes (:mod:`rlx.vm.batch_formulas`), and
then runs by two calls of machine code (:mod:`rlx.vm.batch_runs`). This module finds the batches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
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
    rows = _Rows(code, num_inputs, names, kernels, hidden)
    blocks = BasicBlocks(code)
    after = live_after(code, blocks)
    found: dict[int, Batch] = {}
    for k, (first, end) in enumerate(blocks.spans):
        spans = [span for span in rows.within(first, end, apart) if rows.worth(*span)]
        live = set(after[k])
        at = end
        for begin, stop in reversed(spans):
            _back(live, code, stop, at)
            found[begin] = rows.batch(begin, stop, live)
            at = stop
    return found


def _back(live: set[int], code: Code, first: int, end: int) -> None:
    """What is live before instructions, from what is behind them."""
    for at in range(end - 1, first - 1, -1):
        written = writes(code[at])
        if written is not None:
            live.discard(written)
        live.update(reads(code[at]))


class _Rows:
    """The instructions of one function as batches see them."""

    def __init__(
        self,
        code: Code,
        num_inputs: int,
        names: Sequence[str],
        kernels: frozenset[str],
        hidden: frozenset[str],
    ) -> None:
        self._code, self._names = code, names
        self._kernels = kernels - hidden
        self._planned = PLANNED - hidden - kernels
        self._dynamic = CALL_TIR_DYN - hidden - kernels
        self._heaps = frozenset(self._heap_registers()).difference(range(num_inputs))

    def within(self, first: int, end: int, apart: Collection[int]) -> Iterator[tuple[int, int]]:
        """The longest rows of instructions that can be planned."""
        begin = first
        for at in range(first, end):
            if at in apart or not self._can_be_planned(self._code[at]):
                if begin < at:
                    yield begin, at
                begin = at + 1
        if begin < end:
            yield begin, end

    def worth(self, first: int, end: int) -> bool:
        """Whether a row is long enough, and calls a PrimFunc."""
        return end - first >= LEAST and any(
            self._kernel(self._code[at]) for at in range(first, end)
        )

    def batch(self, first: int, end: int, live: set[int]) -> Batch:
        """The batch of a row, behind which some registers are read."""
        read: dict[int, None] = {}
        made: dict[int, None] = {}
        for instruction in self._code[first:end]:
            read.update((r, None) for r in reads(instruction) if r not in made)
            target = writes(instruction)
            if target is not None:
                made[target] = None
        inputs = tuple(register for register in read if register not in SPECIAL)
        outputs = tuple(register for register in made if register in live)
        return Batch(first, end, inputs, outputs, tuple(r for r in inputs if r in self._heaps))

    def _can_be_planned(self, instruction: VMInstruction) -> bool:
        if not isinstance(instruction, CallInstruction):
            return False
        if self._kernel(instruction):
            return all(arg.kind is not ArgumentKind.FUNCTION for arg in self._given(instruction))
        name = self._names[instruction.callee]
        if name not in self._planned:
            return False
        if any(arg.kind is ArgumentKind.FUNCTION for arg in instruction.args):
            return False
        return name not in HEAPS or name in ALLOCATES_HEAP or self._on_heap(instruction, name)

    def _kernel(self, instruction: VMInstruction) -> bool:
        name = ""
        match instruction:
            case CallInstruction(
                callee=callee, args=(Argument(kind=ArgumentKind.FUNCTION, number=called), _, *_)
            ) if self._names[callee] in self._dynamic:
                name = self._names[called]
            case CallInstruction(callee=callee):
                name = self._names[callee]
        return name in self._kernels

    def _given(self, instruction: CallInstruction) -> Sequence[Argument]:
        """What a PrimFunc is called with."""
        name = self._names[instruction.callee]
        return instruction.args[1:] if name in self._dynamic else instruction.args

    def _on_heap(self, instruction: CallInstruction, name: str) -> bool:
        """Whether an instruction has no heap, or one in a register that only ever holds heaps."""
        args, at = _stateless(instruction), HEAPS[name]
        assert at is not None
        if len(args) <= at or args[at].kind is not ArgumentKind.REGISTER:
            return False
        return args[at].number in self._heaps or name == "vm.builtin.match_shape"

    def _heap_registers(self) -> Iterator[int]:
        """Registers that hold only heaps, and only go to functions on heaps and PrimFuncs."""
        made: set[int] = set()
        others: set[int] = set()
        for instruction in self._code:
            name, heap = "", None
            if isinstance(instruction, CallInstruction):
                name = self._names[instruction.callee]
                if name in self._planned and HEAPS.get(name) is not None:
                    args, at = _stateless(instruction), HEAPS[name]
                    assert at is not None
                    heap = args[at].number if len(args) > at else None
                    held = [a.number for a in args if a.kind is ArgumentKind.REGISTER]
                    others.update(n for n in held if held.count(n) > 1)
            target = writes(instruction)
            if target is not None:
                (made if name in ALLOCATES_HEAP & self._planned else others).add(target)
            if not self._kernel(instruction):
                others.update(r for r in reads(instruction) if r != heap)
        yield from made - others


def _stateless(instruction: CallInstruction) -> list[Argument]:
    return [
        arg
        for arg in instruction.args
        if arg.kind is not ArgumentKind.REGISTER or arg.number != VM_STATE
    ]
