"""A trace of a run of the virtual machine as a list of small changes, for `rlx step` and its page.

The format is that of :mod:`rlx.semantics.run.trace`, with registers instead of names, the listing
of the executable instead of the source, and the rules of the machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rlx.grammar.diagnostic import Source
from rlx.semantics.outcome import Outcome, Returned
from rlx.semantics.run.trace import LIMIT, Trace, TraceRecorder
from rlx.semantics.values import Storage, Tensor, Value, values_inside
from rlx.vm.executable import Executable
from rlx.vm.faults import RunError
from rlx.vm.instructions import (
    VM_STATE,
    ArgumentKind,
    CallInstruction,
    GotoInstruction,
    IfInstruction,
    RetInstruction,
    VMInstruction,
)
from rlx.vm.library import CALL_TIR_DYN, INVOKE, MAKE_CLOSURE
from rlx.vm.listing import listing
from rlx.vm.machine import VirtualMachine
from rlx.vm.rules import MachineStep

RULES_OF_INSTRUCTIONS: dict[type[VMInstruction], str] = {
    RetInstruction: "V-ret",
    GotoInstruction: "V-goto",
    IfInstruction: "V-if",
}
_OF_BUILTINS = {
    "match_shape": "E-builtin-match",
    "match_prim_value": "E-builtin-match",
    "make_shape": "E-builtin-make",
    "make_prim_value": "E-builtin-make",
    "reshape": "E-builtin-reshape",
    "to_device": "E-builtin-device",
    "multinomial_from_uniform": "E-builtin-draw",
    "alloc_storage": "V-alloc-storage",
    "alloc_tensor": "V-alloc-tensor",
    "store_shape": "V-store-shape",
    "load_shape": "V-load-shape",
    **{
        f"check_{what}_info": "E-builtin-check"
        for what in ("tensor", "shape", "tuple", "prim_value", "func", "string")
    },
}
RULES_OF_CALLS = {
    INVOKE: "V-invoke-closure",
    MAKE_CLOSURE: "V-make-closure",
    **dict.fromkeys(CALL_TIR_DYN, "V-call-tir-dyn"),
    **{f"vm.builtin.{name}": rule for name, rule in _OF_BUILTINS.items()},
}
"""The most specific rule of a call; other calls follow V-call-function or V-call-outside."""


def rule_of(executable: Executable, instruction: VMInstruction, own: frozenset[str]) -> str:
    """The rule of an instruction; ``own`` has the names that hide run-time functions."""
    if not isinstance(instruction, CallInstruction):
        return RULES_OF_INSTRUCTIONS[type(instruction)]
    name = executable.names[instruction.callee]
    if any(function.name == name for function in executable.functions):
        return "V-call-function"
    return "V-call-outside" if name in own else RULES_OF_CALLS.get(name, "V-call-outside")


class MachineRecorder(TraceRecorder):
    """Records a run, instruction by instruction."""

    listed = True

    def __init__(self, machine: VirtualMachine, spans: dict[tuple[str, int], tuple[int, int]]):
        super().__init__()
        self._machine, self._spans = machine, spans
        self._own = machine.hidden
        self._store = machine.store
        self._registers: list[dict[int, Value]] = []

    def begin(self, first: MachineStep) -> None:
        """The state before the first instruction."""
        self._changes = []
        self._enter(first)
        self.beginning = self._changes

    def instruction(self, before: MachineStep, after: MachineStep | Outcome) -> None:
        """Record one instruction; the last one has an outcome."""
        self._changes = []
        if isinstance(after, MachineStep):
            self._memory_of_arguments(before)
            if after.depth > before.depth:
                self._enter(after)
            else:
                for _ in range(before.depth - after.depth):
                    self._changes.append(["<"])
                    self._registers.pop()
                self._put(after.registers)
        elif isinstance(after, Returned):
            self._yield(after.value)
        rule = rule_of(self._machine.executable, before.instruction, self._own)
        number = self.rules.setdefault(rule, len(self.rules))
        start, end = self._spans[before.function, before.at]
        self.steps.append([number, start, end, self._changes])
        self.depths.append(before.depth)

    def _enter(self, step: MachineStep) -> None:
        self._changes.append([">", step.function])
        self._registers.append({})
        self._put(step.registers)

    def _put(self, registers: dict[int, Value]) -> None:
        """Registers that hold something else than before."""
        known = self._registers[-1]
        for register, value in registers.items():
            if known.get(register) is not value:
                known[register] = value
                self._name(f"%{register}", value)

    def _memory_of_arguments(self, step: MachineStep) -> None:
        """Objects that look otherwise since a call was given them, or memory that they share."""
        memories = {self._memory_numbers.get(id(value)) for value in _arguments(step)} - {None}
        for key, (number, value) in self._objects.items():
            if self._memory_numbers.get(key) in memories and isinstance(value, Tensor):
                self._changed(number, value)


def _arguments(step: MachineStep) -> Iterator[Value]:
    """The tensors and pieces of memory that a call is given."""
    if not isinstance(step.instruction, CallInstruction):
        return
    given = [
        step.registers[arg.number]
        for arg in step.instruction.args
        if arg.kind is ArgumentKind.REGISTER and arg.number != VM_STATE
    ]
    for value in values_inside(given):
        if isinstance(value, Tensor | Storage):
            yield value


def followed(
    machine: VirtualMachine, path: str, entry: str, args: Sequence[Value], limit: int = LIMIT
) -> Trace:
    """Record a run. `path`: the path of the executable or of its source."""
    text = listing(machine.executable)
    recorder = MachineRecorder(machine, _spans(machine.executable, text))
    outcome: Outcome | None = None
    before: MachineStep | None = None
    try:
        for after in machine.steps(entry, *args):
            if isinstance(after, Value):
                outcome = Returned(after)
            now = after if isinstance(after, MachineStep) else outcome
            assert now is not None
            if before is not None:
                recorder.instruction(before, now)
            elif isinstance(now, MachineStep):
                recorder.begin(now)
            if not isinstance(now, MachineStep) or len(recorder.steps) == limit:
                break
            before = now
    except RunError as error:
        failed = before and rule_of(machine.executable, before.instruction, machine.hidden)
        outcome = error.outcome(failed or "V-call-function", error.code, str(error.message))
        if before is not None:
            recorder.instruction(before, outcome)
    return Trace(Source(text, path), entry, recorder, outcome)


def _spans(executable: Executable, text: str) -> dict[tuple[str, int], tuple[int, int]]:
    """The line of each instruction in a listing."""
    found: dict[tuple[str, int], tuple[int, int]] = {}
    at = 0
    for function in executable.functions:
        at = text.index("\n", at) + 1
        for number in range(function.end - function.start):
            end = text.index("\n", at)
            found[function.name, number] = (at + 2, end)
            at = end + 1
        at += 1
    return found
