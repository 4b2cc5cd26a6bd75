"""Building executables instruction by instruction, and renumbering their registers."""

from __future__ import annotations

import heapq
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from rlx.grammar.nodes.node import Record, changed
from rlx.semantics.faults import Stop
from rlx.semantics.machine.numpy_conversion import to_value
from rlx.semantics.values import Opaque, Value
from rlx.vm.batches import ALLOCATES_HEAP
from rlx.vm.executable import Executable
from rlx.vm.executable_parts import VMFunction
from rlx.vm.flow import (
    SPECIAL,
    BasicBlocks,
    Code,
    last_uses,
    problems,
    reads,
    unused_inputs,
    writes,
)
from rlx.vm.instructions import (
    MOST_REGISTERS,
    VM_STATE,
    VOID,
    Argument,
    ArgumentKind,
    CallInstruction,
    GotoInstruction,
    IfInstruction,
    RetInstruction,
    VMInstruction,
    encode,
    immediate,
    is_immediate,
    register,
)

Rename = Callable[[int], int]


def renumbered_registers(code: Code, num_inputs: int) -> list[VMInstruction]:
    """The same code, with the registers after the inputs numbered in the order of their use."""
    names = {k: k for k in range(num_inputs)}

    def rename(number: int) -> int:
        return number if number in SPECIAL else names.setdefault(number, len(names))

    return [_renamed(instruction, rename, rename) for instruction in code]


def reused_registers(
    code: Code, num_inputs: int, pinned: frozenset[int] = frozenset()
) -> list[VMInstruction]:
    """The same code with fewer registers: a register is reused after the last read of its content.

    Registers that are written once and read only in one basic block are reassigned. All others, and
    ``pinned`` ones, keep a register of their own.
    """
    local = _block_locals(code, num_inputs) - pinned
    ends = last_uses(code)
    names = {k: k for k in range(num_inputs)}
    free: list[int] = []
    count = num_inputs

    def place(number: int) -> int:
        nonlocal count
        if number in SPECIAL:
            return number
        if number not in names:
            if free and number in local:
                names[number] = heapq.heappop(free)
            else:
                names[number], count = count, count + 1
        return names[number]

    made: list[VMInstruction] = []
    for at, instruction in enumerate(code):
        read = {number: place(number) for number in reads(instruction)}
        over = [number for number in ends[at] if number in local]
        target = writes(instruction)
        for number in over:
            if number != target:
                heapq.heappush(free, names[number])
        made.append(_renamed(instruction, read.__getitem__, place))
        if target in over and target is not None:
            heapq.heappush(free, names[target])
    return made


def count_registers(code: Code, num_inputs: int) -> int:
    """The number of registers that a function needs."""
    used = [r for i in code for r in (*reads(i), writes(i)) if r is not None and r not in SPECIAL]
    return max([num_inputs, *(number + 1 for number in used)])


def _block_locals(code: Code, num_inputs: int) -> frozenset[int]:
    """Registers that one instruction writes, and that only its basic block reads, behind it."""
    written: dict[int, int] = {}
    home: dict[int, int] = {}
    shared = set(range(num_inputs))
    for k, (first, end) in enumerate(BasicBlocks(code).spans):
        for instruction in code[first:end]:
            shared.update(number for number in reads(instruction) if home.get(number) != k)
            target = writes(instruction)
            if target is not None:
                written[target] = written.get(target, 0) + 1
                home[target] = k
    return frozenset(number for number, times in written.items() if times == 1) - shared


def _renamed(instruction: VMInstruction, read: Rename, write: Rename) -> VMInstruction:
    match instruction:
        case CallInstruction(args=args, dst=dst):
            renamed = _arguments(args, read)
            return changed(instruction, args=renamed, dst=dst if dst == VOID else write(dst))
        case RetInstruction(result=result):
            return RetInstruction(read(result))
        case IfInstruction(condition=condition):
            return changed(instruction, condition=read(condition))
    return instruction


def _arguments(args: Sequence[Argument], read: Rename) -> tuple[Argument, ...]:
    return tuple(
        register(read(arg.number)) if arg.kind is ArgumentKind.REGISTER else arg for arg in args
    )


class ExecBuildError(ValueError):
    """An invalid function was built; the message gives the expected and the actual value."""


class UnusedInput(UserWarning):
    """A function never reads one of its inputs."""


class _Function(Record):
    """A function that is whole: its name, its inputs, and its code."""

    name: str
    num_inputs: int
    code: tuple[VMInstruction, ...]
    parameters: tuple[str, ...]


class ExecBuilder:
    """Emits instructions of functions and makes an :class:`Executable` of them.

    An invalid function is discarded, and the builder remains usable.

    Examples
    --------
    >>> ib = ExecBuilder()
    >>> with ib.function("main", num_inputs=1):
    ...     ib.emit_call("vm.builtin.shape_of", args=[ib.r(0)], dst=ib.r(1))
    ...     ib.emit_ret(ib.r(1))
    >>> print(ib.get().as_text().splitlines()[-1])
      ret   ret %1
    """

    def __init__(self) -> None:
        self._functions: dict[str, _Function] = {}
        self._names: dict[str, int] = {}
        self._constants: list[Value] = []
        self._open: str | None = None
        self._code: list[VMInstruction] = []
        self._kernels: dict[str, str] = {}
        self._operators: dict[str, str] = {}
        self._signatures: dict[str, str] = {}

    @contextmanager
    def function(
        self, name: str, num_inputs: int = 0, parameters: Sequence[str] = ()
    ) -> Iterator[ExecBuilder]:
        """A function whose instructions are emitted inside the ``with`` block.

        Parameters
        ----------
        name
            The name of the function.
        num_inputs
            The number of its arguments, which are in the registers 0 to ``num_inputs - 1``.
        parameters
            The names of its parameters in the source, for messages.

        Raises
        ------
        ExecBuildError
            If a function of this name exists or another function is open. Also at the end of the
            block, if a register may be read before it is written, a jump leaves the function,
            control flow runs past its end, or a constant does not exist.

        Warns
        -----
        UnusedInput
            If no instruction reads one of the inputs.
        """
        if self._open is not None:
            raise ExecBuildError(
                f"function {name!r} begins inside {self._open!r}; end that function first"
            )
        if _named(name) in self._functions:
            raise ExecBuildError(f"a function {name!r} exists already")
        if not _is_index(num_inputs) or num_inputs > MOST_REGISTERS:
            raise ExecBuildError(f"expected the number of inputs, found {num_inputs!r}")
        parameters = _listed(parameters, "names of parameters")
        if not all(isinstance(parameter, str) for parameter in parameters):
            raise ExecBuildError(f"expected names of parameters, found {parameters!r}")
        if parameters and len(parameters) != num_inputs:
            raise ExecBuildError(f"{len(parameters)} parameter names for {num_inputs} inputs")
        self._open, self._code = name, []
        try:
            yield self
            self._check(name, num_inputs)
            made = _Function(name, num_inputs, tuple(self._code), tuple(parameters))
            self._functions[name] = made
        finally:
            self._open, self._code = None, []

    def _check(self, name: str, num_inputs: int) -> None:
        found = list(problems(self._code, num_inputs, len(self._constants), len(self._names)))
        if found:
            lines = "".join(f"\n  instruction {p.at}: {p.message}" for p in found[:_MOST_SHOWN])
            more = len(found) - _MOST_SHOWN
            rest = f"\n  … and {more} more" if more > 0 else ""
            raise ExecBuildError(f"function {name!r} is wrong:{lines}{rest}")
        for unused in unused_inputs(self._code, num_inputs):
            words = f"function {name!r} never reads its input {unused}, register {unused}"
            warnings.warn(words, UnusedInput, stacklevel=5)

    # Arguments

    def r(self, number: int) -> Argument:
        """The register with this number."""
        if _is_index(number) and (number < MOST_REGISTERS or number in (VM_STATE, VOID)):
            return register(number)
        raise ExecBuildError(f"expected the number of a register, found {number!r}")

    def imm(self, value: int) -> Argument:
        """An immediate integer, which the instruction itself contains; it has 56 bits."""
        number = _integer(value)
        if number is None:
            raise ExecBuildError(
                f"expected an integer, found {value!r}; add other values as constants"
            )
        if not is_immediate(number):
            raise ExecBuildError(f"{number} does not fit into 56 bits; make it a constant")
        return immediate(number)

    def c(self, value: Any) -> Argument:
        """A constant: an integer is an index into the pool; any other value is added to the pool.

        Arrays, strings, data types, shapes (tuples of integers), tuples and floats can be
        constants; so can an integer, by :meth:`emit_constant`.
        """
        number = _integer(value)
        if number is None:
            number = self.emit_constant(value)
        elif not 0 <= number < len(self._constants):
            raise ExecBuildError(
                f"there is no constant {number}: the pool has {len(self._constants)}; "
                "emit_constant puts an integer there"
            )
        return Argument(ArgumentKind.CONSTANT, number)

    def f(self, name: str) -> Argument:
        """A function as a value, given by its name."""
        return Argument(ArgumentKind.FUNCTION, self._name(name))

    def vm_state(self) -> Argument:
        """The machine's state, which some run-time functions take as their first argument."""
        return register(VM_STATE)

    def void(self) -> Argument:
        """The register for an unused result."""
        return register(VOID)

    def emit_constant(self, value: Any) -> int:
        """Add a value to the constant pool and return it as an argument.

        Raises
        ------
        ExecBuildError
            If an executable cannot store such a value.
        """
        from rlx.vm.constants import ConstantError, constant

        try:
            made = constant(value if isinstance(value, Value) else to_value(value))
        except (ConstantError, Stop) as error:
            raise ExecBuildError(str(error)) from None
        if isinstance(made, Opaque):
            raise ExecBuildError(f"expected a constant, found {type(value).__name__}")
        self._constants.append(made)
        return len(self._constants) - 1

    # Instructions

    def emit_call(
        self, name: str, args: Sequence[Any] | None = None, dst: Argument | None = None
    ) -> None:
        """Call a function of the executable, a packed function, or a PrimFunc.

        Parameters
        ----------
        name
            The name of the callee; it is resolved when the executable is loaded.
        args
            Arguments made by :meth:`r`, :meth:`imm`, :meth:`c`, :meth:`f` and :meth:`vm_state`.
            Plain integers become immediates; arrays, strings and other values become constants.
        dst
            The register of the result; None if it is unused.
        """
        listed = () if args is None else _listed(args, "arguments")
        given = tuple(self._argument(arg) for arg in listed)
        self._emit(CallInstruction(self._name(name), given, self._register(dst, VOID)))

    def emit_ret(self, result: Argument) -> None:
        """Return the value of a register."""
        self._emit(RetInstruction(self._register(result)))

    def emit_if(self, condition: Argument, false_offset: int) -> None:
        """Continue if the register holds true; otherwise jump by ``false_offset`` instructions."""
        self._emit(IfInstruction(self._register(condition), _distance(false_offset)))

    def emit_goto(self, pc_offset: int) -> None:
        """Jump by ``pc_offset`` instructions."""
        self._emit(GotoInstruction(_distance(pc_offset)))

    def position(self) -> int:
        """The number of the next instruction in the open function."""
        return len(self._code)

    def patch(self, position: int, false_offset: int) -> None:
        """Set the distance of the jump at ``position`` of the open function."""
        if not _is_index(position) or position >= len(self._code):
            words = f"expected the number of an instruction below {len(self._code)}"
            raise ExecBuildError(f"{words}, found {position!r}")
        old = self._code[position]
        if isinstance(old, IfInstruction):
            self._code[position] = IfInstruction(old.condition, _distance(false_offset))
        elif isinstance(old, GotoInstruction):
            self._code[position] = GotoInstruction(_distance(false_offset))
        else:
            raise ExecBuildError(
                f"expected a jump at instruction {position}, found a call or a return"
            )

    def add_kernel(self, name: str, text: str) -> None:
        """Add the text of the PrimFunc that calls of this name run."""
        self._kernels[_named(name)] = _text(text)

    def add_operator(self, name: str, text: str) -> None:
        """Add the text of the operator-applying Relax function that calls of this name run."""
        self._operators[_named(name)] = _text(text)

    def add_signature(self, name: str, text: str) -> None:
        """Add the signature that a function has in the source, as the text of a function without a
        body.
        """
        self._signatures[_named(name)] = _text(text)

    def get(self, *, formalize: bool = True, reuse: bool = False) -> Executable:
        """The executable made of the functions so far.

        Parameters
        ----------
        formalize
            Whether to renumber registers in the order of their use, without gaps.
        reuse
            Whether to reuse a register after the last read of its content.

        Raises
        ------
        ExecBuildError
            If a function is still open.
        """
        if self._open is not None:
            raise ExecBuildError(f"function {self._open!r} is still open")
        functions: list[VMFunction] = []
        words: list[int] = []
        offsets: list[int] = []
        for made in self._functions.values():
            code: Sequence[VMInstruction] = made.code
            if reuse:
                code = reused_registers(code, made.num_inputs, self._heaps(code))
            elif formalize:
                code = renumbered_registers(code, made.num_inputs)
            start = len(offsets)
            for instruction in code:
                offsets.append(len(words))
                words.extend(encode(instruction))
            functions.append(
                VMFunction(
                    made.name,
                    start,
                    len(offsets),
                    made.num_inputs,
                    count_registers(code, made.num_inputs),
                    made.parameters,
                )
            )
        return Executable(
            tuple(functions),
            tuple(self._names),
            tuple(self._constants),
            tuple(words),
            tuple(offsets),
            dict(self._kernels),
            dict(self._operators),
            dict(self._signatures),
        )

    def _heaps(self, code: Sequence[VMInstruction]) -> frozenset[int]:
        """Declare registers that hold only shape heaps, so that rows of instructions can batch."""
        made = {self._names.get(name) for name in ALLOCATES_HEAP}
        calls = (each for each in code if isinstance(each, CallInstruction))
        return frozenset(call.dst for call in calls if call.callee in made)

    def _emit(self, instruction: VMInstruction) -> None:
        if self._open is None:
            raise ExecBuildError(
                "emit instructions inside a function: with ib.function(name, num_inputs=…):"
            )
        self._code.append(instruction)

    def _argument(self, arg: Any) -> Argument:
        if isinstance(arg, Argument):
            return arg
        if isinstance(arg, int) and not isinstance(arg, bool):
            return self.imm(arg)
        return Argument(ArgumentKind.CONSTANT, self.emit_constant(arg))

    def _register(self, arg: Argument | None, default: int | None = None) -> int:
        if arg is None and default is not None:
            return default
        if isinstance(arg, Argument) and arg.kind is ArgumentKind.REGISTER:
            return arg.number
        raise ExecBuildError(f"expected a register, found {arg}: ib.r(number)")

    def _name(self, name: str) -> int:
        return self._names.setdefault(_named(name), len(self._names))


_MOST_SHOWN = 10


def _named(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise ExecBuildError(f"expected the name of a function, found {name!r}")
    return name


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise ExecBuildError(f"expected the text of a function, found {text!r}")
    return text


def _listed(values: object, what: str) -> Sequence[Any]:
    """A list or a tuple; a string would be a list of its characters."""
    if not isinstance(values, list | tuple):
        raise ExecBuildError(f"expected a list of {what}, found {values!r}")
    return values


def _integer(value: Any) -> int | None:
    """The integer that a value is, if it is one: a truth value is none, nor is an array."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    if isinstance(value, np.ndarray) and value.ndim:  # an array of one integer has an index, too
        return None
    return int(value.__index__())


def _is_index(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _distance(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ExecBuildError(f"expected a number of instructions to jump, found {value!r}")
    return value
