"""Callees of an executable: its own functions and functions outside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlx.semantics.faults import FaultStop, Stop, UnsupportedStop
from rlx.semantics.machine.builtins import ELSEWHERE
from rlx.semantics.machine.message_text import kind
from rlx.semantics.machine.numpy_conversion import to_plain, to_value
from rlx.semantics.struct_info_of import head_of
from rlx.semantics.values import Closure, Packed, Value
from rlx.vm.executable_parts import VMFunction
from rlx.vm.instructions import VMInstruction
from rlx.vm.library import MachineFunction

PackedFunction = Packed | Callable[..., Any]
"""A :class:`Packed` takes and returns values; any other callable takes and returns arrays, numbers
and so on.
"""


class OwnFunction:
    """A function of the executable.

    Attributes
    ----------
    function, code
        Its description and its instructions.
    run
        The function translated to Python by :mod:`rlx.vm.translation`; None until its first call.
    suspends
        Whether ``run`` returns a generator, which yields the calls of other functions.
    apart
        Instructions that must not be in a batch.
    signature
        Its signature in the source, as text; empty if unknown.
    """

    __slots__ = ("apart", "code", "function", "run", "signature", "suspends")

    def __init__(
        self, function: VMFunction, code: list[VMInstruction], signature: str = ""
    ) -> None:
        self.function, self.code, self.signature = function, code, signature
        self.run: Callable[..., Any] | None = None
        self.suspends: bool  # there once `run` is
        self.apart: set[int] = set()


class OutsideFunction:
    """Any other callee; it takes and returns values.

    Attributes
    ----------
    call
        The Python callable.
    takes_state
        Whether the first argument is the machine's state.
    keeps_constants
        Whether it never writes to its arguments, so constants need not be copied.
    missing
        Whether no function has the name, so that even its lookup is a fault.
    """

    __slots__ = ("call", "keeps_constants", "missing", "name", "takes_state")

    def __init__(
        self,
        name: str,
        call: Callable[..., Value],
        takes_state: bool = False,
        keeps_constants: bool = False,
        missing: bool = False,
    ) -> None:
        self.name, self.call, self.missing = name, call, missing
        self.takes_state, self.keeps_constants = takes_state, keeps_constants


class FunctionValue(MachineFunction):
    """A function of the executable as a value, with its bound last arguments, if any."""

    function: OwnFunction
    captured: tuple[Value, ...] = ()

    def __repr__(self) -> str:
        return f"closure {self.function.function.name}"

    def closure(self) -> Closure | None:
        """The function as in the source, without its body; None if nothing is known about it."""
        from rlx.semantics.machine.compile import Compiler

        try:
            head = head_of(self.function.signature)
        except ValueError:
            return None
        name = self.function.function.name
        return Closure(Compiler().function(head, name), trailing=self.captured)


Callee = OwnFunction | OutsideFunction


def packed_function(name: str, call: PackedFunction) -> Callable[..., Value]:
    """A packed function of the user."""
    if isinstance(call, Packed):
        return _of_values(name, safe(name, call.call))

    def convert(*args: Value) -> Value:
        try:
            result = call(*[to_plain(arg) for arg in args])
        except Stop:
            raise
        except Exception as error:
            words = f"{name} raised {type(error).__name__}: {error}"
            raise FaultStop("E-packed-raised", words) from error
        return to_value(result, args)

    return convert


def _of_values(name: str, call: Callable[..., Value]) -> Callable[..., Value]:
    """A function of the user that works on values, held to it."""

    def checked(*args: Value) -> Value:
        result = call(*args)
        if not isinstance(result, Value):
            words = f"{name} returned {type(result).__name__}, not a value"
            raise FaultStop("V-call-outside-value", words)
        return result

    return checked


def safe(name: str, call: Callable[..., Value]) -> Callable[..., Value]:
    """A wrapper for a function on values that accepts arguments of wrong kinds and reports them as
    faults.
    """

    def checked(*args: Value) -> Value:
        try:
            return call(*args)
        except Stop:
            raise
        except Exception as error:
            words = f"{name} raised {type(error).__name__}: {error}"
            raise FaultStop("E-packed-raised", words) from error

    return checked


def missing_function(name: str) -> Callable[..., Value]:
    def call(*_: Value) -> Value:
        if ELSEWHERE.match(name):
            words = f"rlx does not implement {name} of TVM's run time"
            raise UnsupportedStop("E-extern-modelled", words)
        raise FaultStop("E-extern-registered", f"no packed function is registered as {name!r}")

    return call


def callable_value(value: Value) -> tuple[Callee, tuple[Value, ...]]:
    """The callee of a function value, and the arguments that are already bound.

    Raises
    ------
    Fault
        ``V-invoke-closure-function``: it is not a function.
    """
    match value:
        case FunctionValue(function=function, captured=captured):
            return function, captured
        case Packed(call=call, name=name):
            return OutsideFunction(name, call), ()
    raise FaultStop("V-invoke-closure-function", f"expected a function, found {kind(value)}")
