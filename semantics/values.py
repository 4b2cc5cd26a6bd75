"""The values that Relax computes with, and the scalar types that hold numbers (E-prim)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from rlx.grammar.dtype import INT64, DataType
from rlx.grammar.node import Record, replace
from rlx.grammar.tir import PrimFunc
from rlx.semantics.faults import FaultStop
from rlx.semantics.tir.values import into, limits

Device = tuple[str, int]
"""The label of a device: its target and its number among those of that target."""


class Value(Record):
    """Base of values. Equality is identity: two tensors of equal content are two tensors."""


class Storage(Value):
    """A piece of memory that tensors are laid into: ``data`` is an array of bytes."""

    data: Any
    device: Device | None = None


class Tensor(Value):
    """A tensor: an array with ``shape`` and ``dtype`` as NumPy's have them, on a device.

    The array is the tensor's memory: tensors whose arrays share memory are aliases of each other.

    Attributes
    ----------
    device
        ``(target, index)`` where the program names devices, else None.
    storage
        The piece of memory that the tensor was laid into, if a program did so by itself.
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
    """The object that stands for an argument that is left out."""


class Closure(Value):
    """A Relax function with what it captured.

    Attributes
    ----------
    code
        The function's code as the machine prepared it; its ``info`` is what is known of the
        function when it runs: the struct info of parameters and result, and its purity.
    captured
        The values of the variables around the function that it uses, by reference; shape variables
        as numbers.
    trailing
        The last arguments, which the closure was made with (``R.make_closure``).
    """

    code: Any
    captured: tuple[Any, ...] = ()
    trailing: tuple[Value, ...] = ()


class PrimFuncValue(Value):
    """A PrimFunc of the module: opaque, but for being called."""

    func: PrimFunc
    name: str


class Packed(Value):
    """A function from outside, opaque to Relax: ``call`` takes values and gives a value."""

    call: Callable[..., Value]
    name: str = ""


class Opaque(Value):
    """Any other object."""

    value: object


NULL = Null()
UNIT = TupleValue(())


class DoesNotFit(ValueError):
    """A number that its type does not hold; the message says what the type holds."""


def fitted(number: Any, kind: DataType) -> int | float:
    """A number as one of a scalar type: an integer as it is, a float rounded to nearest, ties to
    even.

    Parameters
    ----------
    number
        An integer or a Boolean; for a type of floats also a float. ``bool`` takes 0 and 1, too.

    Raises
    ------
    DoesNotFit
        If the type has no such number: a fraction for an integer, a Boolean for anything but
        ``bool``, an integer out of range, a float that would round to infinity.
    """
    if not isinstance(number, (bool, int, float)):
        raise DoesNotFit(f"{number!r} is not a number")
    if kind.code == "bool":
        if number in (0, 1) and not isinstance(number, float):
            return bool(number)
        raise DoesNotFit(f"{number} is neither true nor false")
    if isinstance(number, bool):
        raise DoesNotFit(f"{number} is a bool, not {kind}")
    if kind.is_float:
        return _float(number, kind)
    low, high = limits(kind)
    if isinstance(number, int) and low <= number <= high:
        return number
    raise DoesNotFit(f"{number} is not an integer of type {kind} ({low} to {high})")


def _float(number: float, kind: DataType) -> float:
    try:
        rounded = float(into(kind)(float(number)))
    except OverflowError:  # an integer beyond every float
        rounded = math.inf
    if math.isfinite(rounded) or _same(rounded, number):
        return rounded
    raise DoesNotFit(f"{number} does not fit into {kind}")


def fitted_arguments(args: Sequence[Value]) -> tuple[Value, ...]:
    """The arguments of a run, each scalar among them a number of its type.

    Raises
    ------
    FaultStop
        ``E-prim-overflow``
    """
    found = list(args)
    for k, arg in enumerate(found):
        if type(arg) is not Tensor and _has_misfit(arg):
            found[k] = _fitted(arg)
    return tuple(found)


def _has_misfit(value: Value) -> bool:
    """Whether a scalar in a value is not what its type would make of it."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, TupleValue):
            pending.extend(item.fields)
        elif isinstance(item, Scalar) and _number(item) is not item.value:
            return True
    return False


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
    match value:
        case Scalar():
            return replace(value, value=_number(value))
        case TupleValue(fields=fields):
            return TupleValue(tuple(_fitted(field) for field in fields))
    return value
