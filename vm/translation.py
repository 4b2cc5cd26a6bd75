"""Translation of the machine's functions to Python functions, which run many times faster.

A function that calls no other function of the executable becomes a Python function. Other functions
become generators that yield each call, so only memory limits the depth of recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import inf
from typing import Any

from rlx.semantics.faults import Stop
from rlx.semantics.machine.numpy_conversion import readable
from rlx.semantics.store import Store
from rlx.semantics.values import Scalar, Value
from rlx.vm.batch_runs import BatchRunner
from rlx.vm.batches import Batch, batches
from rlx.vm.callees import OutsideFunction, OwnFunction
from rlx.vm.flow import BasicBlocks
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
    register,
)
from rlx.vm.library import TAKES_EITHER
from rlx.vm.linking import Linker
from rlx.vm.rules import (
    CALLERS,
    call_outside,
    check_count,
    condition,
    fresh,
    function_value,
    out_of_fuel,
    passed,
    without_state,
)

Wrap = Callable[[str, Callable[..., Value]], Callable[..., Value]]
"""Wraps the calls of a name, for example to measure them."""


class Fuel:
    """The remaining number of calls and backward jumps of a run."""

    __slots__ = ("given", "left")

    def __init__(self, given: int | None = None) -> None:
        self.given = given
        self.fill()

    def fill(self) -> None:
        """Begin a run."""
        self.left = inf if self.given is None else self.given

    def use(self) -> None:
        """Use one unit."""
        if self.left == 0:
            raise out_of_fuel(self.given, "calls and jumps back")
        self.left -= 1


class Translator:
    """Translates the functions of an executable when they are first called.

    Attributes
    ----------
    lines
        For the code of each function, the instruction of each line that may fail.
    batches
        The batches of the translated functions.
    """

    def __init__(self, linker: Linker, fuel: Fuel, wrap: Wrap | None) -> None:
        self._linker, self._fuel, self._wrap = linker, fuel, wrap
        self._held = state_is_held(linker)
        self.lines: dict[Any, tuple[OwnFunction, dict[int, int]]] = {}
        self.batches: list[BatchRunner] = []

    def translate(self, function: OwnFunction) -> None:
        """Translate a function and store the result in it."""
        writer = self._writer()
        text = writer.function(function)
        for at, batch in writer.batches.items():
            writer.scope[f"o{at}"] = self._one_by_one(function, batch.batch)
        function.run, function.suspends = self._compiled(function, writer, text), writer.suspends
        self.batches += writer.batches.values()

    def _writer(self) -> _SourceWriter:
        return _SourceWriter(self._linker, self._fuel, self._wrap, self._held)

    def _compiled(
        self, function: OwnFunction, writer: _SourceWriter, text: str
    ) -> Callable[..., Any]:
        # The text is made of numbers alone: registers, and names that the scope was given here.
        exec(compile(text, f"<vm {function.function.name}>", "exec"), writer.scope)  # noqa: S102
        made: Callable[..., Any] = writer.scope["run"]
        self.lines[made.__code__] = (function, writer.instructions)
        return made

    def _one_by_one(self, function: OwnFunction, batch: Batch) -> Callable[..., Any]:
        """The instructions of a batch, one after the other: a function that is written when it is
        first called, because few are.
        """

        @cache
        def made() -> Callable[..., Any]:
            writer = self._writer()
            return self._compiled(function, writer, writer.one_by_one(function, batch))

        return lambda *inputs: made()(*inputs)

    def place(self, code: Any, line: int, stop: Stop | None) -> tuple[str, int] | None:
        """The function and the instruction of a line; None if there is none."""
        known = self.lines.get(code)
        if known is None:
            return None
        function, instructions = known
        found = instructions.get(line)
        for batch in self.batches:
            if batch.stopped is not None and batch.stopped[0] is stop:
                found = batch.stopped[1]
        return None if found is None else (function.function.name, found)


def state_is_held(linker: Linker) -> bool:
    """Whether a function returns the machine's state, or passes it to another function."""
    names = linker.executable.names
    for function in linker.functions().values():
        for instruction in function.code:
            match instruction:
                case RetInstruction(result=result) if result == VM_STATE:
                    return True
                case CallInstruction(callee=callee, args=args):
                    if names[callee] in linker.functions() and register(VM_STATE) in args:
                        return True
    return False


class _SourceWriter:
    def __init__(self, linker: Linker, fuel: Fuel, wrap: Wrap | None, held: bool) -> None:
        self._linker, self._wrap = linker, wrap
        self._names = linker.executable.names
        self._constants = linker.executable.constants
        self._held = held
        self.scope: dict[str, Any] = {
            "state": linker.state,
            "condition": self._condition(linker.state.store),
            "fresh": fresh,
            "use": fuel.use,
        }
        self.suspends: bool
        self.batches: dict[int, BatchRunner] = {}
        self.lines: list[str] = []
        self.instructions: dict[int, int] = {}

    def function(self, function: OwnFunction) -> str:
        inputs = ", ".join(f"r{k}" for k in range(function.function.num_inputs))
        self._put(0, f"def run({inputs}):")
        code = function.code
        self.suspends = any(self._suspends(each) for each in code)
        if self._wrap is None and self._linker.batching:
            linker, count = self._linker, function.function.num_inputs
            hidden = linker.packed.union(linker.functions())
            kernels = frozenset(linker.executable.kernels)
            found = batches(function.code, count, self._names, kernels, hidden, function.apart)
            for at, batch in found.items():
                rows = function.code[batch.start : batch.end]
                calls = [row for row in rows if isinstance(row, CallInstruction)]
                self.batches[at] = BatchRunner(linker, function, batch, calls)
        spans = BasicBlocks(code).spans
        if len(spans) == 1 and isinstance(code[-1], RetInstruction):
            self._block(code, spans[0], {}, 1)
        else:
            numbers = {first: k for k, (first, _) in enumerate(spans)}
            self._put(1, "b = 0")
            self._put(1, "while True:")
            self._choose(code, spans, numbers, 0, len(spans), 2)
        return "\n".join(self.lines)

    @staticmethod
    def _condition(store: Store) -> Callable[[Value], bool]:
        def holds(value: Value) -> bool:
            if store.blank:
                readable(store, (value,), "E-if-written")
            return condition(value)

        return holds

    def _put(self, depth: int, line: str, at: int | None = None) -> None:
        """Write a line; one that may fail with the number of its instruction."""
        self.lines.append("\t" * depth + line)
        if at is not None:
            self.instructions[len(self.lines)] = at

    def _suspends(self, instruction: VMInstruction) -> bool:
        if not isinstance(instruction, CallInstruction):
            return False
        name = self._names[instruction.callee]
        return name in CALLERS or isinstance(self._linker.callee(name), OwnFunction)

    def _choose(
        self,
        code: Sequence[VMInstruction],
        spans: Sequence[tuple[int, int]],
        numbers: dict[int, int],
        low: int,
        high: int,
        depth: int,
    ) -> None:
        """The blocks from ``low`` to ``high``, found by halving."""
        if high - low == 1:
            self._block(code, spans[low], numbers, depth)
            return
        middle = (low + high) // 2
        self._put(depth, f"if b < {middle}:")
        self._choose(code, spans, numbers, low, middle, depth + 1)
        self._put(depth, "else:")
        self._choose(code, spans, numbers, middle, high, depth + 1)

    def _block(
        self,
        code: Sequence[VMInstruction],
        span: tuple[int, int],
        numbers: dict[int, int],
        depth: int,
    ) -> None:
        at, end = span
        while at < end:
            batch = self.batches.get(at)
            if batch is not None:
                self._batch(batch.batch, depth)
                at = batch.batch.end
                continue
            for line in self._statements(at, code[at], numbers):
                self._put(depth, line, at)
            at += 1
        if numbers and isinstance(code[end - 1], CallInstruction):
            self._put(depth, f"b = {numbers[end]}")

    def _batch(self, batch: Batch, depth: int) -> None:
        """The instructions at once where that can be, otherwise one by one."""
        at, given = batch.start, ", ".join(map(_register, batch.inputs))
        self.scope[f"b{at}"] = self.batches[at]
        self._put(depth, f"t = b{at}({given})", at)
        self._put(depth, f"if t is None: t = o{at}({given})", at)
        if batch.outputs:
            self._put(depth, f"{_targets(batch)}= t")

    def one_by_one(self, function: OwnFunction, batch: Batch) -> str:
        """A function of the inputs of a batch, with its outputs."""
        self.suspends = False
        self._put(0, f"def run({', '.join(map(_register, batch.inputs))}):")
        for at in range(batch.start, batch.end):
            for line in self._statements(at, function.code[at], {}):
                self._put(1, line, at)
        self._put(1, f"return {_targets(batch) or None}")
        return "\n".join(self.lines)

    def _statements(
        self, at: int, instruction: VMInstruction, numbers: dict[int, int]
    ) -> Iterator[str]:
        match instruction:
            case CallInstruction():
                yield from self._call(instruction)
            case RetInstruction(result=result):
                yield f"{'yield' if self.suspends else 'return'} {_register(result)}"
            case GotoInstruction(distance=distance):
                if distance <= 0:
                    yield "use()"
                yield f"b = {numbers[at + distance]}"
            case IfInstruction(condition=found, distance=distance):
                if distance <= 0:
                    yield "use()"
                away, on = numbers[at + distance], numbers[at + 1]
                yield f"b = {on} if condition({_register(found)}) else {away}"

    def _call(self, instruction: CallInstruction) -> Iterator[str]:
        name = self._names[instruction.callee]
        callee = self._linker.callee(name)
        target = "" if instruction.dst == VOID else f"{_register(instruction.dst)} = "
        keeps = isinstance(callee, OutsideFunction) and callee.keeps_constants
        args = [self._argument(arg, keeps) for arg in instruction.args]
        if name in CALLERS:
            number = self._bound(instruction.callee, self._caller(name))
            made = f"{number}({', '.join(args)})"
            if not self.suspends:  # it calls a PrimFunc, as all of a batch do
                yield target + made
                return
            yield f"t = {made}"
            yield f"{target}(yield t) if type(t) is tuple else t"
            return
        if isinstance(callee, OwnFunction):
            number = self._bound(instruction.callee, callee)
            inputs = f"({''.join(arg + ', ' for arg in args)})"
            if callee.function.num_inputs != len(args):
                self.scope["check_count"] = check_count
                yield f"t = {inputs}"  # an argument that is a fault is one before the count is
                yield f"check_count({number}, {len(args)})"
            yield f"{target}yield ({number}, {inputs})"
            return
        given = args if name in TAKES_EITHER else [arg for arg in args if arg != "state"]
        if callee.takes_state:
            given.insert(0, "state")
        called = callee.call if self._wrap is None else self._wrap(name, callee.call)
        if self._held:
            called, given = self._sorting(callee, called), args
        yield f"{target}{self._bound(instruction.callee, called)}({', '.join(given)})"

    def _caller(self, name: str) -> Callable[..., Any]:
        """A run-time function that calls another: it gives a request, or the value itself."""
        rule, own, state = CALLERS[name], self._linker.callee(name), self.scope["state"]

        def prepare(*args: Value) -> Any:
            callee, given = rule(own, without_state(args))
            if isinstance(callee, OwnFunction):
                check_count(callee, len(given))
                return callee, tuple(given)
            return call_outside(state, callee, given)

        return prepare

    def _sorting(
        self, callee: OutsideFunction, called: Callable[..., Value]
    ) -> Callable[..., Value]:
        """A call whose arguments may be the machine's state, which only the run knows."""
        state = self._linker.state
        return lambda *args: called(*passed(state, callee, args))

    def _bound(self, index: int, value: object) -> str:
        name = f"f{index}"
        self.scope[name] = value
        return name

    def _argument(self, arg: Argument, keeps: bool) -> str:
        match arg.kind:
            case ArgumentKind.REGISTER:
                return _register(arg.number)
            case ArgumentKind.IMMEDIATE:
                name = f"i{arg.number}".replace("-", "_")
                self.scope[name] = Scalar(arg.number)
                return name
            case ArgumentKind.CONSTANT:
                name = f"c{arg.number}"
                self.scope[name] = found = self._constants[arg.number]
                return name if keeps or fresh(found) is found else f"fresh({name})"
        called = self._names[arg.number]
        name = f"v{arg.number}"
        callee = self._linker.callee(called)
        if isinstance(callee, OutsideFunction) and callee.missing:
            self.scope[name] = callee.call
            return f"{name}()"
        self.scope[name] = function_value(self._linker, called)
        return name


def _targets(batch: Batch) -> str:
    """The outputs of a batch as a tuple."""
    return "".join(f"{_register(register)}, " for register in batch.outputs)


def _register(number: int) -> str:
    return "state" if number == VM_STATE else f"r{number}"
