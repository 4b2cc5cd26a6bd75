"""The semantics of programs: values, the small-step machine, and the outcomes of runs.

:func:`rlx.run` parses, checks and runs a program; :func:`load` returns the machine itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.semantics.machine import Configuration, MachineProgram, load
    from rlx.semantics.outcome import (
        CheckFailed,
        Fault,
        IllFormed,
        Outcome,
        OutOfFuel,
        Returned,
        Stuck,
        Unsupported,
    )
    from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue, Value

__all__ = [
    "CheckFailed",
    "Configuration",
    "Fault",
    "IllFormed",
    "MachineProgram",
    "OutOfFuel",
    "Outcome",
    "Returned",
    "Scalar",
    "ShapeValue",
    "Stuck",
    "Tensor",
    "TupleValue",
    "Unsupported",
    "Value",
    "load",
]


def __getattr__(name: str) -> object:
    return lazy.public_name(__name__, name)
