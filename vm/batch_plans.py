"""The plan of a batch: the calls of its PrimFuncs, the memory that it allocates, and its results.

A plan is valid for all inputs of the same shapes, element types, scalars and heaps. Most plans are
also valid for other sizes: they contain formulas for their numbers. If anything might differ or
would fail, there is no plan, and the instructions run one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import Any, NamedTuple

import numpy as np

from rlx.semantics.native.formulas import Steps
from rlx.semantics.native.sequence import KernelCall
from rlx.semantics.values import (
    Device,
    Value,
)
from rlx.vm.batch_steps import Slots


class MemoryKind(Enum):
    """Where memory comes from."""

    INPUT = auto()
    CONSTANT = auto()
    PIECE = auto()


class Base(NamedTuple):
    """Memory that offsets are relative to: an input, a constant, or an allocated piece."""

    kind: MemoryKind
    number: int


class Allocation(NamedTuple):
    """Memory that a batch allocates: its size in bytes, its device, and whether it is local to the
    batch.
    """

    size: int
    device: Device | None
    kept: bool


class InputResult(NamedTuple):
    """A result that is one of the inputs."""

    position: int


class TensorResult(NamedTuple):
    """A result that is a tensor: its memory, and whether it is still unwritten.

    For a view of an input, ``piece`` is None and ``base`` is the input.
    """

    base: int
    piece: int | None
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    device: Device | None
    blank: bool


class HeapResult(NamedTuple):
    """A result that is a shape heap, with its numbers."""

    content: np.ndarray[Any, Any]


class MemoryResult(NamedTuple):
    """A result that is a piece of memory."""

    piece: int


class TupleResult(NamedTuple):
    """A result that is a tuple of other results, which are given by their indices."""

    parts: tuple[int, ...]


class ConstantResult(NamedTuple):
    """A result that is the same value in each run."""

    value: Value


Result = InputResult | TensorResult | HeapResult | MemoryResult | TupleResult | ConstantResult


class CallSlots(NamedTuple):
    """The slots of an argument of a kernel: its sizes or its number, and where it begins in a piece
    of memory, if it is in one.
    """

    numbers: Slots
    offset: int | None


class PlanFormulas(NamedTuple):
    """How the numbers of a plan are computed from those of the inputs.

    Attributes
    ----------
    steps
        The steps; their array arguments are the heaps among the inputs.
    given
        The count of their number arguments.
    calls
        The slots of each argument, for each call of a kernel.
    first, length
        The slots that are read afterwards: the first one and their count. The size of each
        allocated piece comes first.
    results
        The positions among these of the numbers of each result: its sizes, then its address.
    """

    steps: Steps
    given: int
    calls: tuple[tuple[CallSlots, ...], ...]
    first: int
    length: int
    results: dict[int, Slots]


class BatchPlan(NamedTuple):
    """What a batch does for inputs of given shapes.

    Attributes
    ----------
    calls, places
        The calls of PrimFuncs, and the instruction of each call.
    inputs
        The positions of the inputs whose memory is the first bases.
    constants
        The memory of the bases after them.
    pieces
        The allocated memory, which is the last bases.
    heaps
        The final numbers of the heaps among the inputs, by the position of each.
    results
        The results; parts come before the tuples that contain them.
    outputs
        The result of each output of the batch.
    formulas
        The numbers of the plan for other sizes; None if they are unknown.
    """

    calls: tuple[KernelCall, ...]
    places: tuple[int, ...]
    inputs: tuple[int, ...]
    constants: tuple[np.ndarray[Any, Any], ...]
    pieces: tuple[Allocation, ...]
    heaps: Mapping[int, np.ndarray[Any, Any]]
    results: tuple[Result, ...]
    outputs: tuple[int, ...]
    formulas: PlanFormulas | None = None


class NoPlan(Exception):
    """There is no plan, so the instructions of a batch run one by one; the message gives the
    reason.

    Attributes
    ----------
    apart
        Instructions without which there might be a plan.
    """

    def __init__(self, message: str, apart: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.apart = tuple(apart)
