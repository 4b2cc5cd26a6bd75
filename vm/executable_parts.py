"""The parts of an executable: functions, names, constants, and the words of instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlx.grammar.nodes.node import Record
from rlx.semantics.values import Value
from rlx.vm.instructions import VMInstruction, decode


class VMFunction(Record):
    """A function of an executable.

    Attributes
    ----------
    name
        Its name.
    start, end
        The index of its first instruction and the index after its last, among all instructions of
        the executable.
    num_inputs
        The number of its arguments, which are in the first registers.
    registers
        The number of registers of its frame.
    parameters
        The names of the arguments in the source, as far as they are known.
    """

    name: str
    start: int
    end: int
    num_inputs: int
    registers: int
    parameters: tuple[str, ...] = ()


class ExecutableParts(Record):
    """Functions of the virtual machine with their names, constants and texts.

    Attributes
    ----------
    functions
        The functions, in the order in which they were made.
    names
        The callees of instructions, by index: functions of the executable, PrimFuncs, packed
        functions.
    constants
        The pool of constants.
    words
        The instructions, as :mod:`rlx.vm.instructions` writes them.
    offsets
        The position in ``words`` where each instruction begins.
    kernels
        PrimFuncs by their names in calls, as text of the newest dialect.
    operators
        Operators without a PrimFunc, by their names in calls: Relax functions, as text.
    signatures
        The signatures of the functions in the source, by name: Relax functions without a body, as
        text.
    shipped
        The C code of PrimFuncs by name, as the file contains it; empty if the executable is not
        from a file. See :mod:`rlx.vm.shipped_code`.
    """

    functions: tuple[VMFunction, ...]
    names: tuple[str, ...]
    constants: tuple[Value, ...]
    words: Sequence[int]
    offsets: Sequence[int]
    kernels: Mapping[str, str] = {}
    operators: Mapping[str, str] = {}
    signatures: Mapping[str, str] = {}
    shipped: Mapping[str, str] = {}

    def function(self, name: str) -> VMFunction:
        """The function with this name.

        Raises
        ------
        KeyError
            If there is none; the message lists the existing ones.
        """
        for function in self.functions:
            if isinstance(name, str) and function.name == name:
                return function
        known = ", ".join(function.name for function in self.functions) or "none"
        raise KeyError(f"the executable has no function {name!r}; it has: {known}")

    def instruction(self, number: int) -> VMInstruction:
        """The instruction with this index, among all instructions of the executable.

        Raises
        ------
        IndexError
            If there is none.
        WordError
            If its words do not encode an instruction.
        """
        if not 0 <= number < len(self.offsets):
            raise IndexError(f"instruction {number} is out of range: there are {len(self.offsets)}")
        is_last = number + 1 == len(self.offsets)
        end = len(self.words) if is_last else self.offsets[number + 1]
        return decode(self.words, self.offsets[number], end)

    def code(self, function: VMFunction) -> list[VMInstruction]:
        """The instructions of a function."""
        return [self.instruction(number) for number in range(function.start, function.end)]

    @property
    def packed_names(self) -> tuple[str, ...]:
        """The called names that are not functions of the executable."""
        own = {function.name for function in self.functions}
        return tuple(name for name in self.names if name not in own)
