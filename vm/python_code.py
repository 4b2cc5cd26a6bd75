"""Executables as Python programs that rebuild them."""

from __future__ import annotations

from collections.abc import Iterator

from rlx.grammar.print.prim import quoted
from rlx.grammar.streams import unbracketed
from rlx.vm.constants import to_json
from rlx.vm.executable_parts import ExecutableParts
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


def python_code(executable: ExecutableParts) -> str:
    """A program that rebuilds the executable: ``ib.get(formalize=False)`` equals it."""
    return unbracketed("\n".join(_lines(executable)) + "\n")


def _lines(executable: ExecutableParts) -> Iterator[str]:
    yield "import rlx"
    if executable.constants:
        yield "from rlx.vm.constants import from_json"
    yield ""
    yield "ib = rlx.vm.ExecBuilder()"
    for value in executable.constants:
        yield f"ib.emit_constant(from_json({to_json(value)!r}))"
    for name in executable.names:  # in the order of the table
        yield f"ib.f({name!r})"
    for name, text in executable.kernels.items():
        yield f"ib.add_kernel({name!r}, {text!r})"
    for name, text in executable.operators.items():
        yield f"ib.add_operator({name!r}, {text!r})"
    for name, text in executable.signatures.items():
        yield f"ib.add_signature({name!r}, {text!r})"
    for function in executable.functions:
        named = f", parameters={function.parameters!r}" if function.parameters else ""
        inputs = f"num_inputs={function.num_inputs}{named}"
        yield f"with ib.function({quoted(function.name)}, {inputs}):"
        for instruction in executable.code(function):
            yield "    " + _statement(executable, instruction)


def _statement(executable: ExecutableParts, instruction: VMInstruction) -> str:
    match instruction:
        case CallInstruction(callee=callee, args=args, dst=dst):
            given = ", ".join(_argument(executable, arg) for arg in args)
            passed = f", args=[{given}]" if args else ""
            target = "" if dst == VOID else f", dst={_register(dst)}"
            return f"ib.emit_call({quoted(executable.names[callee])}{passed}{target})"
        case RetInstruction(result=result):
            return f"ib.emit_ret({_register(result)})"
        case GotoInstruction(distance=distance):
            return f"ib.emit_goto({distance})"
        case IfInstruction(condition=condition, distance=distance):
            return f"ib.emit_if({_register(condition)}, {distance})"
    raise TypeError(f"expected an instruction, found {type(instruction).__name__}")


def _register(number: int) -> str:
    if number == VM_STATE:
        return "ib.vm_state()"
    return "ib.void()" if number == VOID else f"ib.r({number})"


def _argument(executable: ExecutableParts, argument: Argument) -> str:
    match argument.kind:
        case ArgumentKind.REGISTER:
            return _register(argument.number)
        case ArgumentKind.IMMEDIATE:
            return f"ib.imm({argument.number})"
        case ArgumentKind.CONSTANT:
            return f"ib.c({argument.number})"
        case ArgumentKind.FUNCTION:
            return f"ib.f({executable.names[argument.number]!r})"
