"""What all rules share: a value finds its place, and the run goes on."""

from __future__ import annotations

from typing import Any

from rlx.semantics.machine.configuration import Configuration, Frame, Instruction, place
from rlx.semantics.store import Version
from rlx.semantics.values import Value
from rlx.spec.registry import rule


@rule("E-received", "44cc9c6b")
def received(at: Instruction, frame: Frame, value: Value) -> None:
    """Check the value of a call against what the call declares."""
    if at.receive is not None:
        at.receive(frame, (value,))


@rule("E-binding", "0bf02363")
def bind(
    at: Instruction, c: Configuration, value: Any, applied: str, version: Version | None = None
) -> Configuration:
    # WF03: no variable is bound twice, so the place is free.
    frame = c.frame
    if len(frame.slots) != at.index:
        frame = place(frame, at.index)
    frame.slots.append(value)
    return Configuration(at.next, frame, applied, version or c.version)
