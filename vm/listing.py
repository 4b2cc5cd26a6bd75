"""Listings and statistics of executables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rlx.grammar.streams import json_compact, visible
from rlx.semantics.machine.message_text import show
from rlx.semantics.values import ShapeValue
from rlx.vm.constants import to_json
from rlx.vm.executable_parts import ExecutableParts, VMFunction
from rlx.vm.instructions import (
    VOID,
    Argument,
    ArgumentKind,
    CallInstruction,
    GotoInstruction,
    IfInstruction,
    RetInstruction,
    VMInstruction,
    register,
)


def statistics(executable: ExecutableParts) -> str:
    """The statistics of an executable."""
    shapes = [str(list(v.values)) for v in executable.constants if isinstance(v, ShapeValue)]
    functions = [function.name for function in executable.functions]
    packed = executable.packed_names
    return "\n".join(
        [
            "Relax VM executable statistics:",
            f"  Constant shapes (# {len(shapes)}): {_row(shapes)}",
            f"  Globals (#{len(functions)}): {_row(functions)}",
            f"  Packed functions (#{len(packed)}): {_row(packed)}",
        ]
    )


def _row(items: Sequence[str]) -> str:
    return f"[{', '.join(map(visible, items))}]"


def listing(executable: ExecutableParts) -> str:
    """An executable as text: its functions, then its constants and texts, if any."""
    parts = ["\n".join(_function(executable, function)) for function in executable.functions]
    if executable.names:
        parts.append("\n".join(["names:", *(f"  {json_compact(n)}" for n in executable.names)]))
    if executable.constants:
        lines = [
            f"  c[{k}]  {json_compact(to_json(value))}  # {show(value)[:60]!r}"
            for k, value in enumerate(executable.constants)
        ]
        parts.append("\n".join(["constants:", *lines]))
    kept = {
        "kernel": executable.kernels,
        "operator": executable.operators,
        "signature": executable.signatures,
    }
    for title, texts in kept.items():
        for name, text in texts.items():
            lines = [f"  | {line}" for line in text.split("\n")]
            parts.append("\n".join([f"{title} {json_compact(name)}:", *lines]))
    return "\n\n".join(parts) + "\n"


_NAME_WIDTH, _ARGUMENTS_WIDTH = 16, 12
_PLAIN = re.compile(r"[\w.$]+\Z")


def quoted(name: str) -> str:
    """A name in the form of a listing: in quotation marks unless it is a plain identifier."""
    return name if _PLAIN.match(name) else json_compact(name)


def _function(executable: ExecutableParts, function: VMFunction) -> Iterator[str]:
    named = f" ({visible(', '.join(function.parameters))})" if function.parameters else ""
    inputs = _counted(function.num_inputs, "input")
    counts = f"{inputs}{named}, {_counted(function.registers, 'register')}"
    yield f"@{quoted(function.name)}:  # {counts}"
    code = executable.code(function)
    rows = [_columns(executable, instruction) for instruction in code]
    width = max([_NAME_WIDTH, *(len(name) for name, _ in rows)])
    given = max([_ARGUMENTS_WIDTH, *(len(args) for _, args in rows)])
    for instruction, (name, args) in zip(code, rows, strict=True):
        yield "  " + _line(instruction, name.ljust(width), args.ljust(given))


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _columns(executable: ExecutableParts, instruction: VMInstruction) -> tuple[str, str]:
    if not isinstance(instruction, CallInstruction):
        return "", ""
    args = ", ".join(_argument(executable, arg) for arg in instruction.args)
    return quoted(executable.names[instruction.callee]), args


def _argument(executable: ExecutableParts, argument: Argument) -> str:
    if argument.kind is ArgumentKind.FUNCTION:
        return f"f[{quoted(executable.names[argument.number])}]"
    return str(argument)


def _line(instruction: VMInstruction, name: str, args: str) -> str:
    match instruction:
        case CallInstruction(dst=dst):
            target = "void" if dst == VOID else str(register(dst))
            return f"call  {name} in: {args} dst: {target}"
        case RetInstruction(result=result):
            return f"ret   ret {register(result)}"
        case GotoInstruction(distance=distance):
            return f"goto  {distance}"
        case IfInstruction(condition=condition, distance=distance):
            return f"if    {register(condition)}, {distance}"
    raise TypeError(f"expected an instruction, found {type(instruction).__name__}")
