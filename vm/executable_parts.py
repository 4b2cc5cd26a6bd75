"""What an executable is made of: functions, names, constants, and the words of instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlx.grammar.node import Record
from rlx.semantics.values import Value
from rlx.vm.instructions import VMInstruction, decode


class VMFunction(Record):
    """A function of an executable.

    Attributes
    ----------
    name
        What it is called by.
    start, end
        Its first instruction and the one behind its last, among all of the executable.
    num_inputs
        How many arguments it takes; they lie in the first registers.
    registers
        How many registers its frame has.
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
    """Functions of the virtual machine with all that they need.

    Attributes
    ----------
    functions
        The functions, in the order in which they were made.
    names
        What instructions call, by index: functions of the executable, PrimFuncs, packed functions.
    constants
        The pool of constants.
    words
        The instructions, as :mod:`rlx.vm.instructions` writes them.
    offsets
        Where in ``words`` each instruction begins.
    kernels
        PrimFuncs by the name that calls them, as text of the newest dialect.
    operators
        Operators that no PrimFunc stands for, by the name that calls them: a function of Relax, as
        text.
    signatures
        What the functions took and gave in the source, by name: functions of Relax without a body,
        as text.
    shipped
        The C of PrimFuncs by name, as the file had it; nothing in an executable from elsewhere.
        See :mod:`rlx.vm.shipped_code`.
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
        """The function of that name.

        Raises
        ------
        KeyError
            If there is none; the message names those that there are.
        """
        for function in self.functions:
            if isinstance(name, str) and function.name == name:
                return function
        known = ", ".join(function.name for function in self.functions) or "none"
        raise KeyError(f"the executable has no function {name!r}; it has: {known}")

    def instruction(self, number: int) -> VMInstruction:
        """The instruction of that number, among all of the executable.

        Raises
        ------
        IndexError
            If there is none.
        WordError
            If its words are no instruction.
        """
        if not 0 <= number < len(self.offsets):
            raise IndexError(f"instruction {number} is out of range: there are {len(self.offsets)}")
        following = number + 1
        end = self.offsets[following] if following < len(self.offsets) else len(self.words)
        return decode(self.words, self.offsets[number], end)

    def code(self, function: VMFunction) -> list[VMInstruction]:
        """The instructions of a function."""
        return [self.instruction(number) for number in range(function.start, function.end)]

    @property
    def packed_names(self) -> tuple[str, ...]:
        """The names that are called and are no functions of the executable."""
        own = {function.name for function in self.functions}
        return tuple(name for name in self.names if name not in own)
