"""Inspection of configurations: variables in scope, the stack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rlx.semantics.machine.configuration import Configuration, Frame, Instruction, Variable


def environment(configuration: Configuration) -> dict[Variable, Any]:
    """The visible variables at the redex with their values, with shape variables as numbers.

    Variables of dataflow blocks that have ended are not included.
    """
    return _environment(configuration.at, configuration.frame)


def _environment(at: Instruction[Any], frame: Frame) -> dict[Variable, Any]:
    found: dict[Variable, Any] = {}
    frames = [frame]
    for var, hops, index in at.scope.seen(at.serial):
        while len(frames) <= hops:
            outer = frames[-1].outer
            assert outer is not None
            frames.append(outer)
        found[var] = frames[hops].slots[index]
    return found


def stack(configuration: Configuration) -> Iterator[tuple[Frame, Instruction[Any]]]:
    """The frames with their current instructions, innermost first."""
    frame: Frame | None = configuration.frame
    at = configuration.at
    while frame is not None:
        yield frame, at
        at, frame = frame.resume, frame.caller
