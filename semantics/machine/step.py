"""What all rules share: a value finds its place, and the run goes on."""

from __future__ import annotations

from typing import Any

from rlx.semantics.faults import FaultStop
from rlx.semantics.machine.configuration import Configuration, Frame, Instruction, place
from rlx.semantics.machine.message_text import show
from rlx.semantics.store import Version
from rlx.semantics.values import Scalar, Value
from rlx.spec.registry import rule


@rule("E-received", "93a55fa8", "step")
def received(at: Instruction[Any], frame: Frame, value: Value) -> None:
    """Check the value of a call against what the call declares."""
    if at.receive is not None:
        at.receive(frame, (value,))


def number_of(value: Value) -> int:
    """The number of a shape variable that a variable is."""
    if isinstance(value, Scalar) and isinstance(value.value, int):
        return value.value
    # D17 refuses what is no scalar for certain; a packed function may break its word.
    raise FaultStop("E-binding-scalar", f"{show(value)} stands as a dimension", value=value)


@rule("E-binding", "bb93b57e", "step")
def bind(
    at: Instruction[Any],
    c: Configuration,
    value: Any,
    version: Version | None = None,
    applied: str | None = None,
) -> Configuration:
    """Put the value of an instruction into its place, and go on behind it.

    ``applied`` is the rule that gave the value, where that is not the instruction's own.
    """
    # WF03: no variable is bound twice, so the place is free.
    frame = c.frame
    if len(frame.slots) != at.index:
        frame = place(frame, at.index)
    frame.slots.append(value)
    if at.number:
        frame.slots.append(number_of(value))
    return Configuration(at.next, frame, applied or at.rule, version or c.version)
