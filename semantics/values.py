"""The values of Relax, and the conversion of numbers to scalar types (E-prim)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rlx.grammar.nodes.ast_nodes import StructInfo
from rlx.grammar.nodes.dtype import BOOL, INT64, DataType, limits
from rlx.grammar.nodes.node import Record, replace
from rlx.grammar.nodes.tir import PrimFunc
from rlx.semantics.faults import FaultStop
from rlx.semantics.tir.values import into

Device = tuple[str, int]
"""The label of a device: its target and its index among the devices of this target."""


class Value(Record):
    """Base class of values. Equality is identity, even for tensors of equal content."""


class Storage(Value):
    """A piece of memory that tensors lie in: ``data`` is an array of bytes."""

    data: Any
    device: Device | None = None


class Tensor(Value):
    """A tensor: an array with ``shape`` and ``dtype`` as NumPy's have them, on a device.

    The array is the tensor's memory: tensors whose arrays share memory are aliases of each other.

    Attributes
    ----------
    device
        ``(target, index)`` if the program gives a device, otherwise None.
    storage
        The piece of memory that contains the tensor, if the program allocated it explicitly.
    """

    data: Any
    device: Device | None = None
    storage: Storage | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return tuple(int(size) for size in self.data.shape)

    @property
    def dtype(self) -> str:
        """The element type by its name: ``"float32"``."""
        return str(self.data.dtype)


class ShapeValue(Value):
    """An immutable tuple of dimensions."""

    values: tuple[int, ...]


class Scalar(Value):
    """An immutable boxed scalar."""

    value: int | float
    dtype: DataType = INT64


class TupleValue(Value):
    """An immutable grouping of values."""

    fields: tuple[Value, ...]


class StringValue(Value):
    """An immutable string."""

    value: str


class DataTypeValue(Value):
    """A data type as a value."""

    value: DataType


class Null(Value):
    """The object for an omitted argument."""


class Closure(Value):
    """A Relax function with its captured values.

    Attributes
    ----------
    code
        The prepared code of the function; its ``info`` is the function's type at run time: the
        struct infos of parameters and result, and its purity.
    captured
        The values of captured variables, by reference; shape variables as numbers.
    trailing
        The bound last arguments of the closure (``R.make_closure``).
    """

    code: Any
    captured: tuple[Any, ...] = ()
    trailing: tuple[Value, ...] = ()


class PrimFuncValue(Value):
    """A PrimFunc of the module; it can only be called."""

    func: PrimFunc
    name: str


class Packed(Value):
    """An external function, opaque to Relax: ``call`` takes values and returns a value."""

    call: Callable[..., Value]
    name: str = ""


class FunctionName(Value):
    """An argument that stands for a function of the module, or a packed function, of that name; it
    is looked up when the run starts.

    Attributes
    ----------
    info
        The type that its user gives a packed function, of which nothing is known.
    """

    name: str
    info: StructInfo | None = None


class Opaque(Value):
    """Any other object."""

    value: object


MANY = 10_000
"""The most values of a tuple that are written out: fields that share theirs may make exponentially many."""

NULL = Null()
UNIT = TupleValue(())


class DoesNotFit(ValueError):
    """A number that does not fit its type; the message gives the range of the type."""


def _named(number: object) -> str:
    """A number in a message; Python does not write one of more than 4300 digits."""
    if isinstance(number, int) and number.bit_length() > 1000:
        return f"a number of {number.bit_length()} bits"
    return str(number)


def fitted(number: Any, kind: DataType) -> int | float:
    """A number converted to a scalar type: integers are unchanged, floats are rounded to nearest,
    ties to even. Raises DoesNotFit if the number does not fit the type: a fraction for an integer,
    a Boolean for anything but ``bool``, an integer out of range, a float that would round to
    infinity.

    Parameters
    ----------
    number
        An integer or a Boolean; for a type of floats also a float. ``bool`` takes 0 and 1, too.
    """
    if not isinstance(number, (bool, int, float)):
        raise DoesNotFit(f"{number!r} is not a number")
    if kind == BOOL:
        if number in (0, 1) and not isinstance(number, float):
            return bool(number)
        raise DoesNotFit(f"{_named(number)} is neither true nor false")
    if isinstance(number, bool):
        raise DoesNotFit(f"{number} is a bool, not {kind}")
    if kind.is_float:
        try:
            rounded = float(into(kind)(float(number)))
        except OverflowError:  # an integer beyond every float
            rounded = math.inf
        if math.isfinite(rounded) or _same(rounded, number):
            return rounded
        raise DoesNotFit(f"{_named(number)} does not fit into {kind}")
    low, high = limits(kind)
    if isinstance(number, int) and low <= number <= high:
        return number
    raise DoesNotFit(f"{_named(number)} is not an integer of type {kind} ({low} to {high})")


def values_inside(values: Sequence[Value]) -> Iterator[Value]:
    """The distinct values, including those nested in tuples, in order."""
    seen: set[int] = set()
    pending = list(reversed(values))
    while pending:
        value = pending.pop()
        if isinstance(value, TupleValue):
            if id(value) in seen:
                continue
            seen.add(id(value))
            pending.extend(reversed(value.fields))
        yield value


def rebuilt(value: Value, change: Callable[[Value], Value]) -> Value:
    """A value in which others are put for those that are not tuples.

    A tuple that occurs in several places is rebuilt once.
    """
    done: dict[int, TupleValue] = {}

    def build(item: Value) -> Value:
        if not isinstance(item, TupleValue):
            return change(item)
        if id(item) not in done:
            done[id(item)] = TupleValue(tuple([build(field) for field in item.fields]))
        return done[id(item)]

    return build(value)


def copied(value: Value) -> Value:
    """A value that shares no memory with this one."""
    return rebuilt(
        value,
        lambda one: replace(one, data=one.data.copy()) if isinstance(one, Tensor) else one,
    )


def fitted_arguments(
    args: Sequence[Value], function: Callable[[FunctionName], Value | None]
) -> tuple[Value, ...]:
    """The arguments of a run, with each scalar converted to its type, and functions for their
    names. `function`: the function of a name; None if there is none.

    Raises
    ------
    FaultStop
        ``E-prim-overflow``, and ``E-extern-registered`` if there is no function of a name.
    """
    found = list(args)
    for k, arg in enumerate(found):
        if _has_misfit(arg):
            found[k] = rebuilt(arg, _fitted)
        if isinstance(arg, FunctionName):
            called = function(arg)
            if called is None:
                words = f"there is no function {arg.name!r}"
                raise FaultStop("E-extern-registered", words)
            found[k] = called
    return tuple(found)


def _has_misfit(value: Value) -> bool:
    """Whether a scalar in a value is not what its type would make of it."""
    return any(
        isinstance(item, Scalar) and _number(item) is not item.value
        for item in values_inside([value])
    )


def fitted_scalar(number: Any, kind: DataType) -> Scalar:
    """A number as a scalar of a type; see :func:`fitted`.

    Raises
    ------
    FaultStop
        ``E-prim-overflow``
    """
    return Scalar(_number(Scalar(number, kind)), kind)


def _number(value: Scalar) -> int | float:
    try:
        found = fitted(value.value, value.dtype)
    except DoesNotFit as misfit:
        raise FaultStop("E-prim-overflow", str(misfit)) from None
    same = type(found) is type(value.value) and _same(found, value.value)
    return value.value if same else found


def _same(a: float, b: float) -> bool:
    """Whether two numbers are one, NaN included."""
    return a == b or (math.isnan(a) and math.isnan(b))


def _fitted(value: Value) -> Value:
    return replace(value, value=_number(value)) if isinstance(value, Scalar) else value
