"""The values that Relax computes with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rlx.grammar.dtype import INT64, DataType
from rlx.grammar.node import Node


class Value(Node):
    """Base of values. Equality is identity: two tensors of equal content are two tensors."""


class Tensor(Value):
    """A tensor: an array with ``shape`` and ``dtype`` as NumPy's have them, on a device.

    ``device`` is ``(target, index)`` where the program names devices, else None.
    """

    data: Any
    device: tuple[str, int] | None = None

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


class Closure(Value):
    """A Relax function with what it captured; ``call`` runs it."""

    call: Callable[..., Value]


class Packed(Value):
    """A function from outside, opaque to Relax."""

    call: Callable[..., Value]


class Opaque(Value):
    """Any other object: a string, a data type, a handle."""

    value: object
