"""The plan of a batch: the calls of its PrimFuncs, the memory that it allocates, and its results.

A plan holds for all inputs of the same shapes, element types, scalars and heaps, and mostly for
other sizes too: then it says how its numbers follow from them. Where anything is
not known to be the same then, or would fail, there is no plan, and the instructions run one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rlx.semantics.native.formulas import Steps
from rlx.semantics.native.sequence import KernelCall
from rlx.semantics.values import (
    Device,
    Value,
)
from rlx.vm.batch_steps import Slots


class Allocation(NamedTuple):
    """Memory that a batch allocates: its bytes, its device, and whether only the batch sees it."""

    size: int
    device: Device | None
    kept: bool


class InputResult(NamedTuple):
    """A result that is one of the inputs."""

    position: int


class TensorResult(NamedTuple):
    """A result that is a tensor: where it lies, and whether nothing was written into it.

    Of a view of an input, ``piece`` is none and ``base`` is the input.
    """

    base: int
    piece: int | None
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    device: Device | None
    blank: bool


class HeapResult(NamedTuple):
    """A result that is a shape heap, with what it holds."""

    content: np.ndarray[Any, Any]


class MemoryResult(NamedTuple):
    """A result that is a piece of memory."""

    piece: int


class TupleResult(NamedTuple):
    """A result that is a tuple, of results by their numbers."""

    parts: tuple[int, ...]


class ConstantResult(NamedTuple):
    """A result that is the same value each time."""

    value: Value


Result = InputResult | TensorResult | HeapResult | MemoryResult | TupleResult | ConstantResult


class CallSlots(NamedTuple):
    """The slots of an argument of a kernel: its sizes or its number, and where it begins (-1: no
    array).
    """

    numbers: Slots
    offset: int


class PlanFormulas(NamedTuple):
    """How the numbers of a plan follow from those of the inputs.

    Attributes
    ----------
    steps
        The steps; the arrays that they are given are the heaps among the inputs.
    given
        How many numbers they are given.
    calls
        For each call of a kernel the slots of each argument.
    first, length
        The slots of what is read afterwards: the first, and how many. The size of each allocated
        piece comes first.
    results
        Where among those the numbers of each result are: its sizes, then where it begins.
    """

    steps: Steps
    given: int
    calls: tuple[tuple[CallSlots, ...], ...]
    first: int
    length: int
    results: dict[int, Slots]


class BatchPlan(NamedTuple):
    """What a batch does with inputs of certain shapes.

    Attributes
    ----------
    calls, places
        The calls of PrimFuncs, and the instruction of each.
    inputs
        The positions of the inputs whose memory the first bases are.
    constants
        The memory of the bases behind them.
    pieces
        What is allocated: the memory of the last bases.
    heaps
        What the heaps among the inputs hold in the end, by the position of each.
    results
        What is made, parts before what holds them.
    outputs
        The result of each output of the batch.
    formulas
        What the numbers of the plan are for other sizes; None where that is not known.
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
    """The instructions of a batch run one by one: the message says why.

    Attributes
    ----------
    apart
        Instructions without which there might be a plan.
    """

    def __init__(self, message: str, apart: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.apart = tuple(apart)
