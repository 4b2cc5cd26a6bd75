"""The machine: programs run step by step, and each step applies one rule of `spec/evaluation.md`.

program = load(module)
configuration = program.start("main", [x])
configuration = program.step(configuration)  # … until it is an Outcome
outcome = program.run("main", [x], fuel=1_000_000)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.semantics.machine.configuration import Configuration, Frame, Instruction
    from rlx.semantics.machine.program import MachineProgram, environment, load, stack

__all__ = [
    "Configuration",
    "Frame",
    "Instruction",
    "MachineProgram",
    "environment",
    "load",
    "stack",
]


def __getattr__(name: str) -> object:
    return lazy.public_name(__name__, name)


def __dir__() -> list[str]:
    return __all__
