"""The small-step rules of the virtual machine, one function per rule.

A configuration is a stack of frames; a frame has the function, its registers and the number of the
next instruction. :mod:`rlx.vm.translation` translates a whole function at once; a test checks that
both agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rlx.semantics.faults import FaultStop, OutOfFuelStop
from rlx.semantics.machine.control import truth
from rlx.semantics.machine.numpy_conversion import readable
from rlx.semantics.values import Packed, PrimFuncValue, Scalar, Tensor, TupleValue, Value
from rlx.spec.registry import rule
from rlx.vm.callees import Callee, FunctionValue, OutsideFunction, OwnFunction, callable_value
from rlx.vm.instructions import (
    VM_STATE,
    VOID,
    Argument,
    ArgumentKind,
    CallInstruction,
    GotoInstruction,
    IfInstruction,
    RetInstruction,
    VMInstruction,
)
from rlx.vm.library import (
    CALL_TIR_DYN,
    INVOKE,
    MAKE_CLOSURE,
    TAKES_EITHER,
    CalledKernel,
    MachineState,
    fields,
)
from rlx.vm.linking import Linker


class Activation:
    """A running function: its registers, next instruction, and the destination of its result."""

    __slots__ = ("at", "dst", "function", "registers")

    def __init__(self, function: OwnFunction, args: Sequence[Value], dst: int) -> None:
        self.function, self.dst, self.at = function, dst, 0
        self.registers: dict[int, Value] = dict(enumerate(args))


class MachineStep(NamedTuple):
    """The state of a run between two instructions.

    Attributes
    ----------
    function, at
        The function on top of the stack, and the number of its next instruction.
    instruction
        The next instruction.
    registers
        The registers of the function.
    depth
        The number of functions on the stack.
    """

    function: str
    at: int
    instruction: VMInstruction
    registers: dict[int, Value]
    depth: int


class Stepper:
    """Runs a function instruction by instruction.

    Attributes
    ----------
    stack
        The running functions, the innermost last.
    result
        The result of the outermost function; None while it runs.
    """

    def __init__(self, linker: Linker, function: OwnFunction, args: Sequence[Value]) -> None:
        self.linker, self.state = linker, linker.state
        self.stack: list[Activation] = []
        self.result: Value | None = None
        call_function(self, function, args, VOID)

    def steps(self, fuel: int | None = None) -> Iterator[MachineStep]:
        """Yield each instruction before it runs. Raises Stop if the run ends without a value."""
        taken = 0
        while self.result is None:
            if taken == fuel:
                raise out_of_fuel(fuel, "instructions")
            taken += 1
            top = self.stack[-1]
            instruction = top.function.code[top.at]
            yield MachineStep(
                top.function.function.name,
                top.at,
                instruction,
                dict(top.registers),
                len(self.stack),
            )
            _STEPS[type(instruction)](self, top, instruction)


@rule("V-fuel", "machine instruction", refuses=True)
def out_of_fuel(fuel: int | None, what: str) -> OutOfFuelStop:
    """The exception for a run that has used up its fuel."""
    return OutOfFuelStop("V-fuel-left", f"the run did not end within {fuel} {what}")


@rule("V-argument", "machine instruction")
def argument(machine: Stepper, top: Activation, arg: Argument, keeps: bool) -> Value:
    """The value of an argument; a tensor from the pool is copied if the callee may write to it."""
    executable = machine.linker.executable
    match arg.kind:
        case ArgumentKind.IMMEDIATE:
            return Scalar(arg.number)
        case ArgumentKind.CONSTANT:
            found = executable.constants[arg.number]
            return found if keeps else fresh(found)
        case ArgumentKind.FUNCTION:
            return function_value(machine.linker, executable.names[arg.number])
    return machine.state if arg.number == VM_STATE else top.registers[arg.number]


def fresh(value: Value) -> Value:
    """A copy of a constant with its own memory."""
    match value:
        case Tensor(data=data, device=device):
            return Tensor(np.array(data), device)
        case TupleValue(fields=parts):
            return TupleValue(tuple(fresh(part) for part in parts))
    return value


def function_value(linker: Linker, name: str) -> Value:
    """The function with this name as a value."""
    callee = linker.callee(name)
    if isinstance(callee, OwnFunction):
        return FunctionValue(callee)
    if callee.missing:
        callee.call()
    if name in linker.executable.kernels and name not in linker.packed:
        kernel = CalledKernel(callee.call, lambda: PrimFuncValue(linker.prim_func(name), name))
        return Packed(kernel, name)
    return Packed(callee.call, name)


def call(machine: Stepper, top: Activation, instruction: CallInstruction) -> None:
    """Apply the rule for the kind of the callee."""
    name = machine.linker.executable.names[instruction.callee]
    callee = machine.linker.callee(name)
    keeps = isinstance(callee, OutsideFunction) and callee.keeps_constants
    args = [argument(machine, top, arg, keeps) for arg in instruction.args]
    if isinstance(callee, OutsideFunction) and name in CALLERS:
        callee, args = CALLERS[name](callee, without_state(args))
    if isinstance(callee, OwnFunction):
        check_count(callee, len(args))  # while this is still the current instruction
        top.at += 1
        call_function(machine, callee, args, instruction.dst)
        return
    put(top, instruction.dst, call_outside(machine.state, callee, args))
    top.at += 1


def put(top: Activation, dst: int, value: Value) -> None:
    """Store a result in its destination."""
    if dst != VOID:
        top.registers[dst] = value


@rule("V-call-function", "machine instruction")
def call_function(machine: Stepper, callee: OwnFunction, args: Sequence[Value], dst: int) -> None:
    check_count(callee, len(args))
    machine.stack.append(Activation(callee, args, dst))


def check_count(callee: OwnFunction, given: int) -> None:
    """Reject a call whose number of arguments differs from the function's number of inputs."""
    wanted = callee.function.num_inputs
    if given != wanted:
        words = f"{callee.function.name} takes {wanted} arguments, found {given}"
        raise FaultStop("V-call-function-arity", words)


@rule("V-call-outside", "machine instruction")
def call_outside(state: MachineState, callee: OutsideFunction, args: Sequence[Value]) -> Value:
    return callee.call(*passed(state, callee, args))


def passed(state: MachineState, callee: OutsideFunction, args: Sequence[Value]) -> Sequence[Value]:
    """The arguments, with the machine's state if and only if the callee takes it."""
    if callee.name in TAKES_EITHER:
        return args
    given = without_state(args)
    return (state, *given) if callee.takes_state else given


def without_state(args: Sequence[Value]) -> Sequence[Value]:
    """The arguments without the machine's state."""
    return [arg for arg in args if not isinstance(arg, MachineState)]


@rule("V-invoke-closure", "machine instruction")
def invoke_closure(_: Callee, args: Sequence[Value]) -> tuple[Callee, list[Value]]:
    if not args:
        raise FaultStop(
            "V-invoke-closure-function", f"{INVOKE}: expected a function, found no argument"
        )
    callee, captured = callable_value(args[0])
    given = args[1:]
    if (
        len(given) == 1
        and isinstance(given[0], TupleValue)
        and not _takes(callee, 1 + len(captured))
    ):
        given = given[0].fields
    return callee, [*given, *captured]


def _takes(callee: Callee, count: int) -> bool:
    return not isinstance(callee, OwnFunction) or callee.function.num_inputs == count


@rule("V-call-tir-dyn", "machine instruction")
def call_tir_dyn(_: Callee, args: Sequence[Value]) -> tuple[Callee, list[Value]]:
    if not args:
        raise FaultStop(
            "V-invoke-closure-function",
            "vm.builtin.call_tir_dyn: expected a function, found no argument",
        )
    callee, captured = callable_value(args[0])
    given = args[1:]
    unpacked = [*given[:-1], *fields(given[-1])] if given else []
    return callee, [*unpacked, *captured]


@rule("V-make-closure", "machine instruction")
def make_closure(_: Callee, args: Sequence[Value]) -> tuple[Callee, list[Value]]:
    if not args or not isinstance(args[0], FunctionValue):
        raise FaultStop(
            "V-make-closure-function", f"{MAKE_CLOSURE}: expected a function of the executable"
        )
    made = FunctionValue(args[0].function, (*args[1:], *args[0].captured))
    return OutsideFunction(MAKE_CLOSURE, lambda: made), []


CALLERS = {
    INVOKE: invoke_closure,
    MAKE_CLOSURE: make_closure,
    **dict.fromkeys(CALL_TIR_DYN, call_tir_dyn),
}
"""The run-time functions that call others, each with its rule."""


@rule("V-ret", "machine instruction")
def ret(machine: Stepper, top: Activation, instruction: RetInstruction) -> None:
    value = machine.state if instruction.result == VM_STATE else top.registers[instruction.result]
    machine.stack.pop()
    if machine.stack:
        put(machine.stack[-1], top.dst, value)
    else:
        readable(machine.state.store, (value,), "E-return-written")
        machine.result = value


@rule("V-goto", "machine instruction")
def goto(machine: Stepper, top: Activation, instruction: GotoInstruction) -> None:
    top.at += instruction.distance


@rule("V-if", "machine instruction")
def branch(machine: Stepper, top: Activation, instruction: IfInstruction) -> None:
    held = top.registers.get(instruction.condition, machine.state)
    readable(machine.state.store, (held,), "E-if-written")
    holds = condition(held)
    top.at += 1 if holds else instruction.distance


def condition(value: Value) -> bool:
    """The truth value of a condition; a number is true if it is not 0."""
    if type(value) is Scalar:
        return bool(value.value)
    return truth(value)


_STEPS: dict[type[VMInstruction], Callable[[Stepper, Activation, Any], None]] = {
    CallInstruction: call,
    RetInstruction: ret,
    GotoInstruction: goto,
    IfInstruction: branch,
}
