"""Listings and statistics of executables, and the parser of listings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from rlx.grammar.streams import json_compact, visible
from rlx.grammar.wording import counted
from rlx.semantics.machine.message_text import show
from rlx.semantics.values import ShapeValue
from rlx.vm.checking import complaints
from rlx.vm.constants import SHOWN, ConstantError, from_json, to_json
from rlx.vm.executable_parts import ExecutableParts, VMFunction
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
    WordError,
    encode,
    register,
)
from rlx.vm.saving import LoadError


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
    inputs = counted(function.num_inputs, "input")
    counts = f"{inputs}{named}, {counted(function.registers, 'register')}"
    yield f"@{quoted(function.name)}:  # {counts}"
    code = executable.code(function)
    rows = [_columns(executable, instruction) for instruction in code]
    width = max([_NAME_WIDTH, *(len(name) for name, _ in rows)])
    given = max([_ARGUMENTS_WIDTH, *(len(args) for _, args in rows)])
    for instruction, (name, args) in zip(code, rows, strict=True):
        yield "  " + _line(instruction, name.ljust(width), args.ljust(given))


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


_NAME = r'(?:"(?:[^"\\]|\\.)*"|[^\s"]+)'
_NUMBER = r"\d{1,40}"
_REGISTER = rf"%(?:vm|void|{_NUMBER})"
_FUNCTION = re.compile(
    rf"@(?P<name>{_NAME}):  # (?P<inputs>{_NUMBER}) inputs?(?: \((?P<named>.*)\))?, "
    rf"(?P<registers>{_NUMBER}) registers?\Z"
)
_CALL = re.compile(rf"call  (?P<name>{_NAME}) +in: (?P<args>.*?) *dst: (?P<dst>void|%{_NUMBER})\Z")
_RET = re.compile(rf"ret   ret (?P<result>{_REGISTER})\Z")
_GOTO = re.compile(rf"goto  (?P<distance>-?{_NUMBER})\Z")
_IF = re.compile(rf"if    (?P<condition>{_REGISTER}), (?P<distance>-?{_NUMBER})\Z")
_ARGUMENT = re.compile(
    rf"%(?P<register>vm|void|{_NUMBER})|i(?P<immediate>-?{_NUMBER})|c\[(?P<constant>{_NUMBER})\]|"
    rf"f\[(?P<function>{_NAME}?)\]"
)
_CONSTANT = re.compile(rf"c\[(?P<index>{_NUMBER})\]  (?P<value>\{{.*\}})  # .*\Z")
_KEPT = re.compile(r'(?P<kind>kernel|operator|signature) (?P<name>"(?:[^"\\]|\\.)*"):\Z')


class _Line(NamedTuple):
    number: int
    text: str

    def error(self, expected: str) -> LoadError:
        return LoadError(
            f"line {self.number}: expected {expected}, found {self.text.strip()[:SHOWN]!r}"
        )


class _Section(NamedTuple):
    head: re.Match[str]
    body: list[_Line]


def read(text: str) -> ExecutableParts:
    """The executable that a listing describes. Raises LoadError if a line is invalid, or the
    executable could not run; the message names the line.
    """
    return _Reader().read(text)


class _Reader:
    def __init__(self) -> None:
        self.functions: list[_Section] = []
        self.names: list[str] = []
        self.constants: list[Any] = []
        self.kept: dict[str, dict[str, str]] = {"kernel": {}, "operator": {}, "signature": {}}

    def read(self, text: str) -> ExecutableParts:
        for head, body in _sections(text):
            self._section(head, body)
        index = _Names(self.names)
        words: list[int] = []
        offsets: list[int] = []
        made: list[VMFunction] = []
        for found in self.functions:
            start = len(offsets)
            for line in found.body:
                offsets.append(len(words))
                words.extend(_words(line, index))
            said = found.head
            named = tuple(said["named"].split(", ")) if said["named"] else ()
            counts = int(said["inputs"]), int(said["registers"])
            made.append(VMFunction(_unquoted(said["name"]), start, len(offsets), *counts, named))
        executable = ExecutableParts(
            tuple(made),
            tuple(index),
            tuple(self.constants),
            tuple(words),
            tuple(offsets),
            self.kept["kernel"],
            self.kept["operator"],
            self.kept["signature"],
        )
        for wrong in complaints(executable):
            raise LoadError(wrong)
        return executable

    def _section(self, head: _Line, body: list[_Line]) -> None:
        if function := _FUNCTION.match(head.text):
            self.functions.append(_Section(function, body))
        elif head.text == "names:":
            self.names = [_string(line) for line in body]
        elif head.text == "constants:":
            self.constants = [_constant(line, k) for k, line in enumerate(body)]
        elif kept := _KEPT.match(head.text):
            lines = [line.text[4:] for line in body]
            self.kept[kept["kind"]][_unquoted(kept["name"])] = "\n".join(lines)
        else:
            raise head.error(
                "the head of a function, names, constants, a kernel, an operator or a signature"
            )


class _Names(dict[str, int]):
    """The index of each name; without a table of names, they are numbered as they come up."""

    def __init__(self, names: list[str]) -> None:
        super().__init__({name: k for k, name in enumerate(names)})
        self._open = not names

    def __missing__(self, name: str) -> int:
        if not self._open:
            raise KeyError(name)
        found = self[name] = len(self)
        return found


def _sections(text: str) -> Iterator[tuple[_Line, list[_Line]]]:
    head: _Line | None = None
    body: list[_Line] = []
    for number, content in enumerate(text.split("\n"), 1):
        line = _Line(number, content.rstrip("\r"))
        if line.text.startswith("  "):
            if head is None:
                raise line.error("the head of a function before its instructions")
            body.append(line)
        elif line.text:
            if head is not None:
                yield head, body
            head, body = line, []
    if head is not None:
        yield head, body


def _words(line: _Line, index: dict[str, int]) -> list[int]:
    try:
        return encode(_instruction(line, index))
    except WordError as error:
        raise LoadError(f"line {line.number}: {error}") from None


def _instruction(line: _Line, index: dict[str, int]) -> VMInstruction:
    text = line.text.strip()
    if found := _CALL.match(text):
        callee = _index(_unquoted(found["name"]), line, index)
        return CallInstruction(callee, _arguments(found["args"], line, index), _to(found["dst"]))
    if found := _RET.match(text):
        return RetInstruction(_to(found["result"]))
    if found := _GOTO.match(text):
        return GotoInstruction(int(found["distance"]))
    if found := _IF.match(text):
        return IfInstruction(_to(found["condition"]), int(found["distance"]))
    raise line.error("an instruction: call, ret, goto or if")


def _to(text: str) -> int:
    name = text.removeprefix("%")
    return {"vm": VM_STATE, "void": VOID}.get(name) or int(name)


def _arguments(text: str, line: _Line, index: dict[str, int]) -> tuple[Argument, ...]:
    found: list[Argument] = []
    at = 0
    while at < len(text):
        match = _ARGUMENT.match(text, at)
        if match is None:
            raise line.error("arguments: %0, i1, c[0], f[name]")
        found.append(_ARGUMENTS[str(match.lastgroup)](match, index, line))
        at = match.end()
        at += 2 if text.startswith(", ", at) else 0
    return tuple(found)


def _callee(match: re.Match[str], index: dict[str, int], line: _Line) -> Argument:
    return Argument(ArgumentKind.FUNCTION, _index(_unquoted(match["function"]), line, index))


def _index(name: str, line: _Line, index: dict[str, int]) -> int:
    try:
        return index[name]
    except KeyError:
        raise line.error("the name of a function that the names have") from None


_ARGUMENTS: dict[str, Callable[[re.Match[str], dict[str, int], _Line], Argument]] = {
    "register": lambda m, *_: register(_to(m["register"])),
    "immediate": lambda m, *_: Argument(ArgumentKind.IMMEDIATE, int(m["immediate"])),
    "constant": lambda m, *_: Argument(ArgumentKind.CONSTANT, int(m["constant"])),
    "function": _callee,
}


def _constant(line: _Line, index: int) -> Any:
    found = _CONSTANT.match(line.text.strip())
    if found is None or int(found["index"]) != index:
        raise line.error(f"constant c[{index}]")
    try:
        return from_json(json.loads(found["value"]))
    except (ConstantError, ValueError, RecursionError) as error:
        raise LoadError(f"line {line.number}: {error}") from None


def _string(line: _Line) -> str:
    try:
        found = json.loads(line.text)
    except ValueError:
        found = None
    if not isinstance(found, str):
        raise line.error("a name in quotation marks")
    return found


def _unquoted(name: str) -> str:
    if not name.startswith('"'):
        return name
    try:
        return str(json.loads(name))
    except ValueError:
        raise LoadError(f"{name[:SHOWN]} is no name") from None
