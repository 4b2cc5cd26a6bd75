"""The run-time functions of the virtual machine, in addition to
:mod:`rlx.semantics.machine.builtins`.

They manage memory and the shape heap of the design document, and print. They take and return
values; those in ``WITH_STATE`` take the state of the machine as their first argument.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rlx.grammar.nodes.dtype import DataType, dtype
from rlx.semantics.arrays import numpy_type
from rlx.semantics.faults import CheckStop, FaultStop, Stop
from rlx.semantics.machine import builtin_words
from rlx.semantics.machine.builtins import BUILTINS
from rlx.semantics.machine.control import truth
from rlx.semantics.machine.message_text import formatted, printed
from rlx.semantics.machine.numpy_conversion import readable
from rlx.semantics.machine.prim_funcs import allocate, laid_into
from rlx.semantics.store import Blank, Store
from rlx.semantics.values import (
    NULL,
    UNIT,
    Closure,
    DataTypeValue,
    Device,
    Null,
    Packed,
    PrimFuncValue,
    Scalar,
    ShapeValue,
    Storage,
    StringValue,
    TupleValue,
    Value,
)
from rlx.spec.registry import rule

UINT8 = dtype("uint8")


class MachineState(Value):
    """The content of the register of the machine's state.

    Attributes
    ----------
    output
        Called with each line that a program prints.
    devices
        The devices by index.
    store
        Information about memory that was not written yet.
    """

    output: Callable[[str], None]
    devices: tuple[Device, ...]
    store: Store

    def __repr__(self) -> str:
        return "the state of the machine"


@rule("V-alloc-storage", "machine instruction")
def _alloc_storage(state: MachineState, size: Value, *rest: Value) -> Value:
    """``(state, size, device index, element type, scope)``; without a type, bytes."""
    sizes = _dims(size)
    if len(rest) > 3 or not all(isinstance(v, Scalar | DataTypeValue | StringValue) for v in rest):
        raise TypeError
    index = next((int(v.value) for v in rest if isinstance(v, Scalar)), -1)
    kind = next((v.value for v in rest if isinstance(v, DataTypeValue)), UINT8)
    made = allocate(sizes, numpy_type(kind))
    device = state.devices[index] if 0 <= index < len(state.devices) else None
    return Storage(made.reshape(-1).view(np.uint8), device)


@rule("V-alloc-tensor", "machine instruction")
def _alloc_tensor(storage: Value, *rest: Value) -> Value:
    """``(storage, offset, shape, element type)``; the document has the shape first.

    With the machine's state in front, reading the tensor is a fault until it is written; without,
    it holds zeros.
    """
    state = storage if isinstance(storage, MachineState) else None
    if state is not None:
        storage, *rest = rest  # type: ignore[assignment]
    offset = next((int(v.value) for v in rest if isinstance(v, Scalar)), 0)
    shape = next((v for v in rest if isinstance(v, ShapeValue)), None)
    kind = next((k for k in map(data_type, rest) if k is not None), None)
    if shape is None or kind is None or len(rest) > 3:
        raise TypeError
    made = laid_into(storage, offset, shape.values, numpy_type(kind))
    if state is None or not made.data.size:
        return made
    state.store.blank[id(made)] = Blank(made)
    return made


def data_type(value: Value) -> DataType | None:
    """The element type that an argument gives; None if it gives none."""
    match value:
        case DataTypeValue(value=kind):
            return kind
        case StringValue(value=name):
            return dtype(name)
    return None


def _dims(value: Value) -> tuple[int, ...]:
    match value:
        case ShapeValue(values=values):
            return values
        case Scalar(value=int() as number):
            return (number,)
    raise TypeError


def _print(state: MachineState, *values: Value) -> Value:
    readable(state.store, values, "E-evaluate-written")
    state.output(" ".join(printed(value) for value in values))
    return UNIT


@rule("V-print", "machine instruction")
def _print_formatted(state: MachineState, text: StringValue, *values: Value) -> Value:
    readable(state.store, values, "E-evaluate-written")
    state.output(formatted(text.value, values))
    return UNIT


@rule("V-assert", "machine instruction")
def _assert(state: MachineState, condition: Value, text: StringValue, *values: Value) -> Value:
    readable(state.store, (condition, *values), "E-evaluate-written")
    if not truth(condition):
        raise CheckStop("E-assert-holds", formatted(text.value, values) or "assertion")
    return UNIT


@rule("V-alive", "machine instruction")
def _check_alive(value: Value, name: Value) -> Value:
    if isinstance(value, Null) and isinstance(name, StringValue):
        raise FaultStop("E-var-alive", f"{name.value} is used after it was killed")
    return UNIT


def _check_func(value: Value, *rest: Value) -> Value:
    if isinstance(value, MachineFunction):
        return UNIT
    return BUILTINS["vm.builtin.check_func_info"].call(value, *rest)


def _check_function(
    value: Value, text: StringValue, sizes: ShapeValue, place: Value = NULL
) -> Value:
    if isinstance(value, MachineFunction):
        known = value.closure()
        if known is None and isinstance(text, StringValue) and isinstance(sizes, ShapeValue):
            return UNIT
        value = known or value
    elif isinstance(value, Packed) and isinstance(value.call, CalledKernel):
        value = value.call.read()
    return BUILTINS["relax.run.check_function"].call(value, text, sizes, place)


class CalledKernel:
    """The callee of a PrimFunc used as a value, and how to read the PrimFunc."""

    def __init__(self, call: Callable[..., Value], read: Callable[[], PrimFuncValue]) -> None:
        self._call, self.read = call, read

    def __call__(self, *args: Value) -> Value:
        return self._call(*args)


class MachineFunction(Value):
    """Base class of the machine's function values."""

    def closure(self) -> Closure | None:
        """The function as in the source, without its body; None if nothing is known about it."""
        return None


_CALLS: dict[str, Callable[..., Value]] = {
    "alloc_storage": _alloc_storage,
    "alloc_tensor": _alloc_tensor,
    "print": _print,
    "check_func_info": _check_func,
}
LIBRARY: dict[str, Callable[..., Value]] = {
    **{name: packed.call for name, packed in BUILTINS.items()},
    **{f"vm.builtin.{name}": call for name, call in _CALLS.items()},
    "relax.run.print": _print_formatted,
    "relax.run.assert_op": _assert,
    "relax.run.check_alive": _check_alive,
    "relax.run.check_function": _check_function,
}
"""The run-time functions by name."""
TAKES: dict[str, str] = {
    **builtin_words.TAKES,
    "vm.builtin.alloc_storage": "a size, and optionally a device, a data type and a scope",
    "vm.builtin.alloc_tensor": "a piece of memory, an offset, a shape and a data type",
    "vm.builtin.print": "any values",
    "relax.run.print": "a format and values",
    "relax.run.assert_op": "a Boolean, a format and values",
    "relax.run.check_alive": "a value and its name",
}
"""Descriptions of the arguments of each function."""


def reporting(name: str) -> Callable[..., Value]:
    """A run-time function that reports the expected arguments if it gets others."""
    call, takes = LIBRARY[name], TAKES[name]

    def checked(*args: Value) -> Value:
        try:
            return call(*args)
        except Stop:
            raise
        except Exception as error:
            given = [arg for arg in args if not isinstance(arg, MachineState)]
            raise builtin_words.misused(name, takes, given) from error

    return checked


WITH_STATE = frozenset(
    {
        "vm.builtin.alloc_storage",
        "vm.builtin.print",
        "relax.run.print",
        "relax.run.assert_op",
    }
)
"""The functions that take the machine's state. If a call does not pass it, it is inserted as the
first argument.
"""
TAKES_EITHER = frozenset({"vm.builtin.alloc_tensor"})
"""The functions whose behaviour depends on whether the state is passed."""

INVOKE = "vm.builtin.invoke_closure"
MAKE_CLOSURE = "vm.builtin.make_closure"
CALL_TIR_DYN = frozenset({"vm.builtin.call_tir_dyn", "vm.call_tir_dyn"})
"""The functions that call other functions; the machine has a rule for each."""


def fields(value: Value) -> tuple[Value, ...]:
    """The values that a tuple or a shape is unpacked to."""
    match value:
        case TupleValue(fields=found):
            return found
        case ShapeValue(values=values):
            return tuple(Scalar(number) for number in values)
    return (value,)
