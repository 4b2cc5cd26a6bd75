"""The reference evaluator of PrimFuncs, written to read like the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.semantics.tir.memory import SharedFuel
    from rlx.semantics.tir.program import MEMORY_LIMIT, TirProgram, evaluate

__all__ = ["MEMORY_LIMIT", "SharedFuel", "TirProgram", "evaluate"]


def __getattr__(name: str) -> object:
    return lazy.public_name(__name__, name)


def __dir__() -> list[str]:
    return __all__
