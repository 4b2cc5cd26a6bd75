"""Run-time functions of the design document: shape heaps, and the end of memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rlx.semantics.faults import FaultStop
from rlx.semantics.machine.message_text import show
from rlx.semantics.values import UNIT, Scalar, ShapeValue, Tensor, Value
from rlx.spec.registry import rule


@rule("V-store-shape", "machine instruction")
def _store_shape(shape: Value, heap: Value, *at: Value) -> Value:
    """``(shape, heap, i0, i1, …)``: stores the dimensions in these slots of the heap."""
    sizes = _dims(shape)
    places = _places("vm.builtin.store_shape", heap, at)
    if len(places) != len(sizes):
        words = f"expected one slot for each of {len(sizes)} dimensions, found {len(places)}"
        raise FaultStop("V-store-shape-count", words)
    for place, size in zip(places, sizes, strict=True):
        heap.data[place] = size  # type: ignore[attr-defined]
    return UNIT


@rule("V-load-shape", "machine instruction")
def _load_shape(heap: Value, *at: Value) -> Value:
    """``(heap, i0, i1, …)``: the shape of the numbers in these slots of the heap."""
    places = _places("vm.builtin.load_shape", heap, at)
    return ShapeValue(tuple(int(heap.data[place]) for place in places))  # type: ignore[attr-defined]


@rule("V-heap", "machine instruction")
def _places(name: str, heap: Value, at: tuple[Value, ...]) -> list[int]:
    """Places of a shape heap, which they must be inside."""
    if not isinstance(heap, Tensor) or heap.data.ndim != 1 or not holds_sizes(heap):
        raise FaultStop("V-heap-tensor", f"{name} expects a shape heap, found {show(heap)}")
    places = [int(v.value) if isinstance(v, Scalar) else -1 for v in at]
    for place in places:
        if not 0 <= place < len(heap.data):
            raise FaultStop(
                "V-heap-place",
                f"{name}: slot {place} is outside the heap, which has {len(heap.data)} slots",
            )
    return places


def holds_sizes(heap: Tensor) -> bool:
    """Whether a tensor has the element type of a shape heap."""
    return np.issubdtype(heap.data.dtype, np.signedinteger)


def _dims(value: Value) -> tuple[int, ...]:
    match value:
        case ShapeValue(values=values):
            return values
        case Tensor():
            return value.shape
        case Scalar(value=int() as number):
            return (number,)
    raise TypeError


def _nothing(*_: Value) -> Value:
    return UNIT


def _move(value: Value) -> Value:
    return value


HEAP_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "store_shape": _store_shape,
    "load_shape": _load_shape,
    "free_storage": _nothing,
    "free_tensor": _nothing,
    "kill_object": _nothing,
    "move": _move,
}
"""The functions by their names without `vm.builtin.`."""
