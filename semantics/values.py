"""The values that Relax computes with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlx.grammar.dtype import INT64, DataType
from rlx.grammar.node import Record
from rlx.grammar.tir import PrimFunc

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
