"""Compiled expressions: a function from the frame to a value, with the type of the value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.node import Span
from rlx.semantics.faults import FaultStop, Stop
from rlx.semantics.live_memory import TooMuchMemory, current
from rlx.semantics.tir.values import cast
from rlx.spec.registry import rule

Frame = list[Any]
"""The values of variables and buffers, by slot; the run (:class:`~rlx.semantics.tir.memory.Run`) is
the first.
"""

Evaluate = Callable[[Frame], Any]
F = TypeVar("F", bound=Callable[..., Any])


class Term:
    """An expression.

    Attributes
    ----------
    run
        Its value in a frame: a number, or a tuple of them if it is a vector.
    dtype
        The scalar type.
    vector
        Whether the value has lanes.
    literal
        Whether it is an integer literal, which takes the type of the other operand.
    """

    __slots__ = ("dtype", "literal", "run", "vector")

    def __init__(
        self, run: Evaluate, dtype: DataType, vector: bool = False, literal: bool = False
    ) -> None:
        self.run = run
        self.dtype = dtype
        self.vector = vector
        self.literal = literal


@rule("E-tir-common", "TIR expression")
def common(a: Term, b: Term) -> DataType:
    """The common type of two operands."""
    if a.dtype == b.dtype or (b.literal and not _is_wider(b, a)):
        return a.dtype
    if a.literal and not _is_wider(a, b):
        return b.dtype
    return max(a.dtype, b.dtype, key=lambda t: (t.is_float, t.bits, t.code == "uint"))


def _is_wider(one: Term, other: Term) -> bool:
    """Whether an integer literal has more bits than the integer beside it."""
    return not other.dtype.is_float and one.dtype.bits > other.dtype.bits


def converted(term: Term, dtype: DataType) -> Term:
    """The same value in another type."""
    if term.dtype == dtype:
        return term
    if term.literal:
        value = cast(term.dtype, dtype)(term.run([]))
        return Term(lambda frame: value, dtype, literal=True)
    run = lifted(cast(term.dtype, dtype), term)
    return Term(run, dtype, term.vector)


LANE = 40
"""The bytes of a lane: a number, and its place in a tuple."""


def lanes_paid(frame: Frame, count: int) -> int:
    """Take fuel and look for memory before so many lanes are made, which a few letters ask for.

    Raises
    ------
    FaultStop
        ``E-alloc-size``: they need more memory than is left for this run.
    OutOfFuelStop
        ``E-tir-fuel``: they cost more than there is, one unit each.
    """
    frame[0].spend(max(count, 0), f"a vector of {count} lanes")
    try:
        current().require(count * LANE, f"a vector of {count} lanes")
    except TooMuchMemory as error:
        raise FaultStop("E-alloc-size", str(error)) from None
    return count


@rule("E-tir-vector", "TIR expression")
def lanewise(function: Callable[..., Any]) -> Callable[..., Any]:
    """A scalar function applied to vectors lane by lane; a scalar operand has the same value in
    every lane.
    """

    def apply(*values: Any) -> tuple[Any, ...]:
        lanes = max(len(v) for v in values if isinstance(v, tuple))
        spread = [v if isinstance(v, tuple) else (v,) * lanes for v in values]
        return tuple(map(function, *spread))

    return apply


def lifted(function: Callable[..., Any], *terms: Term) -> Evaluate:
    """The application of a function of scalars to terms."""
    if any(term.vector for term in terms):
        function = lanewise(function)
    match [term.run for term in terms]:
        case [a]:
            return lambda frame: function(a(frame))
        case [a, b]:
            return lambda frame: function(a(frame), b(frame))
        case runs:
            return lambda frame: function(*[run(frame) for run in runs])


def located(function: F, span: Span | None) -> F:
    """The same function, which adds the location to exceptions."""

    def guarded(*values: Any) -> Any:
        try:
            return function(*values)
        except Stop as stop:
            if stop.span is None:
                stop.span = span
            raise

    return guarded  # type: ignore[return-value]
