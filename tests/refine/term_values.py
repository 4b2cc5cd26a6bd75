"""The elements of a term, for given inputs: slow, for tests and small sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import numpy_type
from rlx.refine.terms import ConstantTerm, Lambda, Reduce, ScanTerm, TensorTerm
from rlx.semantics.tir.expression_compiler import ExpressionCompiler
from rlx.semantics.tir.expressions import COMPILERS
from rlx.semantics.tir.memory import TirRun
from rlx.semantics.tir.terms import Evaluate, Frame, Term, converted

Array = np.ndarray[Any, Any]


class MeaninglessError(Exception):
    """A term reads outside of a tensor, or a tensor that is not given."""


def evaluate(
    tensor: TensorTerm, inputs: Mapping[TensorTerm, Array], sizes: Mapping[tir.Var, int]
) -> Array:
    """The content of a tensor.

    Parameters
    ----------
    inputs
        The content of each input that is read.
    sizes
        The value of each size.

    Raises
    ------
    MeaninglessError
        If an element outside of a tensor is read, or an input that is not given.
    """
    run = _Evaluation(inputs, sizes)
    kind = numpy_type(tensor.dtype)
    assert kind is not None
    found = np.empty([run.size(dim) for dim in tensor.shape], kind)
    for place in np.ndindex(*found.shape):
        found[place] = run.element(tensor, place)
    return found


class _Evaluation(ExpressionCompiler):
    """The evaluation of several tensors; an element is computed when it is first read."""

    def __init__(self, inputs: Mapping[TensorTerm, Array], sizes: Mapping[tir.Var, int]) -> None:
        super().__init__({**COMPILERS, tir.BufferLoad: _read, Reduce: _reduce})
        self._inputs = inputs
        self._sizes = sizes
        self._elements: dict[tuple[TensorTerm, tuple[int, ...]], Any] = {}
        self._shapes: dict[TensorTerm, tuple[int, ...]] = {}
        self._bodies: dict[TensorTerm, Evaluate] = {}
        self.scans: list[ScanTerm] = []
        self.frame: Frame = [None] * 10_000
        self.frame[0] = TirRun(None, 1 << 20, {})
        for var, value in sizes.items():
            self.frame[self.slot(var)] = value

    def compile(self, expr: tir.PrimExpr) -> Term:
        """An expression; the same part may have another value in another reduction."""
        return self.part(expr)

    def size(self, dim: tir.PrimExpr) -> int:
        """The value of a dimension."""
        return max(0, int(self.number(dim)(self.frame)))

    def element(self, tensor: TensorTerm, place: Sequence[int]) -> Any:
        """An element."""
        at = tuple(map(int, place))
        key = (tensor, at)
        if key not in self._elements:
            self._elements[key] = self._computed(tensor, at)
        return self._elements[key]

    def _computed(self, tensor: TensorTerm, at: tuple[int, ...]) -> Any:
        if tensor not in self._shapes:
            self._shapes[tensor] = tuple(map(self.size, tensor.shape))
        shape = self._shapes[tensor]
        if len(at) != len(shape) or not all(0 <= i < n for i, n in zip(at, shape, strict=True)):
            raise MeaninglessError(f"{tensor.name} of shape {shape} is read at {at}")
        if tensor in self._inputs:
            return self._inputs[tensor][at].item()
        if isinstance(tensor, ConstantTerm):
            kind = numpy_type(tensor.dtype)
            return np.frombuffer(tensor.content, kind).reshape(shape)[at].item()
        if not isinstance(tensor, Lambda | ScanTerm):
            raise MeaninglessError(f"{tensor.name} is not given")
        if tensor not in self._bodies:
            for axis in tensor.axes:
                self.slot(axis)
            self._bodies[tensor] = converted(self.compile(tensor.element), tensor.dtype).run
        slots = [self.slots[axis] for axis in tensor.axes]
        before = [self.frame[slot] for slot in slots]
        if isinstance(tensor, ScanTerm):
            self.scans.append(tensor)
        for slot, i in zip(slots, at, strict=True):
            self.frame[slot] = i
        found = self._bodies[tensor](self.frame)
        for slot, i in zip(slots, before, strict=True):
            self.frame[slot] = i
        if isinstance(tensor, ScanTerm):
            self.scans.pop()
        return found


def _read(run: Any, expr: Any) -> Term:
    tensor = expr.buffer
    runs = [run.index(index).run for index in expr.indices]

    def load(frame: Frame) -> Any:
        of = tensor
        if getattr(tensor, "key", None) == "previous":
            of = run.scans[-1]
        return run.element(of, [index(frame) for index in runs])

    return Term(load, tensor.dtype)


def _reduce(run: Any, expr: Any) -> Term:
    combine = expr.combiner
    slots = [run.slot(axis) for axis in expr.axes]
    left = [run.slot(var) for var in combine.left]
    right = [run.slot(var) for var in combine.right]
    kinds = [var.dtype for var in combine.left]

    def typed(parts: Sequence[tir.PrimExpr]) -> list[Evaluate]:
        return [
            converted(run.value(part), kind).run for part, kind in zip(parts, kinds, strict=True)
        ]

    extents = [run.value(extent).run for extent in expr.extents]
    guard = run.value(expr.guard).run
    sources, init, results = typed(expr.sources), typed(expr.init), typed(combine.results)

    def evaluated(frame: Frame) -> Any:
        total = [value(frame) for value in init]
        ranges = [range(max(0, extent(frame))) for extent in extents]
        before = [frame[slot] for slot in slots]
        for place in product(*ranges):
            for slot, i in zip(slots, place, strict=True):
                frame[slot] = i
            if not guard(frame):
                continue
            each = [value(frame) for value in sources]
            for slot, value in zip((*left, *right), (*total, *each), strict=True):
                frame[slot] = value
            total = [value(frame) for value in results]
        for slot, i in zip(slots, before, strict=True):
            frame[slot] = i
        return total[expr.output]

    return Term(evaluated, kinds[expr.output])
